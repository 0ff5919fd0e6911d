package agent

import (
	"context"
	"errors"
	"slices"

	"docent/agent/collection"
	"docent/agent/tool"
	"docent/agent/tour"
)

// The arguments of the tools that look at several exhibits together.
type (
	collectionArgs struct {
		Query collection.Query `json:"query"`
	}
	walkArgs struct {
		From     string `json:"from,omitempty"` // exhibit; empty: where the visitor stands
		To       string `json:"to,omitempty"`   // exhibit
		Hall     string `json:"hall,omitempty"` // instead of to
		StepFree bool   `json:"step_free,omitempty"`
	}
	nextArgs struct {
		Interests []string `json:"interests,omitempty"`
		Dislikes  []string `json:"dislikes,omitempty"`
		StepFree  bool     `json:"step_free,omitempty"`
		Children  bool     `json:"children,omitempty"`
	}
)

// mostListed is how many exhibits are told by name where a question means more.
const mostListed = 6

// collection tells what the catalogue knows of exhibits together.
func (b *toolbox) collection(_ context.Context, a collectionArgs) (tool.Data, error) {
	g, d, q := b.shelf.gallery, newDesk(b.lib, "", b.trace), a.Query
	found := collection.Select(g.Exhibits, q)
	if len(found.Exhibits) == 0 {
		return tool.Data{}, &tool.Miss{What: "the catalogue has no such exhibit", Hint: "use " + toolRecall}
	}
	list := found.Exhibits[:min(len(found.Exhibits), mostListed)]
	first := b.factsPassage(d, list[0].ID)
	if q.Hall != "" {
		if p := b.section(d, "hall/%/"+q.Hall); p != nil {
			first = p
		}
	} else if p := b.section(d, "gallery/%"); p != nil && q == (collection.Query{Count: true}) {
		first = p
	}
	if first == nil {
		return tool.Data{}, &tool.Miss{What: "the gallery has no text on them", Hint: "use " + toolRecall}
	}
	out := []tool.Fact{b.fact(b.say.collection(found, q, list, len(g.Halls), b.hallName(q.Hall), b.plan.Language), first)}
	if q.Count && len(list) > 1 && (q.Maker == "" && q.From == 0 && q.To == 0) {
		return tool.Data{Facts: out, Values: found.Exhibits}, nil
	}
	for _, e := range list {
		p := b.factsPassage(d, e.ID)
		if p == nil {
			continue
		}
		out = append(out, b.fact(b.say.card(e, b.hallName(e.Hall), b.plan.Language), p))
	}
	return tool.Data{Facts: out, Values: found.Exhibits}, nil
}

// walk tells the way to an exhibit or a hall.
func (b *toolbox) walk(_ context.Context, a walkArgs) (tool.Data, error) {
	g, d := b.shelf.gallery, newDesk(b.lib, "", b.trace)
	from := tour.Place{Exhibit: a.From}
	if a.From == "" {
		from = tour.Place{Kiosk: b.kiosk()}
	}
	way, err := tour.Find(g, from, tour.Place{Exhibit: a.To, Hall: a.Hall}, a.StepFree)
	if errors.Is(err, tour.ErrNoPlace) || errors.Is(err, tour.ErrNoWay) {
		return tool.Data{}, &tool.Miss{What: err.Error(), Hint: "use " + toolRecall}
	}
	if err != nil {
		return tool.Data{}, err
	}
	var halls []string
	for _, h := range way.Halls {
		halls = append(halls, b.hallName(h))
	}
	p := b.factsPassage(d, a.To)
	if a.Hall != "" {
		p = b.section(d, "hall/%/"+a.Hall)
	}
	if p == nil {
		return tool.Data{}, &tool.Miss{What: "the gallery has no text on it", Hint: "use " + toolRecall}
	}
	start, _ := b.lib.Exhibit(a.From)
	end, _ := b.lib.Exhibit(a.To)
	text := b.say.way(start, end, b.hallName(a.Hall), way, halls, b.plan.Language)
	if a.StepFree {
		text += b.say.stepFree
	}
	return tool.Data{Facts: []tool.Fact{b.fact(text, p)}, Values: way}, nil
}

// kiosk is where the visitor stands, the first one where nobody says.
func (b *toolbox) kiosk() string {
	if b.turn.Place == "" && len(b.shelf.gallery.Kiosks) > 0 {
		return b.shelf.gallery.Kiosks[0].ID
	}
	return b.turn.Place
}

// nextStops is how many exhibits are suggested to be seen next.
const nextStops = 3

// next suggests what to see after the exhibit in hand.
func (b *toolbox) next(_ context.Context, a nextArgs) (tool.Data, error) {
	d := newDesk(b.lib, "", b.trace)
	r := tour.Request{Start: b.lastExhibit(), Seen: slices.Clone(b.turn.Seen), Interests: a.Interests, Dislikes: a.Dislikes, StepFree: a.StepFree}
	if r.Start == "" {
		r.Kiosk = b.turn.Place
	}
	if a.Children {
		r.Only = b.forChildren()
	}
	near, err := tour.Next(b.shelf.gallery, r, nextStops)
	if errors.Is(err, tour.ErrNothing) || errors.Is(err, tour.ErrNoStart) {
		return tool.Data{}, &tool.Miss{What: err.Error(), Hint: "use " + toolTour}
	}
	if err != nil {
		return tool.Data{}, err
	}
	var out []tool.Fact
	for i, n := range near {
		e, _ := b.lib.Exhibit(n.Exhibit)
		if p := b.factsPassage(d, n.Exhibit); p != nil {
			out = append(out, b.fact(b.say.next(i, n, e, b.hallName(e.Hall), b.plan.Language), p))
		}
	}
	return tool.Data{Facts: out, Values: near}, nil
}

// lastExhibit is the exhibit in hand, else the last one that was seen.
func (b *toolbox) lastExhibit() string {
	if b.turn.Exhibit == "" && len(b.turn.Seen) > 0 {
		return b.turn.Seen[len(b.turn.Seen)-1]
	}
	return b.turn.Exhibit
}
