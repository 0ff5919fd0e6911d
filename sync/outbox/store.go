package outbox

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"docent/internal/badgerdb"
	"docent/internal/durable"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

// storeOptions are for a small device: 81 MiB of (sparse) files instead of 2 GiB, 8 MiB memtables, no compression,
// and every commit synced. Values never reach the 1 MiB at which they would leave the LSM tree for the value log.
func storeOptions(dir string, opt Options) badger.Options {
	compactors := 2
	if opt.Brief {
		compactors = 0
	}
	return badger.DefaultOptions(dir).
		WithSyncWrites(true).
		WithMemTableSize(8 << 20).
		WithNumMemtables(2).
		WithNumLevelZeroTables(2).
		WithNumLevelZeroTablesStall(4).
		// No cache of blocks: uncompressed ones are read from the mapped file, and each counts in the cache as all that follows
		// it there (v4.9.6, table.Block.size), so that hardly any would fit.
		WithBlockCacheSize(0).
		WithIndexCacheSize(4 << 20).
		WithValueLogFileSize(32 << 20).
		WithNumCompactors(compactors).
		WithCompression(options.None).
		WithMetricsEnabled(false).
		WithVerifyValueChecksum(true).
		// Tables are checked when they are opened. Checking blocks as well would make a damaged one panic (v4.9.6,
		// table.VerifyChecksum uses the block that it could not read).
		WithChecksumVerificationMode(options.OnTableRead).
		WithDetectConflicts(false). // one writer
		WithLogger(badgerLog{opt.Logger})
}

// openDB opens the database. What an empty log held, which opening removes, is found missing by the watermark.
func openDB(dir string, opt Options) (*badger.DB, error) {
	db, err := badgerdb.Open(storeOptions(dir, opt))
	if err != nil {
		return nil, err
	}
	return db, durable.SyncDir(filepath.Dir(dir))
}

// maxDeaths is how often in a row opening the store may end the process before the store counts as damaged. The
// database opens its files in goroutines of its own and panics or exits over some kinds of damage; nothing here can
// catch that, so it is found out at the next start.
const maxDeaths = 3

// noteOpening notes in a file that the database is about to be opened: one byte more each time. survived removes the
// note.
func noteOpening(dir string) (survived func() error, err error) {
	path := filepath.Join(dir, "opening")
	note := bytes.Repeat([]byte("."), min(countDeaths(dir), maxDeaths)+1)
	if err := os.WriteFile(path, note, 0o600); err != nil {
		return nil, err
	}
	return func() error { return os.Remove(path) }, nil
}

// countDeaths is how many times in a row opening the database was noted and not survived.
func countDeaths(dir string) int {
	b, err := os.ReadFile(filepath.Join(dir, "opening"))
	if err != nil {
		return 0
	}
	return len(b)
}

// keptAside is how many damaged stores are kept for whoever wants to look into them.
const keptAside = 2

// setAside renames a damaged store and returns its new name. Of those set aside before, the newest stay.
func setAside(dir string, now time.Time) (string, error) {
	old, err := filepath.Glob(dir + ".damaged-*")
	if err != nil {
		return "", fmt.Errorf("set damaged store aside: %w", err)
	}
	slices.Sort(old) // numbered in order
	for len(old) >= keptAside {
		if err := os.RemoveAll(old[0]); err != nil {
			return "", fmt.Errorf("remove damaged store: %w", err)
		}
		old = old[1:]
	}
	n := 0
	if len(old) > 0 {
		fmt.Sscanf(strings.TrimPrefix(old[len(old)-1], dir+".damaged-"), "%d", &n)
	}
	aside := fmt.Sprintf("%s.damaged-%06d-%s", dir, n+1, now.UTC().Format("20060102"))
	if err := os.Rename(dir, aside); err != nil {
		return "", fmt.Errorf("set damaged store aside: %w", err)
	}
	return aside, nil
}

// lockDir takes the folder for this process. The kernel gives it back when the process dies.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, ErrLocked
		}
		return nil, fmt.Errorf("lock: %w", err)
	}
	return f, nil
}

// badgerLog passes the database's warnings on and keeps its chatter to debug.
type badgerLog struct{ l *slog.Logger }

func (b badgerLog) Errorf(f string, a ...any)   { b.l.Warn("store: " + line(f, a)) }
func (b badgerLog) Warningf(f string, a ...any) { b.l.Warn("store: " + line(f, a)) }
func (b badgerLog) Infof(f string, a ...any)    { b.l.Debug("store: " + line(f, a)) }
func (b badgerLog) Debugf(f string, a ...any)   { b.l.Debug("store: " + line(f, a)) }

func line(f string, a []any) string { return strings.TrimSpace(fmt.Sprintf(f, a...)) }

var _ badger.Logger = badgerLog{}
