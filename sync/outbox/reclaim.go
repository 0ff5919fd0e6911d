package outbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"docent/internal/durable"

	"github.com/dgraph-io/badger/v4"
)

// Deleted events keep their place on the disk until the database happens to compact the tables they are in, which
// after a long outage may be never: the backlog drains, and nothing more is written. So the store is replaced by a
// fresh copy once what was deleted takes up reclaimAt bytes and four times what is held; copying costs at most a
// quarter of what was written before.
const (
	reclaimAt    = 32 << 20
	reclaimRatio = 4
	reclaimRoom  = 24 << 20 // free bytes a fresh store needs beside what is copied
	reclaimRetry = time.Minute
)

// wasteful tells whether the store should be replaced now.
func (o *Outbox) wasteful() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.dead >= o.reclaimAt && o.dead >= reclaimRatio*o.held && o.opt.Uptime() >= o.reclaimAfter
}

// sweepHeld is how many bytes may be held where the store is written anew only to be rid of what was deleted; a larger
// backlog waits until the hub has it.
const sweepHeld = 1 << 20

// sweepable tells whether files may hold what was deleted, and little else.
func (o *Outbox) sweepable() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.opt.Brief && o.dead > 0 && o.held <= sweepHeld && o.opt.Uptime() >= o.reclaimAfter
}

// reclaim replaces the store. It runs in the writer's goroutine. When it cannot, the old store goes on and it is tried
// again later; an error means that there is no store any more.
func (o *Outbox) reclaim() error {
	o.mu.Lock()
	held, dead := o.held, o.dead
	o.reclaimAfter = o.opt.Uptime() + reclaimRetry
	o.mu.Unlock()
	err := o.spare(held + reclaimRoom)
	fresh := filepath.Join(o.dir, "store.new")
	if err == nil {
		err = o.copyTo(fresh)
	}
	if err != nil {
		o.opt.Logger.Warn("outbox space not reclaimed", "kiosk", o.opt.Kiosk, "err", errors.Join(err, os.RemoveAll(fresh)))
		return nil
	}
	if err := o.swap(); err != nil {
		return fmt.Errorf("replace store: %w", err)
	}
	o.mu.Lock()
	o.dead, o.reclaimAfter = 0, 0
	o.mu.Unlock()
	o.opt.Logger.Debug("outbox space reclaimed", "kiosk", o.opt.Kiosk, "bytes", dead)
	return nil
}

// copyTo writes all that is held into a new database and closes it.
func (o *Outbox) copyTo(dir string) (err error) {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	fresh, err := openDB(dir, o.opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fresh.Close()) }()
	batch := fresh.NewWriteBatch()
	defer batch.Cancel()
	err = o.db.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			value, err := it.Item().ValueCopy(nil)
			if err != nil {
				return err
			}
			if err := batch.Set(it.Item().KeyCopy(nil), value); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return batch.Flush()
}

// swap puts the new store in the old one's place. Between the two renames there is no store but a whole new one, which
// finishSwap knows to take.
func (o *Outbox) swap() error {
	o.reading.Lock()
	defer o.reading.Unlock()
	if err := o.db.Close(); err != nil {
		return err
	}
	o.db = nil
	store := filepath.Join(o.dir, "store")
	if err := os.Rename(store, store+".old"); err != nil {
		return err
	}
	if err := os.Rename(store+".new", store); err != nil {
		return err
	}
	if err := durable.SyncDir(o.dir); err != nil {
		return err
	}
	db, err := openDB(store, o.opt)
	if err != nil {
		return err
	}
	o.db = db
	return os.RemoveAll(store + ".old")
}

// finishSwap finishes or undoes, at Open, what a process left half-way.
func finishSwap(dir string) error {
	store := filepath.Join(dir, "store")
	if !exists(store) && exists(store+".new") {
		if err := os.Rename(store+".new", store); err != nil {
			return err
		}
		if err := durable.SyncDir(dir); err != nil {
			return err
		}
	}
	return errors.Join(os.RemoveAll(store+".new"), os.RemoveAll(store+".old"))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// onDisk is how many bytes the files of a folder take up, holes not counted. Files that the database removes meanwhile
// do not count.
func onDisk(dir string) (bytes uint64, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return unlessGone(err)
		}
		info, err := d.Info()
		if err != nil {
			return unlessGone(err)
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			bytes += uint64(st.Blocks) * 512
		}
		return nil
	})
	return bytes, err
}

func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
