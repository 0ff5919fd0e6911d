package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

// shop is a store in memory, which refuses to commit while the test wants.
type shop struct {
	mu      sync.Mutex
	records map[string][]byte
	err     error
	commits int
}

func newShop() *shop { return &shop{records: map[string][]byte{}} }

func (s *shop) Scan(prefix string, f func(string, []byte) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []string
	for k := range s.records {
		if strings.HasPrefix(k, prefix) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		if err := f(k, s.records[k]); err != nil {
			return err
		}
	}
	return nil
}

func (s *shop) Commit(_ context.Context, puts []Record, deletes []string, _ time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	s.commits++
	for _, k := range deletes {
		delete(s.records, k)
	}
	for _, p := range puts {
		s.records[p.Key] = p.Value
	}
	return nil
}

func (s *shop) count(prefix string) (n int) {
	_ = s.Scan(prefix, func(string, []byte) error { n++; return nil })
	return n
}

// many is how many random cases are tried: DOCENT_MEMORY_CASES, or so many.
func many(unless int) int {
	if n, err := strconv.Atoi(os.Getenv("DOCENT_MEMORY_CASES")); err == nil {
		return n
	}
	return unless
}

// wall is a clock that the test sets.
type wall struct{ now time.Time }

func (w *wall) Now() time.Time { return w.now }

var anna = Visit{Name: "0123456789abcdef0123456789abcdef", Key: [32]byte{1, 2, 3}}

// recalled is what is remembered, as "key=value" or "key:text", "?" after what is pending.
func recalled(t testing.TB, m *Memory, v Visit) []string {
	t.Helper()
	facts, err := m.Recall(v)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range facts {
		s := f.Key + "=" + f.Value
		if at, err := time.Parse(time.RFC3339, f.Value); err == nil {
			s = f.Key + "=" + at.Format("15:04")
		}
		if f.Value == "" {
			s = f.Key + ":" + f.Text
		}
		if f.Pending {
			s += "?"
		}
		out = append(out, s)
	}
	return out
}

func say(t testing.TB, m *Memory, v Visit, at time.Time, text string) {
	t.Helper()
	h, err := m.Hear(t.Context(), v, Said{Text: text, At: at})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Keep(t.Context(), v, h); err != nil {
		t.Fatal(err)
	}
}

func wantRecalled(t testing.TB, m *Memory, want ...string) {
	t.Helper()
	if d := gocmp.Diff(want, recalled(t, m, anna)); d != "" {
		t.Errorf("recalled (-want +got)\n%s", d)
	}
}

func TestWhatIsSaidIsRememberedAtOnce(t *testing.T) {
	s, w := newShop(), &wall{noonish}
	m := New(Options{Store: s, Now: w.Now})
	h, err := m.Hear(t.Context(), anna, Said{Text: "We have 40 minutes, and I'm allergic to nuts.", At: w.now})
	if err != nil {
		t.Fatal(err)
	}
	// Before the answer: the critical fact is in the store, the other in the cache.
	wantRecalled(t, m, "allergy/nut=nuts", "time_left=14:40?")
	if s.count(atFact) != 1 || s.count(atJob) != 1 {
		t.Errorf("%d facts, %d jobs", s.count(atFact), s.count(atJob))
	}
	if err := m.Keep(t.Context(), anna, h); err != nil {
		t.Fatal(err)
	}
	if s.count(atJob) != 1 {
		t.Errorf("%d jobs", s.count(atJob))
	}
	w.now = w.now.Add(cacheFor + time.Second) // the queue is read as well
	wantRecalled(t, m, "allergy/nut=nuts", "time_left=14:40?")
	m.step(t.Context())
	wantRecalled(t, m, "allergy/nut=nuts", "time_left=14:40")
	if s.count(atFact) != 2 || s.count(atJob) != 0 {
		t.Errorf("%d facts, %d jobs", s.count(atFact), s.count(atJob))
	}
	// A correction wins at once, and so does a denial.
	say(t, m, anna, w.now, "Actually we have 2 hours. I'm not allergic to nuts.")
	wantRecalled(t, m, "time_left=16:05?")
	m.step(t.Context())
	wantRecalled(t, m, "time_left=16:05")
	facts, _ := m.Recall(anna)
	if facts[0].Version != 2 {
		t.Errorf("version %d", facts[0].Version)
	}
	// Another start finds the same.
	wantRecalled(t, New(Options{Store: s, Now: w.Now}), "time_left=16:05")
}

func TestQuestionsLeaveNothing(t *testing.T) {
	s := newShop()
	m := New(Options{Store: s})
	say(t, m, anna, noonish, "Who painted this?")
	if s.commits != 0 {
		t.Errorf("%d commits for a question", s.commits)
	}
}

func TestRestartBeforeTheConsumer(t *testing.T) {
	s := newShop()
	say(t, New(Options{Store: s}), anna, noonish, "My name is Anna")
	m := New(Options{Store: s})
	wantRecalled(t, m, "name=Anna?")
	m.step(t.Context())
	wantRecalled(t, m, "name=Anna")
}

func TestRetriesThenGivesUp(t *testing.T) {
	s, w := newShop(), &wall{noonish}
	fail := errors.New("cannot say")
	m := New(Options{Store: s, Now: w.Now, Classify: func(context.Context, Said) ([]Draft, error) { return nil, fail }})
	say(t, m, anna, w.now, "My name is Anna")
	var waits []time.Duration
	for {
		next := m.step(t.Context())
		if next.IsZero() {
			break
		}
		waits = append(waits, next.Sub(w.now))
		if again := m.step(t.Context()); !again.Equal(next) {
			t.Fatalf("taken up before it was due")
		}
		w.now = next
	}
	want := []time.Duration{1e9, 2e9, 4e9, 8e9, 16e9, 32e9, 60e9}
	if d := gocmp.Diff(want, waits); d != "" {
		t.Errorf("waits (-want +got)\n%s", d)
	}
	if s.count(atDead) != 1 || s.count(atJob) != 0 {
		t.Errorf("%d given up, %d jobs", s.count(atDead), s.count(atJob))
	}
	wantRecalled(t, m, "name=Anna?") // nobody forgets a name over that
	wantRecalled(t, New(Options{Store: s}), "name=Anna?")
}

func TestBrokenDiskCostsOnlyTheCopy(t *testing.T) {
	s, w := newShop(), &wall{noonish}
	m := New(Options{Store: s, Now: w.Now})
	s.err = ErrFull
	h, err := m.Hear(t.Context(), anna, Said{Text: "I'm allergic to nuts", At: w.now})
	if !errors.Is(err, ErrFull) {
		t.Errorf("hear: %v", err)
	}
	if err := m.Keep(t.Context(), anna, h); !errors.Is(err, ErrFull) {
		t.Errorf("keep: %v", err)
	}
	w.now = w.now.Add(cacheFor + time.Second)
	wantRecalled(t, m, "allergy/nut=nuts?")
	s.err = nil
	m.step(t.Context())
	wantRecalled(t, m, "allergy/nut=nuts")
}

func TestEdit(t *testing.T) {
	s := newShop()
	m := New(Options{Store: s, Now: func() time.Time { return noonish }})
	say(t, m, anna, noonish, "We have 40 minutes. I love geometry. Please remember that the blue door is where we meet")
	m.step(t.Context())
	edit := func(key string, version uint64, text string) error {
		return m.Edit(t.Context(), anna, key, version, text)
	}
	if err := edit("time_left", 1, "we have two hours"); err != nil {
		t.Fatal(err)
	}
	if err := edit("time_left", 1, "we have 10 minutes"); !errors.Is(err, ErrStale) {
		t.Errorf("an edit of what is another by now: %v", err)
	}
	if err := edit("interest/geometry", 1, "knots"); err != nil {
		t.Fatal(err)
	}
	facts, _ := m.Recall(anna)
	if err := edit(facts[2].Key, 1, ""); facts[2].Kind != KindNote || err != nil {
		t.Fatalf("%+v %v", facts[2], err)
	}
	if err := edit(facts[2].Key, 2, "again"); !errors.Is(err, ErrNoFact) {
		t.Errorf("an edit of what is gone: %v", err)
	}
	wantRecalled(t, m, "time_left=16:00", "interest/geometry:knots")
	if facts, _ = m.Recall(anna); !facts[0].Confirmed || facts[0].Source != SourceEdited || facts[0].Version != 2 {
		t.Errorf("%+v", facts[0])
	}
	// What is said later wins over what was edited, and is no longer confirmed.
	say(t, m, anna, noonish, "we only have 20 minutes left")
	if facts, _ = m.Recall(anna); facts[0].Confirmed || facts[0].Version != 3 {
		t.Errorf("%+v", facts[0])
	}
}

func TestForget(t *testing.T) {
	s := newShop()
	m := New(Options{Store: s})
	say(t, m, anna, noonish, "I'm allergic to nuts. My name is Anna")
	late, err := m.Hear(t.Context(), anna, Said{Text: "My name is Berta", At: noonish})
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Export(anna, Talk{})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Forget(t.Context(), anna.Name); err != nil {
		t.Fatal(err)
	}
	if got := slices.Collect(func(yield func(string) bool) {
		for k := range s.records {
			if !yield(k) {
				return
			}
		}
	}); len(got) != 1 || got[0] != atGone+anna.Name {
		t.Errorf("left: %q", got)
	}
	for name, m := range map[string]*Memory{"the same": m, "after a restart": New(Options{Store: s})} {
		if err := m.Keep(t.Context(), anna, late); !errors.Is(err, ErrForgotten) {
			t.Errorf("%s: keep: %v", name, err)
		}
		if _, err := m.Import(t.Context(), anna, e); !errors.Is(err, ErrForgotten) {
			t.Errorf("%s: import: %v", name, err)
		}
		if _, err := m.Hear(t.Context(), anna, Said{Text: "I'm allergic to nuts"}); !errors.Is(err, ErrForgotten) {
			t.Errorf("%s: hear: %v", name, err)
		}
		m.step(t.Context())
	}
	if len(s.records) != 1 {
		t.Errorf("%d records", len(s.records))
	}
}

func TestSweep(t *testing.T) {
	s := newShop()
	berta := Visit{Name: strings.Repeat("b", 32), Key: [32]byte{9}}
	m := New(Options{Store: s})
	say(t, m, anna, noonish, "My name is Anna")
	say(t, m, berta, noonish, "My name is Berta")
	m = New(Options{Store: s})
	if err := m.Sweep(t.Context(), func(name string) bool { return name == anna.Name }); err != nil {
		t.Fatal(err)
	}
	wantRecalled(t, m, "name=Anna?")
	if s.count(atJob) != 1 || s.count(atGone) != 0 { // one that ran out may come back with a pass
		t.Errorf("%d jobs, %d forgotten", s.count(atJob), s.count(atGone))
	}
}

// TestNoStaleReads plays random interleavings of a visit with a consumer that comes when it likes, fails now and
// then, and restarts; after each step, what is read must be what was said last. The figure in the documentation is of
// 10,000.
func TestNoStaleReads(t *testing.T) {
	interleavings := many(1000)
	lines := []struct{ text, key, value string }{
		{"We have 20 minutes", "time_left", "14:20"}, {"We have 40 minutes", "time_left", "14:40"}, {"我们有一个半小时", "time_left", "15:30"},
		{"I'm allergic to nuts", "allergy/nut", "nuts"}, {"I'm not allergic to nuts", "allergy/nut", ""},
		{"My name is Anna", "name", "Anna"}, {"我叫小明", "name", "小明"}, {"Please forget my name", "name", ""},
		{"I love geometry", "interest/geometry", "likes"}, {"I don't like geometry", "interest/geometry", "dislikes"},
	}
	reads := 0
	for seed := range uint64(interleavings) {
		r := rand.New(rand.NewPCG(seed, 7))
		s, w := newShop(), &wall{noonish}
		flaky := false
		o := Options{Store: s, Now: w.Now, Classify: func(_ context.Context, said Said) ([]Draft, error) {
			if flaky && r.IntN(2) == 0 {
				return nil, errors.New("not now")
			}
			return Extract(said), nil
		}}
		m := New(o)
		want := map[string]string{}
		var waiting []Heard // heard, and the answer goes on
		var played []string
		for range 4 + r.IntN(10) {
			switch step := r.IntN(10); {
			case step < 5:
				l := lines[r.IntN(len(lines))]
				h, err := m.Hear(t.Context(), anna, Said{Text: l.text, At: noonish})
				if err != nil {
					t.Fatal(err)
				}
				want[l.key] = l.value
				waiting = append(waiting, h)
				played = append(played, l.text)
			case step < 7 && len(waiting) > 0:
				i := r.IntN(len(waiting)) // answers end in any order
				if err := m.Keep(t.Context(), anna, waiting[i]); err != nil {
					t.Fatal(err)
				}
				waiting = slices.Delete(waiting, i, i+1)
				played = append(played, "keep")
			case step == 7:
				flaky = r.IntN(3) == 0
				w.now = w.now.Add(time.Duration(r.IntN(3000)) * time.Millisecond)
				m.step(t.Context())
				played = append(played, "consume")
			case step == 8:
				for key, value := range want {
					if value == "" {
						continue
					}
					facts, _ := m.Recall(anna)
					i := slices.IndexFunc(facts, func(f Fact) bool { return f.Key == key })
					if err := m.Edit(t.Context(), anna, key, facts[i].Version, ""); err != nil {
						t.Fatal(err)
					}
					want[key] = ""
					played = append(played, "delete "+key)
					break
				}
			default:
				for _, h := range waiting {
					if err := m.Keep(t.Context(), anna, h); err != nil {
						t.Fatal(err)
					}
				}
				waiting = nil
				m = New(o)
				played = append(played, "restart")
			}
			got := map[string]string{}
			for _, line := range recalled(t, m, anna) {
				key, value, _ := strings.Cut(strings.TrimSuffix(line, "?"), "=")
				got[key] = value
			}
			for key, value := range want {
				reads++
				if got[key] != value {
					t.Fatalf("seed %d: stale read: %s is %q, want %q, after\n%s", seed, key, got[key], value, strings.Join(played, "\n"))
				}
			}
		}
	}
	t.Logf("%d reads in %d interleavings, none stale", reads, interleavings)
}

// TestConvergence lets kiosks take in each other's commands in any order, some twice, and wants them to agree.
func TestConvergence(t *testing.T) {
	texts := []string{"We have 20 minutes", "We have 40 minutes", "My name is Anna", "我叫小明", "I'm allergic to nuts", "I'm not allergic to nuts", "remember that the door is blue", "I love knots"}
	for seed := range uint64(many(200)) {
		r := rand.New(rand.NewPCG(seed, 11))
		var kiosks [3]*Memory
		var sent []Envelope
		for i := range kiosks {
			kiosks[i] = New(Options{Store: newShop(), Kiosk: fmt.Sprint("k", i), Now: func() time.Time { return noonish },
				Publish: func(_ context.Context, e Envelope) error { sent = append(sent, e); return nil }})
		}
		deliver := func(m *Memory, e Envelope) {
			if _, err := m.Import(t.Context(), anna, e); err != nil {
				t.Fatal(err)
			}
		}
		for range 12 {
			m := kiosks[r.IntN(3)]
			switch {
			case r.IntN(3) > 0:
				say(t, m, anna, noonish, texts[r.IntN(len(texts))])
				m.step(t.Context())
			case len(sent) > 0:
				deliver(m, sent[r.IntN(len(sent))])
			}
			if facts, _ := m.Recall(anna); len(facts) > 0 && r.IntN(4) == 0 {
				f := facts[r.IntN(len(facts))]
				if err := m.Edit(t.Context(), anna, f.Key, f.Version, [2]string{"", "as I say"}[r.IntN(2)]); err != nil {
					t.Fatal(err)
				}
			}
		}
		var states []string
		for i, m := range kiosks {
			for _, j := range r.Perm(len(sent)) {
				deliver(m, sent[j])
				if r.IntN(3) == 0 {
					deliver(m, sent[r.IntN(len(sent))])
				}
			}
			if i == 2 { // a fourth way: a snapshot of the others
				e, err := kiosks[0].Export(anna, Talk{Summary: "s"})
				if err != nil {
					t.Fatal(err)
				}
				if talk, err := m.Import(t.Context(), anna, e); err != nil || talk.Summary != "s" {
					t.Fatal(talk, err)
				}
			}
			commands, _ := m.shelves[anna.Name].view()
			var list []Command
			for _, c := range commands {
				list = append(list, c)
			}
			slices.SortFunc(list, func(a, b Command) int { return cmp.Compare(a.slot(), b.slot()) })
			state, err := json.Marshal(list)
			if err != nil {
				t.Fatal(err)
			}
			states = append(states, string(state))
		}
		if states[0] != states[1] || states[1] != states[2] {
			t.Fatalf("seed %d: kiosks disagree\n%s", seed, strings.Join(states, "\n"))
		}
	}
}

func TestApplyRefuses(t *testing.T) {
	m := New(Options{Store: newShop()})
	good := Command{Draft: Draft{Op: OpUpsertFact, Key: "name", Kind: KindName, Value: "Anna"}, ID: "1", Visit: anna.Name, Version: 1, Logical: 1}
	if n, err := m.Apply(t.Context(), anna, []Command{good, good}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := m.Apply(t.Context(), anna, []Command{good}); n != 0 || err != nil {
		t.Fatal("applied twice", n, err)
	}
	for name, change := range map[string]func(*Command){
		"another visit": func(c *Command) { c.Visit = "b" }, "kind": func(c *Command) { c.Kind = "x" }, "operation": func(c *Command) { c.Op = "drop" },
		"no key": func(c *Command) { c.Key = "" }, "long text": func(c *Command) { c.Text = strings.Repeat("x", maxText+1) },
		"no version": func(c *Command) { c.Version = 0 }, "far future": func(c *Command) { c.Logical = 1 << 60 }, "no id": func(c *Command) { c.ID = "" },
	} {
		c := good
		change(&c)
		if _, err := m.Apply(t.Context(), anna, []Command{c}); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := m.Apply(t.Context(), anna, make([]Command, maxCommands+1)); !errors.Is(err, ErrInvalid) {
		t.Errorf("too many: %v", err)
	}
}

func FuzzEnvelope(f *testing.F) {
	good, err := anna.envelope(EnvelopeCommands, []Command{{ID: "1"}}, strings.NewReader(strings.Repeat("n", 12)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good.Kind, good.Box)
	f.Add(EnvelopeSnapshot, good.Box)
	f.Add("", []byte("short"))
	f.Fuzz(func(t *testing.T, kind string, box []byte) {
		_, err := anna.Open(Envelope{Visit: anna.Name, Kind: kind, Box: box})
		if (err == nil) != (kind == good.Kind && string(box) == string(good.Box)) {
			t.Errorf("%q: %v", kind, err)
		}
	})
}
