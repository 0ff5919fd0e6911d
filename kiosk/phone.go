package kiosk

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"docent/kiosk/qr"
)

// Bounds of photos that come from a phone.
const (
	offerLife  = 2 * time.Minute
	offerTries = 3   // photos that cannot be read, before a new code is needed
	mostOffers = 100 // at once, one for each visit
)

// phoneDesk lets a phone on the local network send one photo into a visit. The page shows a code; it is worth one photo
// within two minutes. All of it is in memory.
type phoneDesk struct {
	mu     sync.Mutex
	offers map[string]*offer // by token
}

// offer is one code.
type offer struct {
	visit   string // its id
	expires time.Time
	tries   int
	busy    bool
	// answer gets what the photo shows; closed without one where the offer is withdrawn.
	answer chan []byte
}

// open makes a new code for a visit; the one before, if any, is worth nothing any more.
func (d *phoneDesk) open(visit string, now time.Time) (token string, o *offer, ok bool) {
	raw := make([]byte, 16)
	_, _ = rand.Read(raw) // crypto/rand.Read never fails
	token = base64.RawURLEncoding.EncodeToString(raw)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sweep(now, visit)
	if len(d.offers) >= mostOffers {
		return "", nil, false
	}
	o = &offer{visit: visit, expires: now.Add(offerLife), tries: offerTries, answer: make(chan []byte, 1)}
	if d.offers == nil {
		d.offers = map[string]*offer{}
	}
	d.offers[token] = o
	return token, o, true
}

// sweep withdraws offers that ran out, and all of one visit. It is called with mu held.
func (d *phoneDesk) sweep(now time.Time, visit string) {
	for token, o := range d.offers {
		if now.After(o.expires) || o.visit == visit {
			delete(d.offers, token)
			close(o.answer)
		}
	}
}

// withdraw ends the offers of a visit that is over.
func (d *phoneDesk) withdraw(visit string, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sweep(now, visit)
}

// take lets one photo in; give says what came of it. ok is false for a code that is worth nothing (any more).
func (d *phoneDesk) take(token string, now time.Time) (visit string, give func(answer []byte), ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	o := d.offers[token]
	if o == nil || o.busy || now.After(o.expires) {
		return "", nil, false
	}
	o.busy = true
	return o.visit, func(answer []byte) {
		d.mu.Lock()
		defer d.mu.Unlock()
		o.busy = false
		o.tries--
		if d.offers[token] != o { // withdrawn meanwhile
			return
		}
		if answer == nil && o.tries > 0 {
			return
		}
		if answer != nil {
			o.answer <- answer
		}
		delete(d.offers, token)
		close(o.answer)
	}, true
}

// of returns a visit's offer.
func (d *phoneDesk) of(visit string) *offer {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, o := range d.offers {
		if o.visit == visit {
			return o
		}
	}
	return nil
}

// phoneURL is where phones reach this kiosk: as configured, else where it listens if that is one address that is not
// this machine alone. Empty where phones cannot reach it.
func (c Config) phoneURL() string {
	if c.Phone.URL != "" {
		return strings.TrimSuffix(c.Phone.URL, "/")
	}
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return ""
	}
	ip := net.ParseIP(host)
	if ip == nil || ip.IsLoopback() || ip.IsUnspecified() {
		return ""
	}
	return "http://" + c.Listen
}

// offerPhone shows a code that lets a phone send a photo into the visit.
func (k *Kiosk) offerPhone(c *fiber.Ctx) error {
	var in struct {
		Visit string `json:"visit"`
	}
	if err := readJSON(c, &in); err != nil {
		return err
	}
	at := k.config.phoneURL()
	if at == "" {
		return notFound("phones cannot reach this kiosk")
	}
	v, err := k.visits.Get(in.Visit)
	if err != nil {
		return err
	}
	token, o, ok := k.phones.open(v.ID, k.now())
	if !ok {
		return busy("phones")
	}
	// The token is behind the #, which browsers keep to themselves: it is in no log and no Referer.
	address := at + "/phone.html#" + token
	code, err := qr.SVG(address)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(fiber.Map{
		"url": address, "qr": code, "expires_at": o.expires.UTC(), "seconds": int(offerLife.Seconds()),
	})
}

// waitForPhone tells over server-sent events what the photo shows that a phone sent into the visit, or that its code is
// worth nothing any more.
func (k *Kiosk) waitForPhone(c *fiber.Ctx) error {
	v, err := k.visits.Get(c.Query("visit"))
	if err != nil {
		return err
	}
	o := k.phones.of(v.ID)
	if o == nil {
		return notFound("there is no code for this visit")
	}
	if c.Method() == fiber.MethodHead {
		return c.SendStatus(fiber.StatusOK)
	}
	left := o.expires.Sub(k.now())
	c.Set("X-Accel-Buffering", "no")
	return k.stream(c, "text/event-stream", func(ctx context.Context, w *bufio.Writer) {
		over := time.NewTimer(left)
		defer over.Stop()
		pulse := time.NewTicker(beat)
		defer pulse.Stop()
		for {
			select {
			case answer, ok := <-o.answer:
				if ok {
					fmt.Fprintf(w, "event: photo\ndata: %s\n\n", answer)
				} else {
					_, _ = w.WriteString("event: over\ndata: {}\n\n")
				}
				_ = w.Flush()
				return
			case <-over.C:
				_, _ = w.WriteString("event: over\ndata: {}\n\n")
				_ = w.Flush()
				return
			case <-pulse.C:
				if _, _ = w.WriteString(":\n\n"); w.Flush() != nil {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}, func() {})
}

// postPhonePhoto takes the photo that a phone sends with a code. The page of the visit is told what it shows, the phone
// only whether it could be read.
func (k *Kiosk) postPhonePhoto(c *fiber.Ctx) error {
	if !k.phonePhotos.allow(k.now()) {
		return busy("photos from phones")
	}
	if len(c.Request().Body()) == 0 {
		return badRequest("there is no photo")
	}
	visit, give, ok := k.phones.take(c.Query("token"), k.now())
	if !ok {
		return &problem{status: fiber.StatusGone, code: codeNoSuchVisit, variant: "phone", reason: "the code is worth nothing any more"}
	}
	if err := k.takePhoto(c, visit); err != nil {
		give(nil)
		return err
	}
	give(bytes.Clone(c.Response().Body()))
	c.Response().ResetBody()
	c.Response().Header.Del(fiber.HeaderContentType)
	return c.SendStatus(fiber.StatusNoContent)
}

// validPhoneURL says what is wrong with the address for phones.
func validPhoneURL(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("is not an http or https address such as http://192.168.1.20:8080")
	}
	return nil
}
