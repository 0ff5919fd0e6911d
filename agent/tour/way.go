package tour

import (
	"errors"
	"math"
	"slices"

	"docent/localindex/gallery"
)

// Place is where a way begins or ends: an exhibit, a kiosk, or the nearest of a hall's exhibits.
type Place struct{ Exhibit, Kiosk, Hall string }

// Way is how to walk from one place to another.
type Way struct {
	Metres  float64
	Seconds float64
	Halls   []string // in the order they are walked through, both ends included
}

// What stands in a way.
var (
	ErrNoPlace = errors.New("nobody knows where that is")
	ErrNoWay   = errors.New("no way of that kind leads there")
)

// Find finds the shortest way through the doors.
func Find(g *gallery.Gallery, from, to Place, stepFree bool) (Way, error) {
	a, ok := spotOf(g, from)
	if !ok {
		return Way{}, ErrNoPlace
	}
	ends, ok := spotsOf(g, to)
	if !ok {
		return Way{}, ErrNoPlace
	}
	doors := newGraph(g.Halls, stepFree)
	best, at := math.Inf(1), -1
	for i, s := range doors.seconds(a, ends) {
		if s < best {
			best, at = s, i
		}
	}
	if at < 0 {
		return Way{}, ErrNoWay
	}
	return Way{Metres: best * metresPerSecond, Seconds: best, Halls: doors.halls(a, ends[at])}, nil
}

func spotOf(g *gallery.Gallery, p Place) (spot, bool) {
	all, ok := spotsOf(g, p)
	if !ok {
		return spot{}, false
	}
	return all[0], true
}

func spotsOf(g *gallery.Gallery, p Place) ([]spot, bool) {
	var out []spot
	for _, k := range g.Kiosks {
		if p.Kiosk != "" && k.ID == p.Kiosk {
			out = append(out, spot{k.Hall, k.At})
		}
	}
	for _, e := range g.Exhibits {
		if p.Exhibit != "" && e.ID == p.Exhibit || p.Hall != "" && e.Hall == p.Hall {
			out = append(out, spot{e.Hall, e.At})
		}
	}
	return out, len(out) > 0
}

// halls are the halls on the shortest way, by the fewest seconds.
func (g *graph) halls(from, to spot) []string {
	if from.hall == to.hall {
		return []string{from.hall}
	}
	best, before := g.doorsFrom(from)
	last, seconds := -1, math.Inf(1)
	for _, d := range g.byHall[to.hall] {
		if s := best[d] + walkSeconds(g.doors[d].at, to.at); s < seconds {
			last, seconds = d, s
		}
	}
	out := []string{to.hall}
	for d := last; d >= 0; d = before[d].door {
		if out[len(out)-1] != before[d].hall {
			out = append(out, before[d].hall)
		}
	}
	slices.Reverse(out)
	return out
}

// Near is an exhibit to see next.
type Near struct {
	Exhibit string
	Metres  float64
	Related bool // to the one before
}

// What makes an exhibit be seen next: how far it is, less what it is worth to the visitor.
const (
	relatedSeconds  = 40.0 // an exhibit that the one before refers to may lie so much further
	interestSeconds = 60.0 // one that the visitor asks for
)

// Next are the exhibits to see after the one where the visitor stands, best first, at most n. Those seen are left out.
func Next(g *gallery.Gallery, r Request, n int) ([]Near, error) {
	start, ok := startOf(g, Request{Start: r.Start, Kiosk: r.Kiosk})
	if !ok {
		return nil, ErrNoStart
	}
	var related []string
	for _, e := range g.Exhibits {
		if e.ID == r.Start {
			related = e.Related
		}
	}
	doors := newGraph(g.Halls, r.StepFree)
	type ranked struct {
		Near
		cost float64
	}
	var all []ranked
	for _, e := range g.Exhibits {
		if e.ID == r.Start || slices.Contains(r.Seen, e.ID) || r.Only != nil && !r.Only[e.ID] {
			continue
		}
		seconds := doors.seconds(start, []spot{{e.Hall, e.At}})[0]
		if math.IsInf(seconds, 1) {
			continue
		}
		near := ranked{Near{e.ID, seconds * metresPerSecond, slices.Contains(related, e.ID)}, seconds}
		if near.Related {
			near.cost -= relatedSeconds
		}
		if _, word := worthOf(e, r); word != "" {
			near.cost -= interestSeconds
		}
		all = append(all, near)
	}
	slices.SortStableFunc(all, func(a, b ranked) int {
		switch {
		case a.cost < b.cost:
			return -1
		case a.cost > b.cost:
			return 1
		}
		return 0
	})
	var out []Near
	for _, a := range all[:min(n, len(all))] {
		out = append(out, a.Near)
	}
	if len(out) == 0 {
		return nil, ErrNothing
	}
	return out, nil
}
