package store

import (
	"cmp"
	"database/sql"
	"errors"
	"slices"
	"time"

	"docent/sync/wire"
)

// finish works out how far the streams are complete now, stores that and adds their acknowledgements to the receipt.
func (p *put) finish(at time.Time) error {
	states := make([]*streamState, len(p.order))
	for i, k := range p.order {
		st := p.streams[k]
		missing, err := p.advance(k, st)
		if err != nil {
			return err
		}
		if st.ackedHash == "" && !st.asked {
			if st.ackedHash, err = p.hash(k, st.acked); err != nil {
				return err
			}
		}
		states[i] = st
		p.receipt.Acks = append(p.receipt.Acks, Ack{To: k.addr, Ack: wire.Ack{
			StreamID: k.id, AckedSeq: st.acked, AckedHash: st.ackedHash, Missing: missing, Refused: refused(st.refused)}})
	}
	if len(states) == 0 {
		return nil
	}
	return p.sql.save(p.ctx, p.tx, p.order, states, formatTime(at))
}

// hash is that of an event, empty where it is not here.
func (p *put) hash(k streamKey, seq uint64) (hash string, err error) {
	err = p.tx.QueryRowContext(p.ctx, `SELECT hash FROM events WHERE site=? AND kiosk_id=? AND stream_id=? AND seq=?`,
		k.addr.Site, k.addr.Kiosk, k.id, seq).Scan(&hash)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return hash, err
}

// refused puts numbers into the form of an acknowledgement.
func refused(seqs []uint64) []uint64 {
	slices.Sort(seqs)
	seqs = slices.Compact(seqs)
	return seqs[max(0, len(seqs)-wire.MaxRefused):]
}

// advance moves acked over events and answered ranges without a gap and lists the gaps after that.
func (p *put) advance(k streamKey, st *streamState) (missing []wire.Range, err error) {
	answered, links, err := p.after(k, st)
	if err != nil {
		return nil, err
	}
	reached := st.acked // everything up to here is stored, answered, or in missing
	var last link
	for _, l := range links {
		if last.seq > 0 && l.seq == last.seq+1 && l.prev != last.hash && st.chainBroken == 0 {
			st.chainBroken = l.seq
			p.receipt.Broken++
		}
		last = l
		missing = gaps(missing, &reached, l.seq-1, answered)
		reached = max(reached, l.seq)
		if len(missing) == 0 {
			st.acked, st.ackedHash = reached, ""
			if reached == l.seq {
				st.ackedHash = l.hash
			}
		}
	}
	for _, r := range answered { // those after the last event
		missing = gaps(missing, &reached, r[1], answered)
		if len(missing) == 0 && reached > st.acked {
			st.acked, st.ackedHash = reached, ""
		}
	}
	st.max = max(st.max, st.acked)
	if len(missing) > wire.MaxRanges {
		missing = missing[:wire.MaxRanges]
	}
	return missing, nil
}

// after lists what a stream has from the event that was acknowledged last: answered ranges, and events in their order.
// Where nothing was there beyond that event before this batch, the batch has all of it.
func (p *put) after(k streamKey, st *streamState) (answered []wire.Range, links []link, err error) {
	if !st.answered && st.before <= st.acked {
		if st.ackedHash != "" {
			links = append(links, link{seq: st.acked, hash: st.ackedHash})
		}
		for _, l := range st.fresh {
			if l.seq >= st.acked {
				links = append(links, l)
			}
		}
		slices.SortFunc(links, func(a, b link) int { return cmp.Compare(a.seq, b.seq) })
		st.asked = true
		return nil, links, nil
	}
	if answered, err = p.answered(k, st.acked); err != nil {
		return nil, nil, err
	}
	rows, err := p.tx.QueryContext(p.ctx, `SELECT seq, hash, prev_hash FROM events WHERE site=? AND kiosk_id=? AND stream_id=? AND seq>=? ORDER BY seq LIMIT ?`,
		k.addr.Site, k.addr.Kiosk, k.id, max(st.acked, 1), maxScan)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var l link
		if err := rows.Scan(&l.seq, &l.hash, &l.prev); err != nil {
			return nil, nil, err
		}
		links = append(links, l)
	}
	st.ackedHash, st.asked = "", false
	return answered, links, rows.Err()
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
