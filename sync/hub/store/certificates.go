package store

import (
	"context"
	"fmt"
	"time"

	"docent/sync/wire"
)

// AllCertificates lists the certificates of all kiosks that have not run out, by site, name and serial number.
func (s *Store) AllCertificates(ctx context.Context, now time.Time) ([]Certificate, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT serial, site, kiosk_id, not_before, not_after, revoked_at, reason FROM certificates
		WHERE not_after > ? ORDER BY site, kiosk_id, serial`, formatTime(now))
	if err != nil {
		return nil, fmt.Errorf("read certificates: %w", err)
	}
	defer rows.Close()
	var out []Certificate
	for rows.Next() {
		var c Certificate
		var before, after, revoked, reason string
		if err := rows.Scan(&c.Serial, &c.Kiosk.Site, &c.Kiosk.Kiosk, &before, &after, &revoked, &reason); err != nil {
			return nil, fmt.Errorf("read certificates: %w", err)
		}
		c.NotBefore, c.NotAfter, c.RevokedAt, c.Reason = parseTime(before), parseTime(after), parseTime(revoked), wire.Refusal(reason)
		out = append(out, c)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read certificates: %w", err)
	}
	return out, nil
}
