package fleet

import (
	"slices"
	"time"
)

// Milliseconds are percentiles of a time.
type Milliseconds struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// Report is what was measured. Lost and Duplicated are counted by whoever can look into the hub's store.
type Report struct {
	Kiosks     int     `json:"kiosks"`
	Events     int     `json:"events"`       // appended, durable in an outbox
	Rate       float64 `json:"rate"`         // events a second that were asked for
	EventsPerS float64 `json:"events_per_s"` // durable at the hub and acknowledged, from the first append to the last acknowledgement
	// AckMS is from the call of Append until the hub's acknowledgement has taken the event out of its outbox.
	AckMS Milliseconds `json:"ack_ms"`
	// OpenS and ConnectS are how long it took until all outboxes were open, and then until all kiosks were connected, which
	// all begin at once.
	OpenS    float64 `json:"open_s"`
	ConnectS float64 `json:"connect_s"`
	// Unacknowledged are events that still wait at the end.
	Unacknowledged uint64 `json:"unacknowledged"`
	Resent         uint64 `json:"resent"` // events published more than once
	// Messages are the MQTT messages that carried the events of the steady part.
	Messages uint64 `json:"messages"`

	// Cost is what the parts of the run took: for each connection, each event, and each event of the backlog with its share
	// of a reconnection.
	Cost struct {
		Connect Cost  `json:"connect"`
		Steady  Cost  `json:"steady"`
		Outage  *Cost `json:"outage,omitempty"`
	} `json:"cost"`

	// PeakMiB is memory at its highest, without mapped files, looked at four times a second.
	PeakMiB struct {
		Kiosks float64 `json:"kiosks"` // of all together
		Hub    float64 `json:"hub,omitempty"`
	} `json:"peak_mib"`

	Reconnect *Reconnect `json:"reconnect,omitempty"`
	// BacklogEventsPerS is how fast the backlog drained that all kiosks held after the outage.
	BacklogEventsPerS float64 `json:"backlog_events_per_s,omitempty"`

	Lost       *int `json:"lost,omitempty"`       // acknowledged, and not in the hub's store
	Duplicated *int `json:"duplicated,omitempty"` // rows beyond one an event
}

// Cost is what a part of the run took at both ends. Kiosks is this process, all simulated kiosks together, which in a
// gallery are as many machines. Hub is nil where it is not known; a hub in this process counts as kiosks.
type Cost struct {
	Kiosks Share  `json:"kiosks"`
	Hub    *Share `json:"hub,omitempty"`
}

// Share is what one process used.
type Share struct {
	CPUS      float64 `json:"cpu_s"`       // of processors, program and kernel together
	CPUEachUS float64 `json:"cpu_each_us"` // for each event or connection
	CallsEach float64 `json:"calls_each"`  // system calls that read or write, for each event or connection
}

// Reconnect is how kiosks came back after the line was cut for all of them.
type Reconnect struct {
	OutageS float64 `json:"outage_s"`
	P50S    float64 `json:"p50_s"` // after the line's return
	AllS    float64 `json:"all_s"` // until the last was back
	// BusiestSecond is the largest share of kiosks that came back within one second.
	BusiestSecond float64 `json:"busiest_second"`
	Failed        int     `json:"failed"` // attempts that failed after the line's return
}

// Stream names what a simulated kiosk has appended: numbers 1 to Last of a stream, of which the hub has acknowledged those up
// to Acked.
type Stream struct {
	Kiosk       string
	ID          string
	Last, Acked uint64
}

// busiest is the largest share of sorted moments within one second.
func busiest(sorted []time.Duration) float64 {
	most, from := 0, 0
	for to := range sorted {
		for sorted[to]-sorted[from] >= time.Second {
			from++
		}
		most = max(most, to-from+1)
	}
	return float64(most) / float64(len(sorted))
}

func percentiles(took []time.Duration) Milliseconds {
	if len(took) == 0 {
		return Milliseconds{}
	}
	slices.Sort(took)
	at := func(share float64) float64 {
		return float64(took[min(len(took)-1, int(share*float64(len(took))))]) / float64(time.Millisecond)
	}
	return Milliseconds{P50: at(0.50), P95: at(0.95), P99: at(0.99), Max: float64(took[len(took)-1]) / float64(time.Millisecond)}
}
