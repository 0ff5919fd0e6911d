package hub

import (
	"fmt"
	"time"

	"docent/sync/hub/store"
	"docent/sync/wire"
)

// What is worth a person's look.
const (
	lostAfter     = 5 * time.Minute // shorter is a line that comes and goes
	silentAfter   = 5 * time.Minute // a connected kiosk says something each minute
	fewFreeBytes  = 512 << 20       // of the disk: half of that stops updates, a quarter of it events
	hot           = 80.0            // °C: small computers slow down from there on
	littleMemory  = 0.05            // of all
	manyWaiting   = 1000            // events
	certSoon      = 30 * 24 * time.Hour
	clockTrouble  = 10 * time.Minute // between the kiosk's and the hub's
	pauseTooLong  = 24 * time.Hour   // that a release waits for nobody to be there
	bytesOfAGiga  = 1 << 30
	minutesOfADay = 24 * 60
)

// Trouble is something that is wrong with a kiosk: a stable word, and a number or text that goes with it.
type Trouble struct {
	Code  string `json:"code"`
	Value string `json:"value,omitempty"`
}

// troubles says what is wrong with a kiosk, the worst first.
func troubles(k store.Kiosk, d *wire.Deploy, two bool, now time.Time) []Trouble {
	out := []Trouble{}
	add := func(code, value string) { out = append(out, Trouble{code, value}) }
	here := k.State != string(wire.PresenceLost) && k.State != string(wire.PresenceDisconnected)
	if two {
		add("two_kiosks", "")
	}
	switch away := now.Sub(k.StateAt); {
	case k.State == string(wire.PresenceLost) && away > lostAfter:
		add("lost", span(away))
	case k.State == string(wire.PresenceDisconnected) && away > lostAfter:
		add("switched_off", span(away))
	case here && !k.ReportAt.IsZero() && now.Sub(k.ReportAt) > silentAfter:
		add("silent", span(now.Sub(k.ReportAt)))
	}
	r := k.Report
	if k.Degraded != "" {
		add("store", k.Degraded)
	}
	if k.FreeBytes > 0 && k.FreeBytes < fewFreeBytes {
		add("disk", fmt.Sprintf("%.1f GiB", float64(k.FreeBytes)/bytesOfAGiga))
	}
	if here && !k.ReportedTS.IsZero() {
		if apart := k.ReportedTS.Sub(k.ReportAt); apart > clockTrouble || apart < -clockTrouble {
			add("clock", span(max(apart, -apart)))
		}
	}
	if r.Camera == "alert" {
		add("camera", r.CameraTrouble)
	}
	if r.Temperature >= hot {
		add("hot", fmt.Sprintf("%.0f °C", r.Temperature))
	}
	if r.MemoryTotal > 0 && float64(r.MemoryFree) < littleMemory*float64(r.MemoryTotal) {
		add("memory", fmt.Sprintf("%d MiB", r.MemoryFree>>20))
	}
	if !r.CertUntil.IsZero() && r.CertUntil.Sub(now) < certSoon {
		add("certificate", r.CertUntil.UTC().Format(time.DateOnly))
	}
	if here && k.OutboxDepth > manyWaiting {
		add("waiting", fmt.Sprint(k.OutboxDepth))
	}
	if d != nil {
		switch {
		case d.RolledBack:
			add("rolled_back", d.Code)
		case d.Status == wire.DeployFailure || d.Status == wire.DeployRejected:
			add("not_updated", d.Code)
		case d.Status == wire.DeployPauseBeforeInstall && now.Sub(d.TS) > pauseTooLong:
			add("update_waits", span(now.Sub(d.TS)))
		}
	}
	return out
}

// span is a length of time for people.
func span(d time.Duration) string {
	switch m := int(d.Minutes()); {
	case m < 120:
		return fmt.Sprintf("%d min", m)
	case m < 2*minutesOfADay:
		return fmt.Sprintf("%d h", m/60)
	default:
		return fmt.Sprintf("%d d", m/minutesOfADay)
	}
}
