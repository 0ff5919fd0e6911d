package chunk

import (
	"fmt"
	"slices"
	"strings"

	"docent/localindex/document"
)

// Proposal is how a document is best divided, and why.
type Proposal struct {
	Chunkers []Kind
	Sizes    Sizes
	Reason   string // in plain words, for whoever may overrule it
}

// What a recommendation rests on.
const (
	longSection  = DefaultSection // characters under one heading that are too many to be about one thing
	wallOfText   = 1200           // characters of a paragraph without a break
	poorOCR      = 0.75           // mean confidence of recognised pages below which words are broken
	shortEntries = 160            // characters under a heading: a catalogue of entries
	brokenLines  = 0.3            // share of paragraphs that end within a sentence: lines were not put together
	manyBlocks   = 12             // paragraphs from which on shares mean something
	smallPassage = 250            // characters of a passage of a catalogue of entries
)

// measures are what is counted of a document.
type measures struct {
	blocks, headings, letters, longest, unfinished, paragraphs int
	largest, entries                                           int // characters of the longest part, and parts
	confidence                                                 float64
	recognised                                                 int
}

// Recommend looks at a document and proposes how to divide it. Whether there is a model or vectors is not known here:
// the caller leaves out what it does not have.
func Recommend(d document.Document) Proposal {
	m := measure(d)
	p := Proposal{Chunkers: []Kind{Structure, Recursive}, Sizes: Sizes{Section: DefaultSection, Passage: DefaultPassage}}
	var why []string
	say := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	switch {
	case m.blocks == 0:
		say("there is no text")
	case m.headings == 0 && m.letters > longSection:
		say("%d characters without any heading: boundaries are looked for where the subject changes", m.letters)
		p.Chunkers = append(p.Chunkers, Semantic)
	case m.largest > 2*longSection:
		say("headings are rare: %d characters stand under one of them, so boundaries are looked for within", m.largest)
		p.Chunkers = append(p.Chunkers, Semantic)
	case m.longest > wallOfText:
		say("a paragraph of %d characters: boundaries are looked for within", m.longest)
		p.Chunkers = append(p.Chunkers, Semantic)
	case m.headings >= manyBlocks && m.letters/max(1, m.entries) <= shortEntries:
		say("many short entries, %d characters each: small passages", m.letters/max(1, m.entries))
		p.Sizes.Passage = smallPassage
	case m.headings == 0:
		say("a short text without headings: its paragraphs are enough")
	default:
		say("%d headings divide it well", m.headings)
	}
	messy := false
	if m.recognised > 0 && m.confidence < poorOCR {
		say("%d pages were recognised with a confidence of %.2f: a model could put their paragraphs together", m.recognised, m.confidence)
		messy = true
	}
	if m.paragraphs >= manyBlocks && float64(m.unfinished) > brokenLines*float64(m.paragraphs) && m.headings*3 < m.paragraphs {
		say("%d of %d paragraphs end within a sentence: a model could put them together", m.unfinished, m.paragraphs)
		messy = true
	}
	if messy {
		p.Chunkers = append(p.Chunkers, Model)
	}
	slices.SortFunc(p.Chunkers, func(a, b Kind) int { return slices.Index(Kinds(), a) - slices.Index(Kinds(), b) })
	p.Reason = strings.Join(why, "; ")
	return p
}

func measure(d document.Document) measures {
	m := measures{blocks: len(d.Blocks)}
	part := 0
	for _, b := range d.Blocks {
		n := length(b.Text)
		switch b.Kind {
		case document.Heading:
			m.headings++
			part = 0
			m.entries++
			continue
		case document.Paragraph:
			m.paragraphs++
			m.longest = max(m.longest, n)
			if unfinished(b.Text) {
				m.unfinished++
			}
		}
		m.letters += n
		part += n
		m.largest = max(m.largest, part)
	}
	for _, r := range d.Recognised {
		m.recognised++
		m.confidence += r.Confidence
	}
	if m.recognised > 0 {
		m.confidence /= float64(m.recognised)
	}
	return m
}

// unfinished reports whether a paragraph ends within a sentence.
func unfinished(s string) bool {
	s = strings.TrimRight(s, "\"')]”’」』）》 ")
	return s != "" && !strings.ContainsRune("。！？；：.!?;:…", []rune(s)[len([]rune(s))-1])
}
