package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"docent/sync/wire"
)

// Kiosk is what a kiosk last said of itself, and how far its events have come.
type Kiosk struct {
	Site        string    `json:"site"`
	ID          string    `json:"kiosk_id"`
	State       string    `json:"state"`
	StateAt     time.Time `json:"state_at"` // since when, by the hub's clock
	SessionSeq  uint64    `json:"session_seq"`
	Version     string    `json:"version,omitempty"`
	OutboxDepth uint64    `json:"outbox_depth"` // when it last said
	FreeBytes   uint64    `json:"free_bytes"`
	Degraded    string    `json:"degraded,omitempty"`
	LastEventAt time.Time `json:"last_event_at,omitzero"`
	// Report is what the kiosk last said of its box, ReportAt when by the hub's clock, ReportedTS when by its own.
	Report     wire.Health `json:"report"`
	ReportAt   time.Time   `json:"report_at,omitzero"`
	ReportedTS time.Time   `json:"reported_ts,omitzero"`
}

// SetPresence stores a kiosk's status. A goodbye or a will counts only for the session it belongs to: one that comes
// late, when the kiosk is back already, is passed over.
func (s *Store) SetPresence(ctx context.Context, addr wire.Address, st wire.Status, at time.Time) error {
	report, err := json.Marshal(st.Health)
	if err != nil {
		return fmt.Errorf("store presence: %w", err)
	}
	err = s.together(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		switch st.State {
		case wire.PresenceLost: // a will, which knows nothing but its session
			_, err = tx.ExecContext(ctx, `UPDATE kiosks SET state = ?, state_at = ? WHERE site = ? AND kiosk_id = ? AND session_seq = ?`,
				string(st.State), formatTime(at), addr.Site, addr.Kiosk, st.SessionSeq)
		case wire.PresenceDisconnected:
			_, err = tx.ExecContext(ctx, `UPDATE kiosks SET state = ?, state_at = ?, outbox_depth = ?, free_bytes = ?, degraded = ?
			WHERE site = ? AND kiosk_id = ? AND session_seq = ?`,
				string(st.State), formatTime(at), st.OutboxDepth, st.FreeBytes, st.Degraded, addr.Site, addr.Kiosk, st.SessionSeq)
		default:
			_, err = tx.ExecContext(ctx, `INSERT INTO kiosks
			(site, kiosk_id, state, session_seq, boot_id, version, outbox_depth, free_bytes, degraded, state_at, report, report_at, reported_ts)
			VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)
			ON CONFLICT (site, kiosk_id) DO UPDATE SET state_at = CASE WHEN kiosks.state = excluded.state AND kiosks.session_seq = excluded.session_seq
			THEN kiosks.state_at ELSE excluded.state_at END, state = excluded.state, session_seq = excluded.session_seq, boot_id = excluded.boot_id,
			version = excluded.version, outbox_depth = excluded.outbox_depth, free_bytes = excluded.free_bytes, degraded = excluded.degraded,
			report = excluded.report, report_at = excluded.report_at, reported_ts = excluded.reported_ts`,
				addr.Site, addr.Kiosk, string(st.State), st.SessionSeq, st.BootID, st.Version, st.OutboxDepth, st.FreeBytes, st.Degraded, formatTime(at),
				string(report), formatTime(at), formatTime(st.TS))
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("store presence: %w", err)
	}
	return nil
}

// AllLost marks every kiosk as lost: a hub that starts has no connections, and those that are there come back by themselves.
func (s *Store) AllLost(ctx context.Context, at time.Time) error {
	_, err := s.write.ExecContext(ctx, `UPDATE kiosks SET state = ?, state_at = ? WHERE state NOT IN (?, ?)`,
		string(wire.PresenceLost), formatTime(at), string(wire.PresenceLost), string(wire.PresenceDisconnected))
	if err != nil {
		return fmt.Errorf("store presence: %w", err)
	}
	return nil
}

// Kiosks lists all kiosks by site and name.
func (s *Store) Kiosks(ctx context.Context) ([]Kiosk, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT site, kiosk_id, state, state_at, session_seq, version, outbox_depth, free_bytes, degraded, report, report_at, reported_ts,
		coalesce((SELECT max(last_at) FROM streams s WHERE s.site = k.site AND s.kiosk_id = k.kiosk_id), '')
		FROM kiosks k ORDER BY site, kiosk_id`)
	if err != nil {
		return nil, fmt.Errorf("read kiosks: %w", err)
	}
	defer rows.Close()
	out := []Kiosk{}
	for rows.Next() {
		var k Kiosk
		var at, last, report, reportAt, reported string
		if err := rows.Scan(&k.Site, &k.ID, &k.State, &at, &k.SessionSeq, &k.Version, &k.OutboxDepth, &k.FreeBytes, &k.Degraded, &report, &reportAt, &reported, &last); err != nil {
			return nil, fmt.Errorf("read kiosks: %w", err)
		}
		k.StateAt, k.LastEventAt, k.ReportAt, k.ReportedTS = parseTime(at), parseTime(last), parseTime(reportAt), parseTime(reported)
		if report != "" {
			if err := json.Unmarshal([]byte(report), &k.Report); err != nil {
				return nil, fmt.Errorf("read kiosks: report of %s: %w", k.ID, err)
			}
		}
		out = append(out, k)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read kiosks: %w", err)
	}
	return out, nil
}
