package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"docent/sync/wire"
)

// Event is a stored event as the API gives it out.
type Event struct {
	ID         int64           `json:"id"` // order of arrival
	Site       string          `json:"site"`
	KioskID    string          `json:"kiosk_id"`
	StreamID   string          `json:"stream_id"`
	Seq        uint64          `json:"seq"`
	EventID    string          `json:"event_id"`
	Type       string          `json:"type"`
	Data       json.RawMessage `json:"data"`
	TSWall     time.Time       `json:"ts_wall"`
	ReceivedAt time.Time       `json:"received_at"`
}

const eventColumns = `id, site, kiosk_id, stream_id, seq, event_id, type, data, ts_wall, received_at`

// Events returns up to limit events that arrived after the event with id after, in order of arrival.
func (s *Store) Events(ctx context.Context, after int64, limit int) ([]Event, error) {
	return s.events(ctx, `SELECT `+eventColumns+` FROM events WHERE id > ? ORDER BY id LIMIT ?`, after, limit)
}

// Latest returns the newest events, the newest first.
func (s *Store) Latest(ctx context.Context, limit int) ([]Event, error) {
	return s.events(ctx, `SELECT `+eventColumns+` FROM events ORDER BY id DESC LIMIT ?`, limit)
}

func (s *Store) events(ctx context.Context, query string, args ...any) ([]Event, error) {
	rows, err := s.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	defer rows.Close()
	out := []Event{}
	for rows.Next() {
		var e Event
		var data, wall, received string
		if err := rows.Scan(&e.ID, &e.Site, &e.KioskID, &e.StreamID, &e.Seq, &e.EventID, &e.Type, &data, &wall, &received); err != nil {
			return nil, fmt.Errorf("read events: %w", err)
		}
		e.Data, e.TSWall, e.ReceivedAt = json.RawMessage(data), parseTime(wall), parseTime(received)
		out = append(out, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	return out, nil
}

// Acks returns where a kiosk's newest streams stand, for a kiosk that has just connected.
func (s *Store) Acks(ctx context.Context, addr wire.Address) ([]wire.Ack, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT s.stream_id, s.acked_seq, coalesce(e.hash, '') FROM streams s
		LEFT JOIN events e ON e.site = s.site AND e.kiosk_id = s.kiosk_id AND e.stream_id = s.stream_id AND e.seq = s.acked_seq
		WHERE s.site=? AND s.kiosk_id=? ORDER BY s.last_at DESC LIMIT 4`, addr.Site, addr.Kiosk)
	if err != nil {
		return nil, fmt.Errorf("read streams: %w", err)
	}
	defer rows.Close()
	var out []wire.Ack
	for rows.Next() {
		var a wire.Ack
		if err := rows.Scan(&a.StreamID, &a.AckedSeq, &a.AckedHash); err != nil {
			return nil, fmt.Errorf("read streams: %w", err)
		}
		out = append(out, a)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read streams: %w", err)
	}
	return out, nil
}

// Counts are the numbers of rows that matter to a person.
type Counts struct {
	Events      int64 `json:"events"`
	Kiosks      int64 `json:"kiosks"`
	Quarantined int64 `json:"quarantined"`
	Lost        int64 `json:"lost"` // events that kiosks have told are gone
}

// Counts counts. Events are never deleted, so that their number is the newest id.
func (s *Store) Counts(ctx context.Context) (Counts, error) {
	var c Counts
	err := s.read.QueryRowContext(ctx, `SELECT
		(SELECT coalesce(max(id), 0) FROM events), (SELECT count(*) FROM kiosks),
		(SELECT count(*) FROM quarantine), (SELECT coalesce(sum(to_seq - from_seq + 1), 0) FROM answered WHERE kind = 'lost')`).Scan(&c.Events, &c.Kiosks, &c.Quarantined, &c.Lost)
	if err != nil {
		return Counts{}, fmt.Errorf("count: %w", err)
	}
	return c, nil
}
