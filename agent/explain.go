package agent

import (
	"strings"
	"unicode"

	"docent/localindex/gallery"
)

// Lengths of the default explanation, about one minute when read aloud: words for Latin script, characters for
// Chinese. A text is filled up to the lower figure and never passes the upper one where a sentence allows.
const (
	explainWordsMin, explainWordsMax = 110, 150
	explainHanMin, explainHanMax     = 220, 300
	overviewShare                    = 0.45 // of that for a question without content, such as "What is this?"
)

// explain chooses the sentences of an exhibit's explanation in one language: the opening of each section in the order
// they were written, those of the visitor's level first, longer where there is room. It is empty where the exhibit
// has no text in the language. What stands in told, the answers before, is left out.
func (d *desk) explain(exhibit, language string, level gallery.Level, share float64, told string) []*candidate {
	sections := explainSections(d.lib.Sections(exhibit, language), level)
	texts := make([][]*candidate, len(sections))
	for i, s := range sections {
		for _, p := range s.Passages {
			opened := d.open(p, s.Section)
			for _, sentence := range opened.sentences {
				if told != "" && strings.Contains(told, strings.TrimRight(sentence.text, sentenceEnds)) {
					continue
				}
				texts[i] = append(texts[i], &candidate{sentence: sentence, passage: opened})
			}
		}
	}
	low, high := explainBounds(language, share)
	taken := fill(texts, low, high)
	var out []*candidate
	for i, n := range taken {
		out = append(out, texts[i][:n]...)
	}
	return out
}

// sentenceEnds are the marks that end a sentence; in an answer the marks of sources stand before them.
const sentenceEnds = ".!?。！？"

// factsSuffix ends the id of the section that tells an exhibit's catalogue facts.
const factsSuffix = "/facts"

// explainSections puts the sections of the visitor's level first and leaves out those written for others, unless
// there is nothing else; the catalogue facts are the last resort.
func explainSections(all []Section, level gallery.Level) []Section {
	var own, general, others, facts []Section
	for _, s := range all {
		switch {
		case strings.HasSuffix(s.ID, factsSuffix): // a table put into words
			facts = append(facts, s)
		case s.Level != "" && s.Level != gallery.LevelGeneral && s.Level == level:
			own = append(own, s)
		case s.Level == "" || s.Level == gallery.LevelGeneral:
			general = append(general, s)
		default:
			others = append(others, s)
		}
	}
	for _, out := range [][]Section{append(own, general...), others} {
		if len(out) > 0 {
			return out
		}
	}
	return facts
}

func explainBounds(language string, share float64) (low, high int) {
	low, high = explainWordsMin, explainWordsMax
	if language == "zh" || language == "ja" {
		low, high = explainHanMin, explainHanMax
	}
	return int(float64(low) * share), int(float64(high) * share)
}

// fill returns how many sentences to take from the front of each text: one of each in turn, as long as the next one
// fits under high, until low is reached and every text has had its first turn.
func fill(texts [][]*candidate, low, high int) []int {
	taken := make([]int, len(texts))
	closed := make([]bool, len(texts))
	length := 0
	for progress := true; progress && length < low; {
		progress = false
		for i, t := range texts {
			if closed[i] || taken[i] >= len(t) || length >= low {
				continue
			}
			n := spoken(t[taken[i]].text)
			if length > 0 && length+n > high {
				closed[i] = true // nothing after a sentence left out: the text would not hang together
				continue
			}
			taken[i]++
			length += n
			progress = true
		}
	}
	return taken
}

// spoken is the length of a text for the ear: Chinese characters, or words.
func spoken(text string) int {
	han := 0
	for _, r := range text {
		if unicode.Is(unicode.Han, r) {
			han++
		}
	}
	if han > 0 {
		return han
	}
	return len(strings.Fields(text))
}
