package memory

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// ErrStale says that a change was made on a version of a fact that is no longer the latest.
var ErrStale = errors.New("the fact has changed since")

// ErrForgotten says that the visit is forgotten.
var ErrForgotten = errors.New("visit is forgotten")

// utterance is what a visitor said at one logical time, on its way into the store.
type utterance struct {
	ID       string    `json:"id"`
	Logical  uint64    `json:"logical"`
	Said     Said      `json:"said"`
	Attempts int       `json:"attempts,omitempty"`
	Stored   []string  `json:"stored,omitempty"` // keys of drafts that went to the store at once
	due      time.Time // not taken up before
	until    time.Time // in the cache
	drafts   []Draft   // by the rules
	queued   bool      // it is in the queue already
}

// stored says whether a draft went to the store at once, so that it is not put there again over something newer.
func (u utterance) stored(d Draft) bool { return slices.Contains(u.Stored, d.Key) }

// command places a draft of the utterance in time. The same draft always makes the same id.
func (u utterance) command(d Draft, visit, kiosk string) Command {
	return Command{Draft: d, ID: u.ID + "." + digest(d.Key), Visit: visit, Logical: u.Logical, Kiosk: kiosk, Source: SourceSaid, At: u.Said.At}
}

// shelf is the memory of one visit. Readers take mu only, which is never held during a write to the disk; whoever
// changes the store holds write as well, for as long as it takes.
type shelf struct {
	visit Visit
	kiosk string

	write sync.Mutex

	mu        sync.Mutex
	clock     uint64             // latest logical time
	stored    map[string]Command // by slot, what the store has
	cache     []utterance        // what was said in the last minutes, read first
	queue     []utterance        // durable, waiting for the consumer
	dead      []utterance        // given up, still told to readers
	forgotten bool
	vectors   map[string][]float32 // of preferences, by what they are about
}

// tick is the next logical time. It is called with mu held.
func (s *shelf) tick() uint64 {
	s.clock++
	return s.clock
}

// view is what is remembered, by slot: the store's facts, and over them what was said later and has not got there
// yet. It is called with mu held.
func (s *shelf) view() (commands map[string]Command, pending map[string]bool) {
	commands, pending = make(map[string]Command, len(s.stored)), map[string]bool{}
	for slot, c := range s.stored {
		commands[slot] = c
	}
	waiting := slices.Concat(s.dead, s.queue, s.cache)
	slices.SortStableFunc(waiting, func(a, b utterance) int { return cmp.Compare(a.Logical, b.Logical) })
	for _, u := range waiting {
		for _, d := range u.drafts {
			if u.stored(d) {
				continue
			}
			c := u.command(d, s.visit.Name, s.kiosk)
			before, known := commands[c.slot()]
			if known && (before.Logical >= c.Logical || before.says(c)) {
				continue
			}
			c.Version = before.Version + 1
			commands[c.slot()], pending[c.slot()] = c, true
		}
	}
	return commands, pending
}

// says tells that c has nothing that is not known more exactly: a question about "our child" says no more than that there
// is one.
func (before Command) says(c Command) bool {
	return c.Kind == KindChildren && c.Op == OpUpsertFact && before.Op == OpUpsertFact && before.Value != "" && c.Value == ""
}

// facts is what is remembered, for readers.
func (s *shelf) facts() []Fact {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Fact
	commands, pending := s.view()
	for slot, c := range commands {
		if c.Op != OpRetractFact {
			out = append(out, c.fact(pending[slot]))
		}
	}
	slices.SortFunc(out, compareFacts)
	if notes := slices.IndexFunc(out, func(f Fact) bool { return f.Kind == KindNote }); notes >= 0 {
		out = append(out[:notes:notes], newest(out[notes:], maxNotes)...)
	}
	return out
}

// swap checks that c is made on the stored version of its fact. It is called with mu held.
func (s *shelf) swap(c Command) error {
	if s.stored[c.slot()].Version+1 != c.Version {
		return ErrStale
	}
	return nil
}

// settle decides what becomes of a command that was said here: it is stored already, something later was said, or it
// is put on the latest version, once more if that has changed. It is called with mu held.
func (s *shelf) settle(c Command) (placed Command, put bool) {
	for {
		before, known := s.stored[c.slot()]
		switch {
		case known && before.ID == c.ID:
			return before, false
		case known && (before.Logical >= c.Logical || before.says(c)), !known && !s.room():
			return Command{}, false
		}
		if s.swap(c) == nil {
			return c, true
		}
		c.Version = before.Version + 1
	}
}

// holds returns what the store has of a command, and whether it is the latest of its fact.
func (s *shelf) holds(c Command) (now Command, still bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now = s.stored[c.slot()]
	return now, now.ID == c.ID
}

// room says whether there is room for one more slot.
func (s *shelf) room() bool { return len(s.stored) < maxFacts }

// take makes commands the stored ones. It is called with mu held.
func (s *shelf) take(commands []Command) {
	for _, c := range commands {
		s.stored[c.slot()] = c
		s.clock = max(s.clock, c.Logical)
	}
}

// uncache takes an utterance out of the cache: the store has it. It is called with mu held.
func (s *shelf) uncache(id string) {
	s.cache = slices.DeleteFunc(s.cache, func(u utterance) bool { return u.ID == id })
}

// expireCache drops what was said too long ago. It is called with mu held.
func (s *shelf) expireCache(now time.Time) {
	s.cache = slices.DeleteFunc(s.cache, func(u utterance) bool { return !u.until.After(now) })
}

// shelf returns the memory of a visit, from the store the first time.
func (m *Memory) shelf(v Visit) (*shelf, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s, ok := m.shelves[v.Name]; ok {
		return s, nil
	}
	s := &shelf{visit: v, kiosk: m.o.Kiosk, stored: map[string]Command{}}
	if err := m.load(s); err != nil {
		return nil, err
	}
	m.shelves[v.Name] = s
	if len(s.queue) > 0 {
		m.nudge()
	}
	return s, nil
}

// load reads a visit's records. One that cannot be read is passed over: the others are worth having.
func (m *Memory) load(s *shelf) error {
	v := s.visit
	err := m.o.Store.Scan(atGone+v.Name, func(string, []byte) error { return ErrForgotten })
	if err != nil {
		return err
	}
	unread := 0
	err = m.o.Store.Scan(atFact+v.Name+"/", func(key string, box []byte) error {
		var c Command
		if v.unseal(key, box, &c) != nil {
			unread++
			return nil
		}
		s.stored[c.slot()] = c
		s.clock = max(s.clock, c.Logical)
		return nil
	})
	for at, into := range map[string]*[]utterance{atJob: &s.queue, atDead: &s.dead} {
		if err != nil {
			break
		}
		err = m.o.Store.Scan(at+v.Name+"/", func(key string, box []byte) error {
			var u utterance
			if v.unseal(key, box, &u) != nil {
				unread++
				return nil
			}
			u.drafts = Extract(u.Said)
			s.clock = max(s.clock, u.Logical)
			*into = append(*into, u)
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("load memory: %w", err)
	}
	if unread > 0 {
		m.o.Logger.Warn("records of a visit's memory cannot be read", "records", unread)
	}
	return nil
}
