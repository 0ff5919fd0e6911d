package agent

import (
	"context"
	"log/slog"
	"time"

	"docent/agent/internal/words"
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
	// Clock tells the time for Done.Millis; nil means time.Now.
	Clock func() time.Time
}

// Guide answers visitors' questions. It is safe for concurrent use.
type Guide struct {
	model             Model
	firstTokenTimeout time.Duration
	answerTimeout     time.Duration
	logger            *slog.Logger
	clock             func() time.Time
	shelves           shelves
}

// New returns a guide.
func New(o Options) *Guide {
	g := &Guide{model: o.Model, firstTokenTimeout: o.FirstTokenTimeout, answerTimeout: o.AnswerTimeout, logger: o.Logger, clock: o.Clock}
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
		g.answer(ctx, lib, t, stream{ctx, events})
	}()
	return events
}

// stream sends events until its context is done.
type stream struct {
	ctx    context.Context
	events chan<- Event
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

func (s stream) stage(name string) { s.send(Event{Type: EventStage, Stage: name}) }

func (s stream) text(a answer) {
	if len(a.sources) > 0 {
		s.send(Event{Type: EventSources, Sources: a.sources})
	}
	for _, p := range a.piecesFrom(0) {
		s.send(Event{Type: EventToken, Text: p})
	}
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
	out.stage("retrieve")
	s, d := g.shelves.of(lib), newDesk(lib, t.Exhibit)
	f, err := s.find(ctx, d, t, language)
	if err != nil {
		g.fail(ctx, out, language, err)
		return
	}
	out.stage("write")
	done := g.reply(ctx, lib, t, f, out)
	if suggestions := s.followUps(ctx, d, t, f); len(suggestions) > 0 {
		out.send(Event{Type: EventFollowUps, FollowUps: suggestions})
	}
	done.Millis = g.clock().Sub(began).Milliseconds()
	out.send(Event{Type: EventDone, Done: &done})
}

// fail ends a turn that could not be finished. A cancelled turn just ends: nobody listens.
func (g *Guide) fail(ctx context.Context, out stream, language string, err error) {
	if ctx.Err() != nil {
		return
	}
	g.logger.Error("answer a question", "error", err)
	out.send(Event{Type: EventError, Message: phrasesIn(language).broken})
}
