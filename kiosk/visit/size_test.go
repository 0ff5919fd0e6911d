package visit

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"docent/agent/memory"
)

// TestManyVisits holds the store to its size after visits that began, talked and ended. DOCENT_MEMORY_VISITS sets how
// many; the figure of 10,000 is in the documentation.
func TestManyVisits(t *testing.T) {
	visits := 40
	if n, err := strconv.Atoi(os.Getenv("DOCENT_MEMORY_VISITS")); err == nil {
		visits = n
	}
	dir := t.TempDir()
	s := open(t, dir, Options{})
	largest := int64(0)
	for i := range visits {
		v := start(t, s)
		for range 3 {
			_, err := s.Update(v.ID, func(v *Visit) {
				v.Hold("girih")
				v.Talk = v.Talk.Add(memory.Exchange{Question: "Why is it called so?", Answer: strings.Repeat("It is Persian for knot [1]. ", 15)}, memory.Policy{})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if i%10 != 9 || s.Len() >= MaxOpen { // the others stay
			if _, err := s.End(v.ID); err != nil {
				t.Fatal(err)
			}
		}
		if i%100 == 0 {
			largest = max(largest, size(t, dir))
		}
	}
	largest = max(largest, size(t, dir))
	t.Logf("%d visits: at most %.1f MiB on the disk", visits, float64(largest)/(1<<20))
	if largest > 72<<20 { // with the memory beside it, 80 MiB
		t.Errorf("%d bytes on the disk", largest)
	}
}

// size is what the files of a folder take on the disk, in bytes, holes left out.
func size(t testing.TB, dir string) (bytes int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		var st unix.Stat_t
		err = unix.Stat(path, &st)
		bytes += st.Blocks * 512
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}
