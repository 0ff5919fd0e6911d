package text

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestXQuAD measures retrieval on real questions in Chinese and English: one paragraph is one passage, and a
// question's relevant passage is the paragraph it was asked about.
func TestXQuAD(t *testing.T) {
	for _, tt := range []struct {
		language          string
		leastR1, leastMRR float64
	}{
		{"zh", 0.92, 0.95},
		{"en", 0.92, 0.95},
	} {
		t.Run(tt.language, func(t *testing.T) {
			docs, questions := readXQuAD(t, tt.language)
			index := build(t, docs)
			first, reciprocal := 0, 0.0
			for _, q := range questions {
				hits, err := index.Search(t.Context(), Query{Text: q.text, Language: tt.language})
				if err != nil {
					t.Fatal(err)
				}
				for rank, h := range hits {
					if h.ID == q.passage {
						if rank == 0 {
							first++
						}
						reciprocal += 1 / float64(rank+1)
						break
					}
				}
			}
			r1, mrr := float64(first)/float64(len(questions)), reciprocal/float64(len(questions))
			t.Logf("%d passages, %d questions: recall@1 %.3f, MRR@10 %.3f", len(docs), len(questions), r1, mrr)
			if r1 < tt.leastR1 || mrr < tt.leastMRR {
				t.Errorf("recall@1 %.3f, MRR@10 %.3f; want at least %.3f, %.3f", r1, mrr, tt.leastR1, tt.leastMRR)
			}
		})
	}
}

type question struct{ text, passage string }

func readXQuAD(t *testing.T, language string) (docs []Doc, questions []question) {
	t.Helper()
	dir := cmp.Or(os.Getenv("DOCENT_DATA"), "../../../shared/data")
	data, err := os.ReadFile(filepath.Join(dir, "xquad", "xquad."+language+".json"))
	if os.IsNotExist(err) {
		t.Skipf("no XQuAD data in %s (set DOCENT_DATA)", dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	var squad struct {
		Data []struct {
			Paragraphs []struct {
				Context string
				QAs     []struct{ Question string }
			}
		}
	}
	if err := json.Unmarshal(data, &squad); err != nil {
		t.Fatal(err)
	}
	for i, d := range squad.Data {
		for j, p := range d.Paragraphs {
			id := fmt.Sprintf("%d-%d", i, j)
			docs = append(docs, Doc{ID: id, Text: p.Context, Language: language, Domain: "exhibit"})
			for _, q := range p.QAs {
				questions = append(questions, question{q.Question, id})
			}
		}
	}
	return docs, questions
}
