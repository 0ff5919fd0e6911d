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
// question's relevant passage is the paragraph it was asked about. The weights were chosen by articles of even numbers;
// the others show that they were not made for those alone.
func TestXQuAD(t *testing.T) {
	for _, tt := range []struct {
		language          string
		leastR1, leastMRR [2]float64
	}{
		{"zh", [2]float64{0.920, 0.960}, [2]float64{0.948, 0.975}},
		{"en", [2]float64{0.925, 0.945}, [2]float64{0.948, 0.965}},
	} {
		t.Run(tt.language, func(t *testing.T) {
			docs, questions := readXQuAD(t, tt.language)
			index := build(t, docs)
			var asked, first, reciprocal [2]float64
			for _, q := range questions {
				hits, err := index.Search(t.Context(), Query{Text: q.text, Language: tt.language})
				if err != nil {
					t.Fatal(err)
				}
				half := q.article % 2
				asked[half]++
				for rank, h := range hits {
					if h.ID == q.passage {
						if rank == 0 {
							first[half]++
						}
						reciprocal[half] += 1 / float64(rank+1)
						break
					}
				}
			}
			t.Logf("%d passages, %d questions: recall@1 %.3f, MRR@10 %.3f", len(docs), len(questions),
				(first[0]+first[1])/float64(len(questions)), (reciprocal[0]+reciprocal[1])/float64(len(questions)))
			for half, name := range []string{"articles chosen by", "the other articles"} {
				r1, mrr := first[half]/asked[half], reciprocal[half]/asked[half]
				t.Logf("%s: %.0f questions: recall@1 %.3f, MRR@10 %.3f", name, asked[half], r1, mrr)
				if r1 < tt.leastR1[half] || mrr < tt.leastMRR[half] {
					t.Errorf("%s: recall@1 %.3f, MRR@10 %.3f; want at least %.3f, %.3f", name, r1, mrr, tt.leastR1[half], tt.leastMRR[half])
				}
			}
		})
	}
}

type question struct {
	text, passage string
	article       int
}

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
				questions = append(questions, question{q.Question, id, i})
			}
		}
	}
	return docs, questions
}
