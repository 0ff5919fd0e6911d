package layout

import (
	"sort"
	"strings"
)

// Running heads are looked for among the lines within this share of the height from the upper and lower edge.
const margin = 0.11

// A line is one of the page, and not of the text, if it stands at the same height on so many pages that are a quarter of
// all, or on so many of the pages around it, as the heads of chapters do. Two are enough if a number in it goes with the pages.
const (
	minRepeats = 3
	around     = 3
)

// marginal is a line near an edge.
type marginal struct {
	page   int // in the list
	key    string
	glyphs []int
	base   float32
	number int  // the last in it, -1 if there is none
	bare   bool // there is nothing else in it
	large  bool // larger than the text: "Plate 12" above a page is a heading, unless it is the same on all
	text   string
}

// withoutRunningHeads takes out headers and footers: lines near the edges that are the same on several pages but for
// their digits, and numbers of pages.
func withoutRunningHeads(pages []Page, body float32) []Page {
	groups := map[string][]marginal{}
	for i, p := range pages {
		for _, m := range marginals(p, body) {
			m.page = i
			groups[m.key] = append(groups[m.key], m)
		}
	}
	drop := make([]map[int]bool, len(pages))
	for _, group := range groups {
		for _, m := range group {
			same, near, counted := map[int]bool{}, map[int]bool{}, map[int]bool{}
			for _, other := range group {
				if d := m.base - other.base; d > 4 || d < -4 || m.large && !m.bare && m.text != other.text {
					continue
				}
				same[other.page] = true
				distance := max(other.page-m.page, m.page-other.page)
				if distance <= around {
					near[other.page] = true
				}
				if m.number >= 0 && other.number-other.page == m.number-m.page && (distance <= around || m.bare) {
					counted[other.page] = true
				}
			}
			repeated := len(same) >= minRepeats && len(same)*4 >= len(pages) || len(near) >= minRepeats
			if !repeated && len(counted) < 2 {
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
func marginals(p Page, body float32) []marginal {
	rows := map[int][]int{} // glyphs by height in half points
	for i, g := range p.Glyphs {
		if g.visible() && (g.Base < p.Height*margin || g.Base > p.Height*(1-margin)) {
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
		m := marginal{glyphs: glyphs, base: p.Glyphs[glyphs[0]].Base, number: -1}
		edge := "top"
		if m.base > p.Height/2 {
			edge = "bottom"
		}
		text, number := withoutDigits(p, glyphs)
		m.key, m.number = edge+"|"+text, number
		for _, i := range glyphs {
			m.text += string(p.Glyphs[i].Rune)
			m.large = m.large || p.Glyphs[i].Size > 1.1*body
		}
		m.bare = strings.Trim(text, "#-–—·•|/第页頁") == ""
		if m.key != edge+"|" {
			all = append(all, m)
		}
	}
	return all
}

// withoutDigits is the text of a line with # for every number and without spaces, and the last number, or -1.
func withoutDigits(p Page, glyphs []int) (string, int) {
	var b strings.Builder
	digits, number := false, -1
	for _, i := range glyphs {
		r := p.Glyphs[i].Rune
		switch {
		case r >= '0' && r <= '9':
			if !digits {
				b.WriteByte('#')
				number = 0
			}
			digits = true
			number = min(number*10+int(r-'0'), 1_000_000)
			continue
		case !p.Glyphs[i].visible():
			continue
		}
		digits = false
		b.WriteRune(r)
	}
	return b.String(), number
}
