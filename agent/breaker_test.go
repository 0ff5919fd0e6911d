package agent

import (
	"testing"
	"time"

	"docent/agent/model"
)

// TestModelIsLeftAlone lets the model be down for three turns: then visitors do not wait for it, until a while has passed.
func TestModelIsLeftAlone(t *testing.T) {
	now := sunday()
	m := &scriptedModel{script: []step{{err: &model.StatusError{Status: 401, Message: "no key"}}}}
	g, lib := New(Options{Model: m, Clock: func() time.Time { return now }}), testLibrary(t)
	ask := func(asked int, by WrittenBy) {
		t.Helper()
		m.asked = nil
		h := hear(t, g, lib, Turn{Question: whoFound, Language: "en"})
		checkHeard(t, h)
		if len(m.asked) != asked || h.done.WrittenBy != by {
			t.Errorf("asked %d times, by %s (%s)", len(m.asked), h.done.WrittenBy, h.done.ModelError)
		}
	}
	for range restAfter {
		ask(1, WrittenByGallery)
	}
	ask(0, WrittenByGallery)
	now = now.Add(restFor)
	ask(1, WrittenByGallery) // one try
	ask(0, WrittenByGallery)
	now = now.Add(restFor)
	m.script = writes("Roger Penrose described it in 1974 [1].")
	ask(1, WrittenByModel)
	m.script = []step{{err: model.ErrConnect}}
	now = now.Add(time.Second)
	h := hear(t, g, lib, Turn{Question: whoFound, Language: "en"})
	if h.done.WrittenBy != WrittenByGallery {
		t.Errorf("by %s", h.done.WrittenBy)
	}
	m.script = writes("Roger Penrose described it in 1974 [1].")
	ask(1, WrittenByModel) // one failure is none in a row
}
