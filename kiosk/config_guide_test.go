package kiosk

import (
	"errors"
	"strings"
	"testing"
	"time"

	"docent/internal/settings"
)

func TestGuideConfig(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Config)
		want   string // key of the problem; empty: none
	}{
		{"web", func(c *Config) { c.Web.Pages = []string{"https://{language}.wikipedia.org/w/index.php?search={query}"} }, ""},
		{"web over http", func(c *Config) { c.Web.Pages = []string{"http://example.org/?q={query}"} }, "web: "},
		{"web on this machine", func(c *Config) { c.Web.Pages = []string{"https://127.0.0.1/?q={query}"} }, "web: "},
		{"hosts alone", func(c *Config) { c.Web.Hosts = []string{"example.org"} }, "web.pages: "},
		{"web takes an hour", func(c *Config) { c.Web.Timeout = time.Hour }, "web.timeout: "},
		{"no traces", func(c *Config) { c.Trace.Days = 0 }, ""},
		{"traces for ever", func(c *Config) { c.Trace.Days = 1000 }, "trace.days: "},
		{"no questions", func(c *Config) { c.Limits.QuestionsPerMinute = 0 }, "limits.questions_per_minute: "},
		{"negative price", func(c *Config) { c.Model.PriceIn = -1 }, "model.price_in: "},
		{"an answer in no time", func(c *Config) { c.Model.AnswerTimeout = 0 }, "model.answer_timeout: "},
	} {
		c := DefaultConfig()
		tt.change(&c)
		err := c.Validate()
		var e *settings.Error
		if tt.want == "" && err != nil || tt.want != "" && (!errors.As(err, &e) || len(e.Problems) != 1 || !strings.HasPrefix(e.Problems[0], tt.want)) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
