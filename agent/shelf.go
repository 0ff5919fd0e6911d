package agent

import (
	"strings"
	"sync"

	"docent/agent/internal/words"
)

// shelf is what the guide knows of one release before any question: how often words stand in its texts, and what its
// exhibits are called. It is read-only once built.
type shelf struct {
	vocabulary *words.Vocabulary
	names      []name
	languages  []string // of its texts
}

// name is what one exhibit is called in one language.
type name struct {
	exhibit string
	title   string
	terms   words.Terms
	stems   []string // of the title, without function words
	han     string   // the title's Chinese characters
}

func newShelf(lib Library) *shelf {
	s := &shelf{vocabulary: words.NewVocabulary()}
	seen := make(map[string]bool)
	languages := make(map[string]bool)
	for _, sec := range lib.Sections("", "") {
		s.vocabulary.Add(sec.Language, sec.Heading+"\n"+sec.Text)
		if !languages[sec.Language] {
			languages[sec.Language] = true
			s.languages = append(s.languages, sec.Language)
		}
		if sec.Exhibit == "" || seen[sec.Exhibit] {
			continue
		}
		seen[sec.Exhibit] = true
		if e, ok := lib.Exhibit(sec.Exhibit); ok {
			for _, title := range e.Title {
				s.names = append(s.names, newName(e.ID, title))
			}
		}
	}
	return s
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

// shelves keeps the shelves of the release in use and the one before, which may still be answering.
type shelves struct {
	mu   sync.Mutex
	kept []keptShelf // newest last, at most two
}

type keptShelf struct {
	release string
	shelf   func() *shelf
}

// of returns the shelf of a release, building it once.
func (s *shelves) of(lib Library) *shelf {
	return s.entry(lib)()
}

func (s *shelves) entry(lib Library) func() *shelf {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.kept {
		if k.release == lib.Release() {
			return k.shelf
		}
	}
	k := keptShelf{lib.Release(), sync.OnceValue(func() *shelf { return newShelf(lib) })}
	s.kept = append(s.kept, k)
	if len(s.kept) > 2 {
		s.kept = s.kept[1:]
	}
	return k.shelf
}
