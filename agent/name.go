package agent

import (
	"slices"
	"strings"

	"docent/agent/internal/words"
)

// name is what one exhibit is called in one language.
type name struct {
	exhibit string
	title   string
	terms   words.Terms
	stems   []string // of the title, without function words
	han     string   // the title's Chinese characters
}

func newName(exhibit, title string) name {
	n := name{exhibit: exhibit, title: title, terms: words.Extract(title)}
	for _, w := range words.LatinWords(title) {
		if !words.IsStop(w) {
			n.stems = append(n.stems, words.Stem(w))
		}
	}
	n.han = strings.ReplaceAll(n.terms.Han, " ", "")
	return n
}

// in reports whether a text has the title.
func (n name) in(t words.Terms) bool {
	return (n.han == "" || strings.Contains(t.Han, n.han)) && (len(n.stems) == 0 || indexRun(t.Latin, n.stems) >= 0)
}

// takeNames finds the exhibits named in a question and removes their names from what is left of it.
func (s *shelf) takeNames(stems, chunks []string) (about, restStems, restChunks []string) {
	restStems, restChunks = stems, chunks
	for _, n := range s.named(stems, chunks) {
		if !slices.Contains(about, n.exhibit) {
			about = append(about, n.exhibit)
		}
		if at := indexRun(restStems, n.stems); at >= 0 {
			restStems = slices.Concat(restStems[:at], restStems[at+len(n.stems):])
		}
		if n.han != "" {
			restChunks = cutOut(restChunks, n.han)
		}
	}
	return about, restStems, restChunks
}

func cutOut(chunks []string, name string) []string {
	var out []string
	for _, c := range chunks {
		c = strings.ReplaceAll(c, fullName(name), name)
		for part := range strings.SplitSeq(c, name) {
			if part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}

// fullName is a Chinese title with its last word in full: a set is 集 in a title and 集合 in what visitors write.
func fullName(han string) string {
	if strings.HasSuffix(han, "集") {
		return han + "合"
	}
	return han
}

// indexRun returns where part stands in all as an unbroken run, else -1.
func indexRun(all, part []string) int {
	if len(part) == 0 {
		return -1
	}
	for i := 0; i+len(part) <= len(all); i++ {
		if slices.Equal(all[i:i+len(part)], part) {
			return i
		}
	}
	return -1
}

// named returns the titles that stand whole in the question. A title inside a longer one that stands there too
// (Dragon in Dragon Curve) is not named.
func (s *shelf) named(stems, chunks []string) []name {
	var out []name
	for _, n := range s.names {
		latin := indexRun(stems, n.stems) >= 0
		han := len([]rune(n.han)) >= 2 && slices.ContainsFunc(chunks, func(c string) bool { return strings.Contains(c, n.han) })
		if latin && (n.han == "" || han) || han && len(n.stems) == 0 { // 规则30 is named by both its parts
			out = append(out, n)
		}
	}
	return slices.DeleteFunc(slices.Clone(out), func(n name) bool {
		return slices.ContainsFunc(out, func(m name) bool {
			return m.exhibit != n.exhibit && (n.han != "" && m.han != n.han && strings.Contains(m.han, n.han) ||
				n.han == "" && len(m.stems) > len(n.stems) && indexRun(m.stems, n.stems) >= 0)
		})
	})
}
