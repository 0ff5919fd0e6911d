package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"docent/sync/hub/rollout"
	"docent/sync/wire"
)

// ChangeRollout changes a rollout and its kiosks in one transaction, by what f makes of what they are now; nothing else
// changes the rollout in between. late tells whether kiosks that have had their time count as timed out now. It tells
// whether anything has changed. rollout.ErrConflict is for a rollout that another process has just changed.
func (s *Store) ChangeRollout(ctx context.Context, id string, now time.Time, late bool, f rollout.Change) (did bool, err error) {
	r, err := s.Rollout(ctx, id)
	if err != nil {
		return false, err
	}
	quiet, err := s.quiet(ctx, r, now, late, f)
	if err != nil || quiet {
		return false, err
	}
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		r, err := scanRollout(tx.QueryRowContext(ctx, `SELECT `+rolloutColumns+` FROM rollouts WHERE id = ?`, id))
		if err != nil {
			return err
		}
		// First, so that another process that would change it too waits here, and then finds another version.
		res, err := tx.ExecContext(ctx, `UPDATE rollouts SET version = version + 1 WHERE id = ? AND version = ?`, id, r.Version)
		if err != nil {
			return err
		}
		if err := changed(res); err != nil {
			return err
		}
		if !r.State.Over() && r.State != rollout.Creating {
			if err := join(ctx, tx, r); err != nil {
				return err
			}
			if late {
				if err := timeOut(ctx, tx, r, now); err != nil {
					return err
				}
			}
		}
		t, err := tallies(ctx, tx, r)
		if err != nil {
			return err
		}
		e, err := f(&r, t)
		if err != nil {
			return err
		}
		if err := apply(ctx, tx, r, e, now); err != nil {
			return err
		}
		return writeRollout(ctx, tx, r)
	})
	if err != nil {
		return false, fmt.Errorf("change rollout %s: %w", id, err)
	}
	return true, nil
}

// quiet tells whether there is nothing to change, without writing.
func (s *Store) quiet(ctx context.Context, r rollout.Rollout, now time.Time, late bool, f rollout.Change) (bool, error) {
	if !r.State.Over() && r.State != rollout.Creating {
		if r.Plan.Whole() {
			fresh, err := newcomers(ctx, s.read, r)
			if err != nil || len(fresh) > 0 {
				return false, err
			}
		}
		for i := 0; late && i < r.Begun; i++ {
			var n int
			if err := s.read.QueryRowContext(ctx, `SELECT count(*) FROM rollout_kiosks WHERE `+overdue(r), r.ID, i, string(rollout.Going), formatTime(r.Cutoff(i, now))).Scan(&n); err != nil {
				return false, fmt.Errorf("read rollout: %w", err)
			}
			if n > 0 {
				return false, nil
			}
		}
	}
	t, err := tallies(ctx, s.read, r)
	if err != nil {
		return false, fmt.Errorf("read rollout: %w", err)
	}
	e, err := f(&r, t)
	if err != nil {
		return false, fmt.Errorf("change rollout %s: %w", r.ID, err)
	}
	return !e.Change && !e.Enter && !e.Renew && !e.Abort && len(e.Start) == 0, nil
}

// overdue is the condition for kiosks that have had their time: those of a group that were told before, and while others
// are held back only those that had begun.
func overdue(r rollout.Rollout) string {
	where := `rollout = ? AND grp = ? AND state = ? AND started_at <= ?`
	if r.Holds() {
		where += ` AND begun_at <> ''`
	}
	return where
}

func timeOut(ctx context.Context, tx *sql.Tx, r rollout.Rollout, now time.Time) error {
	for i := range r.Begun {
		_, err := tx.ExecContext(ctx, `UPDATE rollout_kiosks SET state = ?, ended_at = ? WHERE `+overdue(r),
			string(rollout.TimedOut), formatTime(now), r.ID, i, string(rollout.Going), formatTime(r.Cutoff(i, now)))
		if err != nil {
			return err
		}
	}
	return nil
}

// newcomers are kiosks that are in none of the rollout's groups and have not been shut out.
func newcomers(ctx context.Context, q querier, r rollout.Rollout) ([]rollout.Candidate, error) {
	rows, err := q.QueryContext(ctx, `SELECT site, kiosk_id, CASE WHEN state IN (?, ?) THEN 0 ELSE 1 END FROM kiosks k
		WHERE NOT EXISTS (SELECT 1 FROM rollout_kiosks m WHERE m.rollout = ? AND m.site = k.site AND m.kiosk_id = k.kiosk_id)
		AND NOT EXISTS (SELECT 1 FROM revocations v WHERE v.site = k.site AND v.kiosk_id = k.kiosk_id AND v.reason = ?
			AND NOT EXISTS (SELECT 1 FROM certificates c WHERE c.site = k.site AND c.kiosk_id = k.kiosk_id AND c.revoked_at = ''))
		ORDER BY site, kiosk_id`, string(wire.PresenceLost), string(wire.PresenceDisconnected), r.ID, string(wire.RefusedRevoked))
	if err != nil {
		return nil, fmt.Errorf("read new kiosks: %w", err)
	}
	defer rows.Close()
	var out []rollout.Candidate
	for rows.Next() {
		var c rollout.Candidate
		var here int
		if err := rows.Scan(&c.Kiosk.Site, &c.Kiosk.Kiosk, &here); err != nil {
			return nil, fmt.Errorf("read new kiosks: %w", err)
		}
		c.Here = here == 1
		out = append(out, c)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read new kiosks: %w", err)
	}
	return out, nil
}

// join puts kiosks that came later into the last group, where that is for all the rest.
func join(ctx context.Context, tx *sql.Tx, r rollout.Rollout) error {
	if !r.Plan.Whole() {
		return nil
	}
	fresh, err := newcomers(ctx, tx, r)
	if err != nil {
		return err
	}
	for _, c := range fresh {
		if err := addMember(ctx, tx, r, c.Kiosk, len(r.Plan.Groups)-1); err != nil {
			return err
		}
	}
	return nil
}

func addMember(ctx context.Context, tx *sql.Tx, r rollout.Rollout, k wire.Address, group int) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO rollout_kiosks (rollout, site, kiosk_id, grp, state, started_at, begun_at, ended_at, said_at, code, detail, late)
		VALUES (?,?,?,?,?,'','','','','','','') ON CONFLICT (rollout, site, kiosk_id) DO NOTHING`, r.ID, k.Site, k.Kiosk, group, string(rollout.Held))
	return err
}

// apply does with the kiosks what a step asks for.
func apply(ctx context.Context, tx *sql.Tx, r rollout.Rollout, e rollout.Effects, now time.Time) error {
	if e.Enter {
		if err := enter(ctx, tx, r, now); err != nil {
			return err
		}
	}
	at := formatTime(now)
	for _, group := range e.Start {
		if _, err := tx.ExecContext(ctx, `UPDATE rollout_kiosks SET state = ?, started_at = ? WHERE rollout = ? AND grp = ? AND state = ?`,
			string(rollout.Going), at, r.ID, group, string(rollout.Held)); err != nil {
			return err
		}
	}
	if e.Renew {
		if _, err := tx.ExecContext(ctx, `UPDATE rollout_kiosks SET started_at = ? WHERE rollout = ? AND state = ? AND begun_at = ''`,
			at, r.ID, string(rollout.Going)); err != nil {
			return err
		}
	}
	if e.Abort {
		if _, err := tx.ExecContext(ctx, `UPDATE rollout_kiosks SET state = ?, ended_at = ? WHERE rollout = ? AND state IN (?, ?, ?)`,
			string(rollout.Aborted), at, r.ID, string(rollout.Held), string(rollout.Going), string(rollout.TimedOut)); err != nil {
			return err
		}
	}
	return nil
}

// enter stops the rollouts before this one, puts all kiosks into its groups, and forgets the oldest rollouts.
func enter(ctx context.Context, tx *sql.Tx, r rollout.Rollout, now time.Time) error {
	if err := stopBefore(ctx, tx, r, now); err != nil {
		return err
	}
	known, err := newcomers(ctx, tx, r)
	if err != nil {
		return err
	}
	for k, group := range r.Plan.Assign(known) {
		if err := addMember(ctx, tx, r, k, group); err != nil {
			return err
		}
	}
	old := `SELECT id FROM rollouts WHERE seq <= ? AND state IN (?, ?)
		AND seq < (SELECT coalesce(max(seq), 0) FROM rollouts WHERE state = ? AND whole = 1)`
	for _, from := range []string{`rollout_kiosks WHERE rollout`, `rollouts WHERE id`} {
		if _, err := tx.ExecContext(ctx, `DELETE FROM `+from+` IN (`+old+`)`,
			r.Seq-maxRollouts, string(rollout.Finished), string(rollout.Stopped), string(rollout.Finished)); err != nil {
			return err
		}
	}
	return nil
}

func stopBefore(ctx context.Context, tx *sql.Tx, r rollout.Rollout, now time.Time) error {
	rows, err := tx.QueryContext(ctx, `SELECT `+rolloutColumns+` FROM rollouts WHERE seq < ? AND state NOT IN (?, ?) ORDER BY seq`,
		r.Seq, string(rollout.Finished), string(rollout.Stopped))
	if err != nil {
		return err
	}
	defer rows.Close()
	var open []rollout.Rollout
	for rows.Next() {
		o, err := scanRollout(rows)
		if err != nil {
			return err
		}
		open = append(open, o)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, o := range open {
		res, err := tx.ExecContext(ctx, `UPDATE rollouts SET version = version + 1 WHERE id = ? AND version = ?`, o.ID, o.Version)
		if err != nil {
			return err
		}
		if err := changed(res); err != nil {
			return err
		}
		e, err := o.Abort(rollout.Reason{Code: rollout.Superseded, Text: r.ID}, now)
		if err != nil {
			return err
		}
		if err := apply(ctx, tx, o, e, now); err != nil {
			return err
		}
		if err := writeRollout(ctx, tx, o); err != nil {
			return err
		}
	}
	return nil
}

func writeRollout(ctx context.Context, tx *sql.Tx, r rollout.Rollout) error {
	doc, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE rollouts SET state = ?, doc = ? WHERE id = ?`, string(r.State), string(doc), r.ID)
	return err
}

// ReportRollout notes what a kiosk's report means for the rollout it is about, and tells whether that has changed how the
// kiosk stands in it. A report that comes while the rollout is being stopped counts before or after that, never in between.
func (s *Store) ReportRollout(ctx context.Context, from wire.Address, d wire.Deploy, now time.Time) (did bool, err error) {
	for range conflicts {
		parts, err := s.RolloutParts(ctx, from)
		if err != nil {
			return false, err
		}
		p := rollout.About(parts, d)
		if p == nil {
			return false, nil
		}
		m, differs := p.Report(d, now)
		if !differs {
			return false, nil
		}
		var n int64
		err = s.together(ctx, func(ctx context.Context, tx *sql.Tx) error {
			res, err := tx.ExecContext(ctx, `UPDATE rollout_kiosks SET state = ?, begun_at = ?, ended_at = ?, said_at = ?, code = ?, detail = ?, late = ?
				WHERE rollout = ? AND site = ? AND kiosk_id = ? AND state = ? AND started_at = ?`,
				string(m.State), optionalTime(m.BegunAt), optionalTime(m.EndedAt), optionalTime(m.SaidAt), m.Code, m.Detail, string(m.Late),
				p.ID, from.Site, from.Kiosk, string(p.Member.State), optionalTime(p.Member.StartedAt))
			if err == nil {
				n, err = res.RowsAffected()
			}
			return err
		})
		if err != nil {
			return false, fmt.Errorf("store report on rollout %s: %w", p.ID, err)
		}
		if n == 1 {
			return true, nil
		}
	}
	return false, fmt.Errorf("store report on a rollout: %w", rollout.ErrConflict)
}

// conflicts is how often a report is tried again whose kiosk's place in the rollout was changed meanwhile.
const conflicts = 5

// optionalTime writes a time that may not be known.
func optionalTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return formatTime(t)
}
