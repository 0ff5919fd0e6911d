package kiosk

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"runtime"
	"time"

	"docent/hardware"

	"github.com/gofiber/fiber/v2"
)

// Bounds of the PIN's use: five tries, then one every half minute, from wherever they come. Four digits thus hold for
// about 40 hours on average against somebody who does nothing else, six for half a year.
const (
	pinTries = 5
	pinEvery = 30 * time.Second
)

// pinIs compares in constant time.
func pinIs(want, got string) bool {
	a, b := sha256.Sum256([]byte(want)), sha256.Sum256([]byte(got))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// validPIN says what is wrong with a PIN.
func validPIN(pin string) error {
	if len(pin) < 4 || len(pin) > 12 {
		return fmt.Errorf("must have 4 to 12 digits")
	}
	for _, r := range pin {
		if r < '0' || r > '9' {
			return fmt.Errorf("must have digits only")
		}
	}
	return nil
}

// diagnostics is how the kiosk is, for staff that stand before it.
type diagnostics struct {
	Site    string    `json:"site"`
	Kiosk   string    `json:"kiosk"`
	Version string    `json:"version,omitempty"`
	Now     time.Time `json:"now"`
	Uptime  int       `json:"uptime_seconds"`
	Gallery string    `json:"gallery"`
	Release struct {
		ID      string    `json:"id"`
		Number  int       `json:"number"`
		Created time.Time `json:"created"`
	} `json:"release"`
	Exhibits int    `json:"exhibits"`
	Camera   string `json:"camera"`
	Speech   bool   `json:"speech"`
	Phone    string `json:"phone,omitempty"`
	Visits   int    `json:"visits"`
	Memory   uint64 `json:"memory_bytes"` // of the process
	Disk     struct {
		Free  uint64 `json:"free_bytes"`
		Total uint64 `json:"total_bytes"`
	} `json:"disk"`
	// Status is what the parts outside the kiosk say: the link to the hub, the outbox.
	Status map[string]string `json:"status,omitempty"`
}

// checkPIN refuses who does not know the PIN, and everybody after too many tries.
func (k *Kiosk) checkPIN(given string) error {
	pin := k.config.Staff.PIN.Reveal()
	if pin == "" {
		return notFound("no PIN is set")
	}
	if !k.pins.allow(k.now()) {
		return &problem{status: fiber.StatusTooManyRequests, code: codeBusy, variant: "pin", reason: "too many tries", retry: int(pinEvery.Seconds())}
	}
	if !pinIs(pin, given) {
		k.log.Warn("staff PIN refused")
		return &problem{status: fiber.StatusForbidden, code: codeForbidden, variant: "pin", reason: "another PIN"}
	}
	return nil
}

// postStaff opens the diagnostics page to those who know the PIN.
func (k *Kiosk) postStaff(c *fiber.Ctx) error {
	var in struct {
		PIN string `json:"pin"`
	}
	if err := readJSON(c, &in); err != nil {
		return err
	}
	if err := k.checkPIN(in.PIN); err != nil {
		return err
	}
	return k.withContent(func(content *content) error {
		m, g := content.release.Manifest(), content.release.Gallery()
		d := diagnostics{
			Site: k.config.Site, Kiosk: k.config.Kiosk, Now: k.now().UTC(), Uptime: int(k.now().Sub(k.started).Seconds()),
			Gallery: g.ID, Exhibits: len(g.Exhibits), Camera: k.cameraState(), Speech: k.voice != nil, Phone: k.config.phoneURL(),
			Visits: k.visits.Len(),
		}
		d.Release.ID, d.Release.Number, d.Release.Created = m.ID, m.Number, m.Created
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		d.Memory = memory.Sys
		if disk, err := hardware.Disk(k.config.DataDir); err == nil {
			d.Disk.Free, d.Disk.Total = disk.Free, disk.Total
		}
		if k.status != nil {
			d.Status = k.status()
			d.Version = d.Status["version"]
			delete(d.Status, "version")
			delete(d.Status, "hub") // a word of "link"
		}
		return c.JSON(d)
	})
}
