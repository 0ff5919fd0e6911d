package link

import (
	"context"
	"errors"
	"fmt"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"docent/sync/outbox"
	"docent/sync/wire"
)

// settle is how long the link waits for more events before it says that the outbox is empty.
const settle = time.Second

var errStalled = errors.New("the hub acknowledges nothing")

// sender publishes from the outbox with a bounded window and starts over from the oldest unacknowledged event when
// the hub misses some or says nothing for too long.
type sender struct {
	s        *session
	position outbox.Position // newest event published since the last start over
	window   int             // events published since the last start over and not acknowledged
	tokens   []mqtt.Token    // messages the broker has not answered
	stalls   int             // ack timeouts in a row
	rewound  time.Time       // of the last start over
	told     uint64          // depth in the last status message
	sent     time.Time       // when the newest message of events was published
	full     bool            // it held as many as it may
	held     *time.Timer     // until the next may go

	dropped uint64 // events that made room in the outbox, when last looked at

	news     bool             // there may be reports of losses that were not sent ahead
	wasAhead map[eventID]bool // reports that were, since the last silence; at most maxAhead

	// What the hub had acknowledged when the connection began. A hub that now says less was put back to an older copy.
	stream string
	acked  uint64
}

// send runs until the connection is lost, ctx ends or the outbox fails.
func (s *session) send(ctx context.Context) error {
	opt := s.l.opt
	begin := opt.Outbox.State()
	d := &sender{s: s, told: begin.Depth, dropped: begin.Dropped, stream: begin.StreamID, acked: begin.AckedSeq, news: true}
	silence := time.NewTimer(opt.AckTimeout) // since the last progress, while something waits for an acknowledgement
	defer silence.Stop()
	heartbeat := time.NewTimer(opt.StatusEvery)
	defer heartbeat.Stop()
	d.held = time.NewTimer(0)
	defer d.held.Stop()
	for {
		idle := d.window == 0
		if err := d.fill(); err != nil {
			return err
		}
		if idle && d.window > 0 {
			silence.Reset(opt.AckTimeout)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-s.lost:
			return err
		case <-s.l.credentials():
			return errCredentials
		case <-d.answered():
			if err := d.reap(); err != nil {
				return err
			}
		case <-opt.Outbox.Changed():
			d.news = true
			if _, n := opt.Outbox.Counts(); n != d.dropped {
				d.dropped = n
				d.rewind() // some of those in the window are gone and will not be acknowledged
			}
		case <-s.l.reports:
			if token := s.deploy(); token != nil {
				d.tokens = append(d.tokens, token)
			}
		case ack := <-s.acks:
			progress, err := d.acknowledge(ctx, ack)
			if err != nil {
				return err
			}
			if progress {
				silence.Reset(opt.AckTimeout)
				if depth, _ := opt.Outbox.Counts(); d.told > 0 && depth == 0 {
					d.told = 0
					heartbeat.Reset(min(settle, opt.StatusEvery)) // say soon that nothing waits any more
				}
			}
		case <-silence.C:
			silence.Reset(opt.AckTimeout)
			if err := d.stalled(); err != nil {
				return err
			}
		case <-heartbeat.C:
			heartbeat.Reset(opt.StatusEvery)
			d.told, _ = opt.Outbox.Counts()
			d.tokens = append(d.tokens, s.present())
		case <-d.held.C: // more may go now
		case <-s.l.tell:
			d.tokens = append(d.tokens, s.present())
		}
	}
}

// fill publishes while there is something to publish and room for it.
func (d *sender) fill() error {
	l := d.s.l
	if err := d.ahead(); err != nil {
		return err
	}
	for d.window < l.opt.Window && len(d.tokens) < maxPublishes {
		if depth, _ := l.opt.Outbox.Counts(); depth == 0 {
			return nil
		}
		if wait := d.hold(time.Now()); wait != 0 {
			d.held.Reset(wait)
			return nil
		}
		batch, err := l.opt.Outbox.Pending(d.position, min(batchEvents, l.opt.Window-d.window), wire.MaxPayload)
		if err != nil {
			return err
		}
		if len(batch) == 0 {
			return nil
		}
		events := make([][]byte, len(batch))
		resent := uint64(0)
		for i, p := range batch {
			events[i] = p.Event
			if !l.highest.Before(p.Position) {
				resent++
			}
		}
		payload := wire.JoinBatch(events)
		if len(payload) > wire.MaxPayload { // a single event over the limit cannot be in the outbox
			return fmt.Errorf("publish %d events of %d bytes: %w", len(batch), len(payload), wire.ErrTooLarge)
		}
		d.tokens = append(d.tokens, d.s.client.Publish(l.addr.Topic(wire.KindEvent), 1, false, payload))
		d.position = batch[len(batch)-1].Position
		if l.highest.Before(d.position) {
			l.highest = d.position
		}
		d.window += len(batch)
		d.sent, d.full = time.Now(), len(batch) == batchEvents || len(payload) > wire.MaxPayload/2
		l.update(func(st *State) {
			st.Sent += uint64(len(batch))
			st.Resent += resent
			st.Messages++
		})
	}
	return nil
}

// gatherUnanswered is how many times as long events are gathered while a message waits for its answer: the busier the hub,
// the more of them share a message.
const gatherUnanswered = 5

// hold is how long events are gathered before the next message, 0 when it may go. Full messages go one after the other.
func (d *sender) hold(now time.Time) time.Duration {
	depth, _ := d.s.l.opt.Outbox.Counts()
	if d.full || depth >= uint64(d.window+batchEvents) {
		return 0
	}
	gather := d.s.l.opt.Gather
	if len(d.tokens) > 0 {
		gather *= gatherUnanswered
	}
	return max(0, d.sent.Add(gather).Sub(now))
}

// Reports of losses that go ahead of what waits before them: as many in one message, and remembered.
const (
	aheadEvents = 64 // of less than 1 KiB each
	maxAhead    = 4096
)

// ahead publishes reports of losses at once where more events wait before them than the window holds: the hub acknowledges
// nothing behind a gap that it was not told of, and the window would never move. They come again in their turn, and the
// hub knows them then.
func (d *sender) ahead() error {
	l := d.s.l
	if !d.news || len(d.tokens) >= maxPublishes {
		return nil
	}
	d.news = false
	if depth, _ := l.opt.Outbox.Counts(); depth <= uint64(l.opt.Window) {
		return nil
	}
	reports, err := l.opt.Outbox.Reports(maxAhead)
	if err != nil {
		return err
	}
	var events [][]byte
	for _, r := range reports {
		id := eventID{r.StreamID, r.Seq}
		if d.wasAhead[id] || len(events) == aheadEvents {
			d.news = d.news || !d.wasAhead[id] // the rest with the next message
			continue
		}
		if d.wasAhead == nil || len(d.wasAhead) >= maxAhead {
			d.wasAhead = map[eventID]bool{}
		}
		d.wasAhead[id] = true
		events = append(events, r.Event)
	}
	if len(events) == 0 {
		return nil
	}
	d.tokens = append(d.tokens, d.s.client.Publish(l.addr.Topic(wire.KindEvent), 1, false, wire.JoinBatch(events)))
	l.update(func(st *State) { st.Sent += uint64(len(events)) })
	return nil
}

// answered is the oldest unanswered message's end, or never when there is none.
func (d *sender) answered() <-chan struct{} {
	if len(d.tokens) == 0 {
		return nil
	}
	return d.tokens[0].Done()
}

// reap forgets answered messages. Their answer frees a place and means nothing more: only an Ack does.
func (d *sender) reap() error {
	for len(d.tokens) > 0 {
		select {
		case <-d.tokens[0].Done():
			if err := d.tokens[0].Error(); err != nil {
				return fmt.Errorf("publish: %w", err)
			}
			d.tokens = d.tokens[1:]
		default:
			return nil
		}
	}
	return nil
}

// acknowledge takes the newest of the waiting acknowledgements and tells whether the hub got further.
func (d *sender) acknowledge(ctx context.Context, ack wire.Ack) (progress bool, err error) {
	l := d.s.l
	for _, a := range d.drain(ack) {
		if err := d.refused(ctx, a); err != nil {
			return false, err
		}
		freed, err := l.opt.Outbox.Ack(a)
		if errors.Is(err, outbox.ErrUnknownStream) {
			continue // a stream of before, all of which was acknowledged
		}
		if errors.Is(err, outbox.ErrRenumbered) {
			d.rewind()
			continue
		}
		if err != nil {
			return false, err
		}
		if freed > 0 {
			progress = true
			d.window = max(0, d.window-int(freed))
		}
		if err := d.forgotten(ctx, a); err != nil {
			return false, err
		}
		if len(a.Missing) > 0 && time.Since(d.rewound) > l.opt.AckTimeout/2 {
			d.rewind()
		}
	}
	l.update(func(st *State) { st.LastAck = time.Now() })
	if progress {
		d.stalls = 0
	}
	return progress, nil
}

// forgotten tells a hub that has lost what it had acknowledged that those events are gone: they have left the outbox,
// and without a word about them the hub would wait for them for ever.
func (d *sender) forgotten(ctx context.Context, a wire.Ack) error {
	if a.StreamID != d.stream || a.AckedSeq >= d.acked {
		return nil
	}
	loss := outbox.Loss{StreamID: a.StreamID, From: a.AckedSeq + 1, To: d.acked, Reason: "the hub had acknowledged them and has them no more"}
	d.s.l.log.Warn("hub was put back to an older copy", "from_seq", loss.From, "to_seq", loss.To)
	d.acked = a.AckedSeq // said once a connection
	_, err := d.s.l.opt.Outbox.Append(ctx, outbox.LostType, loss)
	if errors.Is(err, outbox.ErrDiskFull) {
		return nil // the next connection will say it
	}
	return err
}

// An event that the hub refuses maxRefusals times is set aside, so that the others can move on. Once is not enough: the
// hub may be the one that is being mended.
const (
	maxRefusals = 3
	maxRefused  = 1024 // events counted
)

// eventID names an event.
type eventID struct {
	stream string
	seq    uint64
}

// refused counts what the hub will not take and sets it aside in the end.
func (d *sender) refused(ctx context.Context, a wire.Ack) error {
	l := d.s.l
	for _, seq := range a.Refused {
		id := eventID{a.StreamID, seq}
		if _, ok := l.refused[id]; !ok && len(l.refused) >= maxRefused {
			clear(l.refused)
		}
		l.refused[id]++
		if l.refused[id] < maxRefusals && seq > a.AckedSeq { // under an acknowledged number the hub has another event
			continue
		}
		l.log.Warn("the hub will not take an event, it is set aside", "stream", a.StreamID, "seq", seq)
		err := l.opt.Outbox.SetAside(ctx, a.StreamID, seq, fmt.Sprintf("refused, attempt %d", l.refused[id]))
		if errors.Is(err, outbox.ErrDiskFull) {
			return nil // it is refused again later
		}
		if err != nil {
			return err
		}
		delete(l.refused, id)
		d.window = max(0, d.window-1)
	}
	return nil
}

// drain takes the acknowledgements that wait and keeps the newest of each stream.
func (d *sender) drain(first wire.Ack) []wire.Ack {
	acks := []wire.Ack{first}
	for {
		select {
		case a := <-d.s.acks:
			acks = keepNewest(acks, a)
		default:
			return acks
		}
	}
}

func keepNewest(acks []wire.Ack, a wire.Ack) []wire.Ack {
	for i := range acks {
		if acks[i].StreamID == a.StreamID {
			if a.AckedSeq >= acks[i].AckedSeq {
				if len(a.Refused) == 0 {
					a.Refused = acks[i].Refused
				}
				acks[i] = a
			}
			return acks
		}
	}
	return append(acks, a)
}

// rewind makes fill start over from the oldest event that is not acknowledged.
func (d *sender) rewind() {
	d.position, d.window, d.rewound, d.sent = outbox.Position{}, 0, time.Now(), time.Time{}
}

// stalled starts over when events were published and nothing came back, and gives the connection up after a few times.
func (d *sender) stalled() error {
	if d.window == 0 {
		return nil
	}
	if d.stalls++; d.stalls > maxStalls {
		return errStalled
	}
	d.s.l.log.Debug("no acknowledgement, sending again", "session", d.s.number)
	d.wasAhead, d.news = nil, true
	d.rewind()
	return nil
}
