// Package store keeps what the hub knows, in SQLite or in PostgreSQL: memory events, the state of each kiosk's numbering, and what
// kiosks say of themselves. Everything it confirms is on the disk.
package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"docent/sync/hub/sqlite"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Store is the database. It is safe for concurrent use; one of PostgreSQL may be used by several hubs at once.
type Store struct {
	write *sql.DB
	read  *sql.DB
	own   bool // the databases are closed with the store
	sql   dialect

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
	s := newStore(write, inSQLite{})
	s.own = true
	if err := sqlite.Migrate(ctx, s.write, migrations); err != nil {
		return nil, errors.Join(fmt.Errorf("open hub store %s: %w", path, err), s.Close())
	}
	// A busy log is copied into the database each 16 MiB instead of each 4: by then most of its pages have been written several
	// times, and are copied once.
	if _, err := s.write.ExecContext(ctx, `PRAGMA wal_autocheckpoint = 4096`); err != nil {
		return nil, errors.Join(fmt.Errorf("open hub store %s: %w", path, err), s.Close())
	}
	if s.read, err = sqlite.Open(path, "_busy_timeout=10000&_query_only=on&_stmt_cache_size=64"); err != nil {
		return nil, errors.Join(fmt.Errorf("open hub store: %w", err), s.Close())
	}
	s.read.SetMaxOpenConns(readers)
	return s, nil
}

// OpenPostgres is the store in a database that postgres.Open has opened, and that stays open when the store is closed.
func OpenPostgres(db *sql.DB) *Store {
	s := newStore(db, inPostgres{})
	s.read = db
	return s
}

// newStore is a store that writes to a database.
func newStore(write *sql.DB, d dialect) *Store {
	s := &Store{write: write, sql: d, smalls: make(chan small, groupQueue), closing: make(chan struct{}), grouped: make(chan struct{})}
	go s.group()
	return s
}

// dialect is what differs between the databases.
type dialect interface {
	// turn waits until no other process stores or forgets events, and keeps them out until the transaction ends.
	turn(ctx context.Context, tx *sql.Tx) error
	// streams reads the rows of streams, in their order; the zero value where there is none.
	streams(ctx context.Context, tx *sql.Tx, keys []streamKey) ([]streamState, error)
	// insert stores those events that are new and sets what became of each.
	insert(ctx context.Context, tx *sql.Tx, items []item) error
	// save writes the rows of streams.
	save(ctx context.Context, tx *sql.Tx, keys []streamKey, states []*streamState, at string) error
	// forget takes the words of a site's visits out of what is stored.
	forget(ctx context.Context, db *sql.DB, site string, visits []string) error
	// conflict says whether a transaction was undone because of another one.
	conflict(err error) bool
	// patience is after how long a database that does not answer counts as gone; 0 where that cannot be.
	patience() time.Duration
	// isolation of transactions that first read and then write.
	isolation() *sql.TxOptions
}

// How often a transaction is run that others undo, and how long it waits before that: a random time below a bound that
// doubles, so that many who change the same rows get out of each other's way (full jitter).
const (
	attempts     = 20
	firstBackoff = 2 * time.Millisecond
	mostBackoff  = 250 * time.Millisecond
)

// again runs a transaction, once more where others have undone it.
func (s *Store) again(ctx context.Context, run func(context.Context) error) (err error) {
	if d := s.sql.patience(); d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d)
		defer cancel()
	}
	bound := firstBackoff
	for range attempts {
		if err = run(ctx); err == nil || !s.sql.conflict(err) || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(rand.N(bound)):
		}
		bound = min(2*bound, mostBackoff)
	}
	return err
}

// inTx runs f in one transaction that is as if it were alone. It may run f several times.
func (s *Store) inTx(ctx context.Context, f func(*sql.Tx) error) error {
	return s.again(ctx, func(ctx context.Context) error { return s.inOne(ctx, s.sql.isolation(), f) })
}

func (s *Store) inOne(ctx context.Context, o *sql.TxOptions, f func(*sql.Tx) error) error {
	tx, err := s.write.BeginTx(ctx, o)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// Close closes the database after what is being written.
func (s *Store) Close() error {
	s.once.Do(func() { close(s.closing) })
	<-s.grouped
	if !s.own {
		return nil
	}
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
