// Package store keeps what the hub knows in SQLite: memory events, the state of each kiosk's numbering, and what
// kiosks say of themselves. Everything it confirms is on the disk.
package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"docent/sync/hub/sqlite"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Store is the database. It is safe for concurrent use: one connection writes, several read.
type Store struct {
	write *sql.DB
	read  *sql.DB

	smalls  chan small
	closing chan struct{} // closed by Close
	grouped chan struct{} // closed when no small write is made any more
	once    sync.Once
}

// readers is how many queries may run beside the writer.
const readers = 4

// Open opens the database file, creating it when there is none, and brings its schema up to date.
func Open(ctx context.Context, path string) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("open hub store: %w", err)
	}
	// WAL with synchronous=FULL: a commit returns when the log is synced, and readers do not wait for the writer.
	write, err := sqlite.Open(path, "_journal_mode=WAL&_synchronous=FULL&_busy_timeout=10000&_txlock=immediate&_foreign_keys=on&_stmt_cache_size=64")
	if err != nil {
		return nil, fmt.Errorf("open hub store: %w", err)
	}
	write.SetMaxOpenConns(1)
	s := &Store{write: write, smalls: make(chan small, groupQueue), closing: make(chan struct{}), grouped: make(chan struct{})}
	go s.group()
	if err := sqlite.Migrate(ctx, s.write, migrations); err != nil {
		return nil, errors.Join(fmt.Errorf("open hub store %s: %w", path, err), s.Close())
	}
	if s.read, err = sqlite.Open(path, "_busy_timeout=10000&_query_only=on&_stmt_cache_size=64"); err != nil {
		return nil, errors.Join(fmt.Errorf("open hub store: %w", err), s.Close())
	}
	s.read.SetMaxOpenConns(readers)
	return s, nil
}

// Close closes the database after what is being written.
func (s *Store) Close() error {
	s.once.Do(func() { close(s.closing) })
	<-s.grouped
	var errs []error
	if s.read != nil {
		errs = append(errs, s.read.Close())
	}
	if s.write != nil {
		errs = append(errs, s.write.Close())
	}
	return errors.Join(errs...)
}

// Times are stored as RFC 3339 text in UTC with a fixed number of digits, so that their order is that of the text.
const timeFormat = "2006-01-02T15:04:05.000000000Z"

func formatTime(t time.Time) string { return t.UTC().Format(timeFormat) }

func parseTime(s string) time.Time {
	t, err := time.Parse(timeFormat, s)
	if err != nil {
		return time.Time{}
	}
	return t
}
