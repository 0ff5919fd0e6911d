package ingest

import (
	"fmt"
	"strings"
)

const (
	maxNamed = 20 // known words a suggestion lists
	maxWord  = 40 // bytes of a word that is compared with them
)

// suggestion says which of the known words was meant, or which there are.
func suggestion(word string, known []string) string {
	all := "; known are " + strings.Join(known[:min(len(known), maxNamed)], ", ")
	switch {
	case len(known) == 0:
		return ""
	case len(known) > maxNamed:
		all += " …"
	}
	if len(word) > maxWord {
		return all
	}
	best, distance := "", 1+max(1, len(word)/3) // "lable" for "label" has distance 2, two letters exchanged
	for _, k := range known {
		if d := editDistance(strings.ToLower(word), k); d < distance {
			best, distance = k, d
		}
	}
	if best != "" {
		return fmt.Sprintf(": did you mean %q?", best)
	}
	return all
}

// editDistance counts the letters to insert, delete, replace or exchange with their neighbour to make a into b
// (optimal string alignment, Damerau 1964).
func editDistance(a, b string) int {
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}
