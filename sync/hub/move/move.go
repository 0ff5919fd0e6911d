// Package move copies all that a hub keeps from SQLite and files to PostgreSQL, or back, and verifies the copy.
package move

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"docent/internal/durable"
	"docent/sync/hub/hold"
	"docent/sync/hub/postgres"
	"docent/sync/hub/sqlite"
	"docent/sync/hub/store"
	"docent/sync/hub/visits"
)

// Errors of moving.
var (
	ErrRunning  = hold.ErrInUse
	ErrNotEmpty = errors.New("it is not empty")
	ErrDiffers  = errors.New("the copy differs from what was copied")
)

// Report is what was moved, and verified.
type Report struct {
	Tables    []Table
	Objects   int // of releases
	Bytes     int64
	Documents int // signed metadata, and the emergency message
}

// Table is a table that was copied.
type Table struct {
	Name string
	Rows int64
	Sum  string // of all rows, in any order
}

// Rows are those of all tables.
func (r Report) Rows() (n int64) {
	for _, t := range r.Tables {
		n += t.Rows
	}
	return n
}

// ToPostgres copies what a hub has in its folder into an empty database. All of it is there in the end, verified, or
// nothing is. The hub must not run. Keys stay in the folder, and so does all that was copied.
func ToPostgres(ctx context.Context, dir, url string) (r Report, err error) {
	if _, err := os.Stat(filepath.Join(dir, "hub.db")); err != nil {
		return Report{}, fmt.Errorf("move from %s: %w", dir, err)
	}
	lock, err := hold.Folder(dir)
	if err != nil {
		return Report{}, fmt.Errorf("move from %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	from, err := openFolder(ctx, dir)
	if err != nil {
		return Report{}, fmt.Errorf("move from %s: %w", dir, err)
	}
	defer func() { err = errors.Join(err, from.close()) }()
	db, err := openAlone(ctx, url)
	if err != nil {
		return Report{}, fmt.Errorf("move to PostgreSQL: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return Report{}, fmt.Errorf("move to PostgreSQL: %w", err)
	}
	defer tx.Rollback()
	tables, err := begin(ctx, tx)
	if err != nil {
		return Report{}, fmt.Errorf("move to PostgreSQL: %w", err)
	}
	if err := empty(ctx, tx, tables); err != nil {
		return Report{}, fmt.Errorf("move to PostgreSQL: %w", err)
	}
	for _, t := range tables {
		source, err := from.of(ctx, t)
		if err != nil {
			return Report{}, err
		}
		done, err := copyTable(ctx, t, source, tx, insertMany{})
		if err != nil {
			return Report{}, fmt.Errorf("move table %s: %w", t.name, err)
		}
		r.Tables = append(r.Tables, done)
	}
	if err := filesIn(ctx, tx, dir, &r); err != nil {
		return Report{}, fmt.Errorf("move files: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return Report{}, fmt.Errorf("move to PostgreSQL: %w", err)
	}
	return r, nil
}

// ToFolder copies what hubs have in a database into the folder of one, which has no hub.db yet. hub.db comes last: where
// it is, all is there, verified. No hub must run.
func ToFolder(ctx context.Context, url, dir string) (r Report, err error) {
	if _, err := os.Stat(filepath.Join(dir, "hub.db")); err == nil {
		return Report{}, fmt.Errorf("move to %s: hub.db is there: %w", dir, ErrNotEmpty)
	}
	db, err := openAlone(ctx, url)
	if err != nil {
		return Report{}, fmt.Errorf("move from PostgreSQL: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	// What one statement sees, all see.
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return Report{}, fmt.Errorf("move from PostgreSQL: %w", err)
	}
	defer tx.Rollback()
	tables, err := begin(ctx, tx)
	if err != nil {
		return Report{}, fmt.Errorf("move from PostgreSQL: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Report{}, fmt.Errorf("move to %s: %w", dir, err)
	}
	lock, err := hold.Folder(dir)
	if err != nil {
		return Report{}, fmt.Errorf("move to %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	work, err := os.MkdirTemp(dir, ".moving-")
	if err != nil {
		return Report{}, fmt.Errorf("move to %s: %w", dir, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if r.Tables, err = tablesOut(ctx, tx, tables, work); err != nil {
		return Report{}, err
	}
	if err := filesOut(ctx, tx, work, &r); err != nil {
		return Report{}, fmt.Errorf("move files: %w", err)
	}
	if err := putInPlace(work, dir); err != nil {
		return Report{}, fmt.Errorf("move to %s: %w", dir, err)
	}
	return r, nil
}

// tablesOut copies all tables into new databases in a folder.
func tablesOut(ctx context.Context, tx *sql.Tx, tables []table, work string) (done []Table, err error) {
	to, err := makeFolder(ctx, work)
	if err != nil {
		return nil, fmt.Errorf("make databases: %w", err)
	}
	defer func() { err = errors.Join(err, to.close()) }()
	for _, t := range tables {
		target, err := to.of(ctx, t)
		if err != nil {
			return nil, err
		}
		into, err := target.BeginTx(ctx, nil)
		if err != nil {
			return nil, fmt.Errorf("move table %s: %w", t.name, err)
		}
		one, err := copyTable(ctx, t, tx, into, insertEach{})
		if err == nil {
			err = into.Commit()
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("move table %s: %w", t.name, err), into.Rollback())
		}
		done = append(done, one)
	}
	return done, nil
}

// begin lets a transaction take as long as it needs, and lists the tables.
func begin(ctx context.Context, tx *sql.Tx) ([]table, error) {
	if _, err := tx.ExecContext(ctx, `SELECT set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true)`); err != nil {
		return nil, err
	}
	return catalogue(ctx, tx)
}

// openAlone opens a database that no hub uses.
func openAlone(ctx context.Context, url string) (*sql.DB, error) {
	db, err := postgres.Open(ctx, url)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	// The server takes a moment to notice that the connections of the opening are gone.
	for range 50 {
		var others int
		err = db.QueryRowContext(ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'docent-hub'
			AND pid <> pg_backend_pid()`).Scan(&others)
		if err != nil || others == 0 {
			break
		}
		err = ErrRunning
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), db.Close())
		}
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// folder are the two SQLite databases of a hub.
type folder struct{ hub, visits *sql.DB }

// openFolder opens the databases of a hub that does not run.
func openFolder(ctx context.Context, dir string) (*folder, error) {
	paths := []string{filepath.Join(dir, "hub.db"), filepath.Join(dir, "visits", "visits.db")}
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			return nil, err
		}
	}
	if err := upToDate(ctx, dir); err != nil {
		return nil, err
	}
	f := &folder{}
	for i, to := range []**sql.DB{&f.hub, &f.visits} {
		db, err := sqlite.Open(paths[i], "_busy_timeout=2000")
		if err != nil {
			return nil, errors.Join(err, f.close())
		}
		db.SetMaxOpenConns(1)
		*to = db
		// SQLite leaves this mode only where nobody else has the database open.
		var mode string
		if err := db.QueryRowContext(ctx, `PRAGMA journal_mode = DELETE`).Scan(&mode); err != nil || mode != "delete" {
			return nil, errors.Join(fmt.Errorf("%s: %w", filepath.Base(paths[i]), ErrRunning), f.close())
		}
	}
	return f, nil
}

// makeFolder makes new databases.
func makeFolder(ctx context.Context, dir string) (*folder, error) {
	if err := upToDate(ctx, dir); err != nil {
		return nil, err
	}
	return openFolder(ctx, dir)
}

// upToDate brings the schemas of the databases in a folder up to date, and makes them where there are none.
func upToDate(ctx context.Context, dir string) error {
	s, err := store.Open(ctx, filepath.Join(dir, "hub.db"))
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	return visits.Migrate(ctx, filepath.Join(dir, "visits"))
}

// of is the database that has a table.
func (f *folder) of(ctx context.Context, t table) (*sql.DB, error) {
	for _, db := range []*sql.DB{f.hub, f.visits} {
		var n int
		err := db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?`, t.name).Scan(&n)
		if err != nil {
			return nil, fmt.Errorf("look for table %s: %w", t.name, err)
		}
		if n == 1 {
			return db, nil
		}
	}
	return nil, fmt.Errorf("there is no table %s in SQLite", t.name)
}

func (f *folder) close() error {
	var errs []error
	for _, db := range []*sql.DB{f.hub, f.visits} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// putInPlace moves what was copied to where the hub looks for it, its main database last.
func putInPlace(work, dir string) error {
	for _, name := range []string{"content/objects", "content/metadata", "emergency.json", "visits/visits.db", "hub.db"} {
		from, to := filepath.Join(work, name), filepath.Join(dir, name)
		if _, err := os.Stat(from); errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := os.RemoveAll(to); err != nil { // left over from before the hub was moved away
			return err
		}
		if err := os.Rename(from, to); err != nil {
			return err
		}
		if err := durable.SyncDir(filepath.Dir(to)); err != nil {
			return err
		}
	}
	return nil
}
