package visit

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"docent/internal/badgerdb"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

// disk keeps a sealed copy of every visit. Its writes never fail the caller: a kiosk goes on without the copy, and
// says so once.
type disk struct {
	dir      string
	o        Options
	db       *badger.DB
	troubled bool // the last write failed, and that was logged
}

// storeOptions are for a small device: 8 MiB memtables and caches instead of 64 and 256, every commit synced, no
// conflict detection because all writes are made under one lock.
func storeOptions(dir string, logger *slog.Logger) badger.Options {
	return badger.DefaultOptions(dir).
		WithSyncWrites(true).
		WithMemTableSize(8 << 20).
		WithNumMemtables(2).
		WithNumLevelZeroTables(2).
		WithNumLevelZeroTablesStall(4).
		WithBlockCacheSize(8 << 20).
		WithIndexCacheSize(4 << 20).
		WithValueLogFileSize(8 << 20).
		WithNumCompactors(2).
		WithNumVersionsToKeep(1).
		WithCompression(options.None).
		WithMetricsEnabled(false).
		WithDetectConflicts(false).
		WithLogger(badgerdb.Complaints(logger, "visit store"))
}

func openDisk(dir string, o Options) (*disk, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	switch free, err := o.Free(dir); {
	case err != nil:
		return nil, fmt.Errorf("ask for free disk space: %w", err)
	case free < o.MinFree:
		o.Logger.Warn("disk full: visits are kept in memory only", "free_bytes", free)
		return &disk{dir: dir, o: o, troubled: true}, nil
	}
	db, err := badgerdb.OpenOrRenew(storeOptions(dir, o.Logger), func(err error) {
		o.Logger.Warn("stored visits cannot be read and are begun anew", "error", err)
	})
	if err != nil {
		return nil, err
	}
	return &disk{dir: dir, o: o, db: db}, nil
}

// each calls f with every stored visit's name and expiry, and whether it has a pass.
func (d *disk) each(f func(name string, expires time.Time, carried bool)) error {
	if d.db == nil {
		return nil
	}
	return d.db.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			item := it.Item()
			err := item.Value(func(stored []byte) error {
				f(string(item.Key()), expiry(stored), carried(stored))
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (d *disk) get(id string) (v Visit, err error) {
	if d.db == nil {
		return Visit{}, ErrNone
	}
	err = d.db.View(func(txn *badger.Txn) error {
		item, err := txn.Get([]byte(nameOf(id)))
		if err != nil {
			return err
		}
		return item.Value(func(stored []byte) error {
			v, err = unseal(stored, id)
			return err
		})
	})
	return v, err
}

func (d *disk) put(v Visit) {
	d.write(func(txn *badger.Txn) error {
		sealed, err := seal(v, d.o.Random)
		if err != nil {
			return err
		}
		// Badger's own expiry is a second way for the copy to die, where the clock of the options is the real one.
		return txn.SetEntry(badger.NewEntry([]byte(v.Name()), sealed).WithTTL(d.o.TTL + time.Minute))
	})
}

func (d *disk) drop(name string) {
	d.write(func(txn *badger.Txn) error { return txn.Delete([]byte(name)) })
}

func (d *disk) write(change func(*badger.Txn) error) {
	if d.db == nil {
		return
	}
	free, err := d.o.Free(d.dir)
	switch {
	case err == nil && free < d.o.MinFree:
		err = fmt.Errorf("disk full: %d bytes free", free)
	case err == nil:
		err = d.db.Update(change)
	}
	if err != nil && !d.troubled {
		d.o.Logger.Warn("visits are kept in memory only", "error", err)
	}
	d.troubled = err != nil
}

func (d *disk) close() error {
	if d.db == nil {
		return nil
	}
	return d.db.Close()
}
