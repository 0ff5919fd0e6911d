package agent

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"docent/agent/internal/words"
	"docent/agent/plan"
	"docent/agent/trace"
)

// Time-outs of a model, where the options set none.
const (
	DefaultFirstTokenTimeout = 4 * time.Second
	DefaultAnswerTimeout     = 30 * time.Second
)

// Options configure a Guide. The zero value is a guide without a model.
type Options struct {
	// Model writes the answers; nil means none: the gallery's own sentences are the answers.
	Model Model
	// FirstTokenTimeout is how long a model may take to its first word before the gallery's own sentences are used;
	// 0 means DefaultFirstTokenTimeout.
	FirstTokenTimeout time.Duration
	// AnswerTimeout is how long it may take to its last word; 0 means DefaultAnswerTimeout.
	AnswerTimeout time.Duration
	// Logger hears what went wrong; nil means nobody. It never hears what a visitor asked.
	Logger *slog.Logger
	// Clock tells the time, for Done.Millis and for what is open now; nil means time.Now.
	Clock func() time.Time
	// Trace takes the record of every turn; nil means nobody does.
	Trace trace.Sink
	// Prices of the model's tokens, for the trace.
	Prices Prices
	// Web is looked into where the gallery has nothing on a question; nil means never.
	Web Web
	// Random is from 0 to 1, for the pauses before a request is made again; nil means [rand.Float64].
	Random func() float64
}

// Prices are what a million tokens cost, in any one currency.
type Prices struct{ In, Out float64 }

// Guide answers visitors' questions. It is safe for concurrent use.
type Guide struct {
	model             Model
	firstTokenTimeout time.Duration
	answerTimeout     time.Duration
	logger            *slog.Logger
	clock             func() time.Time
	shelves           shelves
	trace             trace.Sink
	prices            Prices
	ledgers           ledgers
	random            func() float64
	web               Web
	breaker           breaker
}

// New returns a guide.
func New(o Options) *Guide {
	g := &Guide{model: o.Model, firstTokenTimeout: o.FirstTokenTimeout, answerTimeout: o.AnswerTimeout, logger: o.Logger, clock: o.Clock, trace: o.Trace, prices: o.Prices, random: o.Random, web: o.Web}
	if g.firstTokenTimeout <= 0 {
		g.firstTokenTimeout = DefaultFirstTokenTimeout
	}
	if g.answerTimeout <= 0 {
		g.answerTimeout = DefaultAnswerTimeout
	}
	if g.logger == nil {
		g.logger = slog.New(slog.DiscardHandler)
	}
	if g.clock == nil {
		g.clock = time.Now
	}
	if g.random == nil {
		g.random = rand.Float64
	}
	return g
}

// Prepare counts a release's words before its first question, which otherwise waits for it.
func (g *Guide) Prepare(lib Library) { g.shelves.of(lib) }

// longestQuestion is how many characters of a question are looked at; a kiosk takes fewer.
const longestQuestion = 1000

// eventBuffer is how many events may wait for the reader of an answer before the guide waits for it.
const eventBuffer = 16

// Answer answers one turn from the library. The channel carries the events of the turn in the order that [EventType]
// tells, and is closed when the turn is over and nothing runs any more: after done, after error, or soon after ctx is
// done, without either. The caller reads it until it is closed, or cancels ctx.
func (g *Guide) Answer(ctx context.Context, lib Library, t Turn) <-chan Event {
	events := make(chan Event, eventBuffer)
	go func() {
		defer close(events)
		g.answer(ctx, lib, t, stream{ctx: ctx, events: events})
	}()
	return events
}

// stream sends events until its context is done.
type stream struct {
	ctx    context.Context
	events chan<- Event
	trace  *trace.Recorder
}

func (s stream) send(e Event) {
	if s.ctx.Err() != nil {
		return
	}
	select {
	case s.events <- e:
	case <-s.ctx.Done():
	}
}

func (s stream) stage(name string) {
	s.trace.Stage(name)
	s.send(Event{Type: EventStage, Stage: name})
}

func (s stream) text(a answer) {
	if len(a.sources) > 0 {
		s.send(Event{Type: EventSources, Sources: a.sources})
	}
	for _, p := range a.piecesFrom(0) {
		s.send(Event{Type: EventToken, Text: p})
	}
}

// say sends an answer and what it warns of.
func (s stream) say(f found) {
	s.text(f.answer)
	s.warn(f)
}

// warn admits what a turn could not do, after its answer.
func (s stream) warn(f found) {
	if f.warning == "" {
		return
	}
	s.trace.Check("warning", f.warning, "admitted")
	space := " "
	if f.language == words.Chinese {
		space = ""
	}
	s.send(Event{Type: EventToken, Text: space + f.warning, Aside: true})
}

func (g *Guide) answer(ctx context.Context, lib Library, t Turn, out stream) {
	began := g.clock()
	t.Question = clip(t.Question, longestQuestion)
	language := t.Language
	if !t.Explain {
		language = words.Detect(t.Question, t.Language)
	}
	if language == "" {
		language = words.English
	}
	if g.trace != nil {
		out.trace = trace.New(g.clock, trace.Turn{Visit: t.Visit, Question: t.Question, Explain: t.Explain, Exhibit: t.Exhibit, Release: lib.Release()})
		if l, ok := g.trace.(trace.Listener); ok {
			out.trace.Tell(l)
		}
	}
	done, err := g.turn(ctx, lib, t, language, out)
	switch {
	case ctx.Err() != nil:
		g.record(out, "cancelled", "")
		return
	case err != nil:
		g.record(out, "failed", "")
		g.fail(ctx, out, language, err)
		return
	}
	g.record(out, outcomeOf(done), string(done.WrittenBy))
	done.Millis = g.clock().Sub(began).Milliseconds()
	out.send(Event{Type: EventDone, Done: &done})
}

func outcomeOf(d Done) string {
	switch {
	case d.Reply != "":
		return string(d.Reply)
	case d.Answered:
		return "answered"
	}
	return "nothing"
}

// record hands over the record of a turn.
func (g *Guide) record(out stream, outcome, by string) {
	if g.trace != nil {
		g.trace.Record(out.trace.End(outcome, by))
	}
}

// turn plans a turn and carries the plan out. All events but the last go out.
func (g *Guide) turn(ctx context.Context, lib Library, t Turn, language string, out stream) (Done, error) {
	s, d := g.shelves.of(lib), newDesk(lib, t.Exhibit, out.trace)
	out.trace.Stage("plan")
	p := s.plan(t, language, g.clock())
	out.trace.Plan(p)
	t.Level = p.Level
	caller, err := g.caller(s, d, t, p, out.trace)
	if err != nil {
		return Done{}, err
	}
	defer func() { out.trace.Use(caller.Used()) }()
	plight, alone := plan.PlightOf(t.Question)
	if alone && !t.Explain {
		out.stage("retrieve")
		if f, ok, err := s.lookUpPlight(ctx, d, t, language, plight, g.clock()); err != nil {
			return Done{}, err
		} else if ok {
			return g.finish(ctx, lib, s, d, t, f, caller, out), nil
		}
	}
	switch {
	case p.Mode == plan.Clarify:
		return askBack(p, out), nil
	case p.Courtesy == plan.Taste:
		text, ok := acknowledged(t, language, g.clock())
		if !ok {
			text = phrasesIn(language).told
		}
		return g.say(ctx, s, d, t, p.Language, text, out), nil
	case p.Courtesy != "" && p.Courtesy != plan.Outside && p.Courtesy != plan.World:
		return g.courtesy(ctx, s, d, t, p, out), nil
	case p.Mode == plan.Agent:
		out.stage("retrieve")
		if done, ok := g.perform(ctx, caller, s, d, t, p, out); ok {
			return done, ctx.Err()
		}
		p.SubQuestions = []plan.SubQuestion{{Text: t.Question, Exhibit: t.Exhibit}} // the texts may still tell
	default:
		out.stage("retrieve")
	}
	var f found
	switch {
	case t.Explain:
		f, err = s.find(ctx, d, t, language)
	case p.Courtesy == plan.World: // a text on chaos does not tell how the weather is
		f = found{language: language, answer: nothing(language, phrasesIn(language).outside)}
	default:
		f, err = s.lookUp(ctx, d, t, p)
	}
	if err != nil {
		return Done{}, err
	}
	if !f.answer.answered && p.Courtesy == "" {
		if text, ok := acknowledged(t, language, g.clock()); ok {
			return g.say(ctx, s, d, t, p.Language, text, out), nil
		}
		if anyDay, ok, err := s.lookUpAnyDay(ctx, d, t, p, caller.box); err != nil {
			return Done{}, err
		} else if ok {
			f = anyDay
		} else if anybody, ok, err := s.lookUpForAnybody(ctx, d, t, p, g.clock()); err != nil {
			return Done{}, err
		} else if ok {
			f = anybody
		} else if plight != "" && plight != plan.Puzzled {
			if f, _, err = s.lookUpPlight(ctx, d, t, language, plight, g.clock()); err != nil {
				return Done{}, err
			}
		}
	}
	if !f.answer.answered && p.Courtesy == plan.Outside {
		f.answer = nothing(language, phrasesIn(language).outside)
	}
	if !f.answer.answered && g.lookInWeb(ctx, caller, s, t, p, &f) {
		out.stage("write")
		out.say(f)
		return Done{Answered: true, WrittenBy: WrittenByWeb, Language: p.Language}, nil
	}
	if f.warning == "" {
		if f.warning, err = s.whereToEat(ctx, d, t, f, g.clock()); err != nil {
			return Done{}, err
		}
	}
	return g.finish(ctx, lib, s, d, t, f, caller, out), nil
}

// finish writes what was found, and suggests what to ask next.
func (g *Guide) finish(ctx context.Context, lib Library, s *shelf, d *desk, t Turn, f found, caller *guideCaller, out stream) Done {
	out.stage("write")
	done := g.reply(ctx, lib, t, f, caller, out)
	if suggestions := s.followUps(ctx, d, t, f); len(suggestions) > 0 {
		out.send(Event{Type: EventFollowUps, FollowUps: suggestions})
	}
	return done
}

// plan decides what a turn wants. An explanation wants just that.
func (s *shelf) plan(t Turn, language string, now time.Time) plan.ExecutionPlan {
	if t.Explain {
		return plan.ExecutionPlan{Mode: plan.Chat, Task: plan.Single, Language: language, Level: t.Level}
	}
	in := plan.Input{Question: t.Question, Language: language, Level: t.Level, Exhibit: t.Exhibit, Hall: s.hallOf(t.Place), Visit: visitOf(t, now)}
	for _, x := range t.History {
		in.History = append(in.History, plan.Exchange{Question: clip(x.Question, longestQuestion), Answer: x.Answer})
	}
	p := plan.Make(s.catalogue, in)
	if s.gallery == nil && p.Mode == plan.Agent && p.Template != plan.Compare {
		p.Mode, p.Template, p.Task = plan.Chat, "", plan.Single
		p.SubQuestions = []plan.SubQuestion{{Text: p.Rewritten, Exhibit: t.Exhibit}}
	}
	return p
}

// hallOf is where a kiosk stands.
func (s *shelf) hallOf(place string) string {
	if s.gallery == nil {
		return ""
	}
	for _, k := range s.gallery.Kiosks {
		if k.ID == place || place == "" {
			return k.Hall
		}
	}
	return ""
}

// askBack asks the visitor which of several things they mean.
func askBack(p plan.ExecutionPlan, out stream) Done {
	c := &Clarify{Text: p.Clarify.Text}
	var chips []string
	for _, choice := range p.Clarify.Choices {
		c.Choices = append(c.Choices, Choice(choice))
		chips = append(chips, choice.Ask)
	}
	out.send(Event{Type: EventClarify, Clarify: c})
	out.send(Event{Type: EventToken, Text: c.Text})
	out.send(Event{Type: EventFollowUps, FollowUps: chips})
	return Done{WrittenBy: WrittenByNobody, Reply: ReplyClarify, Language: p.Language}
}

// courtesy answers what was said rather than asked, and suggests something to ask.
func (g *Guide) courtesy(ctx context.Context, s *shelf, d *desk, t Turn, p plan.ExecutionPlan, out stream) Done {
	return g.say(ctx, s, d, t, p.Language, phrasesIn(p.Language).courtesy[p.Courtesy], out)
}

// say says a sentence of the guide's own, and suggests something to ask.
func (g *Guide) say(ctx context.Context, s *shelf, d *desk, t Turn, language, text string, out stream) Done {
	f := found{language: language, answer: nothing(language, text)}
	out.text(f.answer)
	if suggestions := s.followUps(ctx, d, t, f); len(suggestions) > 0 {
		out.send(Event{Type: EventFollowUps, FollowUps: suggestions})
	}
	return Done{WrittenBy: WrittenByNobody, Reply: ReplyCourtesy, Language: language}
}

// fail ends a turn that could not be finished. A cancelled turn just ends: nobody listens.
func (g *Guide) fail(ctx context.Context, out stream, language string, err error) {
	if ctx.Err() != nil {
		return
	}
	g.logger.Error("answer a question", "error", err)
	out.send(Event{Type: EventError, Message: phrasesIn(language).broken})
}
