package kiosk

import (
	"sync"
	"testing"

	"docent/agent"
	"docent/agent/library"
)

// preparing is a guide that notes what it is prepared for, and what is shown at that time.
type preparing struct {
	Guide
	mu    sync.Mutex
	shown func() *content
	notes []prepared
}

type prepared struct {
	library agent.Library
	shown   agent.Library
}

func (p *preparing) Prepare(lib agent.Library) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := prepared{library: lib}
	if p.shown != nil {
		n.shown = p.shown().library
	}
	p.notes = append(p.notes, n)
}

func TestSwitchPreparesTheGuideBeforeTheReleaseIsShown(t *testing.T) {
	g := &preparing{Guide: agent.New(agent.Options{})}
	h := open(t, func(o *Options) { o.Guide = g })
	before, giveBack, ok := h.shelf.take()
	if !ok {
		t.Fatal("no content")
	}
	giveBack()
	g.mu.Lock()
	g.shown = func() *content {
		c, giveBack, _ := h.shelf.take()
		giveBack()
		return c
	}
	g.mu.Unlock()
	next := openTiny(t)
	if err := h.Switch(t.Context(), next, h.recogniser); err != nil {
		t.Fatal(err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, n := range g.notes {
		if n.library == agent.Library(library.Of(next)) {
			if n.shown != agent.Library(before.library) {
				t.Error("the guide was prepared only after the release was shown")
			}
			return
		}
	}
	t.Errorf("prepared for %d libraries, none of them the new release's", len(g.notes))
}
