// Package brokersuite runs the same tests against each broker that the hub works with.
package brokersuite

import (
	"testing"
)

// TestEventsReachTheStore sends from several kiosks at once.
func TestEventsReachTheStore(t *testing.T) {
	brokers(t, func(t *testing.T, h *house) {
		const kiosks, each = 4, 300
		ids := h.identities(kiosks)
		h.runHub("1")
		var all []*kiosk
		for i := range kiosks {
			all = append(all, h.startKiosk(i, ids[i], t.TempDir()))
		}
		for _, k := range all {
			k.record(t, each)
		}
		for _, k := range all {
			k.drained(t)
			if s := k.link.State(); s.Resent != 0 {
				t.Errorf("%s sent %d events again", k.name, s.Resent)
			}
			k.stop()
		}
		for name, n := range h.rows() {
			if n != each {
				t.Errorf("%s: %d rows, want %d", name, n, each)
			}
		}
		if n := len(h.rows()); n != kiosks {
			t.Errorf("%d kiosks in the store, want %d", n, kiosks)
		}
	})
}
