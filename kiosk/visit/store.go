package visit

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"docent/internal/space"
	"docent/localindex/gallery"
)

// ErrNone says that there is no such visit: it was never begun, or it has ended or run out.
var ErrNone = errors.New("no such visit")

// ErrClosed says that the store is closed.
var ErrClosed = errors.New("visit store closed")

const (
	// MaxOpen bounds the visits open at once. A kiosk has one visitor before it and some phones around it; beyond the
	// bound, the visit that was unused for longest is ended.
	MaxOpen = 1000
	// DefaultMinFree is the free disk space below which nothing is written: the store maps its files into memory, and
	// a mapped page that the disk cannot hold kills the process.
	DefaultMinFree = 128 << 20
)

// Options configure a store. Zero fields mean the defaults.
type Options struct {
	Kiosk   string                           // its name, which orders what is changed at once at two kiosks
	TTL     time.Duration                    // how long a visit lives after its last use; default 30 minutes
	MinFree uint64                           // bytes; default DefaultMinFree
	Now     func() time.Time                 // default time.Now
	Random  io.Reader                        // default crypto/rand
	Free    func(dir string) (uint64, error) // free bytes of dir's disk; default asks the file system
	Logger  *slog.Logger                     // default none
}

// Ended is a visit that the store ended by itself.
type Ended struct {
	Name    string
	Carried bool // it has a pass and may come back; false also where that is not known
}

// Store holds the open visits in memory and a sealed copy of each on disk, so that a restart does not end them. A
// disk that is full or broken costs only that copy. It is safe for concurrent use.
type Store struct {
	o    Options
	disk *disk

	mu      sync.Mutex
	visits  map[string]*entry // by name
	begun   uint64            // visits that became open here since the start
	evicted []Ended
	closed  bool
}

// entry is one open visit.
type entry struct {
	expires time.Time
	stored  time.Time // expiry of the copy on disk
	visit   *Visit    // nil where it is only on disk since the last start
	carried bool      // the visit has a pass
}

// Open opens the store in dir, which it makes where there is none. A store that cannot be read is begun anew: what
// is lost are visits, which would soon have ended.
func Open(dir string, o Options) (*Store, error) {
	if o.TTL <= 0 {
		o.TTL = 30 * time.Minute
	}
	if o.MinFree == 0 {
		o.MinFree = DefaultMinFree
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Free == nil {
		o.Free = space.Free
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	d, err := openDisk(dir, o)
	if err != nil {
		return nil, fmt.Errorf("open visits %s: %w", dir, err)
	}
	s := &Store{o: o, disk: d, visits: map[string]*entry{}}
	most := o.Now().Add(o.TTL) // where the clock was ahead when it was written, or is behind now
	err = d.each(func(name string, expires time.Time, carried bool) {
		if expires.After(most) {
			expires = most
		}
		if len(s.visits) < MaxOpen {
			s.visits[name] = &entry{expires: expires, stored: expires, carried: carried}
		}
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open visits %s: %w", dir, err), d.close())
	}
	return s, nil
}

// Close closes the store; open visits stay on disk.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return s.disk.close()
}

// Start begins a visit.
func (s *Store) Start(language string, level gallery.Level) (Visit, error) {
	raw := make([]byte, idBytes)
	if _, err := io.ReadFull(s.o.Random, raw); err != nil {
		return Visit{}, fmt.Errorf("start visit: %w", err)
	}
	now := s.o.Now()
	v := Visit{ID: base64.RawURLEncoding.EncodeToString(raw), Language: language, Level: level, Started: now}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return Visit{}, ErrClosed
	}
	if len(s.visits) >= MaxOpen {
		s.evictOldest()
	}
	s.begun++
	s.put(&v)
	return v.clone(), nil
}

// Adopt makes a visit that began elsewhere an open one here, under its own id.
func (s *Store) Adopt(v Visit) (Visit, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return Visit{}, ErrClosed
	case !validID(v.ID):
		return Visit{}, ErrNone
	}
	_, open := s.visits[v.Name()]
	if !open && len(s.visits) >= MaxOpen {
		s.evictOldest()
	}
	if !open {
		s.begun++
	}
	v = v.clone()
	s.put(&v)
	return v.clone(), nil
}

// Named returns the open visit of a name without extending its life; false where there is none, or where it is only on
// the disk since the last start.
func (s *Store) Named(name string) (Visit, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.visits[name]
	if !ok || e.visit == nil || s.closed {
		return Visit{}, false
	}
	return e.visit.clone(), true
}

// Drop removes the visit of a name, and says whether there was one.
func (s *Store) Drop(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.visits[name]; !ok || s.closed {
		return false
	}
	s.drop(name)
	return true
}

// Get returns a visit, and extends its life. The error is [ErrNone] or [ErrClosed].
func (s *Store) Get(id string) (Visit, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, err := s.find(id)
	if err != nil {
		return Visit{}, err
	}
	e := s.visits[v.Name()]
	e.expires = s.o.Now().Add(s.o.TTL)
	v.Expires = e.expires
	if e.expires.Sub(e.stored) > s.o.TTL/4 { // not a write to disk for each look
		s.put(v)
	}
	return v.clone(), nil
}

// Update changes a visit by change, which must be quick and must not use the store, and returns it as it is then. It
// extends the visit's life. The error is [ErrNone] or [ErrClosed].
func (s *Store) Update(id string, change func(*Visit)) (Visit, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, err := s.find(id)
	if err != nil {
		return Visit{}, err
	}
	changed := v.clone()
	change(&changed)
	changed.ID = id
	if c := changed.Carried; c != nil { // at once: what comes from elsewhere before this is carried must not win over it
		c.Clock++
		c.Stamp = Stamp{Version: c.Stamp.Version + 1, Logical: c.Clock, Kiosk: s.o.Kiosk}
	}
	s.put(&changed)
	return changed.clone(), nil
}

// Amend changes a visit as [Store.Update] does, for what is not its visitor's doing: its life is not extended.
func (s *Store) Amend(id string, change func(*Visit)) (Visit, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, err := s.find(id)
	if err != nil {
		return Visit{}, err
	}
	changed := v.clone()
	change(&changed)
	changed.ID = id
	s.keep(&changed, s.visits[v.Name()].expires)
	return changed.clone(), nil
}

// End removes a visit and returns it as it was. The error is [ErrNone] or [ErrClosed].
func (s *Store) End(id string) (Visit, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, err := s.find(id)
	if err != nil {
		return Visit{}, err
	}
	s.drop(v.Name())
	return v.clone(), nil
}

// Expire removes the visits that ran out, and returns those and the ones that were ended to make room since the last
// call.
func (s *Store) Expire() []Ended {
	s.mu.Lock()
	defer s.mu.Unlock()
	ended := s.evicted
	s.evicted = nil
	if s.closed {
		return ended
	}
	now := s.o.Now()
	for name, e := range s.visits {
		if !e.expires.After(now) {
			s.drop(name)
			ended = append(ended, Ended{Name: name, Carried: e.carried})
		}
	}
	return ended
}

// Open says whether the visit of that name is open; it does not extend its life.
func (s *Store) Open(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.visits[name]
	return ok
}

// Len is how many visits are open.
func (s *Store) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.visits)
}

// find returns the open visit of that id. It and the methods below are called with mu held.
// Begun is how many visits became open here since the start, those that came from elsewhere included.
func (s *Store) Begun() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun
}

func (s *Store) find(id string) (*Visit, error) {
	if s.closed {
		return nil, ErrClosed
	}
	if !validID(id) {
		return nil, ErrNone
	}
	name := nameOf(id)
	e, ok := s.visits[name]
	if !ok || !e.expires.After(s.o.Now()) {
		return nil, ErrNone
	}
	if e.visit == nil {
		v, err := s.disk.get(id)
		if err != nil {
			s.o.Logger.Warn("read stored visit", "error", err)
			s.drop(name)
			return nil, ErrNone
		}
		e.visit = &v
	}
	return e.visit, nil
}

// put makes v the visit of its id, with its life extended.
func (s *Store) put(v *Visit) { s.keep(v, s.o.Now().Add(s.o.TTL)) }

func (s *Store) keep(v *Visit, expires time.Time) {
	v.Expires = expires
	s.visits[v.Name()] = &entry{expires: expires, stored: expires, visit: v, carried: v.Carried != nil}
	s.disk.put(*v)
}

func (s *Store) drop(name string) {
	delete(s.visits, name)
	s.disk.drop(name)
}

func (s *Store) evictOldest() {
	oldest := ""
	for name, e := range s.visits {
		if oldest == "" || e.expires.Before(s.visits[oldest].expires) {
			oldest = name
		}
	}
	carried := s.visits[oldest].carried
	s.drop(oldest)
	s.evicted = append(s.evicted, Ended{Name: oldest, Carried: carried})
}
