package outbox

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

// storeOptions are for a small device: 81 MiB of (sparse) files instead of 2 GiB, 8 MiB memtables, no compression,
// and every commit synced. Values never reach the 1 MiB at which they would leave the LSM tree for the value log.
func storeOptions(dir string, logger *slog.Logger) badger.Options {
	return badger.DefaultOptions(dir).
		WithSyncWrites(true).
		WithMemTableSize(8 << 20).
		WithNumMemtables(2).
		WithNumLevelZeroTables(2).
		WithNumLevelZeroTablesStall(4).
		WithBlockCacheSize(8 << 20).
		WithIndexCacheSize(4 << 20).
		WithValueLogFileSize(32 << 20).
		WithNumCompactors(2).
		WithCompression(options.None).
		WithMetricsEnabled(false).
		WithVerifyValueChecksum(true).
		WithChecksumVerificationMode(options.OnTableAndBlockRead).
		WithDetectConflicts(false). // one writer
		WithLogger(badgerLog{logger})
}

// openStore opens the database. One that cannot be read is moved aside, its new name returned, and a new one begun:
// a kiosk goes on with what it can still do. Errors of the operating system (permission, disk, memory) are not damage.
func openStore(dir string, opt Options) (db *badger.DB, aside string, err error) {
	db, err = tryOpen(dir, opt.Logger)
	var errno syscall.Errno
	if err == nil || errors.As(err, &errno) {
		return db, "", err
	}
	aside = fmt.Sprintf("%s.damaged-%s", dir, opt.Clock().UTC().Format("20060102T150405"))
	for n := 1; exists(aside); n++ {
		aside = fmt.Sprintf("%s.%d", strings.TrimSuffix(aside, fmt.Sprintf(".%d", n-1)), n)
	}
	opt.Logger.Warn("outbox store cannot be read", "kiosk", opt.Kiosk, "err", err)
	if err := os.Rename(dir, aside); err != nil {
		return nil, "", fmt.Errorf("set damaged store aside: %w", err)
	}
	db, err = tryOpen(dir, opt.Logger)
	return db, aside, err
}

// tryOpen opens the database; a panic over damaged files counts as an error of it.
func tryOpen(dir string, logger *slog.Logger) (db *badger.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			db, err = nil, fmt.Errorf("open store: %v", r)
		}
	}()
	if db, err = badger.Open(storeOptions(dir, logger)); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	return db, syncDir(filepath.Dir(dir))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
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
