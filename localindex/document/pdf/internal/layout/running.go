package layout

import (
	"regexp"
	"sort"
	"strings"
	"unicode"
)

// Running heads are looked for among the lines within this share of the height from the upper and lower edge.
const margin = 0.13

// minRepeats is on how many pages a line must stand at the same height to be one of the page and not of the text.
const minRepeats = 3

var pageNumber = regexp.MustCompile(`^(?i)(?:[-–—·•\s]*#[-–—·•\s]*|第\s*#\s*[页頁](?:\s*[/，,]?\s*共\s*#\s*[页頁])?|page\s*#(?:\s*(?:of|/)\s*#)?|#\s*/\s*#)$`)

// marginal is a line near an edge.
type marginal struct {
	page   int // in the list
	key    string
	glyphs []int
	base   float32
}

// withoutRunningHeads takes out headers and footers: lines near the edges that are the same on several pages but for
// their digits, and numbers of pages.
func withoutRunningHeads(pages []Page) []Page {
	groups := map[string][]marginal{}
	for i, p := range pages {
		for _, m := range marginals(p) {
			m.page = i
			groups[m.key] = append(groups[m.key], m)
		}
	}
	drop := make([]map[int]bool, len(pages))
	for key, group := range groups {
		_, text, _ := strings.Cut(key, "|")
		number := pageNumber.MatchString(text)
		need := minRepeats
		if number {
			need = 2
		}
		for _, m := range group {
			same := map[int]bool{}
			for _, other := range group {
				if d := m.base - other.base; d < 4 && d > -4 {
					same[other.page] = true
				}
			}
			if len(same) < need && !(number && len(pages) == 1) || len(same)*4 < len(pages) {
				continue
			}
			if drop[m.page] == nil {
				drop[m.page] = map[int]bool{}
			}
			for _, g := range m.glyphs {
				drop[m.page][g] = true
			}
		}
	}
	out := make([]Page, len(pages))
	for i, p := range pages {
		out[i] = p
		if drop[i] == nil {
			continue
		}
		kept := make([]Glyph, 0, len(p.Glyphs))
		for j, g := range p.Glyphs {
			if !drop[i][j] {
				kept = append(kept, g)
			}
		}
		out[i].Glyphs = kept
	}
	return out
}

// marginals are the lines of a page near its edges, glyphs of one height taken together.
func marginals(p Page) []marginal {
	rows := map[int][]int{} // glyphs by height in half points
	for i, g := range p.Glyphs {
		if g.Rune != Gap && !unicode.IsSpace(g.Rune) && (g.Base < p.Height*margin || g.Base > p.Height*(1-margin)) {
			rows[int(g.Base*2)] = append(rows[int(g.Base*2)], i)
		}
	}
	heights := make([]int, 0, len(rows))
	for h := range rows {
		heights = append(heights, h)
	}
	sort.Ints(heights)
	var all []marginal
	for i := 0; i < len(heights); i++ {
		glyphs := rows[heights[i]]
		for i+1 < len(heights) && heights[i+1]-heights[i] <= 4 {
			i++
			glyphs = append(glyphs, rows[heights[i]]...)
		}
		sort.SliceStable(glyphs, func(a, b int) bool { return p.Glyphs[glyphs[a]].X0 < p.Glyphs[glyphs[b]].X0 })
		m := marginal{glyphs: glyphs, base: p.Glyphs[glyphs[0]].Base}
		edge := "top"
		if m.base > p.Height/2 {
			edge = "bottom"
		}
		m.key = edge + "|" + withoutDigits(p, glyphs)
		if m.key != edge+"|" {
			all = append(all, m)
		}
	}
	return all
}

// withoutDigits is the text of a line with # for every number and without spaces.
func withoutDigits(p Page, glyphs []int) string {
	var b strings.Builder
	digits := false
	for _, i := range glyphs {
		r := p.Glyphs[i].Rune
		switch {
		case unicode.IsDigit(r):
			if !digits {
				b.WriteByte('#')
			}
			digits = true
			continue
		case unicode.IsSpace(r):
			continue
		}
		digits = false
		b.WriteRune(r)
	}
	return b.String()
}
