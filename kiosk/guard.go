package kiosk

import (
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// contentPolicy lets the page load its own files and nothing else. The page's built index.html says the same of
// itself; only a header can forbid frames.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' blob: data:; " +
	"media-src 'self' blob:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// harden sets the headers that hold for every answer.
func harden(c *fiber.Ctx) error {
	c.Set(fiber.HeaderContentSecurityPolicy, contentPolicy)
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	c.Set(fiber.HeaderXFrameOptions, "DENY")
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	c.Set("Cross-Origin-Opener-Policy", "same-origin")
	c.Set("Cross-Origin-Resource-Policy", "same-origin")
	c.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=()")
	c.Set(fiber.HeaderCacheControl, "no-store") // the page and pictures of the release say otherwise
	return c.Next()
}

// sameOrigin refuses what another site's page sends: every request that changes something, and WebSockets, which
// browsers open across sites without asking. Requests without an Origin come from no browser page.
//
// A request must also be addressed to this machine: by a number, as localhost, or by the machine's own name. Otherwise
// any site could point its own name here and then pass for the same origin (DNS rebinding).
func sameOrigin(c *fiber.Ctx) error {
	if !isOurs(c.Get(fiber.HeaderHost)) {
		return &problem{status: fiber.StatusMisdirectedRequest, code: codeForbidden, reason: "the request is addressed to another machine"}
	}
	if c.Method() == fiber.MethodGet && !strings.EqualFold(c.Get(fiber.HeaderUpgrade), "websocket") || c.Method() == fiber.MethodHead {
		return c.Next()
	}
	site := c.Get("Sec-Fetch-Site")
	if site == "cross-site" || site == "same-site" || !originIs(c.Get(fiber.HeaderOrigin), c.Get(fiber.HeaderHost)) {
		return &problem{status: fiber.StatusForbidden, code: codeForbidden, reason: "the request comes from another site"}
	}
	return c.Next()
}

// originIs says whether an Origin header is empty or names host. "null" names nobody.
func originIs(origin, host string) bool {
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, host)
}

// isOurs says whether a Host header names this machine. Requests of HTTP/1.0 have none.
func isOurs(host string) bool {
	u, err := url.Parse("//" + host)
	if err != nil {
		return false
	}
	name := strings.ToLower(u.Hostname())
	if name == "" || name == "localhost" || net.ParseIP(name) != nil {
		return true
	}
	machine, err := os.Hostname()
	machine, _, _ = strings.Cut(strings.ToLower(machine), ".")
	return err == nil && (name == machine || strings.HasPrefix(name, machine+"."))
}
