package kiosk

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"docent/internal/settings"
)

func TestStaff(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	h := open(t, func(o *Options) {
		o.Config.Staff.PIN = "482913"
		o.Clock = func() time.Time { return now }
		o.Status = func() map[string]string {
			return map[string]string{"version": "1.2", "link": "connected", "outbox": "0"}
		}
	})
	var d diagnostics
	r := h.post("/api/v1/staff/open", map[string]string{"pin": "482913"}, http.StatusOK)
	r.json(t, &d)
	if d.Kiosk != "door" || d.Release.Number != 7 || d.Exhibits != 2 || d.Camera != "none" || d.Version != "1.2" || d.Status["link"] != "connected" ||
		d.Disk.Total == 0 || d.Disk.Free > d.Disk.Total || d.Memory == 0 {
		t.Errorf("%+v", d)
	}
	if strings.Contains(string(r.body), "482913") {
		t.Error("the PIN is told")
	}
	for range pinTries - 1 {
		h.refused("/api/v1/staff/open", map[string]any{"pin": "0000"}, http.StatusForbidden, codeForbidden)
	}
	h.refused("/api/v1/staff/open", map[string]any{"pin": "482913"}, http.StatusTooManyRequests, codeBusy) // also the right one
	now = now.Add(pinEvery)
	h.post("/api/v1/staff/open", map[string]string{"pin": "482913"}, http.StatusOK)
}

func TestNoPINOpensNothing(t *testing.T) {
	h := open(t)
	h.refused("/api/v1/staff/open", map[string]any{"pin": ""}, http.StatusNotFound, codeNotFound)
}

func TestConfigForThePage(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Config)
		want   string // key of the problem; empty: none
	}{
		{"PIN", func(c *Config) { c.Staff.PIN = settings.Secret("1234") }, ""},
		{"short PIN", func(c *Config) { c.Staff.PIN = "123" }, "staff.pin"},
		{"long PIN", func(c *Config) { c.Staff.PIN = "1234567890123" }, "staff.pin"},
		{"PIN with a letter", func(c *Config) { c.Staff.PIN = "12a4" }, "staff.pin"},
		{"address for phones", func(c *Config) { c.Phone.URL = "http://10.0.0.1:8080" }, ""},
		{"address that is none", func(c *Config) { c.Phone.URL = "10.0.0.1" }, "phone.url"},
		{"address with a query", func(c *Config) { c.Phone.URL = "http://x/?y" }, "phone.url"},
		{"address to take along", func(c *Config) { c.TakeAlong = "https://museum.example/{language}/{exhibit}" }, ""},
		{"without the exhibit", func(c *Config) { c.TakeAlong = "https://museum.example/" }, "take_along"},
		{"of another kind", func(c *Config) { c.TakeAlong = "ftp://museum.example/{exhibit}" }, "take_along"},
	} {
		c := DefaultConfig()
		tt.change(&c)
		err := c.Validate()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want a problem of %q", tt.name, err, tt.want)
		}
	}
}
