package rerank

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/localindex/internal/httpjson"
	"docent/localindex/internal/scripted"
)

func service(t *testing.T, s *scripted.Server) *Service {
	t.Helper()
	c, err := NewService(ServiceOptions{BaseURL: s.URL + "/v1", Model: "reranker"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const twoResults = `{"results":[{"index":1,"relevance_score":0.9},{"index":0,"relevance_score":-3.5}]}`

func TestService(t *testing.T) {
	s := scripted.New(t, scripted.Raw(twoResults))
	got, err := service(t, s).Rerank(t.Context(), "why?", []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{-3.5, 0.9}, got); diff != "" {
		t.Errorf("scores differ (-want +got):\n%s", diff)
	}
	if r := s.Requests(); r[0] != `/v1/rerank {"model":"reranker","query":"why?","documents":["a","b"],"top_n":2}` {
		t.Errorf("request is %s", r[0])
	}
}

func TestServiceRefusesWhatIsNone(t *testing.T) {
	for _, tt := range []struct {
		name  string
		reply scripted.Reply
		want  error
	}{
		{"a score too few", scripted.Raw(`{"results":[{"index":0,"relevance_score":1}]}`), ErrIncomplete},
		{"a text twice", scripted.Raw(`{"results":[{"index":0,"relevance_score":1},{"index":0,"relevance_score":1}]}`), ErrIncomplete},
		{"an index out of range", scripted.Raw(`{"results":[{"index":2,"relevance_score":1},{"index":0,"relevance_score":1}]}`), ErrIncomplete},
		{"no score", scripted.Raw(`{"results":[{"index":0},{"index":1}]}`), ErrIncomplete},
		{"other JSON", scripted.Raw(`[]`), httpjson.ErrMalformed},
		{"half a body", scripted.Half(`{"results":[{"ind`), httpjson.ErrCut},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := service(t, scripted.New(t, tt.reply)).Rerank(t.Context(), "q", []string{"a", "b"}); !errors.Is(err, tt.want) {
				t.Errorf("error is %v, want %v", err, tt.want)
			}
		})
	}
}

// chat is a chat model that says what it is told to.
type chat struct {
	answers []string
	err     error
	asked   []string
}

func (c *chat) Complete(_ context.Context, _, user string, _ int) (string, error) {
	c.asked = append(c.asked, user)
	if c.err != nil {
		return "", c.err
	}
	return c.answers[min(len(c.asked), len(c.answers))-1], nil
}

func TestModelScoresInBatches(t *testing.T) {
	var texts, scores []string
	for i := range 23 {
		texts = append(texts, fmt.Sprintf("text number %d", i))
		scores = append(scores, fmt.Sprint(i%11))
	}
	c := &chat{answers: []string{"Here you are: [" + strings.Join(scores[:20], ", ") + "]", "[" + strings.Join(scores[20:], ",") + "] as asked"}}
	got, err := NewModel(c).Rerank(t.Context(), "why\nnot?", texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range got {
		if s != float64(i%11) {
			t.Errorf("text %d scores %v, want %d", i, s, i%11)
		}
	}
	if len(got) != 23 || len(c.asked) != 2 || !strings.Contains(c.asked[0], "Question: why not?\n") || strings.Contains(c.asked[0], "text number 20") {
		t.Errorf("%d scores in %d batches; the first was asked as %.80s", len(got), len(c.asked), c.asked[0])
	}
}

func TestModelRefuses(t *testing.T) {
	for _, answer := range []string{"", "good", "[]", "[1]", "[1, 2, 3]", "[1, 11]", "[-1, 2]", `["1", "2"]`, "[1, 2", "]["} {
		if scores, err := NewModel(&chat{answers: []string{answer}}).Rerank(t.Context(), "q", []string{"a", "b"}); !errors.Is(err, ErrIncomplete) {
			t.Errorf("of %q it made %v, %v", answer, scores, err)
		}
	}
}

// TestChain goes down the ways to rerank: service, model, order.
func TestChain(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := scripted.New(t,
		scripted.Raw(twoResults),
		scripted.Status(http.StatusServiceUnavailable, "loading", 0), scripted.Silence(), scripted.Raw(`{"results":[]}`), // three failures
		scripted.Raw(twoResults),
	)
	c := &chat{answers: []string{"[3, 7]"}}
	chain := NewChain(func() time.Time { return now },
		Step{Reranker: service(t, s), Timeout: 200 * time.Millisecond}, Step{Reranker: NewModel(c), Failures: 1})
	ask := func(wantBy string, wantPassed int) Answer {
		t.Helper()
		a, err := chain.Rerank(t.Context(), "q", []string{"a", "b"})
		if err != nil {
			t.Fatal(err)
		}
		if a.By != wantBy || len(a.Passed) != wantPassed {
			t.Errorf("answered by %s, passed %q; want %s and %d", a.By, a.Passed, wantBy, wantPassed)
		}
		return a
	}
	if a := ask(ByService, 0); a.Scores[1] != 0.9 {
		t.Errorf("scores are %v", a.Scores)
	}
	for range 3 {
		if a := ask(ByModel, 1); a.Scores[1] != 7 {
			t.Errorf("scores are %v", a.Scores)
		}
	}
	if a := ask(ByModel, 1); !strings.Contains(a.Passed[0], "left alone") {
		t.Errorf("passed %q, want the service left alone", a.Passed)
	}
	if n := len(s.Requests()); n != 4 {
		t.Errorf("%d requests, want none while it is left alone", n)
	}
	c.err = errors.New("no memory")
	if a := ask(ByOrder, 2); a.Scores != nil {
		t.Errorf("scores are %v of nobody", a.Scores)
	}
	now = now.Add(time.Minute)
	ask(ByService, 0)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := chain.Rerank(ctx, "q", []string{"a", "b"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want it cancelled", err)
	}
	var none *Chain
	if a, err := none.Rerank(t.Context(), "q", []string{"a", "b"}); err != nil || a.By != ByOrder {
		t.Errorf("no chain answers by %s, %v", a.By, err)
	}
}

func FuzzParseScores(f *testing.F) {
	for _, s := range []string{"[1, 2]", "x [1,2] y", "][", "[[1,2]]", "[1e400, 2]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		if scores, err := parseScores(answer, 2); err == nil && (len(scores) != 2 || min(scores[0], scores[1]) < 0 || max(scores[0], scores[1]) > 10) {
			t.Errorf("of %q it made %v", answer, scores)
		}
	})
}
