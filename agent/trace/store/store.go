// Package store keeps the traces of turns on disk for a while. Without the words of visitors and models they are kept for
// all the time that is set; the words are kept only where that is wanted, sealed with a key of the visit, and are noise
// when nobody holds the key any more.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"

	"docent/agent/trace"
	"docent/internal/badgerdb"
)

// Bounds of what is kept.
const (
	// DefaultMinFree is the free disk space below which nothing is written: the database maps its files into memory,
	// and a mapped page that the disk cannot hold kills the process.
	DefaultMinFree = 128 << 20
	// DefaultMaxTurns is how many turns are kept; then the oldest go.
	DefaultMaxTurns = 20_000
	maxSearches     = 16
	maxHits         = 8 // of a search
	maxRecord       = 256 << 10
	queueLength     = 64 // turns that wait to be written; beyond, they are dropped
	followLength    = 256
)

// Options configure a store. Zero fields mean the defaults.
type Options struct {
	Retention time.Duration // how long a turn is kept; default 14 days
	MaxTurns  int
	// Words says that the words of visitors and models are kept too, sealed, as long as their visit goes on.
	Words   bool
	MinFree uint64                           // bytes
	Free    func(dir string) (uint64, error) // free bytes of dir's disk; default asks the file system
	Now     func() time.Time
	Random  io.Reader // default crypto/rand
	Logger  *slog.Logger
}

// Store is a trace.Sink that keeps turns in Badger. It is safe for concurrent use.
type Store struct {
	dir string
	o   Options
	db  *badger.DB // nil where the disk was full

	mu        sync.Mutex
	keys      map[string][32]byte // of visits that go on, by name
	followers map[chan trace.Part]bool
	last      uint64   // the last turn's number
	ids       []string // of the turns kept, oldest first
	dropped   int
	closed    bool
	queue     chan turn
	writing   sync.WaitGroup
}

var (
	_ trace.Sink     = (*Store)(nil)
	_ trace.Listener = (*Store)(nil)
)

// turn is one turn on its way to the disk.
type turn struct {
	id    string
	visit string
	bare  []byte
	words []byte // sealed; nil for none
}

// Where records are. An id is 16 hexadecimal digits of milliseconds and 8 of a number, so that they sort by time.
//
//	t/ID         a turn without words
//	w/VISIT/ID   the whole turn, sealed
const (
	atTurn  = "t/"
	atWords = "w/"
)

// Open opens the store in dir, which it makes where there is none. One that cannot be read is begun anew.
func Open(dir string, o Options) (*Store, error) {
	o = o.withDefaults()
	s := &Store{dir: dir, o: o, keys: make(map[string][32]byte), followers: make(map[chan trace.Part]bool), queue: make(chan turn, queueLength)}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open traces %s: %w", dir, err)
	}
	if err := s.room(); err != nil {
		o.Logger.Warn("traces are not kept", "error", err)
	} else if s.db, err = openDB(dir, o.Logger); err != nil {
		return nil, fmt.Errorf("open traces %s: %w", dir, err)
	}
	if err := s.list(); err != nil {
		return nil, errors.Join(fmt.Errorf("open traces %s: %w", dir, err), s.db.Close())
	}
	s.writing.Go(s.write)
	return s, nil
}

// openDB opens the database; a damaged one is begun anew.
func openDB(dir string, log *slog.Logger) (*badger.DB, error) {
	return badgerdb.OpenOrRenew(storeOptions(dir, log), func(err error) {
		log.Warn("stored traces cannot be read and are begun anew", "error", err)
	})
}

// list reads which turns there are.
func (s *Store) list() error {
	if s.db == nil {
		return nil
	}
	return s.db.View(func(txn *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.PrefetchValues, o.Prefix = false, []byte(atTurn)
		it := txn.NewIterator(o)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			s.ids = append(s.ids, string(it.Item().Key()[len(atTurn):]))
		}
		return nil
	})
}

// Unlock holds a visit's key, so that its words can be kept and read, until [Store.Forget]. The key is on no disk.
func (s *Store) Unlock(visit string, key [32]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.o.Words {
		s.keys[visit] = key
	}
}

// Forget drops a visit's key and the words of its turns.
func (s *Store) Forget(visit string) error {
	s.mu.Lock()
	delete(s.keys, visit)
	s.mu.Unlock()
	return s.dropWords(atWords+visit+"/", func(string) bool { return false })
}

// Sweep drops the words of visits that are not open any more, such as those that ended while the kiosk was off.
func (s *Store) Sweep(open func(visit string) bool) error { return s.dropWords(atWords, open) }

func (s *Store) dropWords(prefix string, keep func(visit string) bool) error {
	if s.db == nil {
		return nil
	}
	var gone [][]byte
	err := s.db.View(func(txn *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.PrefetchValues, o.Prefix = false, []byte(prefix)
		it := txn.NewIterator(o)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			visit, _, _ := strings.Cut(string(it.Item().Key()[len(atWords):]), "/")
			if !keep(visit) {
				gone = append(gone, it.Item().KeyCopy(nil))
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("forget the words of traces: %w", err)
	}
	return s.remove(gone)
}

func (s *Store) remove(keys [][]byte) error {
	batch := s.db.NewWriteBatch()
	defer batch.Cancel()
	for _, k := range keys {
		if err := batch.Delete(k); err != nil {
			return fmt.Errorf("remove traces: %w", err)
		}
	}
	if err := batch.Flush(); err != nil {
		return fmt.Errorf("remove traces: %w", err)
	}
	return nil
}

// Record takes a turn. It is written soon; where the disk does not keep up, it is dropped.
func (s *Store) Record(t trace.Turn) {
	t.Searches = slices.Clone(t.Searches[:min(len(t.Searches), maxSearches)])
	for i := range t.Searches {
		t.Searches[i].Hits = t.Searches[i].Hits[:min(len(t.Searches[i].Hits), maxHits)]
	}
	bare, err := json.Marshal(t.Bare())
	if err != nil || len(bare) > maxRecord {
		s.o.Logger.Warn("a trace cannot be written", "error", err, "bytes", len(bare))
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.db == nil {
		return
	}
	s.last++
	w := turn{id: fmt.Sprintf("%016x%08x", uint64(t.Began.UnixMilli()), uint32(s.last)), visit: t.Visit, bare: bare}
	if key, ok := s.keys[t.Visit]; ok {
		if w.words, err = seal(key, w.id, t, s.o.Random); err != nil {
			s.o.Logger.Warn("a trace's words cannot be sealed", "error", err)
		}
	}
	select {
	case s.queue <- w:
	default:
		s.dropped++
		s.o.Logger.Warn("a trace is dropped: the disk does not keep up", "dropped", s.dropped)
	}
}

// write writes what is recorded, until the queue is closed.
func (s *Store) write() {
	troubled := false
	for w := range s.queue {
		err := s.room()
		if err == nil {
			err = s.put(w)
		}
		if err != nil && !troubled {
			s.o.Logger.Warn("traces are not kept", "error", err)
		}
		troubled = err != nil
	}
}

func (s *Store) put(w turn) error {
	s.mu.Lock()
	if _, ok := s.keys[w.visit]; !ok {
		w.words = nil // forgotten meanwhile
	}
	s.mu.Unlock()
	err := s.db.Update(func(txn *badger.Txn) error {
		if err := txn.SetEntry(badger.NewEntry([]byte(atTurn+w.id), w.bare).WithTTL(s.o.Retention)); err != nil {
			return err
		}
		if w.words == nil {
			return nil
		}
		return txn.SetEntry(badger.NewEntry([]byte(atWords+w.visit+"/"+w.id), w.words).WithTTL(s.o.Retention))
	})
	if err != nil {
		return fmt.Errorf("write a trace: %w", err)
	}
	s.mu.Lock()
	s.ids = append(s.ids, w.id)
	over := max(0, len(s.ids)-s.o.MaxTurns)
	var gone [][]byte
	for _, id := range s.ids[:over] {
		gone = append(gone, []byte(atTurn+id))
	}
	s.ids = s.ids[over:]
	s.mu.Unlock()
	if over == 0 {
		return nil
	}
	return s.remove(gone)
}

// Part tells those who follow. One who does not keep up misses parts.
func (s *Store) Part(p trace.Part) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.followers) == 0 {
		return
	}
	if !s.o.Words {
		p = p.Bare()
	}
	for f := range s.followers {
		select {
		case f <- p:
		default:
		}
	}
}

// Follow returns the parts of turns as they come, without words unless they are kept, until ctx is done or the store is
// closed; then the channel is closed.
func (s *Store) Follow(ctx context.Context) <-chan trace.Part {
	f := make(chan trace.Part, followLength)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		close(f)
		return f
	}
	s.followers[f] = true
	context.AfterFunc(ctx, func() { s.unfollow(f) })
	return f
}

func (s *Store) unfollow(f chan trace.Part) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.followers[f] {
		delete(s.followers, f)
		close(f)
	}
}

// Turns returns at most limit turns that began at since or later, the newest ones of them, oldest first. The words are in
// those of visits whose key is held.
func (s *Store) Turns(since time.Time, limit int) ([]trace.Turn, error) {
	if s.db == nil {
		return nil, nil
	}
	var out []trace.Turn
	from := fmt.Sprintf("%s%016x", atTurn, uint64(max(0, since.UnixMilli())))
	now := s.o.Now()
	err := s.db.View(func(txn *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.Prefix, o.Reverse = []byte(atTurn), true
		it := txn.NewIterator(o)
		defer it.Close()
		for it.Seek([]byte(atTurn + "\xff")); it.Valid() && len(out) < limit && string(it.Item().Key()) >= from; it.Next() {
			id := string(it.Item().Key()[len(atTurn):])
			if now.Sub(began(id)) >= s.o.Retention {
				break
			}
			t, err := s.read(txn, id, it.Item())
			if err != nil {
				return err
			}
			out = append(out, t)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read traces: %w", err)
	}
	slices.Reverse(out)
	return out, nil
}

// began reads when a turn began from its id; the zero time where it is none.
func began(id string) time.Time {
	var ms uint64
	if _, err := fmt.Sscanf(id[:min(len(id), 16)], "%016x", &ms); err != nil {
		return time.Time{}
	}
	return time.UnixMilli(int64(ms))
}

// read returns a turn, with its words where they can be read.
func (s *Store) read(txn *badger.Txn, id string, bare *badger.Item) (trace.Turn, error) {
	var t trace.Turn
	if err := bare.Value(func(v []byte) error { return json.Unmarshal(v, &t) }); err != nil {
		return t, fmt.Errorf("turn %s: %w", id, err)
	}
	s.mu.Lock()
	key, ok := s.keys[t.Visit]
	s.mu.Unlock()
	if !ok {
		return t, nil
	}
	sealed, err := txn.Get([]byte(atWords + t.Visit + "/" + id))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return t, nil
	}
	if err != nil {
		return t, fmt.Errorf("turn %s: %w", id, err)
	}
	err = sealed.Value(func(v []byte) error {
		whole, err := unseal(key, id, v)
		if err == nil {
			t = whole
		}
		return err
	})
	return t, err
}

// Close writes what waits, ends who follows, and closes the database.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.queue)
	for f := range s.followers {
		delete(s.followers, f)
		close(f)
	}
	s.mu.Unlock()
	s.writing.Wait()
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
		return fmt.Errorf("disk full: %d bytes free", free)
	}
	return nil
}
