// Package disk keeps the records of a memory in Badger, on a small device.
package disk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"docent/agent/memory"
	"docent/internal/badgerdb"
	"docent/internal/space"
)

// DefaultMinFree is the free disk space below which nothing is written: the database maps its files into memory, and
// a mapped page that the disk cannot hold kills the process.
const DefaultMinFree = 128 << 20

// Options configure a store. Zero fields mean the defaults.
type Options struct {
	MinFree uint64                           // bytes; default DefaultMinFree
	Free    func(dir string) (uint64, error) // free bytes of dir's disk; default asks the file system
	Logger  *slog.Logger                     // default none
}

// Store is a memory.Store. It is safe for concurrent use.
type Store struct {
	dir string
	o   Options
	db  *badger.DB
}

var _ memory.Store = (*Store)(nil)

// storeOptions are for a small device: 4 MiB memtables, no compression, every commit synced, no conflict detection
// because the memory changes each visit under one lock. Values never reach the size at which they would leave the LSM
// tree for the value log, so the value log stays one small file.
func storeOptions(dir string, logger *slog.Logger) badger.Options {
	return badger.DefaultOptions(dir).
		WithSyncWrites(true).
		WithMemTableSize(4 << 20).
		WithNumMemtables(2).
		WithNumLevelZeroTables(2).
		WithNumLevelZeroTablesStall(4).
		WithValueThreshold(256 << 10). // a batch holds 15 % of a memtable
		WithBaseLevelSize(4 << 20).
		WithBlockCacheSize(4 << 20).
		WithIndexCacheSize(2 << 20).
		WithValueLogFileSize(4 << 20).
		WithNumCompactors(2).
		WithNumVersionsToKeep(1).
		WithCompression(options.None).
		WithMetricsEnabled(false).
		WithDetectConflicts(false).
		WithLogger(badgerdb.Complaints(logger, "memory store"))
}

// Open opens the store in dir, which it makes where there is none. One that cannot be read is begun anew: what is
// lost are visits, which would soon have ended.
func Open(dir string, o Options) (*Store, error) {
	if o.MinFree == 0 {
		o.MinFree = DefaultMinFree
	}
	if o.Free == nil {
		o.Free = space.Free
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Store{dir: dir, o: o}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open memory %s: %w", dir, err)
	}
	if err := s.room(); errors.Is(err, memory.ErrFull) {
		o.Logger.Warn("disk full: what visitors say is kept in memory only", "error", err)
		return s, nil
	} else if err != nil {
		return nil, fmt.Errorf("open memory %s: %w", dir, err)
	}
	db, err := badgerdb.OpenOrRenew(storeOptions(dir, o.Logger), func(err error) {
		o.Logger.Warn("stored memory cannot be read and is begun anew", "error", err)
	})
	if err != nil {
		return nil, fmt.Errorf("open memory %s: %w", dir, err)
	}
	s.db = db
	return s, nil
}

// Scan is that of memory.Store.
func (s *Store) Scan(prefix string, f func(key string, value []byte) error) error {
	if s.db == nil {
		return nil
	}
	o := badger.DefaultIteratorOptions
	o.Prefix = []byte(prefix)
	return s.db.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(o)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			item := it.Item()
			if err := item.Value(func(v []byte) error { return f(string(item.Key()), v) }); err != nil {
				return err
			}
		}
		return nil
	})
}

// Commit is that of memory.Store. The error is memory.ErrFull where the disk is.
func (s *Store) Commit(ctx context.Context, puts []memory.Record, deletes []string, ttl time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.db == nil {
		return memory.ErrFull
	}
	if err := s.room(); err != nil && len(puts) > 0 { // forgetting goes on
		return err
	}
	return s.db.Update(func(txn *badger.Txn) error {
		for _, key := range deletes {
			if err := txn.Delete([]byte(key)); err != nil {
				return fmt.Errorf("delete record: %w", err)
			}
		}
		for _, p := range puts {
			if err := txn.SetEntry(badger.NewEntry([]byte(p.Key), p.Value).WithTTL(ttl)); err != nil {
				return fmt.Errorf("put record: %w", err)
			}
		}
		return nil
	})
}

// Close closes the store; records stay.
func (s *Store) Close() error {
	if s.db == nil {
		return nil
	}
	return s.db.Close()
}

func (s *Store) room() error {
	free, err := s.o.Free(s.dir)
	switch {
	case err != nil:
		return fmt.Errorf("ask for free disk space: %w", err)
	case free < s.o.MinFree:
		return fmt.Errorf("%w: %d bytes free", memory.ErrFull, free)
	}
	return nil
}
