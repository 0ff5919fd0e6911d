// Package han folds Chinese characters for searching: a text in traditional characters and one in simplified ones are
// the same to a reader who looks for something. It imports nothing of the house.
package han

import (
	_ "embed"
	"strings"
	"sync"
)

// simplified holds two lines of equal length: characters, and what each is written as in simplified script. It is made
// from the field kSimplifiedVariant of the Unihan database 15.0 (© Unicode, Inc., https://www.unicode.org/license.txt),
// with variants of everyday writing added. All are characters of three bytes, so that folding keeps every offset.
//
//go:embed simplified.txt
var simplified string

var table = sync.OnceValue(func() map[rune]rune {
	from, to, _ := strings.Cut(simplified, "\n")
	simple := []rune(strings.TrimSpace(to))
	m := make(map[rune]rune, len(simple))
	i := 0
	for _, r := range from {
		m[r] = simple[i]
		i++
	}
	return m
})

// first is the lowest character of the table; texts in other scripts are passed over quickly.
const first = 0x3400

// Simplify returns s with traditional characters written as simplified ones. Where one simplified character stands for
// several traditional ones (后 for 後 and 后) they become one: meant for searching, not for reading. The result has as
// many bytes as s.
func Simplify(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r >= first }) < 0 {
		return s
	}
	m := table()
	return strings.Map(func(r rune) rune {
		if to, ok := m[r]; ok {
			return to
		}
		return r
	}, s)
}
