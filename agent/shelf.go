package agent

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"docent/agent/internal/words"
	"docent/agent/plan"
	"docent/localindex/gallery"
)

// shelf is what the guide knows of one release before any question: how often words stand in its texts, and what its
// exhibits are called. It is read-only once built.
type shelf struct {
	vocabulary *words.Vocabulary
	names      []name
	topics     topics
	people     []string         // family names in Chinese texts
	languages  []string         // of its texts
	gallery    *gallery.Gallery // nil where the library has none
	catalogue  *plan.Catalogue
}

func newShelf(lib Library) *shelf {
	s := &shelf{vocabulary: words.NewVocabulary(), topics: topics{stems: make(map[string]bool)}, catalogue: &plan.Catalogue{}}
	seen := make(map[string]bool)
	languages := make(map[string]bool)
	var chinese []string
	for _, sec := range lib.Sections("", "") {
		if sec.Language == words.Chinese {
			chinese = append(chinese, sec.Text)
		}
		s.vocabulary.Add(sec.Language, sec.Heading+"\n"+strings.Join(sec.Keywords, "\n")+"\n"+sec.Text)
		if !languages[sec.Language] {
			languages[sec.Language] = true
			s.languages = append(s.languages, sec.Language)
		}
		if sec.Exhibit == "" || seen[sec.Exhibit] {
			continue
		}
		seen[sec.Exhibit] = true
		if e, ok := lib.Exhibit(sec.Exhibit); ok {
			s.catalogue.Exhibits = append(s.catalogue.Exhibits, plan.Named{ID: e.ID, Hall: e.Hall, Name: e.Title, Keywords: e.Keywords})
			for _, language := range slices.Sorted(maps.Keys(e.Title)) {
				s.names = append(s.names, newName(e.ID, e.Title[language]))
				s.topics.add(e.Title[language])
			}
			for _, maker := range e.Maker {
				s.topics.add(maker)
			}
		}
	}
	s.people = peopleIn(chinese)
	if l, ok := lib.(Galleried); ok {
		s.gallery = l.Gallery()
		s.catalogue = plan.NewCatalogue(s.gallery)
	}
	return s
}

// topics are the words of titles and makers' names.
type topics struct {
	stems map[string]bool
	han   strings.Builder
}

func (t *topics) add(name string) {
	terms := words.Extract(name)
	for _, stem := range terms.Latin {
		t.stems[stem] = true
	}
	t.han.WriteString(terms.Han + " ")
}

// has reports whether a unit is a word of a title or a maker's name.
func (t *topics) has(u unit) bool {
	for _, stem := range u.stems {
		if t.stems[stem] {
			return true
		}
	}
	for _, h := range u.han {
		if strings.Contains(t.han.String(), h) {
			return true
		}
	}
	return false
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
