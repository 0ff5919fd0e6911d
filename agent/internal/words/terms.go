package words

import "strings"

// Terms is a text made ready for matching: the stems of its Latin words and numbers, and its Chinese characters.
type Terms struct {
	Stems map[string]int // stem → how often
	Latin []string       // the stems in order
	Han   string         // the text's Chinese runs, folded, joined by spaces
}

// Extract takes the terms of a text. English function words are left out; a term that is looked for is never one.
func Extract(text string) Terms {
	folded := Fold(text)
	t := Terms{Stems: make(map[string]int)}
	for _, w := range latinWords(folded) {
		if englishStop[w] {
			continue
		}
		stem := Stem(w)
		t.Stems[stem]++
		t.Latin = append(t.Latin, stem)
	}
	var b strings.Builder
	inRun := false
	for _, r := range folded {
		if isHan(r) {
			b.WriteRune(r)
		} else if inRun {
			b.WriteByte(' ')
		}
		inRun = isHan(r)
	}
	t.Han = b.String()
	return t
}

// LatinWords returns the Latin words and numbers of a text, folded, in order.
func LatinWords(text string) []string { return latinWords(Fold(text)) }

// HanChunks returns the Chinese runs of a text between function words, in order.
func HanChunks(text string) []string {
	var out []string
	for _, run := range hanRuns(Fold(text)) {
		out = append(out, run.chunks...)
	}
	return out
}

// Distinct returns the distinct terms: stems, and pairs of Chinese characters.
func (t Terms) Distinct() map[string]bool {
	out := make(map[string]bool, len(t.Stems))
	for s := range t.Stems {
		out[s] = true
	}
	for run := range strings.SplitSeq(t.Han, " ") {
		if run == "" {
			continue
		}
		for _, b := range bigrams(run) {
			out[b] = true
		}
	}
	return out
}
