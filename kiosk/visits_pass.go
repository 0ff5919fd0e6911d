package kiosk

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"

	"docent/kiosk/pass"
	"docent/kiosk/qr"
	"docent/kiosk/visit"
	"docent/sync/wire"
	"docent/vision"
)

// CodeReader reads QR codes.
type CodeReader interface {
	// Read returns the text of a code in a photo; ok is false where there is none.
	Read(p vision.Photo) (text string, ok bool, err error)
}

// eventVisitResumed is the memory event of a visit that goes on here.
const eventVisitResumed = "visit.resumed"

// Bounds of passes.
const (
	leastPass   = time.Hour   // a pass for the day that is nearly over holds for longer
	scanFor     = time.Minute // the camera looks for a pass
	scanEvery   = 150 * time.Millisecond
	codeTries   = 5 // typed codes, then one each codeEvery, whoever types
	codeEvery   = 10 * time.Second
	passWait    = 3 * time.Second // for the hub
	arrivalWait = 250 * time.Millisecond
	arrivals    = 6 // times a visit is asked for that may still be on its way
)

// givePass gives the visitor a pass, as a QR code and as a short code: POST visit/pass {visit, keep: day or longer}.
func (k *Kiosk) givePass(c *fiber.Ctx) error {
	var in struct {
		Visit string `json:"visit"`
		Keep  string `json:"keep"`
	}
	if err := readJSON(c, &in); err != nil {
		return err
	}
	if in.Keep != "day" && in.Keep != "longer" {
		return badRequest("keep must be day or longer")
	}
	v, err := k.visits.Get(in.Visit)
	if err != nil {
		return err
	}
	expires := k.passEnd(in.Keep == "longer")
	if v.Carried != nil && v.Carried.Expires.After(expires) {
		expires = v.Carried.Expires // a longer one is out already
	}
	ctx, cancel := context.WithTimeout(k.stopping, passWait)
	defer cancel()
	p := pass.Pass{Visit: v.ID, Expires: expires}
	if err := k.passes.sign(ctx, k.config.Site, &p, k.now()); err != nil {
		return passProblem(err)
	}
	if _, err := k.visits.Update(v.ID, func(v *visit.Visit) {
		if v.Carried == nil {
			v.Carried = &visit.Carried{}
		}
		v.Carried.Expires, v.Carried.Signature = p.Expires, p.Signature
	}); err != nil {
		return err
	}
	if err := k.carry(ctx, v.Name()); err != nil {
		return err
	}
	code, err := k.shortCode(ctx, p)
	if err != nil {
		return err
	}
	drawn, err := qr.SVG(p.String())
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Status(fiber.StatusCreated).JSON(fiber.Map{
		"qr": drawn, "code": code[:4] + " " + code[4:], "code_seconds": int(pass.CodeLife.Seconds()), "expires_at": p.Expires.In(k.zone()),
	})
}

// zone is the gallery's.
func (k *Kiosk) zone() *time.Location {
	zone := time.Local
	_ = k.withContent(func(content *content) error { // without content it is the machine's
		if z, err := time.LoadLocation(content.release.Gallery().TimeZone); err == nil {
			zone = z
		}
		return nil
	})
	return zone
}

// passEnd is when a pass ends that is given now: with the day where the gallery is, or after the days of the settings.
func (k *Kiosk) passEnd(longer bool) time.Time {
	zone := k.zone()
	now := k.now().In(zone)
	end := time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, zone)
	if longer {
		end = end.AddDate(0, 0, k.config.Visit.PassDays-1)
	}
	if least := now.Add(leastPass); end.Before(least) {
		end = least
	}
	return end.UTC().Truncate(time.Second)
}

// shortCode makes a code that stands for a pass for some minutes.
func (k *Kiosk) shortCode(ctx context.Context, p pass.Pass) (string, error) {
	code := pass.NewCode()
	secret := k.passes.derive(k.config.Site, code)
	box, err := secret.Seal(p)
	if err != nil {
		return "", err
	}
	if k.events == nil {
		return "", passProblem(errHubAway)
	}
	_, err = k.events.Append(ctx, wire.EventVisitCode, wire.VisitCode{Visit: p.Name(), Code: secret.Name, Expires: k.now().Add(pass.CodeLife).UTC(), Box: box})
	if err != nil {
		return "", fmt.Errorf("give out a short code: %w", err)
	}
	return code, nil
}

// resumeVisit lets a visit go on here that began elsewhere: POST visit/resume {pass} or {code}.
func (k *Kiosk) resumeVisit(c *fiber.Ctx) error {
	var in struct {
		Pass string `json:"pass"`
		Code string `json:"code"`
	}
	if err := readJSON(c, &in); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(k.stopping, 2*passWait)
	defer cancel()
	var p pass.Pass
	var err error
	switch {
	case (in.Pass == "") == (in.Code == ""):
		return badRequest("either a pass or a code")
	case in.Pass != "":
		p, err = pass.Parse(in.Pass)
	default:
		p, err = k.lookUp(ctx, in.Code)
	}
	if err != nil {
		return passProblem(err)
	}
	out, err := k.resume(ctx, p)
	if err != nil {
		return passProblem(err)
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(out)
}

// lookUp finds the pass that a typed code stands for.
func (k *Kiosk) lookUp(ctx context.Context, typed string) (pass.Pass, error) {
	code, ok := pass.CleanCode(typed)
	if !ok {
		return pass.Pass{}, errNoCode
	}
	if !k.passes.tries.allow(k.now()) {
		return pass.Pass{}, errTooManyTries
	}
	secret := k.passes.derive(k.config.Site, code)
	box, err := k.passes.fetch(ctx, wire.VisitQuery{Kind: wire.QueryCode, Name: secret.Name})
	if errors.Is(err, errUnknown) {
		return pass.Pass{}, errNoCode
	}
	if err != nil {
		return pass.Pass{}, err
	}
	return secret.Open(box)
}

// scanPass looks for a pass before the camera for a minute: GET visit/scan, server-sent events. "pass" has what
// visit/resume answers; "problem" has one, and the camera looks on; "over" ends it.
func (k *Kiosk) scanPass(c *fiber.Ctx) error {
	if k.camera == nil || k.codes == nil {
		return &problem{status: fiber.StatusServiceUnavailable, code: codeNoCamera}
	}
	if c.Method() == fiber.MethodHead {
		return c.SendStatus(fiber.StatusOK)
	}
	if !k.passes.scanning.TryLock() {
		return busy("the camera looks for a pass already")
	}
	lang := k.language(c)
	c.Set("X-Accel-Buffering", "no")
	return k.stream(c, "text/event-stream", func(ctx context.Context, w *bufio.Writer) {
		ctx, cancel := context.WithTimeout(ctx, scanFor)
		defer cancel()
		send := func(event string, v any) bool {
			data, err := json.Marshal(v)
			if err != nil {
				k.log.Error("encode what the camera saw", "error", err)
				return false
			}
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data)
			return w.Flush() == nil
		}
		k.scan(ctx, lang, w, send)
	}, k.passes.scanning.Unlock)
}

func (k *Kiosk) scan(ctx context.Context, lang string, w *bufio.Writer, send func(event string, v any) bool) {
	pulse := time.NewTicker(scanEvery)
	defer pulse.Stop()
	refused := ""
	for {
		if text, ok := k.see(ctx); ok && text != refused {
			out, err := k.tryPass(ctx, text)
			if err == nil {
				send("pass", out)
				return
			}
			refused = text
			p := problemOf(passProblem(err))
			s := sentenceFor(p, lang)
			if !send("problem", problemBody{Type: "urn:docent:problem:" + string(p.code), Title: s.title, Status: p.status, Detail: s.detail, Code: p.code}) {
				return
			}
		} else if _, _ = w.WriteString(":\n\n"); w.Flush() != nil {
			return
		}
		select {
		case <-pulse.C:
		case <-ctx.Done():
			send("over", fiber.Map{})
			return
		}
	}
}

func (k *Kiosk) tryPass(ctx context.Context, text string) (resumed, error) {
	p, err := pass.Parse(text)
	if err != nil {
		return resumed{}, err
	}
	return k.resume(ctx, p)
}

// see takes one picture and returns the text of a code in it.
func (k *Kiosk) see(ctx context.Context) (string, bool) {
	photo, err := k.camera.Burst(ctx, 1)
	if err != nil {
		return "", false
	}
	defer photo.Close()
	text, ok, err := k.codes.Read(photo)
	if err != nil {
		k.log.Warn("look for a pass", "error", err)
	}
	return text, ok
}

// resumed is a visit as the page goes on with it.
type resumed struct {
	Visit    string         `json:"visit"`
	Language string         `json:"language"`
	Level    string         `json:"level,omitempty"`
	Exhibit  *exhibitDetail `json:"exhibit"` // in hand; null where none is
	Seen     []string       `json:"seen"`
	Turns    int            `json:"turns"` // whole ones that go on being known
	Expires  time.Time      `json:"expires_at"`
}

func (k *Kiosk) resumed(v visit.Visit) (out resumed, err error) {
	err = k.withContent(func(content *content) error {
		out = resumed{Visit: v.ID, Language: v.Language, Level: string(v.Level), Seen: list(v.Seen), Turns: len(v.Talk.Turns), Expires: v.Expires.UTC()}
		if e, ok := content.release.Exhibit(v.Exhibit); ok {
			detail := content.detail(e, v.Language)
			out.Exhibit = &detail
		}
		return nil
	})
	return out, err
}

// What can be wrong with a pass beyond the pass itself.
var (
	errHubAway      = errors.New("the hub is away")
	errUnknown      = errors.New("the hub does not know it")
	errForgotten    = errors.New("the visit was forgotten")
	errNoCode       = errors.New("no such code")
	errTooManyTries = errors.New("too many codes were tried")
)

// The codes of problems with passes.
const (
	codePassNone      code = "pass_none"
	codePassForged    code = "pass_forged"
	codePassExpired   code = "pass_expired"
	codePassForgotten code = "pass_forgotten"
	codePassUnknown   code = "pass_unknown"
	codeNoCode        code = "no_such_code"
	codeHubAway       code = "hub_away"
)

// passProblem says in a visitor's words what is wrong with a pass.
func passProblem(err error) error {
	for _, one := range []struct {
		is      error
		status  int
		code    code
		variant string
		retry   int
	}{
		{pass.ErrNone, fiber.StatusBadRequest, codePassNone, "", 0},
		{pass.ErrForged, fiber.StatusForbidden, codePassForged, "", 0},
		{pass.ErrExpired, fiber.StatusGone, codePassExpired, "", 0},
		{errForgotten, fiber.StatusGone, codePassForgotten, "", 0},
		{errUnknown, fiber.StatusNotFound, codePassUnknown, "", 0},
		{errNoCode, fiber.StatusNotFound, codeNoCode, "", 0},
		{errTooManyTries, fiber.StatusTooManyRequests, codeBusy, "code", int(codeEvery.Seconds())},
		{errHubAway, fiber.StatusServiceUnavailable, codeHubAway, "", 5},
	} {
		if errors.Is(err, one.is) {
			return &problem{status: one.status, code: one.code, variant: one.variant, reason: err.Error(), retry: one.retry}
		}
	}
	return err
}
