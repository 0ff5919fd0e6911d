package postgres

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/sync/hub/postgres/pgtest"
)

func TestRebind(t *testing.T) {
	for _, tt := range []struct{ name, query, want string }{
		{"none", "SELECT 1", "SELECT 1"},
		{"two", "SELECT ? WHERE a = ?", "SELECT $1 WHERE a = $2"},
		{"quoted", `SELECT '?', "?", 'it''s ?', ?`, `SELECT '?', "?", 'it''s ?', $1`},
		{"comments", "SELECT ? -- why?\n, /* ? */ ?", "SELECT $1 -- why?\n, /* ? */ $2"},
		{"open quote", "SELECT '?", "SELECT '?"},
		{"eleven", "?,?,?,?,?,?,?,?,?,?,?", "$1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := rebind(tt.query); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzRebind(f *testing.F) {
	f.Add("SELECT '?' -- ?\n/* ? */ ?")
	f.Fuzz(func(t *testing.T, query string) {
		if got := rebind(query); !strings.Contains(query, "?") && got != query {
			t.Errorf("%q became %q", query, got)
		}
	})
}

func TestAServerThatIsNotDurableIsRefused(t *testing.T) {
	ctx := context.Background()
	s := pgtest.New(t)
	url := s.Database(t)
	db, err := Open(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, set, undo string }{
		{"of a database", "ALTER ROLE docent SET synchronous_commit = off", "ALTER ROLE docent RESET synchronous_commit"},
		{"of the server", "ALTER SYSTEM SET synchronous_commit = off", "ALTER SYSTEM RESET synchronous_commit"},
		{"fsync", "ALTER SYSTEM SET fsync = off", "ALTER SYSTEM RESET fsync"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s.Exec(t, "postgres", tt.set)
			s.Exec(t, "postgres", "SELECT pg_reload_conf()")
			if err := untilRefused(ctx, url); !errors.Is(err, ErrNotDurable) || !strings.Contains(err.Error(), "loss of power") {
				t.Errorf("got %v", err)
			}
			s.Exec(t, "postgres", tt.undo)
			s.Exec(t, "postgres", "SELECT pg_reload_conf()")
		})
	}
	if _, err := Open(ctx, strings.Replace(url, "/test", "/nowhere", 1)); err == nil {
		t.Error("a database that is not there was opened")
	}
}

// untilRefused opens the database until the server has read its settings anew and it is refused.
func untilRefused(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		db, err := Open(ctx, url)
		if err != nil {
			return err
		}
		if err := db.Close(); err != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestValues(t *testing.T) {
	ctx := context.Background()
	db, err := Open(ctx, pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, `CREATE TABLE words (a TEXT, n BIGINT, b BYTEA, c BOOLEAN)`); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(ctx, `INSERT INTO words VALUES (?,?,?,?)`, "a\x00b\xffc", uint64(7), []byte("\x00\xff"), true); err != nil {
		t.Fatal(err)
	}
	var a string
	var n uint64
	var b []byte
	var c bool
	err = db.QueryRowContext(ctx, `SELECT a, n, b, c FROM words WHERE n = ? AND a = ANY(?)`, uint64(7), []string{"x", "a\x00b\xffc"}).Scan(&a, &n, &b, &c)
	if err != nil || a != "a\uFFFDb\uFFFDc" || n != 7 || string(b) != "\x00\xff" || !c {
		t.Errorf("%q %d %q %v, %v", a, n, b, c, err)
	}
}

func TestSeveralStartAtOnce(t *testing.T) {
	url := pgtest.Database(t)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			db, err := Open(context.Background(), url)
			if err != nil {
				t.Error(err)
				return
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
