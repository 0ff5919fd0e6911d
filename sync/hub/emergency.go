package hub

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"docent/internal/durable"
	"docent/sync/hub/postgres"
	"docent/sync/wire"
)

// alarm keeps the emergency message that all kiosks show, or that there is none any more, over restarts.
type alarm struct {
	note note
	now  func() time.Time
	log  *slog.Logger

	mu   sync.Mutex
	last wire.Emergency // Number 0: there never was one
}

// note is where the newest message is.
type note interface {
	read() ([]byte, error) // fs.ErrNotExist where there never was one
	// change stores what f makes of what is there, nil where there is nothing. It returns when that is durable.
	change(f func(old []byte) ([]byte, error)) error
	// shared tells whether other hubs change it too.
	shared() bool
}

// openAlarm reads what holds. A message that cannot be read is logged and set aside by the next one: kiosks go on showing
// what they have until the hub says something newer.
func openAlarm(n note, now func() time.Time, log *slog.Logger) *alarm {
	a := &alarm{note: n, now: now, log: log}
	a.load()
	return a
}

// load reads the note; a.last stays what it is where that does not work.
func (a *alarm) load() {
	b, err := a.note.read()
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var e wire.Emergency
	if err == nil {
		e, err = wire.DecodeEmergency(b)
	}
	if err != nil {
		a.log.Error("emergency message not read", "err", err)
		return
	}
	a.last = e
}

// get returns the newest message or end of one, and false where there never was any.
func (a *alarm) get() (wire.Emergency, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.note.shared() {
		a.load()
	}
	return a.last, a.last.Number > 0
}

// set makes a message the newest; one without texts ends the one before. It returns when that is durable. Numbers are
// the time in ms, so that they rise even where the hub has lost its data.
func (a *alarm) set(text map[string]string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var e wire.Emergency
	err := a.note.change(func(old []byte) ([]byte, error) {
		last := a.last
		if known, err := wire.DecodeEmergency(old); err == nil && known.Number > last.Number {
			last = known
		}
		e = wire.Emergency{Number: max(last.Number+1, uint64(max(0, a.now().UnixMilli()))), Text: text}
		return e.Encode()
	})
	if err != nil {
		return err
	}
	a.last = e
	return nil
}

// noteFile is a note in a file of this hub alone.
type noteFile string

func (f noteFile) read() ([]byte, error) { return os.ReadFile(string(f)) }
func (f noteFile) shared() bool          { return false }

func (f noteFile) change(make func([]byte) ([]byte, error)) error {
	b, err := make(nil)
	if err != nil {
		return err
	}
	if err := durable.WriteFile(string(f), b, 0o600); err != nil {
		return fmt.Errorf("keep emergency message: %w", err)
	}
	return nil
}

// noteRow is a note in a database that hubs share.
type noteRow struct{ db *sql.DB }

// noteName is the document's.
const noteName = "newest"

// patience is how long the database may take to answer.
const patience = 10 * time.Second

func (r noteRow) shared() bool { return true }

func (r noteRow) read() ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return postgres.Document(ctx, r.db, postgres.Emergency, noteName)
}

func (r noteRow) change(make func([]byte) ([]byte, error)) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return postgres.Change(ctx, r.db, postgres.Emergency, func(all map[string][]byte) (err error) {
		all[noteName], err = make(all[noteName])
		return err
	})
}

// in returns the text that holds in a language, else in any, else nothing.
func (a *alarm) in(lang string) string {
	e, _ := a.get()
	if text, ok := e.Text[lang]; ok {
		return text
	}
	for _, l := range languages {
		if text, ok := e.Text[l]; ok {
			return text
		}
	}
	for _, text := range e.Text {
		return text
	}
	return ""
}

// raise tells a kiosk what its screen shall be covered with.
func (h *Hub) raise(kiosk wire.Address) {
	e, ok := h.alarm.get()
	if !ok {
		return
	}
	b, err := e.Encode()
	if err == nil {
		err = h.broker.Publish(kiosk.Topic(wire.KindEmergency), b, true)
	}
	if err != nil {
		h.log.Error("kiosk not told of the emergency message", "kiosk", kiosk.Kiosk, "err", err)
	}
}

// getEmergency answers GET /api/v1/emergency: {text: {language: …}}, or null where nothing is shown.
func (h *Hub) getEmergency(c *fiber.Ctx) error {
	e, _ := h.alarm.get()
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(fiber.Map{"text": e.Text})
}

// putEmergency answers PUT /api/v1/emergency {text: {language: …}}: all kiosks show it, those that are away as soon as
// they are back, until it is taken off.
func (h *Hub) putEmergency(c *fiber.Ctx) error {
	var in struct {
		Text map[string]string `json:"text"`
	}
	if err := json.Unmarshal(c.Body(), &in); err != nil || len(in.Text) == 0 {
		return fiber.NewError(fiber.StatusBadRequest, "text must be the message by language.")
	}
	return h.alert(c, in.Text)
}

// deleteEmergency answers DELETE /api/v1/emergency.
func (h *Hub) deleteEmergency(c *fiber.Ctx) error { return h.alert(c, nil) }

func (h *Hub) alert(c *fiber.Ctx, text map[string]string) error {
	err := h.alarm.set(text)
	if errors.Is(err, wire.ErrInvalid) || errors.Is(err, wire.ErrTooLarge) {
		// What is wrong is said before; that it is invalid adds nothing for staff.
		return fiber.NewError(fiber.StatusBadRequest, strings.TrimSuffix(err.Error(), ": "+wire.ErrInvalid.Error())+".")
	}
	if err != nil {
		return err
	}
	h.log.Warn("emergency message", "shown", text != nil)
	kiosks, err := h.store.Kiosks(c.UserContext())
	if err != nil {
		return err
	}
	for _, k := range kiosks {
		h.raise(wire.Address{Site: k.Site, Kiosk: k.ID})
	}
	return c.JSON(fiber.Map{"kiosks": len(kiosks)})
}
