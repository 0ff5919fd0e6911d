package store

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"docent/sync/hub/postgres/pgtest"
)

// TestPostgresDiskFull fills the disk of the database's tables: what is stored then is refused as a whole, and what was
// acknowledged is there; with room again it goes on.
func TestPostgresDiskFull(t *testing.T) {
	server := pgtest.New(t)
	dir, err := os.MkdirTemp("/tmp", "docent-full-") // the server's user has to reach it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=24m"); err != nil {
		t.Skip("a small disk needs the right to mount a tmpfs:", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 8<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	data, err := os.Stat(filepath.Dir(server.Log()))
	if err != nil {
		t.Fatal(err)
	}
	owner, ok := data.Sys().(*syscall.Stat_t)
	if !ok {
		t.Fatal("no owner of the server's folder")
	}
	tables := filepath.Join(dir, "tables")
	if err := os.Mkdir(tables, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, tables} {
		if err := os.Chown(path, int(owner.Uid), int(owner.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	server.Exec(t, "postgres", "CREATE TABLESPACE small LOCATION '"+tables+"'")
	url := server.Database(t)
	name, _, _ := strings.Cut(strings.TrimPrefix(url, "postgres:///"), "?")
	server.Exec(t, "postgres", "ALTER DATABASE "+name+" SET TABLESPACE small")
	s := place{postgres: url}.open(t)

	all := chain(t, streamA, 30_000)
	acked, refused := uint64(0), 0
	for from := 0; from < len(all); {
		n := min(500, len(all)-from)
		r, err := s.Put(t.Context(), all[from:from+n])
		if err == nil {
			acked, from = r.Acks[0].Ack.AckedSeq, from+n
			continue
		}
		if !strings.Contains(err.Error(), "No space left") {
			t.Fatal(err)
		}
		if got := count(t, s, `SELECT count(*) FROM events`); uint64(got) != acked {
			t.Fatalf("%d events are there, %d were acknowledged", got, acked)
		}
		if refused++; refused == 3 {
			break
		}
	}
	if refused == 0 {
		t.Fatal("the disk did not get full")
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	r := store(t, s, all[acked:acked+500]...)
	if a := r.Acks[0].Ack; a.AckedSeq != acked+500 || len(a.Missing) != 0 {
		t.Errorf("with room again: %+v", a)
	}
	t.Logf("disk full after %d events: the last batch refused %d times, acked-but-lost 0, goes on with room", acked, refused)
}
