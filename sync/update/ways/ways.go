// Package ways brings content to a kiosk over whichever way has it: a stick that is plugged in, a mirror, the hub. What
// comes over which way makes no difference, as every byte of it is checked against what was signed.
package ways

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"docent/sync/update/limit"
	"docent/sync/wire"
)

// Source answers requests for parts of files.
type Source interface {
	Fetch(ctx context.Context, req wire.Fetch) (wire.Chunk, error)
}

// Mirror is a source that wants to know what became of its files.
type Mirror interface {
	Source
	Failed(err error)
	Proved()
}

// maxNoted bounds the objects of which it is known where they came from.
const maxNoted = 4096

// Options of Ways. Those that are nil are not there.
type Options struct {
	Sticks Source
	Mirror Mirror
	Hub    Source
	Line   *limit.Line // that hub and mirror share; nil is without limits
}

// Ways is a source of content made of several. Objects are looked for on sticks, then at the mirror, then at the hub,
// each block anew, so that a way that ends is gone on with over another. Metadata and wishes come from the hub, or from
// the mirror where there is no hub: a kiosk that has a hub shows what the hub wants shown. It is safe for concurrent use.
type Ways struct {
	ways     []way
	metadata Source // nil where there are sticks only

	mu     sync.Mutex
	gave   map[string]uint8 // which ways gave bytes of an object that is not whole yet
	barred map[string]uint8 // which ways gave wrong ones
	came   map[string]int64 // bytes of objects by the name of the way
}

// way is a source with the bit that stands for it.
type way struct {
	Source
	name string
	bit  uint8
}

// Names of ways.
const (
	Stick  = "stick"
	Web    = "mirror"
	TheHub = "hub"
)

// New puts ways together.
func New(opt Options) *Ways {
	w := &Ways{gave: map[string]uint8{}, barred: map[string]uint8{}, came: map[string]int64{}}
	limited := func(s Source) Source {
		if opt.Line == nil {
			return s
		}
		return opt.Line.Over(s)
	}
	add := func(name string, s Source) { w.ways = append(w.ways, way{s, name, 1 << len(w.ways)}) }
	if opt.Sticks != nil {
		add(Stick, opt.Sticks)
	}
	if opt.Mirror != nil {
		m := limited(opt.Mirror)
		w.metadata = m
		add(Web, faulty{m, opt.Mirror})
	}
	if opt.Hub != nil {
		h := limited(opt.Hub)
		w.metadata = h
		add(TheHub, h)
	}
	return w
}

// faulty is a source on a line that can be told what its files were.
type faulty struct {
	Source
	mirror Mirror
}

// Fetch asks for metadata or an object.
func (w *Ways) Fetch(ctx context.Context, req wire.Fetch) (wire.Chunk, error) {
	if wire.ValidObject(req.Name) {
		return w.object(ctx, req)
	}
	if w.metadata == nil {
		return wire.Chunk{Name: req.Name, Error: wire.FetchNotFound}, nil
	}
	return w.metadata.Fetch(ctx, req)
}

// With is a source whose metadata comes from elsewhere, and whose objects come over all ways.
func (w *Ways) With(metadata Source) Source { return &other{w, metadata} }

type other struct {
	*Ways
	metadata Source
}

func (o *other) Fetch(ctx context.Context, req wire.Fetch) (wire.Chunk, error) {
	if wire.ValidObject(req.Name) {
		return o.object(ctx, req)
	}
	return o.metadata.Fetch(ctx, req)
}

// object asks one way after the other. That an object is nowhere is the last way's to say: others may lack it.
func (w *Ways) object(ctx context.Context, req wire.Fetch) (wire.Chunk, error) {
	answer := wire.Chunk{ID: req.ID, Name: req.Name, Error: wire.FetchNotFound}
	var last error
	for _, way := range w.ways {
		if w.isBarred(req.Name, way.bit) {
			continue
		}
		c, err := way.Fetch(ctx, req)
		if err != nil && ctx.Err() != nil {
			return wire.Chunk{}, ctx.Err()
		}
		if last = err; err != nil {
			last = fmt.Errorf("%s: %w", way.name, err)
			continue
		}
		if answer = c; c.Error == "" {
			w.note(req.Name, way, len(c.Data))
			return c, nil
		}
	}
	return answer, last
}

func (w *Ways) isBarred(name string, bit uint8) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.barred[name]&bit != 0
}

func (w *Ways) note(name string, from way, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.gave) >= maxNoted {
		clear(w.gave)
	}
	w.gave[name] |= from.bit
	w.came[from.name] += int64(n)
}

// errWrong is what a mirror is told of a file that is not what its name says.
var errWrong = errors.New("a file is not what its name says")

// Wrong says that an object that has come is not what was signed, and tells whether to fetch it again: then it comes over
// the ways that have not given any of it.
func (w *Ways) Wrong(name string) (again bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.ways) == 0 {
		return false
	}
	gave, known := w.gave[name]
	delete(w.gave, name)
	lastBit := w.ways[len(w.ways)-1].bit
	if len(w.barred) >= maxNoted {
		clear(w.barred)
	}
	before := w.barred[name]
	if !known { // it was begun by an earlier run of the program, or no way gave anything that could be used
		gave = w.ways[0].bit
		for _, way := range w.ways {
			if before&way.bit == 0 {
				gave = way.bit
				break
			}
		}
	}
	for _, way := range w.ways {
		if f, ok := way.Source.(faulty); ok && gave&way.bit != 0 && before&way.bit == 0 {
			f.mirror.Failed(errWrong)
		}
	}
	w.barred[name] = before | gave&^lastBit
	return w.barred[name] != before
}

// Right says that an object that has come is what was signed: what gave some of it gave that right.
func (w *Ways) Right(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	gave := w.gave[name]
	delete(w.gave, name)
	for _, way := range w.ways {
		if f, ok := way.Source.(faulty); ok && gave&way.bit != 0 {
			f.mirror.Proved()
		}
	}
}

// Came is how many bytes of objects have come over each way.
func (w *Ways) Came() map[string]int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make(map[string]int64, len(w.came))
	for name, n := range w.came {
		out[name] = n
	}
	return out
}
