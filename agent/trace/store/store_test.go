package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"docent/agent/trace"
)

const secret = "my grandmother's name is Ottilie"

var key = [32]byte{1, 2, 3}

func turnAt(visit string, at time.Time, n int) trace.Turn {
	return trace.Turn{
		Visit: visit, Began: at, Question: secret, Release: "r", Outcome: "answered", Millis: float64(n),
		Plan:     json.RawMessage(`{"execution_mode":"RAG_CHAT","rewritten_question":"` + secret + `"}`),
		Searches: []trace.Search{{Text: secret, Hits: []trace.Hit{{Passage: "e/en/1#1", Score: 2}}}},
		Models:   []trace.ModelCall{{Purpose: "write", Error: secret, Cost: 0.1}},
	}
}

func openStore(t testing.TB, dir string, o Options) *Store {
	t.Helper()
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// settled reopens a store, so that what was recorded is on disk.
func settled(t testing.TB, s *Store, o Options) *Store {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return openStore(t, s.dir, o)
}

func turns(t testing.TB, s *Store, since time.Time, limit int) []trace.Turn {
	t.Helper()
	out, err := s.Turns(since, limit)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTurns(t *testing.T) {
	now := time.Now().Truncate(time.Millisecond)
	s := openStore(t, t.TempDir(), Options{})
	for i := range 10 {
		s.Record(turnAt("v", now.Add(time.Duration(i)*time.Second), i))
	}
	s = settled(t, s, Options{})
	if all := turns(t, s, time.Time{}, 100); len(all) != 10 || all[0].Millis != 0 || all[9].Millis != 9 || !all[0].Began.Equal(now) {
		t.Errorf("%d turns: %+v", len(all), all)
	}
	if last := turns(t, s, time.Time{}, 3); len(last) != 3 || last[0].Millis != 7 {
		t.Errorf("%+v", last)
	}
	if since := turns(t, s, now.Add(8*time.Second), 100); len(since) != 2 {
		t.Errorf("%+v", since)
	}
	one := turns(t, s, time.Time{}, 1)[0]
	if one.Question != "" || one.Searches[0].Text != "" || one.Searches[0].Hits[0].Score != 2 || one.Models[0].Cost != 0.1 {
		t.Errorf("%+v", one)
	}
}

func TestRetention(t *testing.T) {
	now := time.Now()
	o := Options{Retention: time.Hour, MaxTurns: 5, Now: func() time.Time { return now }}
	s := openStore(t, t.TempDir(), o)
	for i := range 8 {
		s.Record(turnAt("v", now.Add(time.Duration(i)*time.Second), i))
	}
	s = settled(t, s, o)
	if all := turns(t, s, time.Time{}, 100); len(all) != 5 || all[0].Millis != 3 {
		t.Errorf("%d turns", len(all))
	}
	now = now.Add(time.Hour + 4*time.Second)
	if all := turns(t, s, time.Time{}, 100); len(all) != 3 {
		t.Errorf("%d turns after an hour", len(all))
	}
	now = now.Add(time.Hour)
	if all := turns(t, s, time.Time{}, 100); len(all) != 0 {
		t.Errorf("%d turns after two hours", len(all))
	}
}

// TestWordsGoWithTheirVisit reads words while the visit goes on, and finds them nowhere after it.
func TestWordsGoWithTheirVisit(t *testing.T) {
	dir := t.TempDir()
	o := Options{Words: true}
	s := openStore(t, dir, o)
	s.Unlock("v", key)
	s.Record(turnAt("v", time.Now(), 1))
	s.Record(turnAt("another", time.Now(), 2)) // its key is not known
	s = settled(t, s, o)
	if all := turns(t, s, time.Time{}, 10); len(all) != 2 || all[0].Question != "" {
		t.Errorf("read without the key: %+v", all)
	}
	s.Unlock("v", [32]byte{9})
	if _, err := s.Turns(time.Time{}, 10); err == nil {
		t.Error("read with a wrong key")
	}
	s.Unlock("v", key)
	if all := turns(t, s, time.Time{}, 10); all[0].Question != secret || all[0].Searches[0].Text != secret || all[1].Question != "" {
		t.Errorf("%+v", all)
	}
	if err := s.Forget("v"); err != nil {
		t.Fatal(err)
	}
	s.Record(turnAt("v", time.Now(), 3)) // comes late
	s = settled(t, s, o)
	s.Unlock("v", key)
	if all := turns(t, s, time.Time{}, 10); len(all) != 3 || all[0].Question != "" || all[2].Question != "" {
		t.Errorf("after the visit: %+v", all)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	checkFiles(t, dir, secret, "Ottilie", string(key[:]))
}

// TestWithoutWords keeps none, whoever unlocks.
func TestWithoutWords(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{})
	s.Unlock("v", key)
	s.Record(turnAt("v", time.Now(), 1))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	checkFiles(t, dir, secret, "Ottilie", atWords)
}

func TestSweep(t *testing.T) {
	o := Options{Words: true}
	s := openStore(t, t.TempDir(), o)
	for _, visit := range []string{"open", "ended"} {
		s.Unlock(visit, key)
		s.Record(turnAt(visit, time.Now(), 1))
	}
	s = settled(t, s, o)
	if err := s.Sweep(func(visit string) bool { return visit == "open" }); err != nil {
		t.Fatal(err)
	}
	s.Unlock("open", key)
	s.Unlock("ended", key)
	for _, one := range turns(t, s, time.Time{}, 10) {
		if (one.Question == secret) != (one.Visit == "open") {
			t.Errorf("%s: %q", one.Visit, one.Question)
		}
	}
}

// checkFiles looks through the raw files for words. A sealed record that was there before is noise.
func checkFiles(t *testing.T, dir string, words ...string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range words {
			if bytes.Contains(data, []byte(w)) {
				t.Errorf("%q is in %s", w, filepath.Base(file))
			}
		}
	}
}

func TestFollow(t *testing.T) {
	for _, words := range []bool{false, true} {
		s := openStore(t, t.TempDir(), Options{Words: words})
		ctx, leave := context.WithCancel(t.Context())
		heard, slow := s.Follow(ctx), s.Follow(t.Context())
		r := trace.New(time.Now, trace.Turn{Visit: "v", Question: secret})
		r.Tell(s)
		r.Search(trace.Search{Text: secret})
		if p := <-heard; p.Kind != "search" || (p.Data.(trace.Search).Text == secret) != words {
			t.Errorf("words %v: %+v", words, p)
		}
		for range 2 * followLength { // nobody reads: parts are missed, and the guide does not wait
			r.Stage("x")
		}
		leave()
		for range heard {
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		n := 0
		for range slow {
			n++
		}
		if n != followLength {
			t.Errorf("%d parts were kept for who did not read", n)
		}
		if _, ok := <-s.Follow(t.Context()); ok {
			t.Error("followed a closed store")
		}
	}
}

func TestFullDisk(t *testing.T) {
	free := uint64(1 << 40)
	var mu sync.Mutex
	o := Options{Free: func(string) (uint64, error) { mu.Lock(); defer mu.Unlock(); return free, nil }}
	s := openStore(t, t.TempDir(), o)
	mu.Lock()
	free = 1
	mu.Unlock()
	s.Record(turnAt("v", time.Now(), 1))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, t.TempDir(), o) // full from the beginning
	s.Record(turnAt("v", time.Now(), 1))
	if all := turns(t, s, time.Time{}, 10); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	if err := s.Forget("v"); err != nil {
		t.Error(err)
	}
}

func TestDamagedStoreIsBegunAnew(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{})
	s.Record(turnAt("v", time.Now(), 1))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "MANIFEST"), []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, dir, Options{})
	s.Record(turnAt("v", time.Now(), 2))
}

// TestSize says how much disk a turn takes.
func TestSize(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 5,000 turns")
	}
	dir := t.TempDir()
	s := openStore(t, dir, Options{})
	now := time.Now()
	for i := range 5000 {
		one := turnAt("0123456789abcdef0123456789abcdef", now.Add(time.Duration(i)*time.Second), i)
		one.Searches = nil
		for j := range 8 {
			search := trace.Search{Text: secret, Language: "en"}
			for k := range 24 {
				search.Hits = append(search.Hits, trace.Hit{Passage: fmt.Sprintf("exhibit-%d/en/%d#%d", (i+j+k)%24, k%6, k%3), Score: float64(i*j*k%977) / 7})
			}
			one.Searches = append(one.Searches, search)
		}
		for s.waiting() > queueLength/2 {
			time.Sleep(time.Millisecond)
		}
		s.Record(one)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var size int64
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			size += info.Size()
		}
	}
	t.Logf("5,000 turns take %.1f MiB", float64(size)/(1<<20))
	if s.dropped > 0 || size > 100<<20 {
		t.Errorf("%d bytes, %d turns dropped", size, s.dropped)
	}
}

func (s *Store) waiting() int { return len(s.queue) }
