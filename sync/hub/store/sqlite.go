package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// inSQLite is the dialect of a database of this process alone, whose one connection writes.
type inSQLite struct{}

func (inSQLite) turn(context.Context, *sql.Tx) error { return nil }
func (inSQLite) conflict(error) bool                 { return false }
func (inSQLite) isolation() *sql.TxOptions           { return nil }
func (inSQLite) patience() time.Duration             { return 0 } // and statements need no watching, which costs

func (inSQLite) streams(ctx context.Context, tx *sql.Tx, keys []streamKey) ([]streamState, error) {
	stmt, err := tx.PrepareContext(ctx, `SELECT s.acked_seq, s.max_seq, s.chain_broken, coalesce(e.hash, ''), EXISTS (SELECT 1 FROM answered a
			WHERE a.site = s.site AND a.kiosk_id = s.kiosk_id AND a.stream_id = s.stream_id AND a.to_seq > s.acked_seq)
		FROM streams s LEFT JOIN events e ON e.site = s.site AND e.kiosk_id = s.kiosk_id AND e.stream_id = s.stream_id AND e.seq = s.acked_seq
		WHERE s.site=? AND s.kiosk_id=? AND s.stream_id=?`)
	if err != nil {
		return nil, err
	}
	out := make([]streamState, len(keys))
	for i, k := range keys {
		st := &out[i]
		err := stmt.QueryRowContext(ctx, k.addr.Site, k.addr.Kiosk, k.id).Scan(&st.acked, &st.max, &st.chainBroken, &st.ackedHash, &st.answered)
		if errors.Is(err, sql.ErrNoRows) {
			// An answer may have come before the stream.
			err = tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM answered WHERE site=? AND kiosk_id=? AND stream_id=?)`,
				k.addr.Site, k.addr.Kiosk, k.id).Scan(&st.answered)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (inSQLite) insert(ctx context.Context, tx *sql.Tx, items []item) error {
	// The database would count up for events that are here already, too.
	var id int64
	if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(id), 0) FROM events`).Scan(&id); err != nil {
		return err
	}
	stmt, err := tx.PrepareContext(ctx, `INSERT INTO events
		(id, site, kiosk_id, stream_id, seq, event_id, type, data, ts_wall, ts_mono_ms, boot_id, clock_synced, prev_hash, hash, received_at)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING`)
	if err != nil {
		return err
	}
	for i := range items {
		it := &items[i]
		e := it.Event
		res, err := stmt.ExecContext(ctx, id+1, it.From.Site, it.From.Kiosk, e.StreamID, e.Seq, e.EventID, e.Type, string(e.Data),
			formatTime(e.TSWall), e.TSMonoMS, e.BootID, e.ClockSynced, e.PrevHash, it.hash, formatTime(it.At))
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if err != nil {
			return err
		}
		if n == 1 {
			it.outcome = stored
			id++
		} else if it.outcome, err = sqliteOutcome(ctx, tx, *it); err != nil {
			return err
		}
	}
	return nil
}

// sqliteOutcome looks at what has the number or the id of an event.
func sqliteOutcome(ctx context.Context, tx *sql.Tx, it item) (outcome, error) {
	var number string
	err := tx.QueryRowContext(ctx, `SELECT hash FROM events WHERE site=? AND kiosk_id=? AND stream_id=? AND seq=?`,
		it.From.Site, it.From.Kiosk, it.Event.StreamID, it.Event.Seq).Scan(&number)
	if err == nil {
		return judge(it, number, content{}), nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return "", err
	}
	var c content
	err = tx.QueryRowContext(ctx, `SELECT type, data, ts_wall FROM events WHERE site=? AND kiosk_id=? AND event_id=?`,
		it.From.Site, it.From.Kiosk, it.Event.EventID).Scan(&c.typ, &c.data, &c.wall)
	return judge(it, "", c), err
}

func (inSQLite) save(ctx context.Context, tx *sql.Tx, keys []streamKey, states []*streamState, at string) error {
	stmt, err := tx.PrepareContext(ctx, `INSERT INTO streams (site, kiosk_id, stream_id, acked_seq, max_seq, chain_broken, last_at) VALUES (?,?,?,?,?,?,?)
		ON CONFLICT (site, kiosk_id, stream_id) DO UPDATE SET acked_seq = excluded.acked_seq, max_seq = excluded.max_seq,
		chain_broken = excluded.chain_broken, last_at = excluded.last_at`)
	if err != nil {
		return err
	}
	for i, k := range keys {
		st := states[i]
		if _, err := stmt.ExecContext(ctx, k.addr.Site, k.addr.Kiosk, k.id, st.acked, st.max, st.chainBroken, at); err != nil {
			return err
		}
	}
	return nil
}

// forget returns when the words are gone from the database's file and from its log, unless a reader holds the log: then
// they go with the next call.
func (inSQLite) forget(ctx context.Context, db *sql.DB, site string, visits []string) error {
	// What is replaced is overwritten. The setting is the connection's, and there is one that writes.
	if _, err := db.ExecContext(ctx, `PRAGMA secure_delete = ON`); err != nil {
		return fmt.Errorf("overwrite what is replaced: %w", err)
	}
	for _, v := range visits {
		_, err := db.ExecContext(ctx, `UPDATE events SET data = json_object('visit', json_extract(data, '$.visit'))
			WHERE site = ? AND type IN ('question.answered', 'question.unanswered') AND json_extract(data, '$.visit') = ?`, site, v)
		if err != nil {
			return fmt.Errorf("take words out of events: %w", err)
		}
		if _, err := db.ExecContext(ctx, `DELETE FROM quarantine WHERE site = ? AND instr(CAST(payload AS TEXT), ?) > 0`, site, v); err != nil {
			return fmt.Errorf("remove refused words: %w", err)
		}
	}
	if _, err := db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		return fmt.Errorf("empty the log: %w", err)
	}
	return nil
}
