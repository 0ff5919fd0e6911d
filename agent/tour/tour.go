// Package tour plans a walk through the halls: which exhibits to see within a time, and in which order.
package tour

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"docent/agent/internal/words"
	"docent/localindex/gallery"
)

// Limits and usual values.
const (
	defaultMinutes = 3 // viewing time of an exhibit that tells none
	MinMinutes     = 5
	MaxMinutes     = 480
	maxExhibits    = 400 // that are looked at; the work grows with their square
)

// Worth of an exhibit: one for being there, more for what the visitor likes.
const (
	worthInterest = 3.0 // its keywords, title or maker have what was asked for
	worthCrowd    = 0.6 // factor at a crowd hint of 1
	worthDisliked = 0.1 // left of it where they have what the visitor does not like
	worthNewHall  = 0.4 // for the first exhibit of a hall: a walk shows more of the house
)

// Request is what a visitor wants.
type Request struct {
	Minutes   int
	Kiosk     string             // where the walk begins; else Start
	Start     string             // exhibit where it begins, else at the first hall's first exhibit
	Interests []string           // words in any language
	Dislikes  []string           // words of what the visitor would rather not see
	Hall      string             // only this hall; empty means all
	StepFree  bool               // no door with steps
	Seen      []string           // exhibits to leave out
	Crowd     map[string]float64 // how crowded halls are, 0…1; those are worth less
	Only      map[string]bool    // exhibits to choose from; nil means all
}

// Tour is the walk.
type Tour struct {
	Stops    []Stop  `json:"stops"`
	Minutes  float64 `json:"minutes"` // walking and viewing together
	Walking  float64 `json:"walking_minutes"`
	Worth    float64 `json:"-"`
	StepFree bool    `json:"step_free"`
	// Unreachable are exhibits that no way of the wanted kind leads to.
	Unreachable []string `json:"unreachable,omitempty"`
}

// Stop is one exhibit of the walk.
type Stop struct {
	Exhibit  string  `json:"exhibit"`
	Hall     string  `json:"hall"`
	Walk     float64 `json:"walk_seconds"` // from the stop before
	Metres   float64 `json:"metres"`
	Minutes  float64 `json:"minutes"` // of viewing
	Arrive   float64 `json:"arrive"`  // minutes after the begin
	Reason   Reason  `json:"reason"`
	Interest string  `json:"interest,omitempty"` // the word that made it one
}

// Reason says why a stop is in the walk.
type Reason string

// The reasons.
const (
	Interest Reason = "interest" // it has what the visitor asked for
	NewHall  Reason = "new_hall" // it is the first of a hall
	OnTheWay Reason = "on_the_way"
)

// What cannot be planned.
var (
	ErrMinutes = errors.New("the time is out of range")
	ErrNoStart = errors.New("nobody knows where the walk begins")
	ErrNothing = errors.New("nothing can be seen in that time")
)

// Plan plans a walk. It is exact for few exhibits only: stops are put in one by one where they bring most for their
// time, then the order is improved until no exchange helps (the tests hold it against all orders of small halls).
func Plan(g *gallery.Gallery, r Request) (Tour, error) {
	if r.Minutes < MinMinutes || r.Minutes > MaxMinutes {
		return Tour{}, fmt.Errorf("%w: %d minutes, from %d to %d", ErrMinutes, r.Minutes, MinMinutes, MaxMinutes)
	}
	start, ok := startOf(g, r)
	if !ok {
		return Tour{}, ErrNoStart
	}
	p := newProblem(g, r, start)
	p.insertAll()
	for p.improve() {
		p.insertAll()
	}
	if len(p.order) == 0 {
		return Tour{Unreachable: p.unreachable}, ErrNothing
	}
	return p.tour(), nil
}

func startOf(g *gallery.Gallery, r Request) (spot, bool) {
	for _, k := range g.Kiosks {
		if k.ID == r.Kiosk {
			return spot{k.Hall, k.At}, true
		}
	}
	for _, e := range g.Exhibits {
		if e.ID == r.Start {
			return spot{e.Hall, e.At}, true
		}
	}
	if len(g.Kiosks) > 0 && r.Kiosk == "" {
		return spot{g.Kiosks[0].Hall, g.Kiosks[0].At}, true
	}
	if len(g.Exhibits) > 0 {
		return spot{g.Exhibits[0].Hall, g.Exhibits[0].At}, true
	}
	return spot{}, false
}

// problem is an orienteering problem with an open end: from the start, as much worth as the time allows. Place 0 is
// the start.
type problem struct {
	exhibits    []gallery.Exhibit // place i+1
	worth       []float64
	interest    []string
	view        []float64   // seconds
	walk        [][]float64 // seconds from place to place
	budget      float64     // seconds
	stepFree    bool
	order       []int // places, without the start
	unreachable []string
}

func newProblem(g *gallery.Gallery, r Request, start spot) *problem {
	p := &problem{budget: float64(r.Minutes) * 60, stepFree: r.StepFree, worth: []float64{0}, view: []float64{0}, interest: []string{""}}
	graph := newGraph(g.Halls, r.StepFree)
	spots := []spot{start}
	for _, e := range g.Exhibits {
		if slices.Contains(r.Seen, e.ID) || r.Hall != "" && e.Hall != r.Hall || r.Only != nil && !r.Only[e.ID] || len(p.exhibits) == maxExhibits {
			continue
		}
		if math.IsInf(graph.seconds(start, []spot{{e.Hall, e.At}})[0], 1) {
			p.unreachable = append(p.unreachable, e.ID)
			continue
		}
		worth, word := worthOf(e, r)
		minutes := e.Minutes
		if minutes <= 0 {
			minutes = defaultMinutes
		}
		p.exhibits = append(p.exhibits, e)
		p.worth = append(p.worth, worth)
		p.interest = append(p.interest, word)
		p.view = append(p.view, minutes*60)
		spots = append(spots, spot{e.Hall, e.At})
	}
	for _, s := range spots {
		p.walk = append(p.walk, graph.seconds(s, spots))
	}
	return p
}

func worthOf(e gallery.Exhibit, r Request) (worth float64, word string) {
	worth = 1 - (1-worthCrowd)*r.Crowd[e.Hall]
	texts := slices.Clone(e.Keywords)
	for _, l := range []gallery.Localized{e.Title, e.Maker} {
		for _, s := range l {
			texts = append(texts, s)
		}
	}
	all := words.Fold(strings.Join(texts, "\n"))
	for _, d := range r.Dislikes {
		if d = words.Fold(d); d != "" && strings.Contains(all, d) {
			return worth * worthDisliked, ""
		}
	}
	for _, i := range r.Interests {
		if i = words.Fold(i); i != "" && strings.Contains(all, i) {
			worth += worthInterest
			if word == "" {
				word = i
			}
		}
	}
	return worth, word
}

// value is the worth of an order, and the seconds it takes.
func (p *problem) value(order []int) (worth, seconds float64) {
	halls := make(map[string]bool, 8)
	last := 0
	for _, i := range order {
		seconds += p.walk[last][i] + p.view[i]
		worth += p.worth[i]
		if hall := p.exhibits[i-1].Hall; !halls[hall] {
			halls[hall] = true
			worth += worthNewHall
		}
		last = i
	}
	return worth, seconds
}

// insertAll puts in what still fits, each time the exhibit that brings most for the time it adds, where it adds least.
func (p *problem) insertAll() {
	for {
		worth, seconds := p.value(p.order)
		var best []int
		bestRatio := 0.0
		for i := 1; i < len(p.walk); i++ {
			if slices.Contains(p.order, i) {
				continue
			}
			for at := 0; at <= len(p.order); at++ {
				order := slices.Insert(slices.Clone(p.order), at, i)
				w, s := p.value(order)
				if s > p.budget {
					continue
				}
				if ratio := (w - worth) / max(1, s-seconds); ratio > bestRatio {
					best, bestRatio = order, ratio
				}
			}
		}
		if best == nil {
			return
		}
		p.order = best
	}
}

// improve makes one change for the better: a part turned round, a stop moved, or a stop exchanged for another one. It
// reports whether it found one.
func (p *problem) improve() bool {
	worth, seconds := p.value(p.order)
	better := func(order []int) bool {
		w, s := p.value(order)
		if s > p.budget || w < worth-1e-9 || w < worth+1e-9 && s > seconds-1e-6 {
			return false
		}
		p.order = order
		return true
	}
	n := len(p.order)
	for i := range n {
		for j := i + 1; j < n; j++ {
			turned := slices.Clone(p.order)
			slices.Reverse(turned[i : j+1])
			if better(turned) {
				return true
			}
		}
		without := slices.Delete(slices.Clone(p.order), i, i+1)
		for at := range n {
			if better(slices.Insert(slices.Clone(without), at, p.order[i])) {
				return true
			}
			for k := 1; k < len(p.walk); k++ {
				if !slices.Contains(p.order, k) && better(slices.Insert(slices.Clone(without), at, k)) {
					return true
				}
			}
		}
	}
	return false
}

func (p *problem) tour() Tour {
	t := Tour{StepFree: p.stepFree, Unreachable: p.unreachable}
	t.Worth, _ = p.value(p.order)
	halls := make(map[string]bool)
	last, clock := 0, 0.0
	for _, i := range p.order {
		e, walk := p.exhibits[i-1], p.walk[last][i]
		s := Stop{Exhibit: e.ID, Hall: e.Hall, Walk: walk, Metres: walk * metresPerSecond, Minutes: p.view[i] / 60, Reason: OnTheWay, Interest: p.interest[i]}
		switch {
		case s.Interest != "":
			s.Reason = Interest
		case !halls[e.Hall]:
			s.Reason = NewHall
		}
		halls[e.Hall] = true
		clock += walk
		s.Arrive = clock / 60
		clock += p.view[i]
		t.Walking += walk / 60
		t.Stops = append(t.Stops, s)
		last = i
	}
	t.Minutes = clock / 60
	return t
}
