package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"docent/agent"
	"docent/agent/model"
)

// chat has a model on a scripted server write whole texts.
type chat struct{ client *model.Client }

func (c chat) Complete(ctx context.Context, system, user string, maxTokens int) (string, error) {
	var b strings.Builder
	for piece, err := range c.client.Stream(ctx, model.Request{MaxTokens: maxTokens, Messages: []model.Message{{Role: model.System, Content: system}, {Role: model.User, Content: user}}}) {
		if err != nil {
			return "", err
		}
		b.WriteString(piece)
	}
	return b.String(), nil
}

// serveJudge answers with the texts in turn; the last one goes on. A text that is a number is a status.
func serveJudge(t *testing.T, texts ...string) (w Writer, asked *[]string) {
	t.Helper()
	asked = new([]string)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		text := texts[min(len(*asked), len(texts)-1)]
		*asked = append(*asked, string(body))
		if text == "500" {
			http.Error(w, "no", http.StatusInternalServerError)
			return
		}
		data, err := json.Marshal(text)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%s},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", data)
	}))
	t.Cleanup(s.Close)
	client, err := model.New(model.Options{BaseURL: s.URL, Model: "judge"})
	if err != nil {
		t.Fatal(err)
	}
	return chat{client}, asked
}

func f(v float64) *float64 { return &v }

func TestJudged(t *testing.T) {
	yes, no := true, false
	answer := heard{
		text: "Roger Penrose found it [1]. It has two shapes [2].", done: agent.Done{Answered: true},
		sources: []agent.Source{{N: 1, Title: "Penrose", Quote: "Roger Penrose found it."}, {N: 2, Title: "Kites", Quote: "Kites fly."}},
	}
	refusal := heard{text: "The gallery has nothing on this.", done: agent.Done{}}
	answerable := Case{Question: "Who found it?", Contains: []string{"Roger Penrose", "1974"}}
	const good = `{"supported":[true,false],"relevant":[false,true],"covered":[true,false],"relevancy":0.75,"refused":false}`
	want := &Judged{Faithful: f(0.5), Precision: f(0.5), Recall: f(0.5), Relevant: f(0.75)}
	tests := []struct {
		name  string
		c     Case
		h     heard
		texts []string
		want  *Judged // Error is compared as a part
		asked int
	}{
		{"a verdict", answerable, answer, []string{good}, want, 1},
		{"fenced", answerable, answer, []string{"```json\n" + good + "\n```"}, want, 1},
		{"a second try", answerable, answer, []string{"It is a good answer.", good}, want, 2},
		{"the server is back", answerable, answer, []string{"500", good}, want, 2},
		{"a sentence left out", answerable, answer, []string{strings.Replace(good, "true,false", "true", 1)}, &Judged{Error: "1 of 2 sentences"}, 2},
		{"relevancy of 7", answerable, answer, []string{strings.Replace(good, "0.75", "7", 1)}, &Judged{Error: "no relevancy"}, 2},
		{"no word on refusal", answerable, answer, []string{strings.Replace(good, `,"refused":false`, "", 1)}, &Judged{Error: "no word on whether it refused"}, 2},
		{"more than JSON", answerable, answer, []string{good + " and more"}, &Judged{Error: "text after the JSON"}, 2},
		{"a member of its own", answerable, answer, []string{strings.Replace(good, `{"sup`, `{"score":1,"sup`, 1)}, &Judged{Error: "score"}, 2},
		{"always down", answerable, answer, []string{"500"}, &Judged{Error: "500"}, 2},
		{"refused by the guide", answerable, refusal, []string{`{"supported":[true],"relevant":[],"covered":[false,false],"relevancy":0.4,"refused":true}`}, &Judged{Recall: f(0), Relevant: f(0)}, 1},
		{"refused as wanted", Case{Question: "Who is the king?", Unanswerable: true}, refusal, []string{`{"supported":[true],"relevant":[],"covered":[],"relevancy":0,"refused":true}`}, &Judged{Refused: &yes}, 1},
		{"answered and should not", Case{Question: "Who is the king?", Unanswerable: true}, answer, []string{`{"supported":[true,true],"relevant":[true,true],"covered":[],"relevancy":1,"refused":false}`}, &Judged{Refused: &no}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, asked := serveJudge(t, tt.texts...)
			got, err := judged(t.Context(), w, tt.c, tt.h)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(got.Error, tt.want.Error) || (got.Error == "") != (tt.want.Error == "") {
				t.Errorf("error %q, want %q in it", got.Error, tt.want.Error)
			}
			got.Error = tt.want.Error
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if len(*asked) != tt.asked {
				t.Errorf("asked %d times", len(*asked))
			}
			if q := (*asked)[0]; !strings.Contains(q, tt.c.Question) || strings.Contains(q, "[1]") {
				t.Errorf("asked %s", q)
			}
		})
	}
	w, _ := serveJudge(t, good)
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if _, err := judged(ctx, w, answerable, answer); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestJudgedFigures(t *testing.T) {
	yes, no := true, false
	if judgedFigures([]Outcome{{}, {}}) != nil {
		t.Error("figures of a judge that was not asked")
	}
	got := judgedFigures([]Outcome{
		{Judged: &Judged{Faithful: f(1), Precision: f(0.5), Recall: f(1), Relevant: f(0.5)}},
		{Judged: &Judged{Faithful: f(0), Relevant: f(0)}},
		{Judged: &Judged{Error: "no verdict"}},
		{Refused: &yes, Judged: &Judged{Refused: &yes}},
		{Refused: &yes, Judged: &Judged{Refused: &no}},
	})
	want := &JudgedFigures{Cases: 4, Failed: 1, Faithfulness: 0.5, ContextPrecision: 0.5, ContextRecall: 1, AnswerRelevancy: 0.25, RefusalAccuracy: 0.5, Agreement: 0.5}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	s := newReport([]Outcome{{Judged: &Judged{Faithful: f(1)}}}).Summary()
	if !strings.Contains(s, "by judge") || !strings.Contains(s, "1 judged") {
		t.Error(s)
	}
}

func FuzzVerdict(f *testing.F) {
	f.Add(`{"supported":[true,false],"relevant":[true],"covered":[],"relevancy":0.5,"refused":false}`)
	f.Add("```json\n{}\n```")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := readVerdict(text, 2, 1, 0)
		if err != nil {
			return
		}
		j := v.measures(Case{}, heard{done: agent.Done{Answered: true}})
		for _, share := range []*float64{j.Faithful, j.Precision, j.Recall, j.Relevant} {
			if share != nil && !(*share >= 0 && *share <= 1) {
				t.Errorf("%q: %v", text, *share)
			}
		}
	})
}
