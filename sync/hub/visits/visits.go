// Package visits carries visits from kiosk to kiosk: what each kiosk knows of a visit that has a pass, as sealed boxes
// that nobody here can read. It signs passes, and forgets what a visitor wants forgotten, now and when it comes late.
package visits

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"docent/internal/durable"
	"docent/sync/hub/postgres"
	"docent/sync/hub/sqlite"
	"docent/sync/wire"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Limits.
const (
	// DefaultKeepForgotten is how long at least it is known that a visit is forgotten. A kiosk that was away for longer may
	// still bring its events; those are without a pass that holds.
	DefaultKeepForgotten = 31 * 24 * time.Hour
	codeUses             = 3      // a code is worth this many look-ups: an answer can get lost on the line
	codesOfVisit         = 3      // the newest
	maxPasses            = 50_000 // of a hub; beyond them the one that ends first gives way
	maxForgotten         = 500_000
	sweepEvery           = time.Minute
)

// Options of Visits. Dir and Notify are required.
type Options struct {
	Dir string // holds the key of passes, and visits.db where there is no Database
	// Database is one of PostgreSQL, as postgres.Open gives it, that several hubs share. It stays open. The key of passes
	// must be the same for all of them.
	Database *sql.DB
	// Notify sends a notice to a kiosk. It must not block for long; one that is lost is made up for when the kiosk comes.
	Notify        func(to wire.Address, n wire.VisitNotice)
	KeepForgotten time.Duration    // 0 means DefaultKeepForgotten
	Clock         func() time.Time // nil means time.Now
	Logger        *slog.Logger     // nil discards
}

// Visits is safe for concurrent use.
type Visits struct {
	o      Options
	db     *sql.DB
	shared bool // with other hubs: what they do is seen in the database only
	key    ed25519.PrivateKey
	misses limiter

	mu        sync.Mutex
	forgotten map[visit]bool // all that the database has, unless it is shared
}

type visit struct{ site, name string }

// Open opens the database and the key, and makes both where there are none.
func Open(ctx context.Context, o Options) (*Visits, error) {
	if o.KeepForgotten == 0 {
		o.KeepForgotten = DefaultKeepForgotten
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("open visits: %w", err)
	}
	key, err := openKey(filepath.Join(o.Dir, "pass.key"))
	if err != nil {
		return nil, fmt.Errorf("open visits: %w", err)
	}
	if o.Database != nil {
		if err := postgres.Agree(ctx, o.Database, "visits/pass.key", key.Public().(ed25519.PublicKey)); err != nil {
			return nil, fmt.Errorf("open visits: %w", err)
		}
		return &Visits{o: o, db: o.Database, shared: true, key: key}, nil
	}
	db, err := openFile(ctx, o.Dir)
	if err != nil {
		return nil, fmt.Errorf("open visits: %w", err)
	}
	v := &Visits{o: o, db: db, key: key, forgotten: map[visit]bool{}}
	if err := v.loadForgotten(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open visits: %w", err), db.Close())
	}
	return v, nil
}

// openFile opens the SQLite database in a folder, and brings its schema up to date.
func openFile(ctx context.Context, dir string) (*sql.DB, error) {
	// What is deleted is overwritten (secure_delete), so that a forgotten visit is not to be found in free pages.
	db, err := sqlite.Open(filepath.Join(dir, "visits.db"), "_journal_mode=WAL&_synchronous=FULL&_busy_timeout=10000&_txlock=immediate&_secure_delete=on")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := sqlite.Migrate(ctx, db, migrations); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Migrate brings the schema of the SQLite database in a folder up to date, and makes both where there are none.
func Migrate(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("open visits: %w", err)
	}
	db, err := openFile(ctx, dir)
	if err != nil {
		return fmt.Errorf("open visits: %w", err)
	}
	return db.Close()
}

// openKey reads the seed of the key, or makes one.
func openKey(path string) (ed25519.PrivateKey, error) {
	seed, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		seed = make([]byte, ed25519.SeedSize)
		_, _ = rand.Read(seed) // crypto/rand.Read never fails
		if err := durable.WriteFile(path, seed, 0o600); err != nil {
			return nil, fmt.Errorf("keep the key of passes: %w", err)
		}
		return ed25519.NewKeyFromSeed(seed), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the key of passes: %w", err)
	}
	if len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("the key of passes in %s is damaged", path)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

func (v *Visits) loadForgotten(ctx context.Context) error {
	rows, err := v.db.QueryContext(ctx, `SELECT site, visit FROM forgotten`)
	if err != nil {
		return fmt.Errorf("read forgotten visits: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var k visit
		if err := rows.Scan(&k.site, &k.name); err != nil {
			return fmt.Errorf("read forgotten visits: %w", err)
		}
		v.forgotten[k] = true
	}
	return rows.Err()
}

// querier is the database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// areForgotten returns those of some visits that are forgotten.
func (v *Visits) areForgotten(ctx context.Context, q querier, some []visit) (map[visit]bool, error) {
	out := map[visit]bool{}
	if len(some) == 0 {
		return out, nil
	}
	if !v.shared {
		v.mu.Lock()
		defer v.mu.Unlock()
		for _, k := range some {
			if v.forgotten[k] {
				out[k] = true
			}
		}
		return out, nil
	}
	var sites, names []string
	for _, k := range some {
		sites, names = append(sites, k.site), append(names, k.name)
	}
	rows, err := q.QueryContext(ctx, `SELECT f.site, f.visit FROM unnest(?::text[], ?::text[]) AS u(site, visit) JOIN forgotten f ON f.site = u.site AND f.visit = u.visit`, sites, names)
	if err != nil {
		return nil, fmt.Errorf("read forgotten visits: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var k visit
		if err := rows.Scan(&k.site, &k.name); err != nil {
			return nil, fmt.Errorf("read forgotten visits: %w", err)
		}
		out[k] = true
	}
	return out, rows.Err()
}

func (v *Visits) isForgotten(ctx context.Context, k visit) (bool, error) {
	all, err := v.areForgotten(ctx, v.db, []visit{k})
	return all[k], err
}

// Run removes what has run out, until ctx ends.
func (v *Visits) Run(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if err := v.sweep(ctx); err != nil && ctx.Err() == nil {
			v.o.Logger.Error("visits that ran out not removed", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (v *Visits) sweep(ctx context.Context) error {
	now := v.o.Clock().UnixMilli()
	gone, err := v.exec(ctx, []statement{
		{`DELETE FROM passes WHERE expires <= ?`, []any{now}},
		{`DELETE FROM forgotten WHERE until <= ?`, []any{now}},
		{`DELETE FROM codes WHERE expires <= ?`, []any{now}},
		{`DELETE FROM carried WHERE (site, visit) NOT IN (SELECT site, visit FROM passes)`, nil},
		{`DELETE FROM holders WHERE (site, visit) NOT IN (SELECT site, visit FROM passes) AND (site, visit) NOT IN (SELECT site, visit FROM forgotten)`, nil},
	})
	if err != nil || gone == 0 {
		return err
	}
	if err := v.reload(ctx); err != nil {
		return err
	}
	return v.truncate(ctx)
}

func (v *Visits) reload(ctx context.Context) error {
	if v.shared {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.forgotten = map[visit]bool{}
	return v.loadForgotten(ctx)
}

// changeLock is the advisory lock of the hub that changes visits.
const changeLock = 0x646f63656e740002

type statement struct {
	query string
	args  []any
}

// exec runs statements in one transaction and says how many rows they changed.
func (v *Visits) exec(ctx context.Context, all []statement) (changed int64, err error) {
	tx, err := v.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, fmt.Errorf("change visits: %w", err)
	}
	defer tx.Rollback()
	if v.shared {
		// One hub after the other, so that none brings back what another has just forgotten.
		if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(?)`, int64(changeLock)); err != nil {
			return 0, fmt.Errorf("change visits: %w", err)
		}
	}
	for _, s := range all {
		res, err := tx.ExecContext(ctx, s.query, s.args...)
		if err != nil {
			return 0, fmt.Errorf("change visits: %w", err)
		}
		n, err := res.RowsAffected()
		if err != nil {
			return 0, fmt.Errorf("change visits: %w", err)
		}
		changed += n
	}
	if err := tx.Commit(); err != nil {
		return 0, fmt.Errorf("change visits: %w", err)
	}
	return changed, nil
}

// truncate empties the write-ahead log, in which what was deleted still stands.
func (v *Visits) truncate(ctx context.Context) error {
	if v.shared {
		return nil // PostgreSQL's log goes its own way
	}
	if _, err := v.db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		return fmt.Errorf("empty the log of visits: %w", err)
	}
	return nil
}

// Close closes the database, unless that is shared.
func (v *Visits) Close() error {
	if v.shared {
		return nil
	}
	return v.db.Close()
}
