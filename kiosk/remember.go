package kiosk

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"docent/agent"
	"docent/agent/memory"
	"docent/agent/memory/disk"
	"docent/kiosk/visit"
	"docent/sync/wire"
)

// Memory events about what visitors say of themselves. The commands are sealed: the hub carries them and cannot read
// them.
const (
	eventMemoryCommand   = wire.EventMemoryCommand
	eventMemoryForgotten = wire.EventMemoryForgotten
)

// memoryForgotten tells hub and other kiosks to drop what they have of a visit, and what they get later.
type memoryForgotten struct {
	Visit string `json:"visit"`
}

// openMemory opens what is remembered of the visits. Records of visits that are not open any more are removed.
func (k *Kiosk) openMemory() error {
	store, err := disk.Open(filepath.Join(k.config.DataDir, "memory"), disk.Options{Logger: k.log})
	if err != nil {
		return err
	}
	o := memory.Options{
		Store: store, Kiosk: k.config.Kiosk, Keep: k.config.Visit.Keep, KeepForgotten: k.config.Visit.KeepForgotten,
		Now: k.now, Logger: k.log,
	}
	if k.extract != nil {
		o.Classify = memory.Modelled(k.extract)
	}
	if k.events != nil {
		o.Publish = func(ctx context.Context, e memory.Envelope) error {
			ctx, cancel := context.WithTimeout(ctx, appendWait)
			defer cancel()
			_, err := k.events.Append(ctx, eventMemoryCommand, e)
			return err
		}
	}
	k.memory, k.memoryStore = memory.New(o), store
	if err := k.memory.Sweep(context.Background(), k.visits.Open); err != nil {
		return errors.Join(err, store.Close())
	}
	return nil
}

func keyed(v visit.Visit) memory.Visit { return memory.Visit{Name: v.Name(), Key: v.MemoryKey()} }

// memoryWait is how long a visitor waits at most for something critical to be stored before they are answered.
const memoryWait = 2 * time.Second

// hear takes in what a visitor says, and returns it together with what is remembered for it from then on. A visitor is
// answered all the same where that fails. What is critical is on its way to the disk; stored waits for it.
func (k *Kiosk) hear(t *turn) (memory.Heard, memory.Recollection) {
	ctx, cancel := context.WithTimeout(t.ctx, memoryWait)
	defer cancel()
	var heard memory.Heard
	var err error
	if !t.request.Explain {
		heard, err = k.memory.Listen(ctx, keyed(t.visit), memory.Said{Text: t.request.Question, Exhibit: t.visit.Exhibit, At: k.now()})
		k.troubled("hear a visitor", err)
		if !k.visits.Open(t.visit.Name()) { // it ended meanwhile, and with it what was heard
			k.stored(t, heard)
			k.forgetMemory(t.visit.Name(), false)
			return memory.Heard{}, memory.Recollection{}
		}
	}
	r, err := k.memory.Recollect(keyed(t.visit), t.visit.Talk, t.request.Question)
	k.troubled("recall a visit", err)
	return heard, r
}

// tell answers a question for what is remembered; ok is false for any other.
func (k *Kiosk) tell(t *turn, r memory.Recollection) (events <-chan agent.Event, ok bool) {
	if t.request.Explain {
		return nil, false
	}
	text, ok := memory.Tell(t.request.Question, r, t.visit.Talk, t.visit.Language, k.now())
	if !ok {
		return nil, false
	}
	told := make(chan agent.Event, 2)
	told <- agent.Event{Type: agent.EventToken, Text: text}
	told <- agent.Event{Type: agent.EventDone, Done: &agent.Done{
		Answered: true, WrittenBy: agent.WrittenByTools, Reply: agent.ReplyMemory, Language: t.visit.Language, Millis: k.now().Sub(t.began).Milliseconds(),
	}}
	close(told)
	return told, true
}

// remembering is what is remembered, as the guide is told it: by priority.
func remembering(t *turn, r memory.Recollection) (out []agent.Remembered) {
	for _, f := range r.All() {
		out = append(out, agent.Remembered{
			Kind: string(f.Kind), Key: f.Key, Value: f.Value, Text: memory.Describe(f, t.visit.Language), Confirmed: f.Confirmed,
		})
	}
	return out
}

// stored waits until what is critical is on the disk: no word of an answer goes out before.
func (k *Kiosk) stored(t *turn, h memory.Heard) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), memoryWait)
	defer cancel()
	k.troubled("store what a visitor said", h.Stored(ctx))
}

// keep queues what was heard, once the visitor has their answer.
func (k *Kiosk) keep(t *turn, h memory.Heard) {
	ctx, cancel := context.WithTimeout(context.Background(), memoryWait)
	defer cancel()
	k.troubled("keep what was heard", k.memory.Keep(ctx, keyed(t.visit), h))
	k.changedVisit(t.visit.Name())
}

// troubled logs what went wrong in the memory. That a visit is forgotten is nothing wrong, and neither is a visitor
// who did not wait.
func (k *Kiosk) troubled(doing string, err error) {
	if err != nil && !errors.Is(err, memory.ErrForgotten) && !errors.Is(err, context.Canceled) {
		k.log.Warn("memory: "+doing, "error", err)
	}
}

// forgetMemory removes what is remembered of a visit; what is still on its way is dropped.
func (k *Kiosk) forgetMemory(name string, forGood bool) {
	ctx, cancel := context.WithTimeout(context.Background(), memoryWait)
	defer cancel()
	remove := k.memory.Leave
	if forGood {
		remove = k.memory.Forget
	}
	k.troubled("forget a visit", remove(ctx, name))
}

// rememberedItem is one thing that is remembered, as the visitor sees it.
type rememberedItem struct {
	Key       string      `json:"key"`
	Kind      memory.Kind `json:"kind"`
	Text      string      `json:"text"` // a sentence in the visit's language
	Said      string      `json:"said,omitempty"`
	Version   uint64      `json:"version"`
	Confirmed bool        `json:"confirmed"`
	Pending   bool        `json:"pending"`
	At        time.Time   `json:"at"`
}

type rememberedList struct {
	Items []rememberedItem `json:"items"`
	Seen  []string         `json:"seen"` // exhibit ids, oldest first
}

func (k *Kiosk) remembered(v visit.Visit) (rememberedList, error) {
	facts, err := k.memory.Recall(keyed(v))
	if err != nil {
		return rememberedList{}, forgottenIsNone(err)
	}
	out := rememberedList{Items: []rememberedItem{}, Seen: list(v.Seen)}
	for _, f := range facts {
		out.Items = append(out.Items, rememberedItem{
			Key: f.Key, Kind: f.Kind, Text: memory.Describe(f, v.Language), Said: f.Text, Version: f.Version,
			Confirmed: f.Confirmed, Pending: f.Pending, At: f.At.UTC(),
		})
	}
	return out, nil
}

// forgottenIsNone tells a visitor that their visit has ended where the memory only knows that it is forgotten.
func forgottenIsNone(err error) error {
	if errors.Is(err, memory.ErrForgotten) {
		return fmt.Errorf("%w: %w", visit.ErrNone, err)
	}
	return err
}

// getRemembered lists what is remembered of the visit.
func (k *Kiosk) getRemembered(c *fiber.Ctx) error {
	v, err := k.visits.Get(c.Query("visit"))
	if err != nil {
		return err
	}
	out, err := k.remembered(v)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(out)
}

// maxRemembered bounds the text of an edit, in characters.
const maxRemembered = 200

// setRemembered changes one thing that is remembered, or takes it back, and answers with the list as it is then.
func (k *Kiosk) setRemembered(c *fiber.Ctx) error {
	var in struct {
		Visit   string `json:"visit"`
		Key     string `json:"key"`
		Version uint64 `json:"version"` // the one the visitor saw
		Text    string `json:"text"`
		Delete  bool   `json:"delete"`
	}
	if err := readJSON(c, &in); err != nil {
		return err
	}
	v, err := k.visits.Get(in.Visit)
	if err != nil {
		return err
	}
	in.Text = strings.TrimSpace(clean(in.Text))
	if (in.Text == "") != in.Delete || len([]rune(in.Text)) > maxRemembered {
		return badRequest(fmt.Sprintf("either delete, or a text of at most %d characters", maxRemembered))
	}
	ctx, cancel := context.WithTimeout(k.stopping, memoryWait)
	defer cancel()
	switch err := k.memory.Edit(ctx, keyed(v), in.Key, in.Version, in.Text); {
	case errors.Is(err, memory.ErrNoFact):
		return notFound("nothing of that key is remembered")
	case errors.Is(err, memory.ErrStale):
		return &problem{status: fiber.StatusConflict, code: codeChanged, reason: "it has changed since; read the list again"}
	case err != nil:
		return forgottenIsNone(err)
	}
	k.changed(v)
	out, err := k.remembered(v)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(out)
}
