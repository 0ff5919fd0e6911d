package kiosk

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/recover"
)

// api is where the routes for pages and programs are.
const api = "/api/v1"

// Limits of the HTTP server.
const (
	// A photo and the multipart lines around it. Everything else is refused above maxJSON once it is read.
	maxBody = 20<<20 + 64<<10
	maxJSON = 16 << 10
	maxHead = 8 << 10

	// readTimeout bounds the reading of a whole request: 20 MB at 6 Mbit/s, and no longer for one that dribbles.
	readTimeout = 30 * time.Second
	idleTimeout = 75 * time.Second
	maxConns    = 256 // connections at once
)

// methods are the handlers of one address.
type methods map[string]fiber.Handler

func (k *Kiosk) routes() *fiber.App {
	app := fiber.New(fiber.Config{
		BodyLimit:      maxBody,
		ReadBufferSize: maxHead,
		ReadTimeout:    readTimeout,
		IdleTimeout:    idleTimeout,
		// Not MaxConnsPerIP: fasthttp keeps those connections in a pool and panics when one is closed twice, as a
		// shutdown amid requests does.
		Concurrency: maxConns,
		// fasthttp reuses its buffers after a handler returns. Immutable copies every text that Fiber hands out;
		// bodies are read and done with inside their handlers.
		Immutable: true,
		// Parsed while it is read, a large upload would go to a file on disk.
		DisablePreParseMultipartForm: true,
		DisableStartupMessage:        true,
		ErrorHandler:                 k.refuse,
	})
	app.Server().CloseOnShutdown = true
	app.Use(
		k.metrics.measure(k.now),
		recover.New(recover.Config{EnableStackTrace: true, StackTraceHandler: func(c *fiber.Ctx, e any) {
			k.log.Error("handler panicked", "route", c.Route().Path, "panic", e, "stack", string(debug.Stack()))
		}}),
		harden,
		sameOrigin,
	)
	for path, m := range map[string]methods{
		"/healthz":               {fiber.MethodGet: k.healthz},
		"/readyz":                {fiber.MethodGet: k.readyz},
		"/metrics":               {fiber.MethodGet: k.metrics.handler()},
		api + "/gallery":         {fiber.MethodGet: k.getGallery},
		api + "/route":           {fiber.MethodGet: k.getRoute},
		api + "/venue":           {fiber.MethodGet: k.getVenue},
		api + "/exhibits":        {fiber.MethodGet: k.getExhibits},
		api + "/exhibits/:id":    {fiber.MethodGet: k.getExhibit},
		api + "/passages/*":      {fiber.MethodGet: k.getPassage},
		api + "/pictures/*":      {fiber.MethodGet: k.getPicture},
		api + "/visit/start":     {fiber.MethodPost: k.startVisit},
		api + "/visit/end":       {fiber.MethodPost: k.endVisit},
		api + "/visit/forget":    {fiber.MethodPost: k.forgetVisit},
		api + "/visit/exhibit":   {fiber.MethodPost: k.holdExhibit},
		api + "/visit/pass":      {fiber.MethodPost: k.givePass},
		api + "/visit/resume":    {fiber.MethodPost: k.resumeVisit},
		api + "/visit/scan":      {fiber.MethodGet: k.scanPass},
		api + "/visit/memory":    {fiber.MethodGet: k.getRemembered, fiber.MethodPost: k.setRemembered},
		api + "/photo":           {fiber.MethodPost: k.postPhoto},
		api + "/photo/:id":       {fiber.MethodGet: k.getPhoto},
		api + "/preview":         {fiber.MethodGet: k.getPreview},
		api + "/preview/quality": {fiber.MethodGet: k.getQuality},
		api + "/ask":             {fiber.MethodPost: k.postAsk},
		api + "/ws":              {fiber.MethodGet: k.getSocket()},
	} {
		register(app, path, m)
	}
	for path, m := range k.pageRoutes() {
		register(app, path, m)
	}
	app.Use(k.fallThrough)
	return app
}

// register adds the handlers of one address, and a refusal of all other methods. What answers GET answers HEAD.
func register(app *fiber.App, path string, m methods) {
	var allowed []string
	for method, h := range m {
		app.Add(method, path, h)
		allowed = append(allowed, method)
		if method == fiber.MethodGet {
			app.Add(fiber.MethodHead, path, h)
			allowed = append(allowed, fiber.MethodHead)
		}
	}
	slices.Sort(allowed)
	allow := strings.Join(allowed, ", ")
	app.All(path, func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderAllow, allow)
		return &problem{status: fiber.StatusMethodNotAllowed, code: codeMethodNotAllowed}
	})
}

// fallThrough takes what no route took: the page, and addresses that do not exist.
func (k *Kiosk) fallThrough(c *fiber.Ctx) error {
	if path := c.Path(); path == "/api" || strings.HasPrefix(path, "/api/") {
		return notFound("no such address")
	}
	if m := c.Method(); m != fiber.MethodGet && m != fiber.MethodHead {
		c.Set(fiber.HeaderAllow, "GET, HEAD")
		return &problem{status: fiber.StatusMethodNotAllowed, code: codeMethodNotAllowed}
	}
	return k.pages.serve(c)
}

// healthz says that the process answers.
func (k *Kiosk) healthz(c *fiber.Ctx) error {
	return c.JSON(fiber.Map{"status": "ok"})
}

// readyz says whether visitors can be served, and how the parts are. A kiosk without a camera serves visitors.
func (k *Kiosk) readyz(c *fiber.Ctx) error {
	content, giveBack, ok := k.shelf.take()
	if !ok {
		return notReady("no content yet")
	}
	defer giveBack()
	if !k.ready.Load() {
		return notReady("stopping")
	}
	out := fiber.Map{
		"status": "ready", "release": content.release.Manifest().ID, "camera": k.cameraState(), "visits": k.visits.Len(),
	}
	if k.camera != nil {
		h := k.camera.Health()
		out["camera_since"], out["camera_trouble"], out["camera_opened"] = h.Since.UTC(), h.Trouble, h.Opened
	}
	if k.status != nil {
		if hub := k.status()["hub"]; hub != "" {
			out["hub"] = hub
		}
	}
	return c.JSON(out)
}

// withContent takes the current content for the time of f.
func (k *Kiosk) withContent(f func(*content) error) error {
	content, giveBack, ok := k.shelf.take()
	if !ok {
		return notReady("no content yet")
	}
	defer giveBack()
	return f(content)
}

// language is the one the client wishes for: ?lang=, else Accept-Language, else the gallery's first. Without content
// it is the first wish as it is.
func (k *Kiosk) language(c *fiber.Ctx) string {
	wishes := wishes(c)
	content, giveBack, ok := k.shelf.take()
	if !ok {
		return wishes[0]
	}
	defer giveBack()
	return content.language(wishes...)
}

// wishes are the languages a client asks for. Their length is bounded by that of the request's head.
func wishes(c *fiber.Ctx) []string {
	return []string{c.Query("lang"), c.Get(fiber.HeaderAcceptLanguage)}
}

// readJSON reads a request's body into v. Unknown members are refused: page and server come from one build, so one
// is a mistake.
func readJSON(c *fiber.Ctx, v any) error {
	media, _, err := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	if err != nil || media != fiber.MIMEApplicationJSON {
		return &problem{status: fiber.StatusUnsupportedMediaType, code: codeBadRequest, reason: "the content type must be application/json"}
	}
	body := c.Request().Body()
	switch {
	case len(body) > maxJSON:
		return tooLargeBody(c.Path())
	case !utf8.Valid(body):
		return badRequest("the body is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return badRequest("the body is not the JSON that is expected: " + err.Error())
	}
	if _, err := d.Token(); err != io.EOF {
		return badRequest("the body goes on after the JSON")
	}
	return nil
}
