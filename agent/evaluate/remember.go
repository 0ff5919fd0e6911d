package evaluate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"docent/agent"
	"docent/agent/internal/words"
	"docent/agent/memory"
	"docent/agent/memory/disk"
)

// What may stand in the History of a memory case beside what the visitor says.
const (
	Restart    = "(restart)"     // the kiosk ends and starts again
	OtherKiosk = "(other kiosk)" // the visit goes on at another kiosk
)

// visitor is one visit to kiosks with a memory, on real stores.
type visitor struct {
	guide Guide
	lib   agent.Library
	now   func() time.Time
	dir   string
	turn  agent.Turn
	visit memory.Visit

	kiosk  int
	talk   memory.Talk
	store  *disk.Store
	memory *memory.Memory
	stop   func()
}

// askRemembering plays a visit and returns the answer to its last question.
func askRemembering(ctx context.Context, g Guide, lib agent.Library, all Cases, c Case) (_ heard, err error) {
	dir, err := os.MkdirTemp("", "docent-evaluate-")
	if err != nil {
		return heard{}, fmt.Errorf("make a folder for the memory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	v := &visitor{
		guide: g, lib: lib, dir: dir, now: time.Now, visit: memory.Visit{Name: strings.Repeat("e", 32), Key: [32]byte{1}},
		turn: agent.Turn{Exhibit: c.Exhibit, Language: c.Language, Level: c.Level, Place: all.Place},
	}
	if v.turn.Language == "" {
		v.turn.Language = words.English
	}
	if !all.Now.IsZero() {
		v.now = func() time.Time { return all.Now }
	}
	if err := v.open(ctx); err != nil {
		return heard{}, err
	}
	defer func() { err = errors.Join(err, v.close()) }()
	for _, said := range c.History {
		switch said {
		case Restart:
			err = errors.Join(v.close(), v.open(ctx))
		case OtherKiosk:
			err = v.goOn(ctx)
		default:
			_, err = v.say(ctx, said)
		}
		if err != nil {
			return heard{}, err
		}
	}
	return v.say(ctx, c.Question)
}

func (v *visitor) open(ctx context.Context) error {
	store, err := disk.Open(filepath.Join(v.dir, fmt.Sprint("kiosk-", v.kiosk)), disk.Options{})
	if err != nil {
		return err
	}
	v.store = store
	v.memory = memory.New(memory.Options{Store: store, Kiosk: fmt.Sprint("kiosk-", v.kiosk), Now: v.now})
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		v.memory.Run(ctx)
	}()
	v.stop = func() {
		cancel()
		<-done
	}
	return nil
}

func (v *visitor) close() error {
	if v.store == nil {
		return nil
	}
	v.stop()
	err := v.store.Close()
	v.store = nil
	return err
}

// goOn carries the visit to the next kiosk, sealed as it travels.
func (v *visitor) goOn(ctx context.Context) error {
	carried, err := v.memory.Export(v.visit, v.talk)
	if err != nil {
		return err
	}
	if err := v.close(); err != nil {
		return err
	}
	v.kiosk++
	if err := v.open(ctx); err != nil {
		return err
	}
	v.talk, err = v.memory.Import(ctx, v.visit, carried)
	return err
}

// say is one turn, as a kiosk takes it: heard, answered from the memory or by the guide, kept.
func (v *visitor) say(ctx context.Context, text string) (heard, error) {
	began := time.Now()
	h, err := v.memory.Hear(ctx, v.visit, memory.Said{Text: text, Exhibit: v.turn.Exhibit, At: v.now()})
	if err != nil {
		return heard{}, err
	}
	r, err := v.memory.Recollect(v.visit, v.talk, text)
	if err != nil {
		return heard{}, err
	}
	language := words.Detect(text, v.turn.Language)
	var out heard
	if told, ok := memory.Tell(text, r, v.talk, language, v.now()); ok {
		out = heard{text: told, first: time.Since(began), whole: time.Since(began), done: agent.Done{Answered: true, WrittenBy: agent.WrittenByTools, Language: language}}
	} else {
		t := v.turn
		t.Question, t.Summary, t.Remembered = text, v.talk.Summary, remembered(r, v.turn.Language)
		for _, e := range v.talk.Turns {
			t.History = append(t.History, agent.Exchange{Question: e.Question, Answer: e.Answer})
		}
		if out, err = hear(ctx, v.guide, v.lib, t); err != nil {
			return heard{}, err
		}
	}
	v.talk = v.talk.Add(memory.Exchange{Exhibit: v.turn.Exhibit, Question: text, Answer: out.text, At: v.now()}, memory.Policy{})
	return out, v.memory.Keep(ctx, v.visit, h)
}

func remembered(r memory.Recollection, language string) (out []agent.Remembered) {
	for _, f := range r.All() {
		out = append(out, agent.Remembered{Kind: string(f.Kind), Key: f.Key, Value: f.Value, Text: memory.Describe(f, language), Confirmed: f.Confirmed})
	}
	return out
}
