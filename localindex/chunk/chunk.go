// Package chunk divides documents into sections, which answers are given from, and passages, which are searched.
//
// It is a pipeline of chunkers: structure (headings and paragraphs) is always the first; a model may set messy text
// right, similarity may find where the subject changes, and recursive division at sentences, clauses and words keeps
// everything within its size. The same document gives the same sections.
package chunk

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"docent/localindex/document"
	"docent/localindex/internal/prose"
)

// Kind names a chunker.
type Kind string

// The chunkers.
const (
	Structure Kind = "structure" // one section for each heading; always there
	Model     Kind = "model"     // messy text set right by a model
	Semantic  Kind = "semantic"  // boundaries where neighbours are least alike
	Recursive Kind = "recursive" // bounded sizes; always there
)

// Kinds are all chunkers in the order they run.
func Kinds() []Kind { return []Kind{Structure, Model, Semantic, Recursive} }

// Sizes bound what comes out.
type Sizes struct {
	// Section is the most characters of a section.
	Section int `json:"section"`
	// Passage is the most characters of Chinese in a passage; of English it is 7/4 of that.
	Passage int `json:"passage"`
}

// The default sizes: an answer is written from a few sections, a passage is found by what it is about.
const (
	DefaultSection = 2200
	DefaultPassage = 400
)

// Limits of sizes that can be asked for.
const (
	minSection, maxSection = 200, 20_000
	minPassage, maxPassage = 40, 4_000
)

// Section is a part of a document under one heading.
type Section struct {
	Heading  string   // of the part, or the title where there is none above it; may be empty
	Path     []string // headings above, outermost first
	Text     string   // paragraphs with an empty line between them
	Page     int      // where it begins, 1-based; 0 where the document has no pages
	LastPage int
	First    int // of the document's blocks, and Last the one behind it
	Last     int
	Passages []Passage
}

// Passage is a part of a section.
type Passage struct {
	Text     string
	Page     int
	LastPage int
	First    int
	Last     int
}

// Result is a divided document.
type Result struct {
	Sections []Section
	Notes    []string // in plain words: what a chunker could not do
	Partial  bool     // a model did not answer, and may another time
}

// Options say how documents are divided.
type Options struct {
	Chunkers   []Kind     // besides structure and recursive, which always run
	Sizes      Sizes      // zero values are the defaults
	Similarity Similarity // for semantic
	Rewriter   Rewriter   // for model
}

// Pipeline divides documents. It is safe for concurrent use if its similarity and rewriter are.
type Pipeline struct {
	sizes Sizes
	steps []step
}

// step makes other parts of parts.
type step interface {
	divide(ctx context.Context, parts []part) (divided, error)
}

// New makes a pipeline.
func New(o Options) (*Pipeline, error) {
	p := &Pipeline{sizes: o.Sizes}
	if p.sizes.Section == 0 {
		p.sizes.Section = DefaultSection
	}
	if p.sizes.Passage == 0 {
		p.sizes.Passage = DefaultPassage
	}
	if s := p.sizes; s.Section < minSection || s.Section > maxSection || s.Passage < minPassage || s.Passage > maxPassage {
		return nil, fmt.Errorf("make a chunk pipeline: sizes are %d to %d characters of a section and %d to %d of a passage, not %d and %d",
			minSection, maxSection, minPassage, maxPassage, s.Section, s.Passage)
	}
	if p.sizes.Section < 2*p.sizes.Passage {
		return nil, fmt.Errorf("make a chunk pipeline: a section of %d characters must hold two passages of %d", p.sizes.Section, p.sizes.Passage)
	}
	for _, k := range o.Chunkers {
		if !slices.Contains(Kinds(), k) {
			return nil, fmt.Errorf("make a chunk pipeline: there is no chunker %q, only %v", k, Kinds())
		}
	}
	if slices.Contains(o.Chunkers, Model) {
		if o.Rewriter == nil {
			return nil, fmt.Errorf("make a chunk pipeline: the chunker %q needs a model, and none is configured", Model)
		}
		p.steps = append(p.steps, rewriting{o.Rewriter})
	}
	if slices.Contains(o.Chunkers, Semantic) {
		if o.Similarity == nil {
			return nil, fmt.Errorf("make a chunk pipeline: the chunker %q needs vectors, and there are none", Semantic)
		}
		p.steps = append(p.steps, semantic{o.Similarity, p.sizes})
	}
	return p, nil
}

// Chunk divides a document. Its words stay as they are and in their order, but for those of headings, which head
// sections, and for the marks between cells of tables.
func (p *Pipeline) Chunk(ctx context.Context, d document.Document) (Result, error) {
	parts := structure(d)
	var r Result
	for _, s := range p.steps {
		d, err := s.divide(ctx, parts)
		if err != nil {
			return Result{}, err
		}
		parts = d.parts
		r.Notes, r.Partial = append(r.Notes, d.notes...), r.Partial || d.partial
	}
	for _, part := range parts {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		r.Sections = append(r.Sections, p.sections(part)...)
	}
	return r, nil
}

// divided is what a step made.
type divided struct {
	parts   []part
	notes   []string
	partial bool // another try may give more
}

// part is what becomes one section, or several if it is too long.
type part struct {
	heading string
	path    []string
	units   []unit
}

// unit is a stretch of text that came from one block.
type unit struct {
	text   string
	before string // white space between it and the unit before
	kind   document.Kind
	page   int
	block  int
	breaks bool // a new passage should begin here
}

// structure makes a part of every heading with what is below it, up to the next heading.
func structure(d document.Document) []part {
	var parts []part
	current := part{heading: d.Title}
	type heading struct {
		level int
		text  string
	}
	var open []heading
	flush := func() {
		if len(current.units) > 0 {
			parts = append(parts, current)
		}
	}
	for i, b := range d.Blocks {
		if b.Kind != document.Heading {
			current.units = append(current.units, blockUnits(b, i, len(current.units) > 0 && d.Blocks[i-1].Kind == document.ListItem)...)
			continue
		}
		flush()
		for len(open) > 0 && open[len(open)-1].level >= b.Level {
			open = open[:len(open)-1]
		}
		current = part{heading: b.Text}
		for _, h := range open {
			current.path = append(current.path, h.text)
		}
		if d.Title != "" && b.Text != d.Title && (len(open) == 0 || open[0].text != d.Title) {
			current.path = append([]string{d.Title}, current.path...)
		}
		open = append(open, heading{b.Level, b.Text})
		// A heading with nothing below it still says something.
		if next := i + 1; next == len(d.Blocks) || d.Blocks[next].Kind == document.Heading && d.Blocks[next].Level <= b.Level {
			current.units = []unit{{text: b.Text, kind: document.Heading, page: b.Page, block: i}}
		}
	}
	flush()
	return parts
}

// blockUnits are the units of a block: the rows of a table one by one, anything else as it is.
func blockUnits(b document.Block, i int, afterItem bool) []unit {
	before := "\n\n"
	if b.Kind == document.ListItem && afterItem {
		before = "\n"
	}
	lines := []document.Line{{Text: b.Text, Page: b.Page}}
	if b.Kind == document.Table {
		lines = b.Lines()
	}
	var units []unit
	for _, line := range lines {
		if t := strings.TrimSpace(line.Text); t != "" {
			if b.Kind == document.ListItem {
				t = strings.Repeat("  ", min(max(b.Level, 1), 7)-1) + t
			}
			units = append(units, unit{text: t, before: before, kind: b.Kind, page: line.Page, block: i})
			before = "\n"
		}
	}
	return units
}

// length is the size of a text in characters. White space counts as one character within text of scripts that have
// spaces, and not at all beside others: formats differ in it, and must not be divided differently.
func length(s string) int {
	n := 0
	measured(s, func(rune) { n++ })
	return n
}

// size is the size of a text in units of prose, white space counted as by length.
func size(s string) int {
	n := 0
	measured(s, func(r rune) {
		if prose.Wide(r) {
			n += prose.WideUnits
		} else {
			n += prose.NarrowUnits
		}
	})
	return n
}

func measured(s string, count func(rune)) {
	last, space := rune(0), false
	for _, r := range s {
		if unicode.IsSpace(r) {
			space = true
			continue
		}
		if space && last != 0 && !prose.Unspaced(last) && !prose.Unspaced(r) {
			count(' ')
		}
		count(r)
		last, space = r, false
	}
}
