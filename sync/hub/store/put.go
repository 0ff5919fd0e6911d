package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
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
	ackedHash   string // of event acked; empty: there is none, or it is not known
	chainBroken uint64
	answered    bool // there are answered ranges beyond acked

	before  uint64   // max before this batch
	fresh   []link   // events of this batch
	refused []uint64 // numbers of this batch that went to the quarantine
	touched bool
	asked   bool // ackedHash is known to be what it is
}

// link is what an event is in its chain.
type link struct {
	seq        uint64
	hash, prev string
}

// item is an event of a batch, and what became of it.
type item struct {
	Arrival
	hash    string
	outcome outcome
}

// outcome is what became of an event; those that begin with "another" are reasons of the quarantine.
type outcome string

const (
	stored      outcome = "stored"
	repeated    outcome = "is here"
	renumbered  outcome = "is here under another number"
	numberTaken outcome = "another event has this number"
	idTaken     outcome = "another event has this id"
)

// judge tells what an event is that is not new: number is the hash of the event that has its number, or empty; id is what
// has its id.
func judge(it item, number string, id content) outcome {
	switch {
	case number == it.hash:
		return repeated
	case number != "":
		return numberTaken
	case id != content{it.Event.Type, string(it.Event.Data), formatTime(it.Event.TSWall)}:
		return idTaken
	}
	return renumbered
}

// content is what an event tells, apart from its number.
type content struct{ typ, data, wall string }

// Put stores a batch in one transaction and returns when it is on the disk. Storing an event again changes nothing,
// also under another number: a kiosk that had to number its events anew sends them with the ids they had. An event
// whose number or id is taken by another event goes to the quarantine and does not count as received. On an error
// nothing of the batch is stored.
func (s *Store) Put(ctx context.Context, batch []Arrival) (Receipt, error) {
	return s.PutAfter(ctx, batch, nil)
}

// PutAfter is Put, with a look at the database, and a last change to the batch, when nothing else can be stored or
// forgotten any more before the batch is: first is called with the transaction.
func (s *Store) PutAfter(ctx context.Context, batch []Arrival, first func(context.Context, *sql.Tx) error) (Receipt, error) {
	var r Receipt
	err := s.again(ctx, func(ctx context.Context) (err error) {
		r, err = s.put(ctx, batch, first)
		return err
	})
	if err != nil {
		return Receipt{}, fmt.Errorf("store events: %w", err)
	}
	return r, nil
}

func (s *Store) put(ctx context.Context, batch []Arrival, first func(context.Context, *sql.Tx) error) (Receipt, error) {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return Receipt{}, err
	}
	defer tx.Rollback()
	if err := s.sql.turn(ctx, tx); err != nil {
		return Receipt{}, err
	}
	if first != nil {
		if err := first(ctx, tx); err != nil {
			return Receipt{}, err
		}
	}
	p := &put{ctx: ctx, tx: tx, sql: s.sql, streams: map[streamKey]*streamState{}}
	if err := p.all(batch); err != nil {
		return Receipt{}, err
	}
	if err := tx.Commit(); err != nil {
		return Receipt{}, err
	}
	return p.receipt, nil
}

// put is one Put under way.
type put struct {
	ctx     context.Context
	tx      *sql.Tx
	sql     dialect
	streams map[streamKey]*streamState
	order   []streamKey // those that are acknowledged
	receipt Receipt
}

func (p *put) all(batch []Arrival) error {
	items, err := p.items(batch)
	if err != nil {
		return err
	}
	if err := p.sql.insert(p.ctx, p.tx, items); err != nil {
		return err
	}
	next := 0
	for _, a := range batch {
		if a.Refused != "" {
			err = p.refused(a)
		} else {
			err = p.stored(items[next])
			next++
		}
		if err != nil {
			return err
		}
	}
	if p.receipt.Quarantined > 0 {
		_, err := p.tx.ExecContext(p.ctx, `DELETE FROM quarantine WHERE id <= (SELECT max(id) FROM quarantine) - ?`, maxQuarantine)
		if err != nil {
			return err
		}
	}
	return p.finish(batch[0].At)
}

// items are the batch's events, with the rows of their streams read.
func (p *put) items(batch []Arrival) ([]item, error) {
	items := make([]item, 0, len(batch))
	var keys []streamKey
	for _, a := range batch {
		if a.Refused != "" {
			continue
		}
		items = append(items, item{Arrival: a, hash: wire.Hash(a.Raw)})
		k := streamKey{a.From, a.Event.StreamID}
		if _, ok := p.streams[k]; !ok {
			p.streams[k] = nil
			keys = append(keys, k)
		}
	}
	return items, p.load(keys)
}

func (p *put) load(keys []streamKey) error {
	if len(keys) == 0 {
		return nil
	}
	states, err := p.sql.streams(p.ctx, p.tx, keys)
	if err != nil {
		return err
	}
	for i, k := range keys {
		st := states[i]
		st.before = st.max
		p.streams[k] = &st
	}
	return nil
}

// stream is a stream's row, which will be acknowledged.
func (p *put) stream(k streamKey) (*streamState, error) {
	if p.streams[k] == nil {
		if err := p.load([]streamKey{k}); err != nil {
			return nil, err
		}
	}
	st := p.streams[k]
	if !st.touched {
		st.touched = true
		p.order = append(p.order, k)
	}
	return st, nil
}

func (p *put) refused(a Arrival) error {
	if id, seq, ok := wire.Identify(a.Raw); ok {
		if err := p.refuse(streamKey{a.From, id}, seq); err != nil {
			return err
		}
	}
	return p.quarantine(a, a.Refused)
}

// stored does what follows from what became of an event.
func (p *put) stored(it item) error {
	e, k := it.Event, streamKey{it.From, it.Event.StreamID}
	st, err := p.stream(k)
	if err != nil {
		return err
	}
	switch it.outcome {
	case stored:
		p.receipt.Stored++
		st.max = max(st.max, e.Seq)
		st.fresh = append(st.fresh, link{e.Seq, it.hash, e.PrevHash})
		if e.Type == LostType {
			return p.lost(it.Arrival)
		}
		return nil
	case repeated:
		p.receipt.Duplicates++
		return nil
	case renumbered:
		p.receipt.Duplicates++
		return p.answer(k, wire.Range{e.Seq, e.Seq}, "duplicate", "event "+e.EventID, it.At)
	}
	if err := p.refuse(k, e.Seq); err != nil {
		return err
	}
	return p.quarantine(it.Arrival, string(it.outcome))
}

func (p *put) answer(k streamKey, r wire.Range, kind, reason string, at time.Time) error {
	p.streams[k].answered = true
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
	_, err := p.tx.ExecContext(p.ctx, `INSERT INTO quarantine (id, site, kiosk_id, hash, reason, payload, first_at, last_at)
		VALUES ((SELECT coalesce(max(id), 0) + 1 FROM quarantine),?,?,?,?,?,?,?)
		ON CONFLICT (site, kiosk_id, hash) DO UPDATE SET times = quarantine.times + 1, last_at = excluded.last_at`,
		a.From.Site, a.From.Kiosk, wire.Hash(a.Raw), reason, a.Raw, at, at)
	return err
}
