package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"docent/agent/plan"
	"docent/agent/tool"
	"docent/agent/tour"
	"docent/agent/trace"
	"docent/agent/venue"
	"docent/localindex/gallery"
)

// The names of the tools.
const (
	toolRecall  = "recall"
	toolExhibit = "exhibit"
	toolCompare = "compare"
	toolHall    = "hall"
	toolVenue   = "venue_info"
	toolTour    = "plan_tour"

	toolCollection = "collection"
	toolWalk       = "find_way"
	toolNext       = "suggest_next"
)

// toolbox is what the tools of one turn work with.
type toolbox struct {
	shelf *shelf
	lib   Library
	turn  Turn
	plan  plan.ExecutionPlan
	now   time.Time
	say   sayings
	trace *trace.Recorder

	mu       sync.Mutex
	passages map[string]*passage // that facts rest on
}

// recallArgs and the types after it are the tools' arguments.
type (
	recallArgs struct {
		Question string `json:"question"`
		Exhibit  string `json:"exhibit,omitempty"`
	}
	exhibitArgs struct {
		ID    string `json:"id"`
		Short bool   `json:"short,omitempty"` // a sentence only, where several are told of
	}
	compareArgs struct {
		IDs []string `json:"ids"`
	}
	hallArgs struct {
		ID string `json:"id"`
	}
	venueArgs struct {
		Topic string   `json:"topic"` // hours or events
		Day   plan.Day `json:"day"`
	}
	tourArgs struct {
		Minutes   int      `json:"minutes"`
		Interests []string `json:"interests,omitempty"`
		Hall      string   `json:"hall,omitempty"`
		StepFree  bool     `json:"step_free,omitempty"`
		Children  bool     `json:"children,omitempty"`
		Quiet     bool     `json:"quiet,omitempty"`
		Dislikes  []string `json:"dislikes,omitempty"`
	}
)

// caller makes the tools of a turn, and what calls them within the limits.
func (g *Guide) caller(s *shelf, d *desk, t Turn, p plan.ExecutionPlan, rec *trace.Recorder) (*guideCaller, error) {
	b := &toolbox{shelf: s, lib: d.lib, turn: t, plan: p, now: g.clock(), say: sayingsIn(p.Language), trace: rec, passages: make(map[string]*passage)}
	if s.gallery != nil {
		b.now = b.now.In(venue.Location(s.gallery))
	}
	tools := b.tools()
	if g.web != nil {
		tools = append(tools, b.webTool(g.web))
	}
	r, err := tool.NewRegistry(tools...)
	if err != nil {
		return nil, err
	}
	return &guideCaller{Caller: tool.NewCaller(r, tool.DefaultLimits, g.ledgers.visit(t.Visit), rec, g.clock, nil), box: b, trace: rec}, nil
}

func (b *toolbox) tools() []tool.Tool {
	define := func(name, description, schema string, f tool.Func) tool.Tool {
		return tool.Tool{Name: name, Description: description, Schema: json.RawMessage(schema), CanParallel: true, New: func() (tool.Func, error) { return f, nil }}
	}
	out := []tool.Tool{
		define(toolRecall, "Sentences of the gallery's texts that answer one question.",
			`{"type":"object","properties":{"question":{"type":"string"},"exhibit":{"type":"string","description":"id, where the question is about one"}},"required":["question"]}`, with(b.recall)),
		define(toolExhibit, "What an exhibit is, with maker, date and hall.", `{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`, with(b.exhibit)),
		define(toolCompare, "Compares two or three exhibits: which is earlier, where they hang, what they share.",
			`{"type":"object","properties":{"ids":{"type":"array","items":{"type":"string"},"minItems":2,"maxItems":3}},"required":["ids"]}`, with(b.compare)),
	}
	if b.shelf.gallery == nil {
		return out
	}
	return append(out,
		define(toolHall, "What a hall is about.", `{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`, with(b.hall)),
		define(toolVenue, "Opening hours or events of one day.",
			`{"type":"object","properties":{"topic":{"enum":["hours","events"]},"day":{"type":"object","properties":{"name":{"enum":["now","today","tomorrow","day_after_tomorrow","weekday","weekend","date"]},"weekday":{"type":"string"},"date":{"type":"string","description":"2026-12-25 or 12-25"}},"required":["name"]}},"required":["topic","day"]}`, with(b.venue)),
		define(toolTour, "Plans a walk from the kiosk: which exhibits, in which order, how long.",
			`{"type":"object","properties":{"minutes":{"type":"integer"},"interests":{"type":"array","items":{"type":"string"}},"hall":{"type":"string"},"step_free":{"type":"boolean"},"children":{"type":"boolean"},"quiet":{"type":"boolean"},"dislikes":{"type":"array","items":{"type":"string"}}},"required":["minutes"]}`, with(b.tour)),
		define(toolCollection, "What the catalogue knows of its exhibits together: how many, the oldest or newest, those of a maker, a hall or a time.",
			`{"type":"object","properties":{"query":{"type":"object","properties":{"order":{"enum":["oldest","newest"]},"n":{"type":"integer"},"maker":{"type":"string"},"topic":{"type":"string"},"hall":{"type":"string","description":"id"},"from":{"type":"integer","description":"year"},"to":{"type":"integer"},"count":{"type":"boolean"}}}},"required":["query"]}`, with(b.collection)),
		define(toolWalk, "The way to an exhibit or hall: metres, minutes, halls.",
			`{"type":"object","properties":{"from":{"type":"string","description":"exhibit; without it, where the visitor stands"},"to":{"type":"string","description":"exhibit"},"hall":{"type":"string","description":"instead of to"},"step_free":{"type":"boolean"}}}`, with(b.walk)),
		define(toolNext, "What to see next from where the visitor stands.",
			`{"type":"object","properties":{"interests":{"type":"array","items":{"type":"string"}},"dislikes":{"type":"array","items":{"type":"string"}},"step_free":{"type":"boolean"},"children":{"type":"boolean"}}}`, with(b.next)),
	)
}

// with reads a tool's arguments. What is not in its schema is refused.
func with[A any](f func(context.Context, A) (tool.Data, error)) tool.Func {
	return func(ctx context.Context, raw json.RawMessage) (tool.Data, error) {
		var args A
		d := json.NewDecoder(strings.NewReader(string(raw)))
		d.DisallowUnknownFields()
		if err := d.Decode(&args); err != nil {
			return tool.Data{}, &tool.Miss{What: "the arguments do not fit the schema", Hint: "call again with arguments as the schema tells"}
		}
		return f(ctx, args)
	}
}

// fact notes a sentence and the passage it rests on.
func (b *toolbox) fact(text string, p *passage) tool.Fact {
	b.mu.Lock()
	defer b.mu.Unlock()
	if old, ok := b.passages[p.ID]; ok {
		p = old
	}
	b.passages[p.ID] = p
	return tool.Fact{Text: text, Passage: p.ID}
}

func (b *toolbox) facts(picked []*candidate) []tool.Fact {
	var out []tool.Fact
	for _, c := range picked {
		out = append(out, b.fact(c.text, c.passage))
	}
	return out
}

func (b *toolbox) recall(ctx context.Context, a recallArgs) (tool.Data, error) {
	t := b.turn
	t.Question, t.Explain = clip(a.Question, longestQuestion), false
	if a.Exhibit != "" {
		t.Exhibit = a.Exhibit
	}
	f, err := b.shelf.find(ctx, newDesk(b.lib, t.Exhibit, b.trace), t, b.plan.Language)
	if err != nil {
		return tool.Data{}, err
	}
	if !f.answer.answered {
		return tool.Data{}, &tool.Miss{What: "the texts have nothing on it", Hint: "ask with fewer words, or use " + toolVenue + " for hours and events"}
	}
	return tool.Data{Facts: b.facts(f.picked)}, nil
}

// overviewSentences is how many sentences tell what an exhibit is, in a task about several.
const overviewSentences = 2

func (b *toolbox) exhibit(_ context.Context, a exhibitArgs) (tool.Data, error) {
	e, ok := b.lib.Exhibit(a.ID)
	if !ok {
		return tool.Data{}, &tool.Miss{What: "there is no exhibit " + a.ID, Hint: "use an id that another tool told"}
	}
	d := newDesk(b.lib, a.ID, b.trace)
	var out []tool.Fact
	if p := b.factsPassage(d, a.ID); p != nil {
		hall := b.hallName(e.Hall)
		if a.Short { // told with its hall
			hall = ""
		}
		out = append(out, b.fact(b.say.card(e, hall, b.plan.Language), p))
	}
	most := overviewSentences
	if a.Short {
		most = 1
	}
	for _, in := range languagesFrom(b.plan.Language, b.shelf.languages) {
		picked := slices.DeleteFunc(d.explain(a.ID, in, b.turn.Level, overviewShare, ""), func(c *candidate) bool { return c.passage.facts() && len(out) > 0 })
		if len(picked) > 0 {
			out = append(out, b.facts(picked[:min(len(picked), most)])...)
			break
		}
	}
	if len(out) == 0 {
		return tool.Data{}, &tool.Miss{What: "the gallery has no text on it", Hint: "use " + toolRecall}
	}
	return tool.Data{Facts: out, Values: e}, nil
}

// factsPassage is the passage that tells an exhibit's catalogue facts, else its first passage; nil where it has none.
func (b *toolbox) factsPassage(d *desk, id string) *passage {
	var first *passage
	for _, in := range languagesFrom(b.plan.Language, b.shelf.languages) {
		for _, s := range d.lib.Sections(id, in) {
			if len(s.Passages) == 0 {
				continue
			}
			if strings.HasSuffix(s.ID, factsSuffix) {
				return d.open(s.Passages[0], s.Section)
			}
			if first == nil {
				first = d.open(s.Passages[0], s.Section)
			}
		}
		if first != nil {
			break
		}
	}
	return first
}

func (b *toolbox) hallName(id string) string {
	if h, ok := b.shelf.catalogue.Hall(id); ok {
		return h.Name.In(b.plan.Language)
	}
	return ""
}

func (b *toolbox) compare(_ context.Context, a compareArgs) (tool.Data, error) {
	var of []gallery.Exhibit
	for _, id := range a.IDs {
		e, ok := b.lib.Exhibit(id)
		if !ok {
			return tool.Data{}, &tool.Miss{What: "there is no exhibit " + id, Hint: "use ids that another tool told"}
		}
		of = append(of, e)
	}
	if len(of) < 2 {
		return tool.Data{}, &tool.Miss{What: "there are not two exhibits to compare", Hint: "use " + toolExhibit}
	}
	d := newDesk(b.lib, "", b.trace)
	var out []tool.Fact
	for i := 1; i < len(of); i++ {
		first, second := of[0], of[i]
		p, q := b.factsPassage(d, first.ID), b.factsPassage(d, second.ID)
		if p == nil || q == nil {
			continue
		}
		if text := b.say.earlier(first, second, b.plan.Language); text != "" {
			out = append(out, b.fact(text, q))
		}
		if b.shelf.gallery != nil {
			out = append(out, b.fact(b.say.hallsOf(first, second, b.hallName(first.Hall), b.hallName(second.Hall), b.plan.Language), p))
		}
	}
	if len(out) == 0 {
		return tool.Data{}, &tool.Miss{What: "the catalogue has nothing to compare them by", Hint: "use " + toolExhibit}
	}
	return tool.Data{Facts: out}, nil
}

// section returns the first passage of a section of the house.
func (b *toolbox) section(d *desk, id string) *passage {
	for _, in := range languagesFrom(b.plan.Language, b.shelf.languages) {
		want := strings.Replace(id, "%", in, 1)
		for _, s := range d.lib.Sections("", in) {
			if s.ID == want && len(s.Passages) > 0 {
				return d.open(s.Passages[0], s.Section)
			}
		}
	}
	return nil
}

func (b *toolbox) hall(_ context.Context, a hallArgs) (tool.Data, error) {
	p := b.section(newDesk(b.lib, "", b.trace), "hall/%/"+a.ID)
	if p == nil {
		return tool.Data{}, &tool.Miss{What: "the gallery has no text on this hall", Hint: "use " + toolTour + " with the hall"}
	}
	var out []tool.Fact
	for _, s := range p.sentences[:min(len(p.sentences), 3)] {
		out = append(out, b.fact(s.text, p))
	}
	return tool.Data{Facts: out}, nil
}

func (b *toolbox) venue(_ context.Context, a venueArgs) (tool.Data, error) {
	dates, err := venue.Dates(a.Day, b.now)
	if err != nil {
		return tool.Data{}, &tool.Miss{What: err.Error(), Hint: "name a day as the schema tells"}
	}
	var out tool.Data
	var missed error
	for _, date := range dates {
		data, err := b.venueOn(a, date)
		if err != nil {
			missed = err
			continue
		}
		out.Facts = append(out.Facts, data.Facts...)
		out.Values = data.Values
	}
	if len(out.Facts) == 0 {
		return tool.Data{}, missed
	}
	return out, nil
}

// venueOn tells the hours or events of one date.
func (b *toolbox) venueOn(a venueArgs, date time.Time) (tool.Data, error) {
	g, d := b.shelf.gallery, newDesk(b.lib, "", b.trace)
	day := venue.On(g, date)
	hours := b.hoursPassage(d, day)
	if hours == nil || !day.Known {
		return tool.Data{}, &tool.Miss{What: "the gallery tells no opening hours", Hint: "use " + toolRecall}
	}
	if a.Topic == "hours" {
		out := []tool.Fact{b.fact(b.say.open(day, b.now, a.Day.Name == "now", g, b.plan.Language), hours)}
		if a.Day.Holiday && !day.Special {
			out = []tool.Fact{b.fact(b.say.usual(day), hours)}
		}
		if len(day.Spans) == 0 && a.Day.Name != "weekend" {
			if next, ok := venue.NextOpen(g, date); ok {
				out = append(out, b.fact(b.say.nextOpen(next), b.hoursPassage(d, next)))
			}
		}
		return tool.Data{Facts: out, Values: day}, nil
	}
	var out []tool.Fact
	events := venue.Events(g, date)
	for _, e := range events {
		if p := b.section(d, "event/%/"+e.ID); p != nil {
			out = append(out, b.fact(b.say.event(e, b.hallName(e.Hall), b.plan.Language), p))
		}
	}
	switch {
	case len(out) > 0:
		return tool.Data{Facts: out, Values: events}, nil
	case len(day.Spans) == 0:
		return tool.Data{Facts: []tool.Fact{b.fact(b.say.open(day, b.now, false, g, b.plan.Language), hours)}}, nil
	}
	return tool.Data{}, &tool.Miss{What: "no events are listed for that day", Hint: "ask for another day"}
}

// hoursPassage is the passage that tells a day's hours.
func (b *toolbox) hoursPassage(d *desk, day venue.Day) *passage {
	if day.Special {
		if p := b.section(d, "venue/%/closures"); p != nil {
			return p
		}
	}
	return b.section(d, "venue/%/hours")
}

func (b *toolbox) tour(_ context.Context, a tourArgs) (tool.Data, error) {
	g, d := b.shelf.gallery, newDesk(b.lib, "", b.trace)
	r := tour.Request{
		Minutes: a.Minutes, Kiosk: b.turn.Place, Interests: a.Interests, Dislikes: a.Dislikes, Hall: a.Hall, StepFree: a.StepFree, Seen: slices.Clone(b.turn.Seen),
	}
	if b.turn.Exhibit != "" && !slices.Contains(r.Seen, b.turn.Exhibit) {
		r.Seen = append(r.Seen, b.turn.Exhibit)
		if r.Kiosk == "" {
			r.Start = b.turn.Exhibit
		}
	}
	if a.Children {
		r.Only = b.forChildren()
	}
	t, err := tour.Plan(g, r)
	if errors.Is(err, tour.ErrNothing) || errors.Is(err, tour.ErrMinutes) || errors.Is(err, tour.ErrNoStart) {
		return tool.Data{}, &tool.Miss{What: err.Error(), Hint: fmt.Sprintf("plan with %d to %d minutes", tour.MinMinutes, tour.MaxMinutes)}
	}
	if err != nil {
		return tool.Data{}, err
	}
	var out []tool.Fact
	for i, s := range t.Stops {
		e, _ := b.lib.Exhibit(s.Exhibit)
		if p := b.factsPassage(d, s.Exhibit); p != nil {
			out = append(out, b.fact(b.say.stop(i, s, t, e, b.hallName(s.Hall), b.plan.Language), p))
		}
	}
	if a.StepFree && len(out) > 0 {
		last := len(out) - 1
		out[last].Text += b.say.stepFree
	}
	return tool.Data{Facts: out, Values: t}, nil
}

// forChildren are the exhibits with a text for children; nil, which means all, where there are fewer than three.
func (b *toolbox) forChildren() map[string]bool {
	out := make(map[string]bool)
	for _, s := range b.lib.Sections("", b.plan.Language) {
		if s.Level == gallery.LevelChild && s.Exhibit != "" {
			out[s.Exhibit] = true
		}
	}
	if len(out) < 3 {
		return nil
	}
	return out
}
