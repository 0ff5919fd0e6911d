package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// inSQLite is the dialect of a database of this process alone, whose one connection writes.
type inSQLite struct{}

func (inSQLite) turn(context.Context, *sql.Tx) error { return nil }
func (inSQLite) conflict(error) bool                 { return false }
func (inSQLite) isolation() *sql.TxOptions           { return nil }
func (inSQLite) patience() time.Duration             { return 0 } // and statements need no watching, which costs

// streamsRead is how many streams one statement reads. Places without a stream are filled with NULL, which finds nothing, so
// that there is one statement to prepare.
const streamsRead = 32

var readStreams = `WITH k(n, site, kiosk_id, stream_id) AS (VALUES (?,?,?,?)` + strings.Repeat(",(?,?,?,?)", streamsRead-1) + `)
	SELECT k.n, coalesce(s.acked_seq, 0), coalesce(s.max_seq, 0), coalesce(s.chain_broken, 0), coalesce(e.hash, ''),
		EXISTS (SELECT 1 FROM answered a WHERE a.site = k.site AND a.kiosk_id = k.kiosk_id AND a.stream_id = k.stream_id
			AND a.to_seq > coalesce(s.acked_seq, 0)) -- an answer may have come before the stream
	FROM k LEFT JOIN streams s ON s.site = k.site AND s.kiosk_id = k.kiosk_id AND s.stream_id = k.stream_id
	LEFT JOIN events e ON e.site = k.site AND e.kiosk_id = k.kiosk_id AND e.stream_id = k.stream_id AND e.seq = s.acked_seq
	WHERE k.n IS NOT NULL`

func (inSQLite) streams(ctx context.Context, tx *sql.Tx, keys []streamKey) ([]streamState, error) {
	stmt, err := tx.PrepareContext(ctx, readStreams)
	if err != nil {
		return nil, err
	}
	out := make([]streamState, len(keys))
	for from := 0; from < len(keys); from += streamsRead {
		if err := sqliteStreams(ctx, stmt, keys[from:min(from+streamsRead, len(keys))], out[from:]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// sqliteStreams reads at most streamsRead streams.
func sqliteStreams(ctx context.Context, stmt *sql.Stmt, keys []streamKey, out []streamState) error {
	args := make([]any, 4*streamsRead)
	for i, k := range keys {
		args[4*i], args[4*i+1], args[4*i+2], args[4*i+3] = i, k.addr.Site, k.addr.Kiosk, k.id
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var n int
		var st streamState
		if err := rows.Scan(&n, &st.acked, &st.max, &st.chainBroken, &st.ackedHash, &st.answered); err != nil {
			return err
		}
		out[n] = st
	}
	return rows.Err()
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
