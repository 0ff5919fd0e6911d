package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"docent/sync/wire"
)

// LostType is the type of event by which a kiosk tells that a range of its events is gone.
const LostType = "outbox.lost"

// maxQuarantine bounds the quarantine; the oldest rows give way.
const maxQuarantine = 1000

// maxScan bounds how many rows above a gap are read to say what is missing.
const maxScan = 20000

// Arrival is one event as it came in, or what could not be read as one.
type Arrival struct {
	From  wire.Address
	At    time.Time // hub's clock
	Event wire.Event
	Raw   []byte // canonical bytes of Event; for an unreadable arrival the payload
	// Refused is why the arrival is no event of this kiosk; empty when it is one.
	Refused string
}

// Receipt is what became of a batch.
type Receipt struct {
	Stored      int
	Duplicates  int
	Quarantined int
	Broken      int // streams whose hash chain was found broken just now
	Acks        []Ack
}

// Ack is an acknowledgement and whom it is for.
type Ack struct {
	To  wire.Address
	Ack wire.Ack
}

type streamKey struct {
	addr wire.Address
	id   string
}

// streamState is a stream's row while a batch is being stored.
type streamState struct {
	acked, max  uint64
	ackedHash   string   // of event acked, where it was just read; empty: not known
	refused     []uint64 // numbers of this batch that went to the quarantine
	chainBroken uint64
}

// Put stores a batch in one transaction and returns when it is on the disk. Storing an event again changes nothing,
// also under another number: a kiosk that had to number its events anew sends them with the ids they had. An event
// whose number or id is taken by another event goes to the quarantine and does not count as received. On an error
// nothing of the batch is stored.
func (s *Store) Put(ctx context.Context, batch []Arrival) (Receipt, error) {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return Receipt{}, fmt.Errorf("store events: %w", err)
	}
	defer tx.Rollback()
	p := &put{ctx: ctx, tx: tx, streams: map[streamKey]*streamState{}}
	for _, a := range batch {
		if err := p.arrival(a); err != nil {
			return Receipt{}, fmt.Errorf("store events: %w", err)
		}
	}
	for _, k := range p.order {
		if err := p.finish(k, batch[0].At); err != nil {
			return Receipt{}, fmt.Errorf("store events: %w", err)
		}
	}
	if err := tx.Commit(); err != nil {
		return Receipt{}, fmt.Errorf("store events: %w", err)
	}
	return p.receipt, nil
}

// put is one Put under way.
type put struct {
	ctx     context.Context
	tx      *sql.Tx
	streams map[streamKey]*streamState
	order   []streamKey
	insert  *sql.Stmt
	receipt Receipt
}

func (p *put) arrival(a Arrival) error {
	if a.Refused != "" {
		if id, seq, ok := wire.Identify(a.Raw); ok {
			if err := p.refuse(streamKey{a.From, id}, seq); err != nil {
				return err
			}
		}
		return p.quarantine(a, a.Refused)
	}
	e := a.Event
	st, err := p.stream(streamKey{a.From, e.StreamID})
	if err != nil {
		return err
	}
	hash := wire.Hash(a.Raw)
	fresh, err := p.insertEvent(a, hash)
	if err != nil {
		return err
	}
	if !fresh {
		return p.repeated(a, hash)
	}
	p.receipt.Stored++
	st.max = max(st.max, e.Seq)
	if e.Type == LostType {
		return p.lost(a)
	}
	return nil
}

func (p *put) insertEvent(a Arrival, hash string) (fresh bool, err error) {
	if p.insert == nil {
		p.insert, err = p.tx.PrepareContext(p.ctx, `INSERT INTO events
			(site, kiosk_id, stream_id, seq, event_id, type, data, ts_wall, ts_mono_ms, boot_id, clock_synced, prev_hash, hash, received_at)
			VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING`)
		if err != nil {
			return false, err
		}
	}
	e := a.Event
	res, err := p.insert.ExecContext(p.ctx, a.From.Site, a.From.Kiosk, e.StreamID, e.Seq, e.EventID, e.Type, string(e.Data),
		formatTime(e.TSWall), e.TSMonoMS, e.BootID, e.ClockSynced, e.PrevHash, hash, formatTime(a.At))
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

// stream reads a stream's row, once a batch.
func (p *put) stream(k streamKey) (*streamState, error) {
	if st, ok := p.streams[k]; ok {
		return st, nil
	}
	st := &streamState{}
	err := p.tx.QueryRowContext(p.ctx, `SELECT acked_seq, max_seq, chain_broken FROM streams WHERE site=? AND kiosk_id=? AND stream_id=?`,
		k.addr.Site, k.addr.Kiosk, k.id).Scan(&st.acked, &st.max, &st.chainBroken)
	if err != nil && err != sql.ErrNoRows {
		return nil, err
	}
	p.streams[k] = st
	p.order = append(p.order, k)
	return st, nil
}

// repeated deals with an event whose number or id is here already.
func (p *put) repeated(a Arrival, hash string) error {
	e := a.Event
	var stored string
	err := p.tx.QueryRowContext(p.ctx, `SELECT hash FROM events WHERE site=? AND kiosk_id=? AND stream_id=? AND seq=?`,
		a.From.Site, a.From.Kiosk, e.StreamID, e.Seq).Scan(&stored)
	switch {
	case err == nil && stored == hash:
		p.receipt.Duplicates++
		return nil
	case err == nil:
		if err := p.refuse(streamKey{a.From, e.StreamID}, e.Seq); err != nil {
			return err
		}
		return p.quarantine(a, "another event has this number")
	case err != sql.ErrNoRows:
		return err
	}
	var typ, data, wall string
	err = p.tx.QueryRowContext(p.ctx, `SELECT type, data, ts_wall FROM events WHERE site=? AND kiosk_id=? AND event_id=?`,
		a.From.Site, a.From.Kiosk, e.EventID).Scan(&typ, &data, &wall)
	if err != nil {
		return err
	}
	if typ != e.Type || data != string(e.Data) || wall != formatTime(e.TSWall) {
		if err := p.refuse(streamKey{a.From, e.StreamID}, e.Seq); err != nil {
			return err
		}
		return p.quarantine(a, "another event has this id")
	}
	p.receipt.Duplicates++
	return p.answer(streamKey{a.From, e.StreamID}, wire.Range{e.Seq, e.Seq}, "duplicate", "event "+e.EventID, a.At)
}

func (p *put) answer(k streamKey, r wire.Range, kind, reason string, at time.Time) error {
	_, err := p.tx.ExecContext(p.ctx, `INSERT INTO answered (site, kiosk_id, stream_id, from_seq, to_seq, kind, reason, at)
		VALUES (?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING`,
		k.addr.Site, k.addr.Kiosk, k.id, r[0], r[1], kind, reason, formatTime(at))
	return err
}

// lost notes, of a range that the kiosk has told is gone, what is not here.
func (p *put) lost(a Arrival) error {
	var l struct {
		StreamID string `json:"stream_id"`
		From     uint64 `json:"from_seq"`
		To       uint64 `json:"to_seq"`
		Reason   string `json:"reason"`
	}
	err := json.Unmarshal(a.Event.Data, &l)
	if err != nil || (wire.Ack{StreamID: l.StreamID, Missing: []wire.Range{{l.From, l.To}}}).Validate() != nil {
		return nil // stored as the event it is, with no further meaning
	}
	k := streamKey{a.From, l.StreamID}
	st, err := p.stream(k)
	if err != nil {
		return err
	}
	answered, err := p.answered(k, st.acked)
	if err != nil {
		return err
	}
	seqs, err := p.seqs(k, max(st.acked+1, l.From), l.To)
	if err != nil {
		return err
	}
	known := max(st.acked, l.From-1)
	var gone []wire.Range
	for _, seq := range seqs {
		gone = gaps(gone, &known, seq-1, answered)
		known = max(known, seq)
	}
	for _, r := range gaps(gone, &known, l.To, answered) {
		if err := p.answer(k, r, "lost", l.Reason, a.At); err != nil {
			return err
		}
	}
	return nil
}

// seqs lists the numbers of a stream's events in a range, the lowest maxScan of them.
func (p *put) seqs(k streamKey, from, to uint64) ([]uint64, error) {
	rows, err := p.tx.QueryContext(p.ctx, `SELECT seq FROM events WHERE site=? AND kiosk_id=? AND stream_id=? AND seq BETWEEN ? AND ? ORDER BY seq LIMIT ?`,
		k.addr.Site, k.addr.Kiosk, k.id, from, to, maxScan)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []uint64
	for rows.Next() {
		var seq uint64
		if err := rows.Scan(&seq); err != nil {
			return nil, err
		}
		out = append(out, seq)
	}
	return out, rows.Err()
}

// refuse notes a number for the acknowledgement, so that the kiosk learns which event is not taken.
func (p *put) refuse(k streamKey, seq uint64) error {
	st, err := p.stream(k)
	if err != nil {
		return err
	}
	st.refused = append(st.refused, seq)
	return nil
}

func (p *put) quarantine(a Arrival, reason string) error {
	p.receipt.Quarantined++
	at := formatTime(a.At)
	_, err := p.tx.ExecContext(p.ctx, `INSERT INTO quarantine (site, kiosk_id, hash, reason, payload, first_at, last_at) VALUES (?,?,?,?,?,?,?)
		ON CONFLICT (site, kiosk_id, hash) DO UPDATE SET times = times + 1, last_at = excluded.last_at`,
		a.From.Site, a.From.Kiosk, wire.Hash(a.Raw), reason, a.Raw, at, at)
	if err != nil {
		return err
	}
	_, err = p.tx.ExecContext(p.ctx, `DELETE FROM quarantine WHERE id <= (SELECT max(id) FROM quarantine) - ?`, maxQuarantine)
	return err
}

// finish works out how far a stream is complete now, stores that and adds its acknowledgement to the receipt.
func (p *put) finish(k streamKey, at time.Time) error {
	st := p.streams[k]
	missing, err := p.advance(k, st)
	if err != nil {
		return err
	}
	_, err = p.tx.ExecContext(p.ctx, `INSERT INTO streams (site, kiosk_id, stream_id, acked_seq, max_seq, chain_broken, last_at) VALUES (?,?,?,?,?,?,?)
		ON CONFLICT (site, kiosk_id, stream_id) DO UPDATE SET acked_seq = excluded.acked_seq, max_seq = excluded.max_seq,
		chain_broken = excluded.chain_broken, last_at = excluded.last_at`,
		k.addr.Site, k.addr.Kiosk, k.id, st.acked, st.max, st.chainBroken, formatTime(at))
	if err != nil {
		return err
	}
	ack := wire.Ack{StreamID: k.id, AckedSeq: st.acked, AckedHash: st.ackedHash, Missing: missing, Refused: refused(st.refused)}
	if ack.AckedHash != "" {
		p.receipt.Acks = append(p.receipt.Acks, Ack{To: k.addr, Ack: ack})
		return nil
	}
	err = p.tx.QueryRowContext(p.ctx, `SELECT hash FROM events WHERE site=? AND kiosk_id=? AND stream_id=? AND seq=?`,
		k.addr.Site, k.addr.Kiosk, k.id, st.acked).Scan(&ack.AckedHash)
	if err != nil && err != sql.ErrNoRows {
		return err
	}
	p.receipt.Acks = append(p.receipt.Acks, Ack{To: k.addr, Ack: ack})
	return nil
}

// refused puts numbers into the form of an acknowledgement.
func refused(seqs []uint64) []uint64 {
	slices.Sort(seqs)
	seqs = slices.Compact(seqs)
	return seqs[max(0, len(seqs)-wire.MaxRefused):]
}

// advance moves acked over events and answered ranges without a gap and lists the gaps after that.
func (p *put) advance(k streamKey, st *streamState) (missing []wire.Range, err error) {
	answered, err := p.answered(k, st.acked)
	if err != nil {
		return nil, err
	}
	rows, err := p.tx.QueryContext(p.ctx, `SELECT seq, hash, prev_hash FROM events WHERE site=? AND kiosk_id=? AND stream_id=? AND seq>=? ORDER BY seq LIMIT ?`,
		k.addr.Site, k.addr.Kiosk, k.id, max(st.acked, 1), maxScan)
	if err != nil {
		return nil, err
	}
	defer rows.Close()

	known := st.acked // everything up to here is stored, answered, or in missing
	var last uint64   // seq and hash of the row before
	var lastHash string
	for rows.Next() {
		var seq uint64
		var hash, prev string
		if err := rows.Scan(&seq, &hash, &prev); err != nil {
			return nil, err
		}
		if last > 0 && seq == last+1 && prev != lastHash && st.chainBroken == 0 {
			st.chainBroken = seq
			p.receipt.Broken++
		}
		last, lastHash = seq, hash
		missing = gaps(missing, &known, seq-1, answered)
		known = max(known, seq)
		if len(missing) == 0 {
			st.acked, st.ackedHash = known, ""
			if known == seq {
				st.ackedHash = hash
			}
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for _, r := range answered { // those after the last event
		missing = gaps(missing, &known, r[1], answered)
		if len(missing) == 0 && known > st.acked {
			st.acked, st.ackedHash = known, ""
		}
	}
	st.max = max(st.max, st.acked)
	if len(missing) > wire.MaxRanges {
		missing = missing[:wire.MaxRanges]
	}
	return missing, nil
}

// gaps appends what lies between known and upto and in no answered range, and moves known to upto. The answered ranges
// are in the order of their beginnings and may overlap.
func gaps(missing []wire.Range, known *uint64, upto uint64, answered []wire.Range) []wire.Range {
	for *known < upto {
		next, end, covered := *known+1, upto, false
		for _, r := range answered {
			if r[0] > next {
				end = min(end, r[0]-1)
				break
			}
			if r[1] >= next {
				*known, covered = min(r[1], upto), true
				break
			}
		}
		if !covered {
			missing = append(missing, wire.Range{next, end})
			*known = end
		}
	}
	return missing
}

func (p *put) answered(k streamKey, acked uint64) ([]wire.Range, error) {
	rows, err := p.tx.QueryContext(p.ctx, `SELECT from_seq, to_seq FROM answered WHERE site=? AND kiosk_id=? AND stream_id=? AND to_seq>? ORDER BY from_seq, to_seq`,
		k.addr.Site, k.addr.Kiosk, k.id, acked)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []wire.Range
	for rows.Next() {
		var r wire.Range
		if err := rows.Scan(&r[0], &r[1]); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, rows.Err()
}
