package kiosk

import (
	"context"
	"time"

	"docent/vision"
)

// Events takes memory events. An outbox is one.
type Events interface {
	// Append stores an event and returns its number when it is durable.
	Append(ctx context.Context, typ string, data any) (seq uint64, err error)
}

// The types of memory events that a kiosk writes.
const (
	eventVisitStarted       = "visit.started"
	eventVisitEnded         = "visit.ended"
	eventExhibitSeen        = "exhibit.seen"
	eventPhotoUnknown       = "photo.unknown"
	eventQuestionAnswered   = "question.answered"
	eventQuestionUnanswered = "question.unanswered"
)

// Visits are named in events by a name that is of no use to find the visit.
type (
	visitStarted struct {
		Visit    string `json:"visit"`
		Language string `json:"language"`
	}
	visitEnded struct {
		Visit  string `json:"visit"`
		Reason string `json:"reason"` // left, forgotten, expired
	}
	exhibitSeen struct {
		Visit      string          `json:"visit"`
		Exhibit    string          `json:"exhibit"`
		Decision   vision.Decision `json:"decision,omitempty"`
		Confidence float64         `json:"confidence,omitempty"`
		By         string          `json:"by"` // photo, label, choice, browse
	}
	photoUnknown struct {
		Visit string `json:"visit"`
	}
	questionAsked struct {
		Visit     string   `json:"visit"`
		Exhibit   string   `json:"exhibit,omitempty"`
		Question  string   `json:"question"` // without what is personal in it
		Language  string   `json:"language"`
		WrittenBy string   `json:"written_by"`
		Sources   []string `json:"sources"` // passage ids
	}
)

// appendWait is how long a visitor waits at most for an event to be stored.
const appendWait = 2 * time.Second

// remember stores an event. A visitor is answered all the same where that fails: it is logged and counted. It does
// not end with the request, which may be over.
func (k *Kiosk) remember(typ string, data any) {
	if k.events == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), appendWait)
	defer cancel()
	if _, err := k.events.Append(ctx, typ, data); err != nil {
		k.metrics.eventsLost.Inc()
		k.log.Error("store memory event", "type", typ, "error", err)
	}
}
