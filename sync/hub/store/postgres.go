package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"docent/sync/hub/postgres"
)

// inPostgres is the dialect of a database that several hubs share.
type inPostgres struct{}

// turnLock is the advisory lock of whoever stores or forgets events.
const turnLock = 0x646f63656e740001

// turn lets one transaction after the other store events, over all hubs. So each sees all that was stored before it:
// what it acknowledges is there, numbers of arrival have no gaps and become visible in their order, and no event slips
// past a forgetting. A transaction stores what waits, as many events as there are; so the next one, which had to wait,
// stores more.
//
// Within the turn everything is looked up by an index: before statistics are made of a table that grows fast, the planner
// would rather read all of it.
func (inPostgres) turn(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(?), set_config('enable_hashjoin', 'off', true),
		set_config('enable_mergejoin', 'off', true), set_config('enable_seqscan', 'off', true)`, int64(turnLock))
	if err != nil {
		return fmt.Errorf("wait for a turn: %w", err)
	}
	return nil
}

func (inPostgres) conflict(err error) bool { return postgres.Conflict(err) }

// patience is longer than the server's own bound of a statement, 60 s.
func (inPostgres) patience() time.Duration { return 90 * time.Second }

func (inPostgres) isolation() *sql.TxOptions {
	return &sql.TxOptions{Isolation: sql.LevelSerializable}
}

// split are the columns of streams' keys.
func split(keys []streamKey) (sites, kiosks, ids []string) {
	for _, k := range keys {
		sites, kiosks, ids = append(sites, k.addr.Site), append(kiosks, k.addr.Kiosk), append(ids, k.id)
	}
	return sites, kiosks, ids
}

func (inPostgres) streams(ctx context.Context, tx *sql.Tx, keys []streamKey) ([]streamState, error) {
	sites, kiosks, ids := split(keys)
	// The hash with a query of its own: as a join, the planner reads all of a stream's events for it.
	rows, err := tx.QueryContext(ctx, `SELECT u.ord, coalesce(s.acked_seq, 0), coalesce(s.max_seq, 0), coalesce(s.chain_broken, 0),
			coalesce((SELECT hash FROM events e WHERE e.site = u.site AND e.kiosk_id = u.kiosk AND e.stream_id = u.id AND e.seq = s.acked_seq), ''),
			EXISTS (SELECT FROM answered a WHERE a.site = u.site AND a.kiosk_id = u.kiosk AND a.stream_id = u.id AND a.to_seq > coalesce(s.acked_seq, 0))
		FROM unnest(?::text[], ?::text[], ?::text[]) WITH ORDINALITY AS u(site, kiosk, id, ord)
		LEFT JOIN streams s ON s.site = u.site AND s.kiosk_id = u.kiosk AND s.stream_id = u.id`, sites, kiosks, ids)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := make([]streamState, len(keys))
	for rows.Next() {
		var place int
		var st streamState
		if err := rows.Scan(&place, &st.acked, &st.max, &st.chainBroken, &st.ackedHash, &st.answered); err != nil {
			return nil, err
		}
		out[place-1] = st
	}
	return out, rows.Err()
}

// idKey names an event by its id.
type idKey struct{ site, kiosk, id string }

func (it item) idKey() idKey { return idKey{it.From.Site, it.From.Kiosk, it.Event.EventID} }

// numberKey names an event by its number.
type numberKey struct {
	stream streamKey
	seq    uint64
}

func (it item) numberKey() numberKey {
	return numberKey{streamKey{it.From, it.Event.StreamID}, it.Event.Seq}
}

// columns are events by column, as arrays of PostgreSQL.
type columns struct {
	ids, seqs, monos                                         []int64
	synced                                                   []bool
	sites, kiosks, streams, events, types, data, walls, boot []string
	prevs, hashes, received, visits                          []string
}

func (c *columns) add(id int64, it item) {
	e := it.Event
	c.ids, c.seqs, c.monos = append(c.ids, id), append(c.seqs, int64(e.Seq)), append(c.monos, e.TSMonoMS)
	c.synced = append(c.synced, e.ClockSynced)
	c.sites, c.kiosks, c.streams = append(c.sites, it.From.Site), append(c.kiosks, it.From.Kiosk), append(c.streams, e.StreamID)
	c.events, c.types, c.data = append(c.events, e.EventID), append(c.types, e.Type), append(c.data, string(e.Data))
	c.walls, c.boot, c.prevs = append(c.walls, formatTime(e.TSWall)), append(c.boot, e.BootID), append(c.prevs, e.PrevHash)
	c.hashes, c.received, c.visits = append(c.hashes, it.hash), append(c.received, formatTime(it.At)), append(c.visits, Worded(it.Event.Type, it.Event.Data))
}

// Worded is the name of the visit whose words an event holds, empty where it holds none.
func Worded(typ string, data []byte) string {
	if typ != "question.answered" && typ != "question.unanswered" {
		return ""
	}
	var in struct {
		Visit string `json:"visit"`
	}
	if json.Unmarshal(data, &in) != nil {
		return ""
	}
	return in.Visit
}

// insert finds what is there already, with one query, and stores the rest, with another.
func (inPostgres) insert(ctx context.Context, tx *sql.Tx, items []item) error {
	if len(items) == 0 {
		return nil
	}
	numbers, ids, err := lookUp(ctx, tx, items)
	if err != nil {
		return err
	}
	var id int64
	if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(id), 0) FROM events`).Scan(&id); err != nil {
		return err
	}
	var c columns
	for i := range items {
		it := &items[i]
		number, taken := numbers[it.numberKey()]
		has, there := ids[it.idKey()]
		if taken || there {
			it.outcome = judge(*it, number, has)
			continue
		}
		id++
		c.add(id, *it)
		it.outcome = stored
		numbers[it.numberKey()] = it.hash
		ids[it.idKey()] = content{it.Event.Type, string(it.Event.Data), formatTime(it.Event.TSWall)}
	}
	if len(c.ids) == 0 {
		return nil
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO events (id, site, kiosk_id, stream_id, seq, event_id, type, data, ts_wall, ts_mono_ms, boot_id, clock_synced,
			prev_hash, hash, received_at, visit)
		SELECT * FROM unnest(?::bigint[], ?::text[], ?::text[], ?::text[], ?::bigint[], ?::text[], ?::text[], ?::text[], ?::text[], ?::bigint[], ?::text[],
			?::boolean[], ?::text[], ?::text[], ?::text[], ?::text[])`,
		c.ids, c.sites, c.kiosks, c.streams, c.seqs, c.events, c.types, c.data, c.walls, c.monos, c.boot, c.synced, c.prevs, c.hashes, c.received, c.visits)
	return err
}

// lookUp finds the events that have the number or the id of one of the items.
func lookUp(ctx context.Context, tx *sql.Tx, items []item) (map[numberKey]string, map[idKey]content, error) {
	var sites, kiosks, streams, events []string
	var seqs []int64
	for _, it := range items {
		sites, kiosks, streams = append(sites, it.From.Site), append(kiosks, it.From.Kiosk), append(streams, it.Event.StreamID)
		seqs, events = append(seqs, int64(it.Event.Seq)), append(events, it.Event.EventID)
	}
	numbers, ids := map[numberKey]string{}, map[idKey]content{}
	rows, err := tx.QueryContext(ctx, `SELECT u.ord, coalesce(n.hash, ''), i.id IS NOT NULL, coalesce(i.type, ''), coalesce(i.data, ''), coalesce(i.ts_wall, '')
		FROM unnest(?::text[], ?::text[], ?::text[], ?::bigint[], ?::text[]) WITH ORDINALITY AS u(site, kiosk, stream, seq, event, ord)
		LEFT JOIN events n ON n.site = u.site AND n.kiosk_id = u.kiosk AND n.stream_id = u.stream AND n.seq = u.seq
		LEFT JOIN events i ON i.site = u.site AND i.kiosk_id = u.kiosk AND i.event_id = u.event
		WHERE n.id IS NOT NULL OR i.id IS NOT NULL`, sites, kiosks, streams, seqs, events)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var place int
		var number string
		var there bool
		var c content
		if err := rows.Scan(&place, &number, &there, &c.typ, &c.data, &c.wall); err != nil {
			return nil, nil, err
		}
		it := items[place-1]
		if number != "" {
			numbers[it.numberKey()] = number
		}
		if there {
			ids[it.idKey()] = c
		}
	}
	return numbers, ids, rows.Err()
}

func (inPostgres) save(ctx context.Context, tx *sql.Tx, keys []streamKey, states []*streamState, at string) error {
	sites, kiosks, ids := split(keys)
	var acked, highest, broken []int64
	for _, st := range states {
		acked, highest, broken = append(acked, int64(st.acked)), append(highest, int64(st.max)), append(broken, int64(st.chainBroken))
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO streams (site, kiosk_id, stream_id, acked_seq, max_seq, chain_broken, last_at)
		SELECT u.*, ?::text FROM unnest(?::text[], ?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[]) AS u
		ON CONFLICT (site, kiosk_id, stream_id) DO UPDATE SET acked_seq = excluded.acked_seq, max_seq = excluded.max_seq,
		chain_broken = excluded.chain_broken, last_at = excluded.last_at`, at, sites, kiosks, ids, acked, highest, broken)
	return err
}

// forget takes its turn, so that it also sees what was being stored when the visit was forgotten.
func (d inPostgres) forget(ctx context.Context, db *sql.DB, site string, visits []string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := d.turn(ctx, tx); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE events SET data = '{"visit":' || to_json(visit)::text || '}' WHERE site = ? AND visit = ANY(?) AND visit <> ''`, site, visits)
	if err != nil {
		return fmt.Errorf("take words out of events: %w", err)
	}
	for _, v := range visits {
		if _, err := tx.ExecContext(ctx, `DELETE FROM quarantine WHERE site = ? AND position(?::bytea IN payload) > 0`, site, []byte(v)); err != nil {
			return fmt.Errorf("remove refused words: %w", err)
		}
	}
	return tx.Commit()
}
