package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"docent/agent/internal/words"
	"docent/localindex/gallery"
)

// paragraphs is a library of one language's paragraphs of the XQuAD questions. One paragraph can be left out.
type paragraphs struct {
	language string
	sections []Section
	terms    []map[string]bool
	df       map[string]int
	without  string
}

var _ Library = (*paragraphs)(nil)

func (p *paragraphs) Release() string                        { return "xquad-" + p.language }
func (p *paragraphs) Exhibit(string) (gallery.Exhibit, bool) { return gallery.Exhibit{}, false }

func (p *paragraphs) Sections(exhibit, language string) []Section {
	if exhibit != "" {
		return nil
	}
	return p.sections
}

func (p *paragraphs) Search(_ context.Context, q Query) ([]Hit, error) {
	var hits []Hit
	asked := words.Extract(q.Text).Distinct()
	for i, s := range p.sections {
		score := 0.0
		for term := range asked {
			if p.terms[i][term] {
				score += 1 / float64(1+p.df[term])
			}
		}
		if score > 0 && s.ID != p.without && s.Language == q.Language {
			hits = append(hits, Hit{Passage: s.Passages[0], Section: s.Section, Score: score})
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(len(hits), q.Limit)], nil
}

func (p *paragraphs) add(id, text string) {
	s := gallery.Section{ID: id, Language: p.language, Domain: gallery.DomainVenue, Text: text}
	p.sections = append(p.sections, Section{Section: s, Passages: []gallery.Passage{{ID: id + "#1", Section: id, Text: text}}})
	terms := words.Extract(text).Distinct()
	p.terms = append(p.terms, terms)
	for term := range terms {
		p.df[term]++
	}
}

type paragraphQuestion struct{ text, section string }

func readParagraphs(t *testing.T, language string) (*paragraphs, []paragraphQuestion) {
	t.Helper()
	data := cmp.Or(os.Getenv("DOCENT_DATA"), filepath.Join("..", "..", "shared", "data"))
	raw, err := os.ReadFile(filepath.Join(data, "xquad", "xquad."+language+".json"))
	if err != nil {
		t.Skipf("the XQuAD questions are not there: %v", err)
	}
	var squad struct {
		Data []struct {
			Paragraphs []struct {
				Context string
				Qas     []struct{ Question string }
			}
		}
	}
	if err := json.Unmarshal(raw, &squad); err != nil {
		t.Fatal(err)
	}
	p := &paragraphs{language: language, df: make(map[string]int)}
	var questions []paragraphQuestion
	for i, article := range squad.Data {
		for j, paragraph := range article.Paragraphs {
			id := fmt.Sprintf("%s/%d/%d", language, i, j)
			p.add(id, paragraph.Context)
			for _, q := range paragraph.Qas {
				questions = append(questions, paragraphQuestion{q.Question, id})
			}
		}
	}
	return p, questions
}

// TestThresholdOnXQuAD measures, on texts that nobody tuned the guide for, how often it answers from the paragraph a
// question was written for, and how often it still answers when that paragraph is taken out but others of the same
// article are left: nearly always a wrong answer.
func TestThresholdOnXQuAD(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	const asked = 100
	for _, language := range []string{words.English, words.Chinese} {
		p, questions := readParagraphs(t, language)
		r := rand.New(rand.NewPCG(1, 2))
		r.Shuffle(len(questions), func(i, j int) { questions[i], questions[j] = questions[j], questions[i] })
		shelf := newShelf(p)
		answers := func(q paragraphQuestion) answer {
			f, err := shelf.find(t.Context(), newDesk(p, "", nil), Turn{Question: q.text}, language)
			if err != nil {
				t.Fatal(err)
			}
			return f.answer
		}
		answered, right, wrong := 0, 0, 0
		for _, q := range questions[:asked] {
			p.without = ""
			if a := answers(q); a.answered {
				answered++
				if slices.ContainsFunc(a.sources, func(s Source) bool { return s.Section == q.section }) {
					right++
				}
			}
			p.without = q.section
			if answers(q).answered {
				wrong++
			}
		}
		t.Logf("%s: of %d questions %d answered, %d from the right paragraph; %d still answered without it", language, asked, answered, right, wrong)
		if answered < asked*65/100 || right < answered*96/100 || wrong > asked*10/100 {
			t.Errorf("%s: want 65 %% answered, 96 %% of them rightly, at most 10 %% answered without the paragraph", language)
		}
	}
}
