package visit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/agent/memory"
)

// clock is a clock that the test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Now().Truncate(time.Millisecond)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func open(t *testing.T, dir string, o Options) *Store {
	t.Helper()
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func start(t *testing.T, s *Store) Visit {
	t.Helper()
	v, err := s.Start("zh", "")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestVisitLivesWhileItIsUsed(t *testing.T) {
	c := newClock()
	s := open(t, t.TempDir(), Options{TTL: 10 * time.Minute, Now: c.Now})
	v := start(t, s)
	other := start(t, s)
	if len(v.ID) != 22 || v.ID == other.ID || strings.Contains(v.Name(), v.ID) || v.Name() == other.Name() {
		t.Errorf("ids %q and %q, names %q and %q", v.ID, other.ID, v.Name(), other.Name())
	}
	for range 5 {
		c.pass(9 * time.Minute)
		if _, err := s.Get(v.ID); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Get(other.ID); !errors.Is(err, ErrNone) {
		t.Errorf("the unused visit: %v, want %v", err, ErrNone)
	}
	if d := cmp.Diff([]Ended{{Name: other.Name()}}, s.Expire()); d != "" {
		t.Errorf("ended (-want +got)\n%s", d)
	}
	if got := s.Expire(); got != nil {
		t.Errorf("ended twice: %v", got)
	}
	c.pass(10 * time.Minute)
	if _, err := s.Update(v.ID, func(*Visit) { t.Error("changed a visit that ran out") }); !errors.Is(err, ErrNone) {
		t.Errorf("update: %v", err)
	}
}

func TestUpdateSharesNothing(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	v := start(t, s)
	got, err := s.Update(v.ID, func(v *Visit) {
		v.ID = "another"
		v.Hold("penrose")
		v.Talk = v.Talk.Add(memory.Exchange{Question: "q", Answer: "a"}, memory.Policy{})
	})
	if err != nil {
		t.Fatal(err)
	}
	got.Seen[0], got.Talk.Turns[0].Answer = "changed", "changed"
	again, err := s.Get(v.ID)
	if err != nil {
		t.Fatal(err)
	}
	if again.ID != v.ID || again.Seen[0] != "penrose" || again.Talk.Turns[0].Answer != "a" {
		t.Errorf("got %+v", again)
	}
}

func TestHoldAndRememberAreBounded(t *testing.T) {
	var v Visit
	if !v.Hold("a") || v.Hold("a") || !v.Hold("b") || !v.Hold("a") {
		t.Error("Hold tells a change wrongly")
	}
	if d := cmp.Diff([]string{"b", "a"}, v.Seen); d != "" {
		t.Errorf("seen (-want +got)\n%s", d)
	}
	for i := range MaxSeen + 10 {
		v.Hold(fmt.Sprint(i))
		v.Talk = v.Talk.Add(memory.Exchange{Question: fmt.Sprint(i)}, memory.Policy{})
	}
	if len(v.Seen) != MaxSeen || len(v.Talk.Turns) > memory.DefaultTurns || v.Talk.Turns[len(v.Talk.Turns)-1].Question != fmt.Sprint(MaxSeen+9) {
		t.Errorf("%d seen, %d exchanges, last %q", len(v.Seen), len(v.Talk.Turns), v.Talk.Turns[len(v.Talk.Turns)-1].Question)
	}
}

func TestVisitOutlivesARestart(t *testing.T) {
	dir, c := t.TempDir(), newClock()
	s := open(t, dir, Options{Now: c.Now})
	ends, stays := start(t, s), start(t, s)
	want, err := s.Update(stays.ID, func(v *Visit) {
		v.Hold("girih")
		v.Talk = v.Talk.Add(memory.Exchange{Exhibit: "girih", Question: "谁画的？", Answer: "不知道。", At: c.Now().UTC()}, memory.Policy{})
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.End(ends.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s = open(t, dir, Options{Now: c.Now})
	if s.Len() != 1 {
		t.Errorf("%d visits after the restart, want 1", s.Len())
	}
	got, err := s.Get(stays.ID)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if _, err := s.Get(ends.ID); !errors.Is(err, ErrNone) {
		t.Errorf("the ended visit: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	c.pass(time.Hour)
	s = open(t, dir, Options{Now: c.Now})
	if d := cmp.Diff([]Ended{{Name: stays.Name()}}, s.Expire()); d != "" {
		t.Errorf("a visit that ran out while the kiosk was off (-want +got)\n%s", d)
	}
}

func TestNothingOfAVisitIsReadableOnDisk(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	v := start(t, s)
	const question = "a question nobody else shall read"
	if _, err := s.Update(v.ID, func(v *Visit) { v.Talk = v.Talk.Add(memory.Exchange{Question: question}, memory.Policy{}) }); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	read := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		read += bytes.Count(data, []byte(v.Name()))
		for _, secret := range []string{question, v.ID} {
			if bytes.Contains(data, []byte(secret)) {
				t.Errorf("%s holds %q", filepath.Base(path), secret)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if read == 0 {
		t.Error("the visit was not found on disk at all, so this test shows nothing")
	}
}

func TestTooManyVisitsEndTheOldest(t *testing.T) {
	c := newClock()
	// A full disk, so that a thousand visits need not be synced.
	s := open(t, t.TempDir(), Options{Now: c.Now, Free: func(string) (uint64, error) { return 0, nil }})
	first, second := start(t, s), start(t, s)
	for range MaxOpen - 2 {
		c.pass(time.Millisecond)
		start(t, s)
	}
	if _, err := s.Get(first.ID); err != nil { // used again, so the second is the oldest
		t.Fatal(err)
	}
	start(t, s)
	if s.Len() != MaxOpen {
		t.Errorf("%d visits", s.Len())
	}
	if d := cmp.Diff([]Ended{{Name: second.Name()}}, s.Expire()); d != "" {
		t.Errorf("ended (-want +got)\n%s", d)
	}
	if _, err := s.Get(first.ID); err != nil {
		t.Error(err)
	}
}

func TestFullDiskKeepsVisitsInMemory(t *testing.T) {
	dir, free := t.TempDir(), uint64(1<<40)
	var log bytes.Buffer
	o := Options{
		Free:   func(string) (uint64, error) { return free, nil },
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	}
	s := open(t, dir, o)
	before := start(t, s)
	free = 100
	after := start(t, s)
	for range 3 {
		if _, err := s.Update(after.ID, func(v *Visit) { v.Hold("a") }); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(log.String(), "in memory only"); n != 1 {
		t.Errorf("said %d times that the disk is full:\n%s", n, log.String())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s = open(t, dir, o) // still full: nothing is opened
	v := start(t, s)
	if _, err := s.Get(v.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	free = 1 << 40
	s = open(t, dir, o)
	if _, err := s.Get(before.ID); err != nil {
		t.Errorf("the visit stored before the disk was full: %v", err)
	}
	if _, err := s.Get(after.ID); !errors.Is(err, ErrNone) {
		t.Errorf("the visit that was never stored: %v", err)
	}
}

func TestDamagedStoreIsBegunAnew(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	start(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "MANIFEST"), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, Options{})
	if s.Len() != 0 {
		t.Errorf("%d visits", s.Len())
	}
	start(t, s)
}

func TestStoreIsOpenedOnce(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir, Options{})
	v := start(t, first)
	if s, err := Open(dir, Options{}); err == nil {
		s.Close()
		t.Fatal("opened twice")
	}
	if _, err := first.Get(v.ID); err != nil {
		t.Errorf("after the second tried: %v", err)
	}
}

func TestStrangeIDs(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	v := start(t, s)
	for _, id := range []string{"", "x", v.ID + "A", v.ID[:21], v.ID[:21] + "=", v.Name(), strings.Repeat("A", 22), "../../etc/passwd", "\x00", v.ID + "\n"} {
		if _, err := s.Get(id); !errors.Is(err, ErrNone) {
			t.Errorf("%q: %v", id, err)
		}
		if _, err := s.End(id); !errors.Is(err, ErrNone) {
			t.Errorf("end %q: %v", id, err)
		}
	}
}

func TestClosedStore(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	v := start(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(v.ID); !errors.Is(err, ErrClosed) {
		t.Errorf("get: %v", err)
	}
	if _, err := s.Start("en", ""); !errors.Is(err, ErrClosed) {
		t.Errorf("start: %v", err)
	}
	if got := s.Expire(); got != nil {
		t.Errorf("expire: %v", got)
	}
}

func TestConcurrentUse(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	v := start(t, s)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 5 {
				if _, err := s.Update(v.ID, func(v *Visit) { v.Hold(fmt.Sprint(i, j)) }); err != nil {
					t.Error(err)
				}
				other, err := s.Start("en", "")
				if err == nil {
					_, err = s.End(other.ID)
				}
				if err != nil {
					t.Error(err)
				}
				s.Expire()
			}
		})
	}
	wg.Wait()
	got, err := s.Get(v.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Seen) != 40 || s.Len() != 1 {
		t.Errorf("%d seen, %d visits open", len(got.Seen), s.Len())
	}
}

func FuzzUnseal(f *testing.F) {
	v := Visit{ID: strings.Repeat("A", 22), Language: "en", Expires: time.UnixMilli(1e12)}
	good, err := seal(v, bytes.NewReader(make([]byte, 100)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:15])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, stored []byte) {
		_, err := unseal(stored, v.ID)
		if (err == nil) != bytes.Equal(stored, good) {
			t.Errorf("changed bytes: %v", err)
		}
		expiry(stored)
	})
}
