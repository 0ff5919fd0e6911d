package store

import (
	"context"
	"fmt"
	"time"

	"docent/sync/wire"
)

// Screenshot is a command that a kiosk has answered with a picture of its screen.
type Screenshot struct {
	ID string    `json:"id"` // of the command
	At time.Time `json:"at"` // by the hub's clock
}

// Screenshots returns the newest one of each kiosk that has any.
func (s *Store) Screenshots(ctx context.Context) (map[wire.Address]Screenshot, error) {
	// Ids are in the order of time, and a kiosk does its commands in theirs.
	rows, err := s.read.QueryContext(ctx, `SELECT site, kiosk_id, MAX(id), MAX(at) FROM commands
		WHERE name = 'screenshot' AND status = 'done' GROUP BY site, kiosk_id`)
	if err != nil {
		return nil, fmt.Errorf("read screenshots: %w", err)
	}
	defer rows.Close()
	out := map[wire.Address]Screenshot{}
	for rows.Next() {
		var kiosk wire.Address
		var shot Screenshot
		var at string
		if err := rows.Scan(&kiosk.Site, &kiosk.Kiosk, &shot.ID, &at); err != nil {
			return nil, fmt.Errorf("read screenshots: %w", err)
		}
		shot.At = parseTime(at)
		out[kiosk] = shot
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read screenshots: %w", err)
	}
	return out, nil
}
