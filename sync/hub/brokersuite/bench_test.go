package brokersuite

import (
	"sync"
	"testing"

	"docent/sync/hub/brokerfiles"
)

// BenchmarkBacklog is how fast ten kiosks with a backlog of 500 events each get them to the hub, from the outbox on the
// disk to the acknowledgement, with outboxes, broker and hub on one machine.
func BenchmarkBacklog(b *testing.B) {
	for _, tt := range []struct {
		name    string
		kind    brokerfiles.Kind
		workers []string
	}{
		{"embedded", "embedded", []string{"1"}}, {"mosquitto", brokerfiles.Mosquitto, []string{"1"}}, {"mosquitto, two processes", brokerfiles.Mosquitto, []string{"1", "2"}},
		{"nats", brokerfiles.NATS, []string{"1"}}, {"nats, two processes", brokerfiles.NATS, []string{"1", "2"}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			const kiosks, each = 10, 500
			h := newHouse(b, tt.kind)
			ids := h.identities(kiosks)
			for _, w := range tt.workers {
				h.runHub(w)
			}
			var all []*kiosk
			for i := range kiosks {
				k := h.startKiosk(i, ids[i], b.TempDir())
				k.record(b, 1)
				k.drained(b)
				all = append(all, k)
			}
			resent := uint64(0)
			for b.Loop() {
				var wg sync.WaitGroup
				for _, k := range all {
					wg.Go(func() { k.record(b, each) })
				}
				wg.Wait()
				for _, k := range all {
					k.drained(b)
				}
			}
			for _, k := range all {
				resent += k.link.State().Resent
			}
			b.ReportMetric(float64(kiosks*each*b.N)/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(float64(resent)/float64(kiosks*each*b.N), "again/event")
		})
	}
}
