package wire

import (
	"fmt"
	"math"
	"time"
)

// Health is what a kiosk says of itself and of the box it runs in. What is zero is not known.
type Health struct {
	ReleaseID     string    `json:"release_id,omitempty"`     // of the content that visitors see, ≤ 64 bytes
	ReleaseNumber int       `json:"release_number,omitempty"` // of the same
	Camera        string    `json:"camera,omitempty"`         // ready, init, alert or none
	CameraTrouble string    `json:"camera_trouble,omitempty"` // ≤ 256 bytes
	DiskTotal     uint64    `json:"disk_total,omitempty"`     // bytes of the disk whose free bytes Status has
	MemoryFree    uint64    `json:"memory_free,omitempty"`    // bytes that programs could still have
	MemoryTotal   uint64    `json:"memory_total,omitempty"`   // bytes
	Temperature   float64   `json:"temperature,omitempty"`    // of the processor, °C
	UptimeS       int64     `json:"uptime_s,omitempty"`       // of the program, seconds
	Attended      bool      `json:"attended,omitempty"`       // somebody is there
	Asleep        bool      `json:"asleep,omitempty"`         // the screen is dark on purpose
	ClockUnsynced bool      `json:"clock_unsynced,omitempty"` // nothing sets the clock by the network's time
	CertUntil     time.Time `json:"cert_until,omitzero"`      // end of the kiosk's certificate
}

// Presence is the word for a kiosk that is connected and says this of itself.
func (h Health) Presence(degraded string) Presence {
	switch {
	case degraded != "" || h.Camera == "alert":
		return PresenceAlert
	case h.Asleep:
		return PresenceSleeping
	}
	return PresenceReady
}

// Validate says what is wrong, if anything.
func (h Health) Validate() error {
	if len(h.ReleaseID) > maxReleaseID || len(h.Camera) > 16 || len(h.CameraTrouble) > 256 {
		return fmt.Errorf("health text: %w", ErrTooLarge)
	}
	if h.DiskTotal > 1<<62 || h.MemoryFree > 1<<62 || h.MemoryTotal > 1<<62 || h.ReleaseNumber < 0 || h.UptimeS < 0 ||
		math.IsNaN(h.Temperature) || math.Abs(h.Temperature) > 1000 {
		return fmt.Errorf("health number out of range: %w", ErrInvalid)
	}
	if y := h.CertUntil.Year(); y < 1 || y > 9999 {
		return fmt.Errorf("health cert_until in year %d: %w", y, ErrInvalid)
	}
	return nil
}
