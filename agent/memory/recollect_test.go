package memory

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/agent/model"
)

func keysOf(facts []Fact) (out []string) {
	for _, f := range facts {
		out = append(out, f.Key)
	}
	return out
}

func TestRecollect(t *testing.T) {
	m := New(Options{Store: newShop()})
	for _, text := range []string{"My name is Anna. I'm allergic to nuts", "Please remember that we parked at the north gate", "Remember that the red bag is in the cloakroom"} {
		say(t, m, anna, noonish, text)
	}
	for i, thing := range []string{"patterned tiles", "fractals", "shells", "knots", "spirals", "maps", "old clocks", "music boxes"} {
		say(t, m, anna, noonish.Add(time.Duration(i)*time.Minute), "I love "+thing)
	}
	talk := Talk{Summary: "Who built the tower? → A king.", Turns: []Exchange{{Question: "Where are the toilets?", Answer: "In hall one. Left."}}}

	plain, err := m.Recollect(anna, talk, "Who painted this?")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"allergy/nut", "name"}, keysOf(plain.Facts)); d != "" || plain.Asked || len(plain.Texts) != 0 {
		t.Errorf("%s texts %q", d, plain.Texts)
	}
	if got := keysOf(plain.Preferences); len(got) != mostPreferences || got[len(got)-1] != "interest/music boxes" {
		t.Errorf("preferences are not the newest: %q", got)
	}

	back, err := m.Recollect(anna, talk, "Where did I say that we parked?")
	if err != nil || len(back.Texts) == 0 || back.Texts[0] != "we parked at the north gate" {
		t.Errorf("%v %q", err, back.Texts)
	}
	toilets, err := m.Recollect(anna, talk, "What did you say about the toilets before?")
	if err != nil || len(toilets.Texts) == 0 || toilets.Texts[0] != "Where are the toilets? → In hall one." {
		t.Errorf("%v %q", err, toilets.Texts)
	}
	fuzzy, err := m.Recollect(anna, talk, "Can you recommend something with tile patterns for me?")
	if err != nil || len(fuzzy.Preferences) != mostPreferences || fuzzy.Preferences[0].Key != "interest/patterned tiles" {
		t.Errorf("%v %q", err, keysOf(fuzzy.Preferences))
	}
	// Facts come first, and stay whole where texts are cut.
	all := fuzzy.All()
	if all[0].Key != "allergy/nut" || all[1].Key != "name" || all[2].Kind != KindInterest {
		t.Errorf("%q", keysOf(all))
	}
	long := Recollection{Facts: back.Facts}
	for range 20 {
		long.Texts = append(long.Texts, strings.Repeat("x", 100))
	}
	if cut := long.cut(); len(cut.Facts) != 2 || len(cut.Texts) != mostCharacters/100 {
		t.Errorf("%d facts, %d texts", len(cut.Facts), len(cut.Texts))
	}
}

// TestFactsWin holds that a note or a preference never takes the place of a fact.
func TestFactsWin(t *testing.T) {
	m := New(Options{Store: newShop()})
	say(t, m, anna, noonish, "Please remember: my name is on the list as Berta")
	say(t, m, anna, noonish, "My name is Anna")
	r, err := m.Recollect(anna, Talk{}, "What is my name?")
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := Tell("What is my name?", r, Talk{}, "en", noonish); !ok || got != "Your name is Anna." {
		t.Errorf("%q", got)
	}
}

func TestTellKeepsToItsQuestions(t *testing.T) {
	m := New(Options{Store: newShop()})
	say(t, m, anna, noonish, "My name is Anna. We have 40 minutes")
	for _, q := range []string{
		"What is the name of this painting?", "Who painted it?", "How long did it take?", "When does the tour start?", "What did Truchet say about tiles?", "My name is Berta",
		"这幅画叫什么名字？", "它对什么有影响？", "导览几点开始？", "他问过什么问题？", "Plan a walk for me", "推荐一条参观路线", "What should I see next?", "",
	} {
		r, err := m.Recollect(anna, Talk{}, q)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := Tell(q, r, Talk{}, "en", noonish); ok {
			t.Errorf("%q is answered from the memory: %q", q, got)
		}
	}
}

func FuzzTell(f *testing.F) {
	f.Add("What is my name?", "en")
	f.Add("我问过你什么关于龙的问题？", "zh-Hans")
	f.Fuzz(func(t *testing.T, q, language string) {
		if got, ok := Tell(q, Recollection{}, Talk{Summary: q, Turns: []Exchange{{Question: q}}}, language, noonish); ok && got == "" {
			t.Errorf("%q is answered with nothing", q)
		}
	})
}

// scriptedServer is a model's server that says what the test wants.
func scriptedServer(t *testing.T, answer func(w http.ResponseWriter)) func(context.Context, string, string) (string, error) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Messages []struct{ Role, Content string }
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || len(in.Messages) != 2 || in.Messages[0].Role != "system" || !strings.HasPrefix(in.Messages[1].Content, `"`) {
			t.Errorf("asked with %+v, %v", in, err)
		}
		answer(w)
	}))
	t.Cleanup(s.Close)
	c, err := model.New(model.Options{BaseURL: s.URL, Model: "small"})
	if err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context, system, user string) (string, error) {
		var b strings.Builder
		for piece, err := range c.Stream(ctx, model.Request{Messages: []model.Message{{Role: "system", Content: system}, {Role: "user", Content: user}}}) {
			if err != nil {
				return "", err
			}
			b.WriteString(piece)
		}
		return b.String(), nil
	}
}

func says(text string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		body, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"message": map[string]string{"role": "assistant", "content": text}, "finish_reason": "stop"}}})
		_, _ = w.Write(body)
	}
}

func TestModelFindsWhatRulesMiss(t *testing.T) {
	const said = "Peanuts make me swell up terribly, and stairs are murder on my knees. By the way I have 40 minutes."
	for _, tt := range []struct {
		name   string
		answer func(http.ResponseWriter)
		want   []string
	}{
		{"good", says(`Here: [{"op":"upsert_fact","kind":"allergy","text":"Peanuts"},{"op":"upsert_fact","kind":"access","text":"stairs are murder on my knees"}]`),
			[]string{"time_left", "allergy/peanut", "access/" + digest("stairs are murder on my knees")}},
		{"made up", says(`[{"op":"upsert_fact","kind":"name","text":"Anna"},{"op":"upsert_fact","kind":"booking","text":"40 minutes"},{"op":"drop_table","kind":"note","text":"Peanuts"}]`), []string{"time_left"}},
		{"takes back what is critical", says(`[{"op":"retract_fact","kind":"allergy","text":"Peanuts"}]`), []string{"time_left"}},
		{"no JSON", says("I cannot help with that."), []string{"time_left"}},
		{"broken JSON", says(`[{"op":`), []string{"time_left"}},
		{"far too much", says("[" + strings.Repeat(" ", 9000) + "]"), []string{"time_left"}},
		{"away", func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) }, []string{"time_left"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := New(Options{Store: newShop(), Classify: Modelled(scriptedServer(t, tt.answer))})
			h, err := m.Hear(t.Context(), anna, Said{Text: said, At: noonish})
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Keep(t.Context(), anna, h); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				m.step(t.Context())
			}
			facts, err := m.Recall(anna)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]bool{}
			for _, f := range facts {
				got[f.Key] = !f.Pending
			}
			want := map[string]bool{}
			for _, k := range tt.want {
				want[k] = true
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// TestModelHearsWhatRulesDoNot wants an utterance in which the rules find nothing to reach the model.
func TestModelHearsWhatRulesDoNot(t *testing.T) {
	m := New(Options{Store: newShop(), Classify: Modelled(func(context.Context, string, string) (string, error) {
		return `[{"op":"upsert_preference","kind":"interest","text":"clockwork"}]`, nil
	})})
	h, err := m.Hear(t.Context(), anna, Said{Text: "Ever since I was five, clockwork has been my world", At: noonish})
	if err == nil {
		err = m.Keep(t.Context(), anna, h)
	}
	if err != nil {
		t.Fatal(err)
	}
	m.step(t.Context())
	if facts, err := m.Recall(anna); err != nil || len(facts) != 1 || facts[0].Key != "interest/clockwork" {
		t.Errorf("%v %+v", err, facts)
	}
}

func FuzzReadDrafts(f *testing.F) {
	f.Add(`[{"op":"upsert_fact","kind":"allergy","text":"nuts"}]`, "I can't have nuts")
	f.Add(`[]`, "")
	f.Fuzz(func(t *testing.T, reply, said string) {
		drafts, err := readDrafts(reply, Said{Text: said})
		if err != nil {
			return
		}
		for _, d := range drafts {
			c := utterance{ID: "x", Logical: 1}.command(d, anna.Name, "k")
			c.Version = 1
			if err := c.validate(anna.Name); err != nil && !errors.Is(err, ErrInvalid) || !strings.Contains(lower(oneLine(said)), lower(d.Text)) {
				t.Errorf("%+v from %q: %v", d, said, err)
			}
		}
	})
}
