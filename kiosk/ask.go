package kiosk

import (
	"bufio"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"docent/agent"
	"docent/agent/memory"
	"docent/agent/private"
	"docent/kiosk/visit"
)

const (
	maxQuestion = 500 // characters
	answerWait  = 2 * time.Second
	// beat is how often a stream says something, so that a client that went away is noticed. Three writes are lost
	// before the loss is seen: the client's system refuses the first, ours the second, and the server passes that on
	// with the third. An answer nobody reads is thus cancelled within two seconds.
	beat = 500 * time.Millisecond
)

// askRequest is what a visitor wants to hear: an answer, or the explanation of the exhibit in hand.
type askRequest struct {
	Visit    string `json:"visit"`
	Question string `json:"question"`
	Explain  bool   `json:"explain"`
}

// turn is one answer under way. It holds the content and a slot until close.
type turn struct {
	visit   visit.Visit
	request askRequest
	began   time.Time
	content *content
	names   []string        // that the visitor gave
	ctx     context.Context // done when the turn is cancelled, replaced, or the kiosk stops
	close   func()
}

// begin checks a request and makes it the visit's turn; the one before it, if any, is cancelled. The turn is closed
// by whoever gets it.
func (k *Kiosk) begin(r askRequest) (*turn, error) {
	v, err := k.visits.Get(r.Visit)
	if err != nil {
		return nil, err
	}
	r.Question = clean(r.Question)
	switch {
	case r.Explain && r.Question != "":
		return nil, badRequest("either a question or explain")
	case r.Explain && v.Exhibit == "":
		return nil, &problem{status: fiber.StatusConflict, code: codeNoSuchExhibit, reason: "the visit has no exhibit in hand"}
	case !r.Explain && r.Question == "":
		return nil, &problem{status: fiber.StatusBadRequest, code: codeQuestionEmpty}
	case utf8.RuneCountInString(r.Question) > maxQuestion:
		return nil, &problem{status: fiber.StatusBadRequest, code: codeQuestionTooLong}
	}
	content, giveBack, ok := k.shelf.take()
	if !ok {
		return nil, notReady("no content yet")
	}
	if !r.Explain { // an explanation follows a photo, which takes its time
		if wait, ok := k.questions.allow(k.now()); !ok {
			giveBack()
			return nil, tooManyQuestions(wait)
		}
	}
	ctx, end := k.turns.begin(k.stopping, v.Name())
	if takeSlot(ctx, k.answers, answerWait) != nil {
		end()
		giveBack()
		return nil, busy("answers")
	}
	return &turn{
		visit: v, request: r, began: k.now(), content: content, ctx: ctx,
		close: sync.OnceFunc(func() {
			end()
			<-k.answers
			giveBack()
		}),
	}, nil
}

// clean makes a question one line without control characters.
func clean(question string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, question))
}

// run answers a turn. Every event goes to emit, which returns false when nobody listens any more. When the answer is
// done, it is remembered before emit hears so.
func (k *Kiosk) run(ctx context.Context, t *turn, emit func(agent.Event) bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.ctx, cancel)()
	k.traces.Unlock(t.visit.Name(), t.visit.TraceKey())
	heard, recollected := k.hear(t)
	remembered := remembering(t, recollected)
	defer k.keep(t, heard)
	events, told := k.tell(t, recollected)
	if !told {
		events = k.guide.Answer(ctx, t.content.library, agent.Turn{
			Visit: t.visit.Name(), Exhibit: t.visit.Exhibit, Question: t.request.Question, Explain: t.request.Explain,
			Language: t.visit.Language, Level: t.visit.Level, History: history(t.visit), Summary: t.visit.Talk.Summary,
			Remembered: remembered, Place: k.config.Kiosk, Seen: t.visit.Seen,
		})
	}
	for _, r := range remembered {
		if r.Kind == string(memory.KindName) {
			t.names = append(t.names, r.Value)
		}
	}
	var text strings.Builder
	var sources []string
	outcome := "cancelled"
	stored := sync.OnceFunc(func() { k.stored(t, heard) })
	for e := range events {
		if e.Type != agent.EventStage { // while the guide looks things up, the disk writes
			stored()
		}
		switch e.Type {
		case agent.EventToken:
			if !e.Aside {
				text.WriteString(e.Text)
			}
		case agent.EventReset:
			text.Reset()
			sources = nil
		case agent.EventSources:
			sources = sources[:0]
			for _, s := range e.Sources {
				sources = append(sources, s.Passage)
			}
		case agent.EventDone:
			outcome = k.note(t, text.String(), sources, *e.Done)
			if e.Done.ModelError != "" {
				done := *e.Done
				done.ModelError = "" // not for visitors
				e.Done = &done
			}
		case agent.EventError:
			outcome = "failed"
		}
		if !emit(e) {
			cancel() // and read on until the guide has ended
			emit = func(agent.Event) bool { return true }
		}
	}
	k.metrics.answers.WithLabelValues(outcome).Inc()
	if outcome != "cancelled" {
		k.metrics.answerTime.Observe(k.now().Sub(t.began).Seconds())
	}
}

// note keeps an answer in the visit and in the memory, and says how the turn came out.
func (k *Kiosk) note(t *turn, text string, sources []string, done agent.Done) (outcome string) {
	if t.request.Explain {
		return "explained"
	}
	_, err := k.visits.Update(t.visit.ID, func(v *visit.Visit) {
		said := memory.Exchange{Exhibit: t.visit.Exhibit, Question: t.request.Question, Answer: text, At: k.now().UTC()}
		v.Talk = v.Talk.Add(said, k.config.Visit.talk())
	})
	if err != nil { // the visit ended, and what was asked in it is forgotten
		return "cancelled"
	}
	if done.Reply != "" { // no gap in the gallery's texts
		return string(done.Reply)
	}
	typ, outcome := eventQuestionAnswered, "answered"
	if !done.Answered || done.WrittenBy == agent.WrittenByWeb { // a gap in the gallery's texts
		typ, outcome = eventQuestionUnanswered, "unanswered"
	}
	k.remember(typ, questionAsked{
		Visit: t.visit.Name(), Exhibit: t.visit.Exhibit, Question: private.Text(t.request.Question, t.names...), Language: done.Language,
		WrittenBy: string(done.WrittenBy), Sources: list(sources),
	})
	return outcome
}

func history(v visit.Visit) []agent.Exchange {
	out := make([]agent.Exchange, len(v.Talk.Turns))
	for i, e := range v.Talk.Turns {
		out[i] = agent.Exchange{Question: e.Question, Answer: e.Answer}
	}
	return out
}

// postAsk answers over server-sent events.
func (k *Kiosk) postAsk(c *fiber.Ctx) error {
	var r askRequest
	if err := readJSON(c, &r); err != nil {
		return err
	}
	t, err := k.begin(r)
	if err != nil {
		return err
	}
	c.Set("X-Accel-Buffering", "no")
	return k.stream(c, "text/event-stream", func(ctx context.Context, w *bufio.Writer) { k.sendEvents(ctx, t, w) }, t.close)
}

// sendEvents runs a turn and writes its events, and a comment on each beat without one.
func (k *Kiosk) sendEvents(ctx context.Context, t *turn, w *bufio.Writer) {
	ctx, gone := context.WithCancel(ctx)
	defer gone()
	var mu sync.Mutex // of w
	send := func(write func()) bool {
		mu.Lock()
		defer mu.Unlock()
		write()
		if w.Flush() != nil {
			gone()
		}
		return ctx.Err() == nil
	}
	pulse := func() { send(func() { _, _ = w.WriteString(":\n\n") }) }
	pulse() // brings the answer's head to the client
	var beating sync.WaitGroup
	beating.Go(func() {
		tick := time.NewTicker(beat)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				pulse()
			}
		}
	})
	k.run(ctx, t, func(e agent.Event) bool {
		data, err := json.Marshal(e)
		if err != nil {
			k.log.Error("encode answer", "error", err)
			return false
		}
		return send(func() {
			_, _ = w.WriteString("event: " + string(e.Type) + "\ndata: ")
			_, _ = w.Write(data)
			_, _ = w.WriteString("\n\n")
		})
	})
	gone()
	beating.Wait()
}

// turns are the answers under way, one for each visit.
type turns struct {
	mu  sync.Mutex
	now map[string]*running
}

type running struct{ cancel context.CancelFunc }

// begin makes a visit's turn, and cancels the one before. The context is done when the turn is cancelled or parent
// is done; end is called when the turn is over.
func (t *turns) begin(parent context.Context, visit string) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancel(parent)
	mine := &running{cancel}
	t.mu.Lock()
	defer t.mu.Unlock()
	if before := t.now[visit]; before != nil {
		before.cancel()
	}
	if t.now == nil {
		t.now = map[string]*running{}
	}
	t.now[visit] = mine
	return ctx, func() {
		cancel()
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.now[visit] == mine {
			delete(t.now, visit)
		}
	}
}

// cancel ends a visit's turn, if there is one.
func (t *turns) cancel(visit string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.now[visit]; r != nil {
		r.cancel()
	}
}
