package bench

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"docent/localindex/gallery"
	"docent/localindex/ingest"
)

// vocabulary draws words as a language does: a few often, most seldom (Zipf's law).
type vocabulary struct {
	words []string
	zipf  *rand.Zipf
}

const vocabularySize = 30_000

// newVocabulary makes words that are none.
func newVocabulary(random *rand.Rand, chinese bool) vocabulary {
	v := vocabulary{zipf: rand.NewZipf(random, 1.07, 2.7, vocabularySize-1)} // exponents of running text
	syllables := []string{"ka", "ri", "to", "mel", "an", "der", "os", "fi", "lun", "per", "sta", "vo", "qui", "tra", "ne", "bar", "sol", "em", "gla", "hu"}
	for range vocabularySize {
		var b strings.Builder
		n := 1 + random.IntN(3)
		for range n + 1 {
			if chinese {
				b.WriteRune(rune(0x4E00 + random.IntN(3000)))
			} else {
				b.WriteString(syllables[random.IntN(len(syllables))])
			}
		}
		v.words = append(v.words, b.String())
	}
	return v
}

func (v vocabulary) word() string { return v.words[v.zipf.Uint64()] }

// sentence is a few words; about are words of the subject, which come in between.
func (v vocabulary) sentence(random *rand.Rand, about []string, chinese bool) string {
	var words []string
	for range 8 + random.IntN(10) {
		if random.IntN(4) == 0 {
			words = append(words, about[random.IntN(len(about))])
		} else {
			words = append(words, v.word())
		}
	}
	if chinese {
		return strings.Join(words, "") + "。"
	}
	return strings.ToUpper(words[0][:1]) + strings.Join(words, " ")[1:] + "."
}

// newGallery makes a gallery of so many exhibits in two languages, with about so many passages in all, and as many
// questions as asked for, each with words of one passage.
func newGallery(exhibits, passages, questions int) (*gallery.Gallery, []gallery.Passage, []Question) {
	random := rand.New(rand.NewPCG(5, 6)) // the same each time
	g := &gallery.Gallery{ID: "bench", Name: gallery.Localized{"en": "Bench", "zh": "试验"}, Languages: []string{"en", "zh"}, TimeZone: "UTC"}
	vocabularies := map[string]vocabulary{"en": newVocabulary(random, false), "zh": newVocabulary(random, true)}
	for h := range 10 {
		g.Halls = append(g.Halls, gallery.Hall{ID: fmt.Sprintf("hall-%d", h), Name: gallery.Localized{"en": fmt.Sprintf("Hall %d", h)}})
	}
	var all []gallery.Passage
	each := max(1, passages/(2*exhibits)) // passages of an exhibit in a language
	for i := range exhibits {
		e := gallery.Exhibit{ID: fmt.Sprintf("exhibit-%d", i), Label: fmt.Sprint(1000 + i), Hall: fmt.Sprintf("hall-%d", i%10), Title: gallery.Localized{}}
		for _, language := range g.Languages {
			v, chinese := vocabularies[language], language == "zh"
			about := []string{v.words[random.IntN(len(v.words))], v.words[random.IntN(len(v.words))], v.words[random.IntN(len(v.words))]}
			e.Title[language] = strings.Join(about[:2], map[bool]string{true: "", false: " "}[chinese])
			for n := range each {
				s := gallery.Section{
					ID: fmt.Sprintf("%s/%s/%d", e.ID, language, n+1), Exhibit: e.ID, Hall: e.Hall, Domain: gallery.DomainExhibit,
					Language: language, Heading: v.word(), Document: "bench",
				}
				var text []string
				for range 4 {
					text = append(text, v.sentence(random, about, chinese))
				}
				s.Text = strings.Join(text, map[bool]string{true: "", false: " "}[chinese])
				g.Sections = append(g.Sections, s)
				all = append(all, ingest.Passages(s)...)
			}
		}
		g.Exhibits = append(g.Exhibits, e)
	}
	languages := make(map[string]string, len(g.Sections))
	for _, s := range g.Sections {
		languages[s.ID] = s.Language
	}
	var asked []Question
	for range questions {
		p := all[random.IntN(len(all))]
		asked = append(asked, Question{Text: someOf(random, p.Text), Language: languages[p.Section]})
	}
	return g, all, asked
}

// someOf takes a few words that stand together, as a question does.
func someOf(random *rand.Rand, text string) string {
	if words := strings.Fields(text); len(words) > 12 {
		at := random.IntN(len(words) - 8)
		return strings.Join(words[at:at+8], " ")
	}
	runes := []rune(text)
	if len(runes) < 20 {
		return text
	}
	at := random.IntN(len(runes) - 16)
	return string(runes[at : at+16])
}
