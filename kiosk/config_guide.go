package kiosk

import (
	"time"

	"docent/agent/web"
	"docent/internal/settings"
)

// TraceConfig says what is kept of how answers came about.
type TraceConfig struct {
	// Days is how long a turn's trace is kept; 0 keeps none.
	Days int `koanf:"days"`
	// Words keeps the words of visitors and models in the traces, sealed, while their visit goes on. Staff with the PIN can read
	// them then, so tell visitors if you set it.
	Words bool `koanf:"words"`
}

// WebConfig lets the guide look into some pages of the web where the gallery has nothing on a question. Off by default: the
// words of a question leave the house.
type WebConfig struct {
	// Pages are addresses with {query} in them, tried in this order, such as https://en.wikipedia.org/w/index.php?search={query}.
	// With {language} in it, a page is asked in the question's language. Without pages nothing is looked up.
	Pages []string `koanf:"pages"`
	// Hosts are those that may be asked, beside the ones of the pages: where redirects and links may lead.
	Hosts []string `koanf:"hosts"`
	// Timeout is how long one look-up may take.
	Timeout time.Duration `koanf:"timeout"`
}

// Options are those of the look-up.
func (c WebConfig) Options() web.Options {
	return web.Options{Pages: c.Pages, Hosts: c.Hosts, Timeout: c.Timeout}
}

func (c WebConfig) validate(p *settings.Problems) {
	settings.Within(p, "web.timeout", c.Timeout, time.Second, 30*time.Second)
	if len(c.Pages) == 0 {
		if len(c.Hosts) > 0 {
			p.Add("web.pages", "is empty, so web.hosts does nothing")
		}
		return
	}
	if _, err := web.New(c.Options()); err != nil {
		p.Add("web", err.Error())
	}
}
