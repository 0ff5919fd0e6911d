package words

import (
	"math"
	"slices"
	"strings"
)

// Vocabulary counts in how many texts of a gallery each term stands. It knows no dictionary: what a word is, and how
// much it tells, follows from the gallery's own texts. It is read-only once built, and safe for concurrent use.
type Vocabulary struct {
	texts    map[string]int // language → number of texts
	stems    map[string]int // stem → number of texts
	han      map[string]int // one or two Chinese characters → number of texts
	chars    map[rune]int   // Chinese character → how often
	pairs    map[string]int // two Chinese characters → how often
	prefixes map[string][]string
}

// NewVocabulary returns an empty vocabulary.
func NewVocabulary() *Vocabulary {
	return &Vocabulary{
		texts: make(map[string]int), stems: make(map[string]int), han: make(map[string]int),
		chars: make(map[rune]int), pairs: make(map[string]int), prefixes: make(map[string][]string),
	}
}

// Add counts one text. All texts are added before the first look-up.
func (v *Vocabulary) Add(language, text string) {
	t := Extract(text)
	v.texts[language]++
	for s := range t.Stems {
		if v.stems[s] == 0 && len(s) >= prefixLength {
			p := s[:prefixLength]
			v.prefixes[p] = append(v.prefixes[p], s)
		}
		v.stems[s]++
	}
	seen := make(map[string]bool)
	for run := range strings.SplitSeq(t.Han, " ") {
		rs := []rune(run)
		for i, r := range rs {
			v.chars[r]++
			seen[string(r)] = true
			if i+1 < len(rs) {
				b := string(rs[i : i+2])
				v.pairs[b]++
				seen[b] = true
			}
		}
	}
	for b := range seen {
		v.han[b]++
	}
}

// Stem returns in how many texts a stem stands.
func (v *Vocabulary) Stem(stem string) int { return v.stems[stem] }

// Han returns in how many texts a Chinese word stands; for words of three characters and more, in how many at most.
func (v *Vocabulary) Han(word string) int {
	n := v.han[word]
	if runeCount(word) > 2 {
		for i, b := range bigrams(word) {
			if i == 0 || v.han[b] < n {
				n = v.han[b]
			}
		}
	}
	return n
}

// IDF is the weight of a term that stands in df of the texts of a language: ln(1 + (N − df + ½)/(df + ½)), as in BM25.
// A term that stands nowhere weighs most.
func (v *Vocabulary) IDF(language string, df int) float64 {
	n := max(v.texts[language], df)
	return math.Log(1 + (float64(n-df)+0.5)/(float64(df)+0.5))
}

// prefixLength is how many letters two stems must share to count as forms of one word.
const prefixLength = 5

// Variants returns the stems of the gallery that are forms of the same word as stem: itself, and stems of which one
// begins with the other and is at most five letters longer ("discov" and "discoveri", "mathemat" and
// "mathematician"). It is empty where the gallery does not know the word.
func (v *Vocabulary) Variants(stem string) []string {
	var out []string
	if v.stems[stem] > 0 {
		out = append(out, stem)
	}
	if len(stem) < prefixLength {
		return out
	}
	for _, s := range v.prefixes[stem[:prefixLength]] {
		short, long := stem, s
		if len(short) > len(long) {
			short, long = long, short
		}
		if s != stem && strings.HasPrefix(long, short) && len(long)-len(short) <= 5 {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return out
}

// minCohesion is the share of its appearances that the rarer character of a pair must have in the pair for the two
// to count as one word. Chosen on the sample gallery; 对称 and 几何 are above .5, 斯在 and 在平 below .2.
const minCohesion = 0.35

// Cohesion is how often two characters stand together, as a share of the appearances of the rarer one: 0…1.
func (v *Vocabulary) Cohesion(b string) float64 {
	rs := []rune(b)
	if len(rs) != 2 || v.pairs[b] == 0 {
		return 0
	}
	return float64(v.pairs[b]) / float64(min(v.chars[rs[0]], v.chars[rs[1]]))
}

// Segment cuts a chunk of Chinese characters into the units a question is matched by: pairs of characters that the
// gallery knows, without weak function characters (在, 有, 对 …) that hold to neither neighbour and without pairs that
// only bridge two words. What the gallery does not know stays too, because it is what the question may be about: as a
// pair, or as a single character where its neighbour belongs to a word the gallery knows.
func (v *Vocabulary) Segment(chunk string) []string {
	var out []string
	for _, part := range v.dropWeak([]rune(chunk)) {
		out = append(out, v.units(part)...)
	}
	return out
}

func (v *Vocabulary) dropWeak(rs []rune) [][]rune {
	var parts [][]rune
	start := 0
	for i, r := range rs {
		if !hanWeak[string(r)] && !(hanWeaker[string(r)] && (v.besideWord(rs, i) || i > 0 && i == len(rs)-1 && hanAfterVerb[string(r)])) {
			continue
		}
		if i > start && hanEnding[string(r)] && (i < 2 || v.Cohesion(string(rs[i-2:i])) < minCohesion) && v.pairs[string(rs[i-1:i+1])] == 0 {
			continue // it may end a word that the gallery does not know (都 in 首都)
		}
		if i > start && v.Cohesion(string(rs[i-1:i+1])) >= minCohesion ||
			i+1 < len(rs) && v.Cohesion(string(rs[i:i+2])) >= minCohesion {
			continue
		}
		if i > start {
			parts = append(parts, rs[start:i])
		}
		start = i + 1
	}
	if start < len(rs) {
		parts = append(parts, rs[start:])
	}
	return parts
}

// besideWord reports whether a word the gallery knows ends before rs[i] or begins after it.
func (v *Vocabulary) besideWord(rs []rune, i int) bool {
	return i >= 2 && v.Cohesion(string(rs[i-2:i])) >= minCohesion ||
		i+3 <= len(rs) && v.Cohesion(string(rs[i+1:i+3])) >= minCohesion
}

func (v *Vocabulary) units(rs []rune) []string {
	if len(rs) == 1 {
		return []string{string(rs)}
	}
	cohesion := func(i int) float64 { // of the pair that begins at i; 0 outside
		if i < 0 || i+2 > len(rs) {
			return 0
		}
		return v.Cohesion(string(rs[i : i+2]))
	}
	var out []string
	for i := 0; i+2 <= len(rs); i++ {
		own, left, right := cohesion(i), cohesion(i-1), cohesion(i+1)
		switch {
		case own < minCohesion && left > own && right > own: // a bridge between two words
		case own == 0 && left > 0:
			if i+2 == len(rs) || right == 0 && cohesion(i+2) > 0 {
				out = append(out, string(rs[i+1])) // what follows a word the gallery knows
			}
		case own == 0 && right > 0:
			if i == 0 {
				out = append(out, string(rs[i])) // what precedes one
			}
		case own == 0 && hanComplement[string(rs[i+1])]:
			out = append(out, string(rs[i]))
		default:
			out = append(out, string(rs[i:i+2]))
		}
	}
	return out
}
