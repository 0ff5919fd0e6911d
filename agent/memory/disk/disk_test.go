package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/agent/memory"
)

func open(t testing.TB, dir string, o Options) *Store {
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

func keys(t testing.TB, s *Store, prefix string) []string {
	t.Helper()
	var out []string
	if err := s.Scan(prefix, func(key string, value []byte) error { out = append(out, key+"="+string(value)); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCommitAndScan(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	put := func(puts []memory.Record, deletes ...string) error {
		return s.Commit(t.Context(), puts, deletes, time.Hour)
	}
	if err := put([]memory.Record{{Key: "f/a/2", Value: []byte("two")}, {Key: "f/a/1", Value: []byte("one")}, {Key: "f/b/1", Value: []byte("b")}}); err != nil {
		t.Fatal(err)
	}
	if err := put([]memory.Record{{Key: "f/a/3", Value: []byte("three")}}, "f/a/2"); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	if err := s.Scan("f/", func(string, []byte) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("scan: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, Options{})
	if d := cmp.Diff([]string{"f/a/1=one", "f/a/3=three"}, keys(t, s, "f/a/")); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestFullDisk(t *testing.T) {
	dir, free := t.TempDir(), uint64(1<<40)
	o := Options{Free: func(string) (uint64, error) { return free, nil }}
	s := open(t, dir, o)
	if err := s.Commit(t.Context(), []memory.Record{{Key: "a"}}, nil, time.Hour); err != nil {
		t.Fatal(err)
	}
	free = 0
	if err := s.Commit(t.Context(), []memory.Record{{Key: "b"}}, nil, time.Hour); !errors.Is(err, memory.ErrFull) {
		t.Errorf("put: %v", err)
	}
	if err := s.Commit(t.Context(), nil, []string{"a"}, time.Hour); err != nil {
		t.Errorf("delete: %v", err)
	}
	if got := keys(t, s, ""); got != nil {
		t.Errorf("left: %q", got)
	}
	full := open(t, t.TempDir(), o)
	if err := full.Commit(t.Context(), []memory.Record{{Key: "b"}}, nil, time.Hour); !errors.Is(err, memory.ErrFull) || keys(t, full, "") != nil {
		t.Errorf("opened on a full disk: %v", err)
	}
}

func TestDamagedStoreIsBegunAnew(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "MANIFEST"), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, Options{})
	if err := s.Commit(t.Context(), []memory.Record{{Key: "a"}}, nil, time.Hour); err != nil {
		t.Fatal(err)
	}
}

// TestForgottenIsGone looks through the raw files: nothing that was said is ever in them.
func TestForgottenIsGone(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	m := memory.New(memory.Options{Store: s})
	v := memory.Visit{Name: "0123456789abcdef0123456789abcdef", Key: [32]byte([]byte("a key of thirty-two bytes, as it"))}
	h, err := m.Hear(t.Context(), v, memory.Said{Text: "My name is Zebulonia. I'm allergic to shellfish", At: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Keep(t.Context(), v, h); err != nil {
		t.Fatal(err)
	}
	search := func(when string, traces ...string) (named int) {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			named += bytes.Count(data, []byte(v.Name))
			for _, trace := range traces {
				if bytes.Contains(data, []byte(trace)) {
					t.Errorf("%s %s holds %q", when, path, trace)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return named
	}
	traces := []string{"Zebulonia", "shellfish", "allergy", string(v.Key[:])}
	if search("open:", traces...) == 0 {
		t.Error("the visit is not on disk at all, so this test shows nothing")
	}
	if err := m.Forget(t.Context(), v.Name); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"x/" + v.Name + "="}, keys(t, s, "")); d != "" {
		t.Errorf("records (-want +got)\n%s", d)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	search("wiped:", traces...)
}

// size is what the files of a folder take on the disk, in bytes, holes left out.
func size(t testing.TB, dir string) (bytes int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n, err := blocks(path)
		bytes += n
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// TestManyVisits holds the store to its size after visits that began, said things and ended. DOCENT_MEMORY_VISITS sets
// how many; the figure of 10,000 is in the documentation.
func TestManyVisits(t *testing.T) {
	visits := 60
	if n, err := strconv.Atoi(os.Getenv("DOCENT_MEMORY_VISITS")); err == nil {
		visits = n
	}
	dir := t.TempDir()
	s := open(t, dir, Options{})
	m := memory.New(memory.Options{Store: s})
	began, largest := time.Now(), int64(0)
	for i := range visits {
		v := memory.Visit{Name: fmt.Sprintf("%032x", i), Key: [32]byte{byte(i), byte(i >> 8)}}
		for _, text := range []string{"We have 40 minutes. My name is Anna", "I'm allergic to nuts", "I love geometry. I want to see the tiles", "We are here with our kids"} {
			h, err := m.Hear(t.Context(), v, memory.Said{Text: text, At: began})
			if err == nil {
				err = m.Keep(t.Context(), v, h)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if facts, err := m.Recall(v); err != nil || len(facts) != 6 {
			t.Fatalf("%d facts, %v", len(facts), err)
		}
		if i%10 == 9 { // the others run out
			continue
		}
		if err := m.Forget(t.Context(), v.Name); err != nil {
			t.Fatal(err)
		}
		if i%100 == 0 {
			largest = max(largest, size(t, dir))
		}
	}
	largest = max(largest, size(t, dir))
	t.Logf("%d visits in %s: at most %.1f MiB on the disk", visits, time.Since(began).Round(time.Millisecond), float64(largest)/(1<<20))
	if largest > 80<<20 {
		t.Errorf("%d bytes on the disk, more than 80 MiB", largest)
	}
}
