package chunk

import (
	"context"
	"fmt"
	"strings"

	"docent/localindex/document"
	"docent/localindex/internal/prose"
)

// Rewriter sets messy text right: it divides it into paragraphs, with a line that begins with "# " for a heading that is
// in the text.
type Rewriter interface {
	Rewrite(ctx context.Context, text string) (string, error)
}

// maxRewrite is the most characters that a rewriter is given at a time.
const maxRewrite = 6000

// rewriting has a model divide the text. The model may set white space and the marks of headings; a result with other
// words than were given is thrown away.
type rewriting struct{ rewriter Rewriter }

func (r rewriting) divide(ctx context.Context, parts []part) (divided, error) {
	var out divided
	note := func(format string, args ...any) { out.notes = append(out.notes, fmt.Sprintf(format, args...)) }
	for _, p := range parts {
		text := textOf(p.units)
		switch n := length(text); {
		case p.hasTable():
			out.parts = append(out.parts, p) // it is in order already
			continue
		case n > maxRewrite:
			note("%q was not given to the model: it has %d characters, more than %d", p.heading, n, maxRewrite)
			out.parts = append(out.parts, p)
			continue
		}
		answer, err := r.rewriter.Rewrite(ctx, text)
		if ctx.Err() != nil {
			return divided{}, ctx.Err()
		}
		if err != nil {
			note("%q stays as it is: the model did not answer: %v", p.heading, err)
			out.parts, out.partial = append(out.parts, p), true
			continue
		}
		better, ok := p.rewritten(text, answer)
		if !ok {
			note("%q stays as it is: the model changed its words", p.heading)
			better = []part{p}
		}
		out.parts = append(out.parts, better...)
	}
	return out, nil
}

func (p part) hasTable() bool {
	for _, u := range p.units {
		if u.kind == document.Table || u.kind == document.Code {
			return true
		}
	}
	return false
}

// rewritten makes parts of a model's answer; ok is false if its words are not those of the text. Pages and blocks are
// found by how many letters come before a paragraph.
func (p part) rewritten(text, answer string) ([]part, bool) {
	var said []string // every paragraph, headings without their mark
	var heads []bool
	for _, paragraph := range prose.Paragraphs(strings.ReplaceAll(answer, "\r\n", "\n")) {
		for paragraph != "" {
			line, rest, _ := strings.Cut(paragraph, "\n")
			head := strings.TrimLeft(line, "#")
			if !strings.HasPrefix(line, "#") || !strings.HasPrefix(head, " ") || strings.Contains(text, line) {
				said, heads = append(said, paragraph), append(heads, false)
				break
			}
			said, heads = append(said, strings.TrimSpace(head)), append(heads, true)
			paragraph = strings.TrimSpace(rest)
		}
	}
	if !prose.SameWords(strings.Join(said, "\n"), text) {
		return nil, false
	}
	out := []part{{heading: p.heading, path: p.path}}
	seen := 0
	for i, s := range said {
		from := p.unitAt(seen)
		seen += length(s)
		if heads[i] {
			path := append(append([]string(nil), p.path...), p.heading)
			if p.heading == "" {
				path = path[:len(path)-1]
			}
			out = append(out, part{heading: s, path: path})
			continue
		}
		u := unit{text: s, before: "\n\n", kind: document.Paragraph, page: from.page, block: from.block}
		last := &out[len(out)-1]
		last.units = append(last.units, u)
	}
	var kept []part
	for _, q := range out {
		if len(q.units) == 0 && q.heading != p.heading {
			q.units = []unit{{text: q.heading, kind: document.Heading}}
		}
		if len(q.units) > 0 {
			kept = append(kept, q)
		}
	}
	return kept, true
}

// unitAt finds the unit that holds the letter after so many.
func (p part) unitAt(letters int) unit {
	for _, u := range p.units {
		n := length(u.text)
		if letters < n {
			return u
		}
		letters -= n
	}
	return p.units[len(p.units)-1]
}
