package agent

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// heard is one turn as a visitor hears it.
type heard struct {
	text      string
	sources   []Source
	followUps []string
	done      *Done
	message   string
	types     []EventType
}

// hear runs a turn to its end.
func hear(t testing.TB, g *Guide, lib Library, turn Turn) heard {
	t.Helper()
	return hearIn(t.Context(), g, lib, turn)
}

// hearIn is hear with a context.
func hearIn(ctx context.Context, g *Guide, lib Library, turn Turn) heard {
	var h heard
	for e := range g.Answer(ctx, lib, turn) {
		h.types = append(h.types, e.Type)
		switch e.Type {
		case EventToken:
			h.text += e.Text
		case EventReset:
			h.text, h.sources = "", nil
		case EventSources:
			h.sources = e.Sources
		case EventFollowUps:
			h.followUps = e.FollowUps
		case EventDone:
			h.done = e.Done
		case EventError:
			h.message = e.Message
		}
	}
	return h
}

// checkHeard checks what holds for every turn: the order of events; that marks and sources belong together, in order
// of first use; and, for answers made of the gallery's own sentences, that each one stands in the source it cites.
func checkHeard(t testing.TB, h heard) {
	t.Helper()
	if h.done == nil {
		t.Fatalf("the turn did not end with done: %v", h.types)
	}
	if h.types[len(h.types)-1] != EventDone {
		t.Errorf("events after done: %v", h.types)
	}
	sources, token := slices.Index(h.types, EventSources), slices.Index(h.types, EventToken)
	if token < 0 || h.done.Answered && (sources < 0 || sources > token) {
		t.Errorf("want sources before the first token: %v", h.types)
	}
	if !h.done.Answered && (len(h.sources) > 0 || len(marks(h.text)) > 0 || h.done.WrittenBy != WrittenByNobody) {
		t.Errorf("a refusal cites %v by %s: %s", h.sources, h.done.WrittenBy, h.text)
	}
	var used []int
	for _, n := range marks(h.text) {
		if !slices.Contains(used, n) {
			used = append(used, n)
		}
	}
	for i, n := range used {
		if n != i+1 {
			t.Errorf("marks are not numbered in order of first use: %v", used)
			break
		}
	}
	if len(used) != len(h.sources) {
		t.Errorf("%d sources, %d of them used", len(h.sources), len(used))
	}
	if h.done.WrittenBy == WrittenByGallery {
		checkQuoted(t, h)
	}
}

var markedSentence = regexp.MustCompile(`(.*?)[ ]?\[(\d+)\]([.!?。！？…]*)`)

func checkQuoted(t testing.TB, h heard) {
	t.Helper()
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
	for _, m := range markedSentence.FindAllStringSubmatch(strings.ReplaceAll(h.text, "\n", " "), -1) {
		n, err := strconv.Atoi(m[2])
		if err != nil || n < 1 || n > len(h.sources) {
			t.Errorf("mark [%s] has no source", m[2])
			continue
		}
		said := m[1]
		for _, p := range []phrases{english, chinese} {
			for _, lead := range append(slices.Collect(maps.Values(p.onlyIn)), p.onlyOther) {
				said = strings.TrimPrefix(said, lead)
			}
		}
		if quote := h.sources[n-1].Quote; !strings.Contains(squeeze(quote), squeeze(said)) {
			t.Errorf("%q does not stand in source %d: %s", said, n, quote)
		}
	}
}
