package hub

import (
	"context"
	"embed"
	"errors"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"docent/sync/hub/store"
	"docent/sync/wire"
)

//go:embed page.html page.css page.js
var pageFiles embed.FS

var pageTemplate = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"stamp":  func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") + " UTC" },
	"iso":    func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"fields": fields,
}).ParseFS(pageFiles, "page.html"))

// Bounds of the page and API.
const (
	pageEvents   = 50
	defaultLimit = 100
	maxLimit     = 1000
	queryTimeout = 10 * time.Second
)

// page is what page.html shows.
type page struct {
	Lang        string
	T           words
	Site        string
	Here        int // kiosks that are there now
	Counts      store.Counts
	Kiosks      []kioskView
	Waiting     []waitingView // kiosks that wait for a certificate
	Fingerprint string
	R           words         // texts about rollouts
	Rollouts    []rolloutCard // the newest first
	Events      []store.Event
	Last        int64 // id of the newest event shown
	// Alarm is the message on the kiosks' screens, in the page's language or another; empty where there is none.
	Alarm string
}

// app is the hub's web server: a page, its data as JSON, and a health check.
// It gives handlers a context of their own: fasthttp's ends with the server and is used again, database/sql
// looks at a query's after its end.
func (h *Hub) app(ctx context.Context) *fiber.App {
	app := fiber.New(fiber.Config{
		DisableStartupMessage: true,
		Immutable:             true,                   // strings of a request may be kept
		BodyLimit:             wire.MaxObject + 1<<20, // an object, or a list of objects; only this machine can send
		ReadTimeout:           10 * time.Second,
		WriteTimeout:          30 * time.Second,
		IdleTimeout:           60 * time.Second,
		ErrorHandler:          h.problem,
	})
	app.Use(func(c *fiber.Ctx) error {
		ctx, cancel := context.WithTimeout(ctx, queryTimeout)
		defer cancel()
		c.SetUserContext(ctx)
		c.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		c.Set("X-Content-Type-Options", "nosniff")
		c.Set("Referrer-Policy", "no-referrer")
		return c.Next()
	})
	app.Use(ofThisMachine)
	app.Get("/", h.index)
	app.Get("/live", h.live)
	app.Get("/page.css", asset("page.css", "text/css; charset=utf-8"))
	app.Get("/page.js", asset("page.js", "text/javascript; charset=utf-8"))
	app.Get("/healthz", h.health)
	app.Get("/api/v1/events", h.events)
	app.Get("/api/v1/kiosks", h.kiosks)
	app.Get("/api/v1/emergency", h.getEmergency)
	app.Put("/api/v1/emergency", fromProgram, h.putEmergency)
	app.Delete("/api/v1/emergency", fromProgram, h.deleteEmergency)
	app.Get("/api/v1/content/key", h.contentKey)
	app.Get("/api/v1/content/files/:kind/:name", h.contentFile)
	app.Get("/api/v1/enrolments", h.enrolments)
	app.Post("/api/v1/kiosks/:site/:kiosk/commands", fromProgram, h.postCommand)
	app.Get("/api/v1/kiosks/:site/:kiosk/commands", h.commands)
	app.Get("/api/v1/commands/:id", h.command)
	app.Get("/api/v1/commands/:id/data", h.commandData)
	app.Post("/api/v1/enrolments/authorise", fromProgram, h.authorise)
	app.Post("/api/v1/enrolments/revoke", fromProgram, h.revoke)
	app.Post("/api/v1/content/missing", fromProgram, h.missingObjects)
	app.Put("/api/v1/content/objects/:sum", fromProgram, h.putObject)
	app.Post("/api/v1/content/release", fromProgram, h.publish)
	app.Get("/api/v1/rollouts", h.listRollouts)
	app.Post("/api/v1/rollouts", fromProgram, h.postRollout)
	app.Get("/api/v1/rollouts/:id", h.getRollout)
	app.Post("/api/v1/rollouts/:id/:word", fromProgram, h.doRollout)
	return app
}

func asset(name, contentType string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		b, err := pageFiles.ReadFile(name)
		if err != nil {
			return err
		}
		c.Set(fiber.HeaderContentType, contentType)
		c.Set(fiber.HeaderCacheControl, "no-cache")
		return c.Send(b)
	}
}

// index answers GET /, the page.
func (h *Hub) index(c *fiber.Ctx) error {
	p, err := h.page(c, 0)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, "text/html; charset=utf-8")
	c.Set(fiber.HeaderCacheControl, "no-store")
	return pageTemplate.Execute(c, p)
}

// live answers GET /live?after=ID: the parts of the page that change, as HTML, and the id of the newest event.
func (h *Hub) live(c *fiber.Ctx) error {
	after, err := number(c, "after", 0, 0, 1<<62)
	if err != nil {
		return err
	}
	p, err := h.page(c, after)
	if err != nil {
		return err
	}
	parts := fiber.Map{"last": p.Last}
	for _, name := range []string{"counts", "enrol", "rollouts", "kiosks", "events"} {
		var b strings.Builder
		if err := pageTemplate.ExecuteTemplate(&b, name, p); err != nil {
			return err
		}
		parts[name] = b.String()
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(parts)
}

// page gathers what the page shows: of the newest events those that came after an id.
func (h *Hub) page(c *fiber.Ctx, after int64) (page, error) {
	lang := choose(c.Query("lang"), c.Get(fiber.HeaderAcceptLanguage))
	p := page{Lang: lang, T: texts[lang], Site: h.cfg.Site, Last: after, Alarm: h.alarm.in(lang)}
	var err error
	if p.Events, err = h.store.Latest(c.UserContext(), pageEvents); err != nil {
		return page{}, err
	}
	p.Events = slices.DeleteFunc(p.Events, func(e store.Event) bool { return e.ID <= after })
	if p.Kiosks, err = h.kioskViews(c.UserContext()); err != nil {
		return page{}, err
	}
	if p.Waiting, err = h.waitingViews(c.UserContext()); err != nil {
		return page{}, err
	}
	if p.R, p.Rollouts, err = h.rolloutCards(c.UserContext(), lang); err != nil {
		return page{}, err
	}
	p.Fingerprint = h.Fingerprint()
	if p.Counts, err = h.store.Counts(c.UserContext()); err != nil {
		return page{}, err
	}
	for _, k := range p.Kiosks {
		if k.State != string(wire.PresenceLost) && k.State != string(wire.PresenceDisconnected) {
			p.Here++
		}
	}
	if len(p.Events) > 0 {
		p.Last = p.Events[0].ID
	}
	return p, nil
}

// events answers GET /api/v1/events?after=ID&limit=N: events in order of arrival, and next, the value of after that
// continues.
func (h *Hub) events(c *fiber.Ctx) error {
	after, err := number(c, "after", 0, 0, 1<<62)
	if err != nil {
		return err
	}
	limit, err := number(c, "limit", defaultLimit, 1, maxLimit)
	if err != nil {
		return err
	}
	events, err := h.store.Events(c.UserContext(), after, int(limit))
	if err != nil {
		return err
	}
	next := after
	if len(events) > 0 {
		next = events[len(events)-1].ID
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(fiber.Map{"events": events, "next": next})
}

// kiosks answers GET /api/v1/kiosks.
func (h *Hub) kiosks(c *fiber.Ctx) error {
	kiosks, err := h.kioskViews(c.UserContext())
	if err != nil {
		return err
	}
	counts, err := h.store.Counts(c.UserContext())
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(fiber.Map{"kiosks": kiosks, "counts": counts})
}

// health answers GET /healthz: the store can be read.
func (h *Hub) health(c *fiber.Ctx) error {
	if _, err := h.store.Counts(c.UserContext()); err != nil {
		return err
	}
	return c.JSON(fiber.Map{"status": "ok"})
}

func number(c *fiber.Ctx, name string, fallback, least, most int64) (int64, error) {
	s := c.Query(name)
	if s == "" {
		return fallback, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < least || n > most {
		return 0, fiber.NewError(fiber.StatusBadRequest, name+" must be a whole number from "+strconv.FormatInt(least, 10)+" to "+strconv.FormatInt(most, 10))
	}
	return n, nil
}

// problem writes an error as RFC 9457 problem details. What went wrong inside is logged and not told.
func (h *Hub) problem(c *fiber.Ctx, err error) error {
	status, code, detail := fiber.StatusInternalServerError, "internal", "The hub could not do this. It has noted why."
	var fe *fiber.Error
	if errors.As(err, &fe) {
		status, detail = fe.Code, fe.Message
	}
	switch {
	case status == fiber.StatusNotFound:
		code = "not_found"
		if detail == "Cannot "+c.Method()+" "+c.Path() { // the router's own words
			detail = "There is nothing at this address."
		}
	case status == fiber.StatusMethodNotAllowed:
		code = "method_not_allowed"
	case status < fiber.StatusInternalServerError:
		code = "bad_request"
	default:
		h.log.Error("page request not answered", "path", c.Path(), "err", err)
	}
	return c.Status(status).JSON(fiber.Map{
		"type": "about:blank", "title": http.StatusText(status), "status": status, "detail": detail, "code": code,
	}, "application/problem+json")
}
