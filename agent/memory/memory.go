package memory

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	cacheFor    = 5 * time.Minute // what was said is read from the cache for so long
	maxQueue    = 200             // utterances of one visit that wait; more are not taken
	maxAttempts = 8
	firstRetry  = time.Second // doubled after each attempt
	lastRetry   = time.Minute
)

// Options configure a memory. Zero fields mean the defaults.
type Options struct {
	Store Store  // required
	Kiosk string // its name, which orders what is said at once on two kiosks
	// Classify understands what was said, in the background; default Extract. Until it has, the rules of Extract hold.
	Classify func(context.Context, Said) ([]Draft, error)
	// Vector places a text near others that mean the like; default by their letters. It is asked for each preference once.
	Vector func(text string) []float32
	// Publish takes sealed commands for other kiosks, at least once each; default none. Where it fails, the memory of
	// this kiosk is right all the same.
	Publish func(context.Context, Envelope) error
	// Keep is how long a record lives at most; default a day. KeepForgotten is how long it is known that a visit is
	// forgotten; default a week.
	Keep, KeepForgotten time.Duration
	Now                 func() time.Time // default time.Now
	Random              io.Reader        // default crypto/rand
	Logger              *slog.Logger     // default none; it never hears what was said
}

// Memory remembers what visitors say about themselves. It is safe for concurrent use.
type Memory struct {
	o        Options
	modelled bool // what the rules do not understand is for a model to look at
	wake     chan struct{}

	mu      sync.Mutex
	shelves map[string]*shelf // by the visit's name
}

// New returns a memory over a store.
func New(o Options) *Memory {
	modelled := o.Classify != nil
	if !modelled {
		o.Classify = func(_ context.Context, s Said) ([]Draft, error) { return Extract(s), nil }
	}
	if o.Vector == nil {
		o.Vector = spelled
	}
	if o.Keep <= 0 {
		o.Keep = 24 * time.Hour
	}
	if o.KeepForgotten <= 0 {
		o.KeepForgotten = 7 * 24 * time.Hour
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Memory{o: o, modelled: modelled, wake: make(chan struct{}, 1), shelves: map[string]*shelf{}}
}

// Heard is something a visitor said that is not in the queue yet.
type Heard struct {
	u *utterance
	s *shelf // where it was heard: what is left or forgotten meanwhile does not come back with it
	// critical is what is on its way into the store, nil for nothing.
	critical *writing
}

// writing is a write under way; err is set when done is closed.
type writing struct {
	done chan struct{}
	err  error
}

// Stored waits until what is critical is in the store. An error says that it could not be stored; it is remembered all
// the same until the kiosk stops.
func (h Heard) Stored(ctx context.Context) error {
	if h.critical == nil {
		return nil
	}
	select {
	case <-h.critical.done:
		return h.critical.err
	case <-ctx.Done():
		return fmt.Errorf("store what was heard: %w", ctx.Err())
	}
}

// Hear takes in what a visitor says as [Memory.Listen] does, and returns when what is critical is in the store.
func (m *Memory) Hear(ctx context.Context, v Visit, said Said) (Heard, error) {
	h, err := m.Listen(ctx, v, said)
	if err != nil {
		return h, err
	}
	return h, h.Stored(ctx)
}

// storeWithin is how long the write of something critical may take.
const storeWithin = 10 * time.Second

// Listen takes in what a visitor says, before they are answered: from now on it is what [Memory.Recall] tells. What is
// critical is on its way to the store, and no word of the answer may go out before [Heard.Stored]; all of it goes to the
// queue with [Memory.Keep], after the answer. Who listens calls Stored or Keep, which end what Listen began.
func (m *Memory) Listen(ctx context.Context, v Visit, said Said) (Heard, error) {
	s, err := m.shelf(v)
	if err != nil {
		return Heard{}, err
	}
	drafts := Extract(said)
	if len(drafts) == 0 && !m.modelled {
		return Heard{u: &utterance{Said: said}, s: s}, nil
	}
	id := make([]byte, 16)
	if _, err := io.ReadFull(m.o.Random, id); err != nil {
		return Heard{}, fmt.Errorf("hear: %w", err)
	}
	u := utterance{ID: hex.EncodeToString(id), Said: said, drafts: drafts, until: m.o.Now().Add(cacheFor)}
	var critical []Command
	s.mu.Lock()
	if s.forgotten {
		s.mu.Unlock()
		return Heard{}, ErrForgotten
	}
	u.Logical = s.tick()
	s.expireCache(m.o.Now())
	s.cache = newest(append(s.cache, u), maxQueue)
	for _, d := range drafts {
		if d.Kind.Critical() {
			critical = append(critical, u.command(d, v.Name, m.o.Kiosk))
		}
	}
	s.mu.Unlock()
	h := Heard{u: &u, s: s}
	if len(critical) == 0 {
		return h, nil
	}
	h.critical = &writing{done: make(chan struct{})}
	ctx = context.WithoutCancel(ctx) // a visitor who goes away has said it all the same
	go func() {
		defer close(h.critical.done)
		ctx, cancel := context.WithTimeout(ctx, storeWithin)
		defer cancel()
		h.critical.err = m.storeCritical(ctx, s, &u, critical)
	}()
	return h, nil
}

// storeCritical stores commands and the utterance they come from, in one write: a turn costs one sync.
func (m *Memory) storeCritical(ctx context.Context, s *shelf, u *utterance, critical []Command) error {
	s.write.Lock()
	defer s.write.Unlock()
	stored := *u
	for _, c := range critical {
		stored.Stored = append(stored.Stored, c.Key)
	}
	s.mu.Lock()
	full := len(s.queue) >= maxQueue
	s.mu.Unlock()
	with := change{add: &stored}
	if full {
		with.add = nil // what is critical goes in all the same
	}
	if _, err := m.store(ctx, s, critical, with); err != nil {
		return fmt.Errorf("store what was heard: %w", err)
	}
	u.Stored, u.queued = stored.Stored, !full
	return nil
}

// Keep puts what was heard into the queue, where it is not already; it is durable when Keep returns.
func (m *Memory) Keep(ctx context.Context, v Visit, h Heard) error {
	if h.u == nil {
		return nil
	}
	if h.critical != nil {
		<-h.critical.done // within storeWithin
	}
	u, s := *h.u, h.s
	if u.ID == "" {
		return nil // nothing to keep
	}
	if u.queued {
		m.nudge()
		return nil
	}
	box, err := v.seal(atJob+v.Name+"/"+u.ID, u, m.o.Random)
	if err != nil {
		return err
	}
	s.write.Lock()
	defer s.write.Unlock()
	s.mu.Lock()
	full := len(s.queue) >= maxQueue
	gone := s.forgotten
	s.mu.Unlock()
	switch {
	case gone:
		return ErrForgotten
	case full:
		return errors.New("queue what was heard: too much waits")
	}
	err = m.o.Store.Commit(ctx, []Record{{atJob + v.Name + "/" + u.ID, box}}, nil, m.o.Keep)
	s.mu.Lock()
	s.queue = append(s.queue, u) // also where the disk failed: it is remembered until the kiosk stops
	s.mu.Unlock()
	m.nudge()
	if err != nil {
		return fmt.Errorf("queue what was heard: %w", err)
	}
	return nil
}

// Recall is what is remembered of a visit, the most important first.
func (m *Memory) Recall(v Visit) ([]Fact, error) {
	s, err := m.shelf(v)
	if err != nil {
		return nil, err
	}
	return s.facts(), nil
}

// Edit lets the visitor change one fact, or take it back where text is empty. The version is the one they saw; the
// error is [ErrStale] where the fact is another by now, and [ErrNoFact] where there is none.
func (m *Memory) Edit(ctx context.Context, v Visit, key string, version uint64, text string) error {
	s, err := m.shelf(v)
	if err != nil {
		return err
	}
	id := make([]byte, 16)
	if _, err := io.ReadFull(m.o.Random, id); err != nil {
		return fmt.Errorf("edit fact: %w", err)
	}
	s.write.Lock()
	defer s.write.Unlock()
	s.mu.Lock()
	commands, _ := s.view()
	c, known := commands[key]
	switch {
	case s.forgotten:
		err = ErrForgotten
	case !known || c.Op == OpRetractFact:
		err = ErrNoFact
	case c.Version != version:
		err = ErrStale
	}
	if err != nil {
		s.mu.Unlock()
		return err
	}
	now := m.o.Now()
	c.Draft = edited(c, key, text, now)
	c.ID, c.Kiosk, c.Source, c.Confirmed, c.At = hex.EncodeToString(id), m.o.Kiosk, SourceEdited, true, now
	c.Version, c.Logical = version+1, s.tick()
	s.mu.Unlock()
	if err := m.commit(ctx, s, []Command{c}, change{}); err != nil {
		return fmt.Errorf("edit fact: %w", err)
	}
	m.publish(ctx, s, []Command{c})
	return nil
}

// ErrNoFact says that nothing of that key is remembered.
var ErrNoFact = errors.New("no such fact")

// edited drafts what a visitor makes of a fact. Where the rules understand it as the same fact, it has a value again.
func edited(c Command, key, text string, now time.Time) Draft {
	if text == "" {
		return Draft{Op: OpRetractFact, Kind: c.Kind, Key: key}
	}
	for _, d := range Extract(Said{Text: text, At: now}) {
		if d.Key == key && d.Op != OpRetractFact {
			d.Text = clip(text, maxText)
			return d
		}
	}
	op := c.Op
	if op == OpAppendText {
		op = OpUpsertFact // it keeps its place
	}
	return Draft{Op: op, Kind: c.Kind, Key: key, Text: clip(text, maxText)}
}

// Apply takes in commands of the visit from other kiosks, in any order and however often they come, and says how many
// were news.
func (m *Memory) Apply(ctx context.Context, v Visit, commands []Command) (news int, err error) {
	if len(commands) > maxCommands {
		return 0, fmt.Errorf("%w: %d at once", ErrInvalid, len(commands))
	}
	for _, c := range commands {
		if err := c.validate(v.Name); err != nil {
			return 0, err
		}
	}
	s, err := m.shelf(v)
	if err != nil {
		return 0, err
	}
	s.write.Lock()
	defer s.write.Unlock()
	latest := map[string]Command{}
	s.mu.Lock()
	for _, c := range commands {
		s.clock = max(s.clock, c.Logical)
		before, known := s.stored[c.slot()]
		if l, ok := latest[c.slot()]; ok {
			before, known = l, true
		}
		if known && !c.later(before) || !known && !s.room() {
			continue
		}
		latest[c.slot()] = c
	}
	s.mu.Unlock()
	puts := make([]Command, 0, len(latest))
	for _, c := range latest {
		puts = append(puts, c)
	}
	if err := m.commit(ctx, s, puts, change{}); err != nil {
		return 0, fmt.Errorf("apply commands: %w", err)
	}
	return len(puts), nil
}

// Commands are what the memory of a visit is made of; what still waits is in it as if it had been stored.
func (m *Memory) Commands(v Visit) ([]Command, error) {
	s, err := m.shelf(v)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forgotten {
		return nil, ErrForgotten
	}
	commands, _ := s.view()
	return slices.Collect(maps.Values(commands)), nil
}

// Export is the whole memory of a visit, sealed.
func (m *Memory) Export(v Visit, talk Talk) (Envelope, error) {
	commands, err := m.Commands(v)
	if err != nil {
		return Envelope{}, err
	}
	return v.envelope(EnvelopeSnapshot, Snapshot{Talk: talk, Commands: commands}, m.o.Random)
}

// Import takes in an envelope of the visit, of either kind, and returns the talk that a snapshot holds.
func (m *Memory) Import(ctx context.Context, v Visit, e Envelope) (Talk, error) {
	snapshot, err := v.Open(e)
	if err != nil {
		return Talk{}, err
	}
	if _, err := m.Apply(ctx, v, snapshot.Commands); err != nil {
		return Talk{}, err
	}
	return snapshot.Talk, nil
}

// nudge wakes the consumer.
func (m *Memory) nudge() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}
