package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"docent/sync/wire"
)

// SetDeployment stores what a kiosk says about its content; it replaces what the kiosk said before.
func (s *Store) SetDeployment(ctx context.Context, addr wire.Address, d wire.Deploy, at time.Time) error {
	err := s.together(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO deployments
			(site, kiosk_id, deployment, shown, release_id, number, status, done, total, code, detail, rolled_back, resumed, at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)
			ON CONFLICT (site, kiosk_id) DO UPDATE SET deployment = excluded.deployment, shown = excluded.shown, release_id = excluded.release_id,
			number = excluded.number, status = excluded.status, done = excluded.done, total = excluded.total, code = excluded.code,
			detail = excluded.detail, rolled_back = excluded.rolled_back, resumed = excluded.resumed, at = excluded.at`,
			addr.Site, addr.Kiosk, d.Deployment, d.Shown, d.ReleaseID, d.Number, string(d.Status), d.Done, d.Of, d.Code, d.Detail, d.RolledBack, d.Resumed, formatTime(at))
		return err
	})
	if err != nil {
		return fmt.Errorf("store deployment: %w", err)
	}
	return nil
}

// Deployments returns what kiosks last said about their content.
func (s *Store) Deployments(ctx context.Context) (map[wire.Address]wire.Deploy, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT site, kiosk_id, deployment, shown, release_id, number, status, done, total, code, detail, rolled_back, resumed, at FROM deployments`)
	if err != nil {
		return nil, fmt.Errorf("read deployments: %w", err)
	}
	defer rows.Close()
	out := map[wire.Address]wire.Deploy{}
	for rows.Next() {
		var a wire.Address
		var d wire.Deploy
		var at string
		if err := rows.Scan(&a.Site, &a.Kiosk, &d.Deployment, &d.Shown, &d.ReleaseID, &d.Number, &d.Status, &d.Done, &d.Of, &d.Code, &d.Detail, &d.RolledBack, &d.Resumed, &at); err != nil {
			return nil, fmt.Errorf("read deployments: %w", err)
		}
		d.TS = parseTime(at)
		out[a] = d
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read deployments: %w", err)
	}
	return out, nil
}
