package chunk

import (
	"slices"
	"strings"
	"unicode/utf8"

	"docent/localindex/document"
	"docent/localindex/internal/prose"
)

// sections makes sections of a part, each within the size, and passages of them.
func (p *Pipeline) sections(in part) []Section {
	limit := p.sizes.Passage * prose.WideUnits
	var all []Section
	for _, units := range groups(finer(in.units, limit), p.sizes.Section) {
		s := Section{Heading: in.heading, Path: slices.Clone(in.path), Text: textOf(units)}
		s.First, s.Last, s.Page, s.LastPage = extent(units)
		for _, passage := range passages(units, limit) {
			out := Passage{Text: textOf(passage)}
			out.First, out.Last, out.Page, out.LastPage = extent(passage)
			s.Passages = append(s.Passages, out)
		}
		all = append(all, s)
	}
	return all
}

// finer cuts units that are longer than a passage: at sentences, then clauses, words and any character at last. A text
// that is cut is cut at all of its sentences, and they are packed later.
func finer(units []unit, limit int) []unit {
	var out []unit
	for _, u := range units {
		if prose.Units(u.text) <= limit {
			out = append(out, u)
			continue
		}
		for i, p := range prose.Split(u.text, limit) {
			cut := u
			cut.text = p.Text
			if i > 0 {
				cut.before, cut.breaks = p.Before, false
			}
			out = append(out, cut)
		}
	}
	return out
}

// groups packs units into sections of at most limit characters, as even as they can be: a section that is a little too
// long becomes two of half its size and not a large and a tiny one. It ends them between paragraphs if it can, and
// never behind a text that announces what follows.
func groups(units []unit, limit int) [][]unit {
	total := 0
	for _, u := range units {
		total += length(u.text)
	}
	if total == 0 {
		return nil
	}
	count := (total + limit - 1) / limit
	target := (total + count - 1) / count
	var all [][]unit
	start, n := 0, 0
	whole := 0 // with all white space: what is promised
	for i, u := range units {
		l := length(u.text)
		w := utf8.RuneCountInString(u.before) + utf8.RuneCountInString(u.text)
		if n > 0 && (n+l > limit || whole+w > limit || n >= target && u.before == "\n\n" && !announces(units[i-1])) {
			at := lastBreak(units, start, i)
			if n+l <= limit && whole+w <= limit {
				at = i
			}
			all = append(all, units[start:at])
			start, n, whole = at, 0, 0
			for _, moved := range units[at:i] {
				n += length(moved.text)
				whole += utf8.RuneCountInString(moved.before) + utf8.RuneCountInString(moved.text)
			}
			if n+l > limit || whole+w > limit { // what was moved and this one do not fit
				all = append(all, units[start:i])
				start, n, whole = i, 0, 0
			}
		}
		n += l
		whole += w
	}
	return append(all, units[start:])
}

// lastBreak is where a group that must end before i best ends: before the last paragraph that is not in its first half.
func lastBreak(units []unit, start, i int) int {
	for at := i; at > start+(i-start)/2; at-- {
		if at < len(units) && units[at].before == "\n\n" && !announces(units[at-1]) {
			return at
		}
	}
	return i
}

// announces reports whether what follows a text belongs to it.
func announces(u unit) bool {
	return strings.HasSuffix(u.text, ":") || strings.HasSuffix(u.text, "：") || u.kind == document.Caption
}

// passages packs units of a section into passages of at most limit units of prose.
func passages(units []unit, limit int) [][]unit {
	var all [][]unit
	start, n, whole := 0, 0, 0
	for i, u := range units {
		s, w := size(u.text), prose.Units(u.before)+prose.Units(u.text)
		if i > start && (n+s > limit || whole+w > limit || u.breaks) {
			at := i
			// What announces the text goes with it, if that leaves something.
			if i-1 > start && announces(units[i-1]) && prose.Units(units[i-1].text)+w <= limit {
				at = i - 1
			}
			all = append(all, units[start:at])
			start, n, whole = at, 0, 0
			for _, moved := range units[at:i] {
				n += size(moved.text)
				whole += prose.Units(moved.before) + prose.Units(moved.text)
			}
		}
		n += s
		whole += w
	}
	if start < len(units) {
		all = append(all, units[start:])
	}
	return all
}

// textOf puts units together again.
func textOf(units []unit) string {
	var b strings.Builder
	for i, u := range units {
		if i > 0 {
			b.WriteString(u.before)
		}
		b.WriteString(u.text)
	}
	return strings.TrimSpace(b.String())
}

// extent tells which blocks and pages units came from.
func extent(units []unit) (first, last, page, lastPage int) {
	first, page = units[0].block, units[0].page
	for _, u := range units {
		last, lastPage = max(last, u.block+1), max(lastPage, u.page)
	}
	return first, last, page, lastPage
}
