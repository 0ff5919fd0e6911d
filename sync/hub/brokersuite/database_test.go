package brokersuite

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"docent/sync/hub/postgres"
	"docent/sync/hub/postgres/pgtest"
	"docent/sync/hub/store"
)

// database is where the hub of a house keeps its data: a new one of PostgreSQL with DOCENT_TEST_DATABASE=postgres, else
// empty, which is SQLite.
func database(t testing.TB) string {
	t.Helper()
	if os.Getenv("DOCENT_TEST_DATABASE") != "postgres" {
		return ""
	}
	return pgtest.Database(t)
}

// openStore opens a hub's store; the hub may be running. close closes it.
func openStore(database, dir string) (s *store.Store, close func() error, err error) {
	if database == "" {
		s, err = store.Open(context.Background(), filepath.Join(dir, "hub.db"))
		if err != nil {
			return nil, nil, err
		}
		return s, s.Close, nil
	}
	db, err := postgres.Open(context.Background(), database)
	if err != nil {
		return nil, nil, err
	}
	s = store.OpenPostgres(db)
	return s, func() error { _ = s.Close(); return db.Close() }, nil
}
