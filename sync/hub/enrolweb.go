package hub

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/url"
	"time"

	"github.com/gofiber/fiber/v2"

	"docent/sync/hub/store"
	"docent/sync/wire"
)

// ofThisMachine refuses requests under a name that is not this machine's: a page on the internet whose name was made to
// point here would read what visitors asked, and speak with the rights of staff. It looks at the Host header alone;
// fiber's Hostname believes X-Forwarded-Host, which such a page can set.
func ofThisMachine(c *fiber.Ctx) error {
	u, err := url.Parse("//" + string(c.Request().Host()))
	if err != nil || u.Hostname() != "localhost" && !net.ParseIP(u.Hostname()).IsLoopback() {
		return fiber.NewError(fiber.StatusForbidden, "This is for the hub's own machine.")
	}
	return c.Next()
}

// waitingView is a kiosk that waits for its certificate. Its code is not told: who authorises it has read it from the
// kiosk's own screen.
type waitingView struct {
	Site      string    `json:"site"`
	Kiosk     string    `json:"kiosk_id"`
	Remote    string    `json:"remote"`
	AskedAt   time.Time `json:"asked_at"`
	ExpiresAt time.Time `json:"expires_at"`
	Replaces  bool      `json:"replaces"` // a kiosk of that name has a certificate
}

// certificateView is a kiosk's newest certificate.
type certificateView struct {
	Site      string       `json:"site"`
	Kiosk     string       `json:"kiosk_id"`
	Until     time.Time    `json:"until"`
	RevokedAt time.Time    `json:"revoked_at,omitzero"`
	Reason    wire.Refusal `json:"reason,omitempty"`
}

func (h *Hub) waitingViews(ctx context.Context) ([]waitingView, error) {
	now := h.cfg.Clock()
	waiting, err := h.store.Waiting(ctx, now)
	if err != nil || len(waiting) == 0 {
		return []waitingView{}, err
	}
	certificates, err := h.store.Certificates(ctx)
	if err != nil {
		return nil, err
	}
	holds := map[wire.Address]bool{}
	for _, c := range certificates {
		holds[c.Kiosk] = c.RevokedAt.IsZero() && c.NotAfter.After(now)
	}
	out := []waitingView{}
	for _, e := range waiting {
		out = append(out, waitingView{e.Kiosk.Site, e.Kiosk.Kiosk, e.Remote, e.AskedAt, e.ExpiresAt, holds[e.Kiosk]})
	}
	return out, nil
}

// enrolments answers GET /api/v1/enrolments: who waits for a certificate and who has one.
func (h *Hub) enrolments(c *fiber.Ctx) error {
	waiting, err := h.waitingViews(c.UserContext())
	if err != nil {
		return err
	}
	certificates, err := h.store.Certificates(c.UserContext())
	if err != nil {
		return err
	}
	views := []certificateView{}
	for _, k := range certificates {
		views = append(views, certificateView{k.Kiosk.Site, k.Kiosk.Kiosk, k.NotAfter, k.RevokedAt, k.Reason})
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(fiber.Map{"fingerprint": h.Fingerprint(), "waiting": waiting, "certificates": views})
}

// authorise answers POST /api/v1/enrolments/authorise {code, replace}.
func (h *Hub) authorise(c *fiber.Ctx) error {
	var in struct {
		Code    string `json:"code"`
		Replace bool   `json:"replace"`
	}
	if err := json.Unmarshal(c.Body(), &in); err != nil {
		return fiber.NewError(fiber.StatusBadRequest, "code must be the code that a kiosk shows.")
	}
	if h.cfg.Clear {
		return fiber.NewError(fiber.StatusConflict, "This hub runs without certificates.")
	}
	kiosk, err := h.Authorise(c.UserContext(), in.Code, in.Replace)
	switch {
	case errors.Is(err, wire.ErrCode):
		return fiber.NewError(fiber.StatusBadRequest, "A code has six letters and digits.")
	case errors.Is(err, errTries):
		return fiber.NewError(fiber.StatusTooManyRequests, "Too many wrong codes. Wait a minute.")
	case errors.Is(err, store.ErrNotFound):
		return fiber.NewError(fiber.StatusNotFound, "No kiosk shows this code. Codes hold for 15 minutes; look at the kiosk again.")
	case errors.Is(err, store.ErrReplaces):
		return fiber.NewError(fiber.StatusConflict, "A kiosk named "+kiosk.Kiosk+" has a certificate. If this one takes its place, say so (replace); else give it another name.")
	case err != nil:
		return err
	}
	return c.JSON(fiber.Map{"site": kiosk.Site, "kiosk_id": kiosk.Kiosk})
}

// revoke answers POST /api/v1/enrolments/revoke {site, kiosk_id}.
func (h *Hub) revoke(c *fiber.Ctx) error {
	var in wireAddress
	if err := json.Unmarshal(c.Body(), &in); err != nil || in.address().Validate() != nil {
		return fiber.NewError(fiber.StatusBadRequest, "site and kiosk_id must name a kiosk.")
	}
	err := h.Revoke(c.UserContext(), in.address())
	if errors.Is(err, store.ErrNotFound) {
		return fiber.NewError(fiber.StatusNotFound, "No kiosk of that name has a certificate.")
	}
	if err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// wireAddress names a kiosk in the API.
type wireAddress struct {
	Site  string `json:"site"`
	Kiosk string `json:"kiosk_id"`
}

func (a wireAddress) address() wire.Address { return wire.Address{Site: a.Site, Kiosk: a.Kiosk} }
