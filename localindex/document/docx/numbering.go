package docx

import (
	"encoding/xml"
	"strconv"
	"strings"

	"docent/localindex/document"
)

// maxLevels is how many levels a list has in this format.
const maxLevels = 9

// level is one level of a list.
type level struct {
	format string // of its number: decimal, bullet, …
	text   string // such as "%1.%2"
	start  int
}

// numbering holds the lists of a document and counts their items.
type numbering struct {
	abstract map[string]*[maxLevels]level
	nums     map[string]string          // abstract list by number id
	restart  map[string]map[int]int     // level: start, by number id
	counts   map[string]*[maxLevels]int // by abstract list: lists of one kind go on counting
	started  map[string]map[int]bool    // levels of a number id that were restarted
}

func readNumbering(data []byte) (*numbering, error) {
	n := &numbering{abstract: map[string]*[maxLevels]level{}, nums: map[string]string{}, restart: map[string]map[int]int{},
		counts: map[string]*[maxLevels]int{}, started: map[string]map[int]bool{}}
	if data == nil {
		return n, nil
	}
	d := newDecoder("the numbering", data)
	if _, err := d.root(); err != nil {
		return nil, err
	}
	return n, d.each(func(e xml.StartElement) error {
		switch word(e.Name) {
		case "abstractNum":
			levels := &[maxLevels]level{}
			n.abstract[attr(e, "abstractNumId")] = levels
			return d.each(func(e xml.StartElement) error {
				if word(e.Name) != "lvl" {
					return d.skip()
				}
				i, err := strconv.Atoi(attr(e, "ilvl"))
				if err != nil || i < 0 || i >= maxLevels {
					return d.skip()
				}
				return readLevel(d, &levels[i])
			}, nil)
		case "num":
			return n.readNum(d, attr(e, "numId"))
		}
		return d.skip()
	}, nil)
}

func readLevel(d *decoder, l *level) error {
	l.start = 1
	return d.each(func(e xml.StartElement) error {
		switch word(e.Name) {
		case "start":
			if v, err := strconv.Atoi(attr(e, "val")); err == nil {
				l.start = v
			}
		case "numFmt":
			l.format = attr(e, "val")
		case "lvlText":
			l.text = attr(e, "val")
		}
		return d.skip()
	}, nil)
}

func (n *numbering) readNum(d *decoder, id string) error {
	return d.each(func(e xml.StartElement) error {
		switch word(e.Name) {
		case "abstractNumId":
			n.nums[id] = attr(e, "val")
		case "lvlOverride":
			i, err := strconv.Atoi(attr(e, "ilvl"))
			return d.each(func(e xml.StartElement) error {
				if v, err2 := strconv.Atoi(attr(e, "val")); word(e.Name) == "startOverride" && err == nil && err2 == nil {
					if n.restart[id] == nil {
						n.restart[id] = map[int]int{}
					}
					n.restart[id][i] = v
				}
				return d.skip()
			}, nil)
		}
		return d.skip()
	}, nil)
}

// mark counts an item and gives its mark, with a space behind it, or "" where the list has none.
func (n *numbering) mark(ref listRef) (mark string, ok bool) {
	if ref.num == "" || ref.num == "0" {
		return "", false
	}
	id, known := n.nums[ref.num]
	levels := n.abstract[id]
	if !known || levels == nil {
		return document.Bullet, true // the list is lost, but it was one
	}
	counts := n.counts[id]
	if counts == nil {
		counts = &[maxLevels]int{}
		for i, l := range levels {
			counts[i] = l.start - 1
		}
		n.counts[id] = counts
	}
	if start, again := n.restart[ref.num][ref.level]; again && !n.started[ref.num][ref.level] {
		if n.started[ref.num] == nil {
			n.started[ref.num] = map[int]bool{}
		}
		n.started[ref.num][ref.level] = true
		counts[ref.level] = start - 1
	}
	counts[ref.level]++
	for i := ref.level + 1; i < maxLevels; i++ {
		counts[i] = levels[i].start - 1
	}
	l := levels[ref.level]
	switch l.format {
	case "bullet", "":
		return document.Bullet, true
	case "none":
		return "", true
	}
	text := l.text
	for i := 0; i <= ref.level; i++ {
		place := "%" + strconv.Itoa(i+1)
		if strings.Contains(text, place) {
			text = strings.ReplaceAll(text, place, formatNumber(max(counts[i], levels[i].start), levels[i].format))
		}
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", true
	}
	return text + " ", true
}

// formatNumber writes a number as a list does; formats that are not known are written in digits.
func formatNumber(n int, format string) string {
	switch format {
	case "lowerLetter", "upperLetter":
		if n < 1 || n > 26 {
			break
		}
		s := string(rune('a' + n - 1))
		if format == "upperLetter" {
			s = strings.ToUpper(s)
		}
		return s
	case "lowerRoman":
		return strings.ToLower(roman(n))
	case "upperRoman":
		return roman(n)
	case "chineseCounting", "chineseCountingThousand", "ideographDigital", "japaneseCounting", "taiwaneseCountingThousand":
		return chineseNumber(n)
	case "decimalEnclosedCircle", "decimalEnclosedCircleChinese":
		if n >= 1 && n <= 20 {
			return string(rune('①' + n - 1))
		}
	case "decimalZero":
		if n >= 0 && n < 10 {
			return "0" + strconv.Itoa(n)
		}
	}
	return strconv.Itoa(n)
}

func roman(n int) string {
	if n < 1 || n > 3999 {
		return strconv.Itoa(n)
	}
	var b strings.Builder
	for _, p := range []struct {
		value int
		text  string
	}{{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}} {
		for n >= p.value {
			b.WriteString(p.text)
			n -= p.value
		}
	}
	return b.String()
}

func chineseNumber(n int) string {
	digits := []rune("零一二三四五六七八九")
	if n < 0 || n > 99 {
		return strconv.Itoa(n)
	}
	if n < 10 {
		return string(digits[n])
	}
	s := "十"
	if n >= 20 {
		s = string(digits[n/10]) + s
	}
	if n%10 > 0 {
		s += string(digits[n%10])
	}
	return s
}
