package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"docent/sync/hub/rollout"
	"docent/sync/wire"
)

// Bounds of what is kept and read of rollouts.
const (
	maxRollouts = 100 // over ones that are kept, the newest
	maxParts    = 50  // rollouts that are looked at for what one kiosk shall show, the newest
)

// rolloutColumns are those that scanRollout reads.
const rolloutColumns = `seq, version, doc`

func scanRollout(row interface{ Scan(...any) error }) (rollout.Rollout, error) {
	var r rollout.Rollout
	var doc string
	var seq, version int64
	if err := row.Scan(&seq, &version, &doc); err != nil {
		return r, err
	}
	if err := json.Unmarshal([]byte(doc), &r); err != nil {
		return r, fmt.Errorf("rollout %d: %w", seq, err)
	}
	r.Seq, r.Version = seq, version
	return r, nil
}

// AddRollout stores a new rollout behind all others. It touches no kiosk before it is published.
func (s *Store) AddRollout(ctx context.Context, r rollout.Rollout) error {
	doc, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("store rollout: %w", err)
	}
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		var last int64
		if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM rollouts`).Scan(&last); err != nil {
			return err
		}
		// Of two processes that choose the same place in the order, one waits for the other and is refused.
		res, err := tx.ExecContext(ctx, `INSERT INTO rollouts (id, seq, version, state, release_id, number, back, whole, doc)
			VALUES (?,?,1,?,?,?,?,?,?) ON CONFLICT DO NOTHING`,
			r.ID, last+1, string(r.State), r.Release.ID, r.Release.Number, flag(r.Back), flag(r.Plan.Whole()), string(doc))
		if err != nil {
			return err
		}
		return changed(res)
	})
	if err != nil {
		return fmt.Errorf("store rollout: %w", err)
	}
	return nil
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// changed is rollout.ErrConflict where a statement has changed nothing.
func changed(res sql.Result) error {
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		return rollout.ErrConflict
	}
	return err
}

// OpenRollouts lists the rollouts that are not over, in their order.
func (s *Store) OpenRollouts(ctx context.Context) ([]rollout.Rollout, error) {
	out, err := s.rollouts(ctx, `WHERE state NOT IN (?, ?) ORDER BY seq`, string(rollout.Stopped), string(rollout.Finished))
	if err != nil {
		return nil, fmt.Errorf("read rollouts: %w", err)
	}
	return out, nil
}

// Rollouts lists the newest rollouts, the newest first.
func (s *Store) Rollouts(ctx context.Context, limit int) ([]rollout.Rollout, error) {
	out, err := s.rollouts(ctx, `ORDER BY seq DESC LIMIT ?`, limit)
	if err != nil {
		return nil, fmt.Errorf("read rollouts: %w", err)
	}
	return out, nil
}

// Rollout returns a rollout by its id, or ErrNotFound.
func (s *Store) Rollout(ctx context.Context, id string) (rollout.Rollout, error) {
	out, err := s.rollouts(ctx, `WHERE id = ?`, id)
	if err == nil && len(out) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return rollout.Rollout{}, fmt.Errorf("read rollout: %w", err)
	}
	return out[0], nil
}

func (s *Store) rollouts(ctx context.Context, where string, args ...any) ([]rollout.Rollout, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT `+rolloutColumns+` FROM rollouts `+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := []rollout.Rollout{}
	for rows.Next() {
		r, err := scanRollout(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

// RolloutTallies counts the kiosks of each of a rollout's groups.
func (s *Store) RolloutTallies(ctx context.Context, r rollout.Rollout) ([]rollout.Tally, error) {
	t, err := tallies(ctx, s.read, r)
	if err != nil {
		return nil, fmt.Errorf("count the kiosks of a rollout: %w", err)
	}
	return t, nil
}

// querier is the database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func tallies(ctx context.Context, q querier, r rollout.Rollout) ([]rollout.Tally, error) {
	rows, err := q.QueryContext(ctx, `SELECT grp, state, CASE WHEN begun_at = '' THEN 0 ELSE 1 END, count(*) FROM rollout_kiosks
		WHERE rollout = ? GROUP BY 1, 2, 3`, r.ID)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := make([]rollout.Tally, len(r.Plan.Groups))
	for rows.Next() {
		var group, begun, n int
		var state string
		if err := rows.Scan(&group, &state, &begun, &n); err != nil {
			return nil, err
		}
		if group < 0 || group >= len(out) {
			return nil, fmt.Errorf("rollout %s has no group %d", r.ID, group)
		}
		out[group].Add(rollout.Progress(state), begun == 1, n)
	}
	return out, rows.Err()
}

// memberColumns are those that scanMember reads.
const memberColumns = `site, kiosk_id, grp, state, started_at, begun_at, ended_at, said_at, code, detail, late`

func scanMember(row interface{ Scan(...any) error }) (rollout.Member, error) {
	var m rollout.Member
	var started, begun, ended, said string
	err := row.Scan(&m.Kiosk.Site, &m.Kiosk.Kiosk, &m.Group, &m.State, &started, &begun, &ended, &said, &m.Code, &m.Detail, &m.Late)
	m.StartedAt, m.BegunAt, m.EndedAt, m.SaidAt = parseTime(started), parseTime(begun), parseTime(ended), parseTime(said)
	return m, err
}

// RolloutMembers lists the kiosks of a rollout by group, site and name.
func (s *Store) RolloutMembers(ctx context.Context, id string) ([]rollout.Member, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT `+memberColumns+` FROM rollout_kiosks WHERE rollout = ? ORDER BY grp, site, kiosk_id`, id)
	if err != nil {
		return nil, fmt.Errorf("read the kiosks of a rollout: %w", err)
	}
	defer rows.Close()
	out := []rollout.Member{}
	for rows.Next() {
		m, err := scanMember(rows)
		if err != nil {
			return nil, fmt.Errorf("read the kiosks of a rollout: %w", err)
		}
		out = append(out, m)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the kiosks of a rollout: %w", err)
	}
	return out, nil
}

// RolloutParts returns the rollouts as one kiosk sees them, the newest first.
func (s *Store) RolloutParts(ctx context.Context, kiosk wire.Address) ([]rollout.Part, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT r.id, r.release_id, r.number, r.back, r.whole, r.state,
		coalesce(m.grp, 0), coalesce(m.state, ''), coalesce(m.started_at, ''), coalesce(m.begun_at, ''), coalesce(m.ended_at, ''),
		coalesce(m.said_at, ''), coalesce(m.code, ''), coalesce(m.detail, ''), coalesce(m.late, '')
		FROM rollouts r LEFT JOIN rollout_kiosks m ON m.rollout = r.id AND m.site = ? AND m.kiosk_id = ?
		ORDER BY r.seq DESC LIMIT ?`, kiosk.Site, kiosk.Kiosk, maxParts)
	if err != nil {
		return nil, fmt.Errorf("read the rollouts of a kiosk: %w", err)
	}
	defer rows.Close()
	var out []rollout.Part
	for rows.Next() {
		var p rollout.Part
		var back, whole int
		var started, begun, ended, said string
		m := rollout.Member{Kiosk: kiosk}
		if err := rows.Scan(&p.ID, &p.Release.ID, &p.Release.Number, &back, &whole, &p.State,
			&m.Group, &m.State, &started, &begun, &ended, &said, &m.Code, &m.Detail, &m.Late); err != nil {
			return nil, fmt.Errorf("read the rollouts of a kiosk: %w", err)
		}
		p.Back, p.Whole = back == 1, whole == 1
		if m.State != "" {
			m.StartedAt, m.BegunAt, m.EndedAt, m.SaidAt = parseTime(started), parseTime(begun), parseTime(ended), parseTime(said)
			p.Member = &m
		}
		out = append(out, p)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the rollouts of a kiosk: %w", err)
	}
	return out, nil
}
