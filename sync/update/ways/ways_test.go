package ways

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"

	"docent/sync/update/bundle"
	"docent/sync/wire"
)

var (
	content = bytes.Repeat([]byte("0123456789"), 1000)
	object  = bundle.Sum(content)
)

// fake is a way that has the object, or lacks it, or does not answer, or gives something else.
type fake struct {
	mu     sync.Mutex
	data   []byte // nil: not found
	err    error
	asked  int
	failed int
	proved int
}

func (f *fake) Fetch(_ context.Context, req wire.Fetch) (wire.Chunk, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	c := wire.Chunk{ID: req.ID, Name: req.Name, Offset: req.Offset}
	if f.err != nil || f.data == nil {
		c.Error = wire.FetchNotFound
		return c, f.err
	}
	c.Size = int64(len(f.data))
	c.Data = f.data[req.Offset:min(c.Size, req.Offset+int64(req.Length))]
	return c, nil
}

func (f *fake) Failed(error) { f.failed++ }
func (f *fake) Proved()      { f.proved++ }

var errAway = errors.New("away")

func TestWhichWay(t *testing.T) {
	has, lacks, away := func() *fake { return &fake{data: content} }, func() *fake { return &fake{} }, func() *fake { return &fake{err: errAway} }
	tests := []struct {
		name               string
		stick, mirror, hub *fake
		want               string // way
		notFound, failed   bool
	}{
		{"stick before all", has(), has(), has(), Stick, false, false},
		{"mirror before hub", lacks(), has(), has(), Web, false, false},
		{"mirror lacks it", nil, lacks(), has(), TheHub, false, false},
		{"mirror is away", nil, away(), has(), TheHub, false, false},
		{"stick is pulled", away(), nil, has(), TheHub, false, false},
		{"nowhere", lacks(), lacks(), lacks(), "", true, false},
		{"hub is away, others lack it", lacks(), lacks(), away(), "", false, true},
		{"hub lacks it, mirror is away", nil, away(), lacks(), "", true, false},
		{"without a hub", lacks(), away(), nil, "", false, true},
		{"stick alone, pulled and in again", lacks(), nil, nil, "", true, false},
		{"nothing", nil, nil, nil, "", true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var opt Options
			if tt.stick != nil {
				opt.Sticks = tt.stick
			}
			if tt.mirror != nil {
				opt.Mirror = tt.mirror
			}
			if tt.hub != nil {
				opt.Hub = tt.hub
			}
			w := New(opt)
			c, err := w.Fetch(t.Context(), wire.Fetch{Name: object, Offset: 10, Length: 100})
			if (err != nil) != tt.failed || err == nil && (c.Error == wire.FetchNotFound) != tt.notFound {
				t.Fatalf("%+v, %v", c, err)
			}
			if tt.want != "" && (w.Came()[tt.want] != 100 || len(w.Came()) != 1) {
				t.Errorf("came %v", w.Came())
			}
		})
	}
}

func TestMetadataIsTheHubs(t *testing.T) {
	mirror, hub := &fake{data: []byte("of the mirror")}, &fake{data: []byte("of the hub")}
	ask := func(s Source, name string) string {
		c, err := s.Fetch(t.Context(), wire.Fetch{Name: name, Length: 100})
		if err != nil {
			return err.Error()
		}
		return string(c.Data) + c.Error
	}
	w := New(Options{Mirror: mirror, Hub: hub})
	if got := ask(w, "timestamp.json"); got != "of the hub" {
		t.Error(got)
	}
	hub.err = errAway // what it wanted last is what counts, not what a mirror has
	if got := ask(w, "timestamp.json"); got != errAway.Error() {
		t.Error(got)
	}
	if got := ask(New(Options{Mirror: mirror}), "timestamp.json"); got != "of the mirror" {
		t.Error(got)
	}
	if got := ask(New(Options{Sticks: mirror}), "timestamp.json"); got != wire.FetchNotFound {
		t.Error(got)
	}
	stick := w.With(&fake{data: []byte("of the stick")})
	if got := ask(stick, "timestamp.json"); got != "of the stick" {
		t.Error(got)
	}
	if got := ask(stick, object); got != "of the mirror" {
		t.Error(got)
	}
}

// TestRight: the mirror is told of an object that proved right only where it gave some of it.
func TestRight(t *testing.T) {
	for name, tt := range map[string]struct {
		stick *fake
		told  int
	}{"from the mirror": {&fake{}, 1}, "from a stick": {&fake{data: content}, 0}} {
		mirror := &fake{data: content}
		w := New(Options{Sticks: tt.stick, Mirror: mirror, Hub: &fake{data: content}})
		if _, err := w.Fetch(t.Context(), wire.Fetch{Name: object, Length: 5}); err != nil {
			t.Fatal(err)
		}
		w.Right(object)
		w.Right(object) // of which it gave nothing since
		if mirror.proved != tt.told {
			t.Errorf("%s: the mirror was told %d times", name, mirror.proved)
		}
	}
}

// TestWrong: an object that came wrong comes over another way the next time, and from the hub in the end.
func TestWrong(t *testing.T) {
	stick, mirror, hub := &fake{data: []byte("wrong")}, &fake{data: []byte("wrong")}, &fake{data: content}
	w := New(Options{Sticks: stick, Mirror: mirror, Hub: hub})
	get := func() string {
		before := w.Came()
		if _, err := w.Fetch(t.Context(), wire.Fetch{Name: object, Length: 5}); err != nil {
			t.Fatal(err)
		}
		for name, n := range w.Came() {
			if n != before[name] {
				return name
			}
		}
		return ""
	}
	for i, want := range []string{Stick, Web, TheHub} {
		if got := get(); got != want {
			t.Errorf("attempt %d over %s", i, got)
		}
		if again := w.Wrong(object); again != (want != TheHub) {
			t.Errorf("attempt %d: again %v", i, again)
		}
	}
	if mirror.failed != 1 {
		t.Errorf("the mirror was told %d times", mirror.failed)
	}
	if got := get(); got != TheHub {
		t.Errorf("at last over %s", got)
	}
	other := bundle.Sum([]byte("another"))
	if _, err := w.Fetch(t.Context(), wire.Fetch{Name: other, Length: 5}); err != nil || w.Came()[Stick] != 10 {
		t.Errorf("another object does not come from the stick: %v", w.Came())
	}
	if w.Wrong(bundle.Sum(nil)); New(Options{}).Wrong(object) {
		t.Error("again over no way")
	}
	alone := New(Options{Hub: hub})
	if alone.Wrong(object) {
		t.Error("again over the hub alone")
	}
}
