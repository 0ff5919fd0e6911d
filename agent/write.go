package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"docent/agent/internal/words"
	"docent/agent/model"
)

// Model writes text. [model.Client] is one.
type Model interface {
	// Stream yields the pieces of a text as they are written; the last pair may carry an error instead. It ends soon
	// after ctx does.
	Stream(ctx context.Context, r model.Request) iter.Seq2[string, error]
}

var _ Model = (*model.Client)(nil)

// writer lets the model write one turn's answer from the evidence, sentence by sentence: none is sent before it is
// checked. One that does not stand is written again, once, and left out where that does not stand either.
type writer struct {
	out      stream
	lib      Library
	language string
	passages []*passage
	check    checker
	answer   answer // what was sent so far
	// again has a faulty sentence written again; fault says what is wrong with it.
	again    func(sentence string, fault error) (string, error)
	withheld []error // a fault for each sentence left out
}

// write has the model write the answer. sent reports that tokens went out; with an error they are to be withdrawn.
func (g *Guide) write(ctx context.Context, lib Library, t Turn, f found, c *guideCaller, out stream) (sent bool, err error) {
	evidence, passages := f.evidence(lib, c)
	w := &writer{out: out, lib: lib, language: f.language, passages: passages, check: newChecker(evidence, t.Question), answer: answer{language: f.language}}
	defer func() {
		if errors.Is(err, errWithheld) || errors.Is(err, errUncited) {
			c.trace.Check(faultKind(err), err.Error(), "withdrawn")
		}
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, g.answerTimeout, fmt.Errorf("the model did not finish within %v", g.answerTimeout))
	defer cancel()
	w.again = func(sentence string, fault error) (string, error) {
		text, _, err := g.consult(ctx, c, "rewrite", correction(f.language, evidence, sentence, fault))
		return text, err
	}
	writing, slow := context.WithCancelCause(ctx)
	defer slow(nil)
	first := time.AfterFunc(g.firstTokenTimeout, func() {
		slow(fmt.Errorf("the model wrote no word within %v", g.firstTokenTimeout))
	})
	defer first.Stop()

	err = w.run(g.ask(writing, c, "write", prompt(t, f.language, evidence)), func() { first.Stop() })
	if cause := context.Cause(writing); err != nil && cause != nil {
		err = cause
	}
	return len(w.answer.sentences) > 0, err
}

// run takes the model's pieces, and sends each sentence once it is whole and checked.
func (w *writer) run(pieces iter.Seq2[string, error], begun func()) error {
	var text string
	length := 0
	for piece, err := range pieces {
		if err != nil {
			return err
		}
		begun()
		text += piece
		if length += len(piece); length > maxAnswer {
			return errLong
		}
		whole, rest := cutSentences(text)
		for _, s := range whole {
			if err := w.take(s); err != nil {
				return err
			}
		}
		text = rest
	}
	for _, s := range words.Sentences(text) {
		if err := w.take(s); err != nil {
			return err
		}
	}
	w.out.stage("check")
	switch sent, left := len(w.answer.sentences), len(w.withheld); {
	case left > sent:
		return fmt.Errorf("%w: %w", errWithheld, w.withheld[0])
	case sent == 0:
		return errEmpty
	case len(w.answer.sources) == 0:
		return errUncited
	}
	return nil
}

// maxAnswer is the most bytes of a model's text; the longest explanation has some 1,200.
const maxAnswer = 8 << 10

// cutSentences takes the whole sentences from a growing text. The last one is never taken: more of it may come, if
// only a citation mark.
func cutSentences(text string) (whole []string, rest string) {
	if !strings.ContainsAny(text, ".!?。！？…\n") {
		return nil, text
	}
	all := words.Sentences(text)
	if len(all) < 2 {
		return nil, text
	}
	last := all[len(all)-1]
	at := strings.LastIndex(text, last)
	if at < 0 {
		return nil, text // its white space was folded; it waits for the end
	}
	return all[:len(all)-1], text[at:]
}

// take checks a sentence and sends it. A faulty one is written again, and left out where that is faulty too.
func (w *writer) take(sentence string) error {
	sentence = tidy(sentence)
	if sentence == "" {
		return nil
	}
	fault := w.check.check(sentence)
	switch {
	case fault == nil:
		w.send(sentence)
		return nil
	case !correctable(fault):
		return fault
	}
	if better, err := w.correct(sentence, fault); err == nil {
		w.out.trace.Check(faultKind(fault), fault.Error(), "rewritten")
		w.send(better)
		return nil
	}
	w.out.trace.Check(faultKind(fault), fault.Error(), "withheld")
	w.withheld = append(w.withheld, fault)
	return nil
}

// maxCorrected is the most bytes of a sentence written again; it has one sentence to say.
const maxCorrected = 800

// correct has a faulty sentence written again, and checks what came. It must cite, and say nothing twice.
func (w *writer) correct(sentence string, fault error) (string, error) {
	text, err := w.again(sentence, fault)
	if err != nil {
		return "", err
	}
	better := tidy(strings.Join(strings.Fields(text), " "))
	switch err := w.check.check(better); {
	case err != nil:
		return "", err
	case better == "" || len(better) > maxCorrected:
		return "", errLong
	case len(marks(better)) == 0:
		return "", errUncited
	case slices.Contains(w.answer.said, better):
		return "", errEmpty
	}
	return better, nil
}

// send numbers a sentence's sources in the order of their first use, and sends it.
func (w *writer) send(sentence string) {
	before := len(w.answer.sources)
	numbered := bracketed.ReplaceAllStringFunc(sentence, func(m string) string {
		cited := marks(m)
		return fmt.Sprintf("[%d]", w.answer.cite(w.lib, w.passages[cited[0]-1], w.language))
	})
	if len(w.answer.sources) > before {
		w.out.send(Event{Type: EventSources, Sources: w.answer.sources[:len(w.answer.sources):len(w.answer.sources)]})
	}
	w.answer.said = append(w.answer.said, sentence)
	w.answer.sentences = append(w.answer.sentences, numbered)
	for _, p := range w.answer.piecesFrom(len(w.answer.sentences) - 1) {
		w.out.send(Event{Type: EventToken, Text: p})
	}
}

// reply sends the answer of a turn: the model's where there is one and it keeps to the evidence, else the gallery's
// own sentences. What could not be looked up is admitted after either.
func (g *Guide) reply(ctx context.Context, lib Library, t Turn, f found, c *guideCaller, out stream) Done {
	done := Done{Answered: f.answer.answered, WrittenBy: WrittenByGallery, Language: f.language}
	if !f.answer.answered {
		done.WrittenBy = WrittenByNobody
		out.say(f)
		return done
	}
	if g.model == nil {
		out.say(f)
		return done
	}
	sent, err := g.write(ctx, lib, t, f, c, out)
	if err == nil {
		done.WrittenBy = WrittenByModel
		out.warn(f)
		return done
	}
	if ctx.Err() != nil {
		return done
	}
	g.logger.Warn("the model's answer was not used", "error", reason(err))
	done.ModelError = err.Error()
	if sent {
		out.send(Event{Type: EventReset})
	}
	if errors.Is(err, errNoEvidence) && !sent && len(f.question.focus) > 0 {
		done.Answered, done.WrittenBy = false, WrittenByNobody
		out.text(nothing(f.language, phrasesIn(f.language).nothing))
		return done
	}
	out.say(f)
	return done
}

// reason is why a model's answer was not used, without the model's words, which may be the visitor's: logs have none.
func reason(err error) string {
	for _, known := range []error{errWithheld, errUnsupported, errMiscited, errCitation} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return err.Error()
}
