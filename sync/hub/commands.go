package hub

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"docent/sync/hub/store"
	"docent/sync/wire"
)

const (
	commandLife = 10 * time.Minute // unless said otherwise
	// commandAgain is how long after a command its kiosk is asked again, when it says that it is there.
	commandAgain = 30 * time.Second
	maxCommands  = 50 // shown of a kiosk
	// clockSlack is how far the hub's clock may be set back without a command being held back for it.
	clockSlack = time.Minute
)

// Command asks a kiosk for something. It waits for a kiosk that is away, until it runs out.
func (h *Hub) Command(ctx context.Context, to wire.Address, name wire.CommandName, value int, life time.Duration) (wire.Command, error) {
	now := h.cfg.Clock().UTC()
	id, err := wire.NewID(now, rand.Reader)
	if err != nil {
		return wire.Command{}, err
	}
	c := wire.Command{ID: id, Name: name, Value: value, IssuedAt: now, ExpiresAt: now.Add(life), SentAt: now}
	if err := c.Validate(); err != nil {
		return wire.Command{}, err
	}
	if err := h.store.AddCommand(ctx, to, c); err != nil {
		return wire.Command{}, err
	}
	h.log.Info("command", "site", to.Site, "kiosk", to.Kiosk, "command", name, "id", id)
	h.ask(to, c)
	return c, nil
}

// ask sends a command. One that does not arrive is sent again when the kiosk is there.
func (h *Hub) ask(to wire.Address, c wire.Command) {
	c.SentAt = h.cfg.Clock().UTC()
	b, err := c.Encode()
	if err == nil {
		err = h.broker.Publish(to.Topic(wire.KindRequest), b, false)
	}
	if err != nil {
		h.log.Warn("command not sent", "kiosk", to.Kiosk, "err", err)
	}
}

// askOpen sends a kiosk again what it has not answered, of the commands that are older than some time.
func (h *Hub) askOpen(ctx context.Context, kiosk wire.Address, older time.Duration) {
	now := h.cfg.Clock()
	open, err := h.store.OpenCommands(ctx, kiosk, now)
	if err != nil {
		h.log.Warn("commands not read", "kiosk", kiosk.Kiosk, "err", err)
		return
	}
	for _, c := range open {
		age := now.Sub(c.IssuedAt)
		if age < -clockSlack {
			continue // the hub's clock went back: how old the command is cannot be known, and it may be long too late
		}
		if max(age, 0) >= older {
			h.ask(kiosk, c.Command)
		}
	}
}

// commandView is a command with its answer.
type commandView struct {
	ID        string            `json:"id"`
	Site      string            `json:"site"`
	Kiosk     string            `json:"kiosk_id"`
	Name      wire.CommandName  `json:"name"`
	Value     int               `json:"value"`
	IssuedAt  time.Time         `json:"issued_at"`
	ExpiresAt time.Time         `json:"expires_at"`
	Status    wire.ResultStatus `json:"status"` // empty: no answer yet
	Detail    string            `json:"detail,omitempty"`
	At        time.Time         `json:"at,omitzero"`
	HasData   bool              `json:"has_data"`
}

// view shows a command. One that has run out without an answer is expired.
func view(c store.Command, now time.Time) commandView {
	v := commandView{ID: c.ID, Site: c.Kiosk.Site, Kiosk: c.Kiosk.Kiosk, Name: c.Name, Value: c.Value, IssuedAt: c.IssuedAt, ExpiresAt: c.ExpiresAt}
	switch {
	case c.Result != nil:
		v.Status, v.Detail, v.At, v.HasData = c.Result.Status, c.Result.Detail, c.Result.At, c.Result.Type != ""
	case now.After(c.ExpiresAt):
		v.Status, v.Detail = wire.ResultExpired, "the kiosk did not answer in time"
	}
	return v
}

func kioskParam(c *fiber.Ctx) (wire.Address, error) {
	a := wire.Address{Site: c.Params("site"), Kiosk: c.Params("kiosk")}
	if a.Validate() != nil {
		return a, fiber.NewError(fiber.StatusBadRequest, "The address must name a site and a kiosk.")
	}
	return a, nil
}

// postCommand answers POST /api/v1/kiosks/SITE/KIOSK/commands {name, value, expires_in_s}.
func (h *Hub) postCommand(c *fiber.Ctx) error {
	to, err := kioskParam(c)
	if err != nil {
		return err
	}
	var in struct {
		Name      wire.CommandName `json:"name"`
		Value     int              `json:"value"`
		ExpiresIn int              `json:"expires_in_s"`
	}
	if err := json.Unmarshal(c.Body(), &in); err != nil || !slices.Contains(wire.Commands, in.Name) || in.Value < 0 || in.Value > 100 ||
		in.ExpiresIn < 0 || in.ExpiresIn > int(wire.MaxCommandLife/time.Second) {
		return fiber.NewError(fiber.StatusBadRequest, "name must be a command, value 0 to 100, expires_in_s at most a week.")
	}
	life := commandLife
	if in.ExpiresIn > 0 {
		life = time.Duration(in.ExpiresIn) * time.Second
	}
	kiosks, err := h.store.Kiosks(c.UserContext())
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(kiosks, func(k store.Kiosk) bool { return k.Site == to.Site && k.ID == to.Kiosk }) {
		return fiber.NewError(fiber.StatusNotFound, "No kiosk of that name has introduced itself.")
	}
	command, err := h.Command(c.UserContext(), to, in.Name, in.Value, life)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusAccepted).JSON(view(store.Command{Command: command, Kiosk: to}, h.cfg.Clock()))
}

// commands answers GET /api/v1/kiosks/SITE/KIOSK/commands: the newest first.
func (h *Hub) commands(c *fiber.Ctx) error {
	kiosk, err := kioskParam(c)
	if err != nil {
		return err
	}
	list, err := h.store.Commands(c.UserContext(), kiosk, maxCommands)
	if err != nil {
		return err
	}
	out := []commandView{}
	for _, x := range list {
		out = append(out, view(x, h.cfg.Clock()))
	}
	return c.JSON(fiber.Map{"commands": out})
}

func (h *Hub) commandByID(c *fiber.Ctx) (store.Command, error) {
	found, err := h.store.Command(c.UserContext(), c.Params("id"))
	if errors.Is(err, store.ErrNotFound) {
		return found, fiber.NewError(fiber.StatusNotFound, "There is no such command.")
	}
	return found, err
}

// command answers GET /api/v1/commands/ID.
func (h *Hub) command(c *fiber.Ctx) error {
	found, err := h.commandByID(c)
	if err != nil {
		return err
	}
	return c.JSON(view(found, h.cfg.Clock()))
}

// commandData answers GET /api/v1/commands/ID/data: what came with the answer. A picture is shown, all else is a file to keep: it
// comes from a kiosk.
func (h *Hub) commandData(c *fiber.Ctx) error {
	found, err := h.commandByID(c)
	if err != nil {
		return err
	}
	if found.Result == nil || found.Result.Type == "" {
		return fiber.NewError(fiber.StatusNotFound, "Nothing came with the answer.")
	}
	c.Set(fiber.HeaderCacheControl, "private, max-age=86400, immutable") // a command is answered once
	name, kind := string(found.Name)+"-"+found.ID, "application/octet-stream"
	switch data := found.Result.Data; {
	case found.Result.Type == "image/jpeg" && http.DetectContentType(data) == "image/jpeg":
		kind = "image/jpeg" // and nothing else, for nosniff
		c.Set(fiber.HeaderContentDisposition, `inline; filename="`+name+`.jpg"`)
	default:
		c.Set(fiber.HeaderContentDisposition, `attachment; filename="`+name+`"`)
	}
	c.Set(fiber.HeaderContentType, kind)
	return c.Send(found.Result.Data)
}
