package store

import (
	"context"
	"path/filepath"
	"testing"

	"docent/sync/hub/postgres"
	"docent/sync/hub/postgres/pgtest"
)

// place is where a store of a test is. It can be opened several times.
type place struct {
	sqlite   string // path of the file
	postgres string // URL; empty: it is the file
}

// both runs a test on a new database of each kind.
func both(t *testing.T, run func(*testing.T, place)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { run(t, place{sqlite: filepath.Join(t.TempDir(), "hub.db")}) })
	t.Run("postgres", func(t *testing.T) { run(t, place{postgres: pgtest.Database(t)}) })
}

func (p place) open(t testing.TB) *Store {
	t.Helper()
	if p.postgres == "" {
		return open(t, filepath.Dir(p.sqlite))
	}
	db, err := postgres.Open(context.Background(), p.postgres)
	if err != nil {
		t.Fatal(err)
	}
	s := OpenPostgres(db)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
