package link

import (
	"context"
	"errors"
	"fmt"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"docent/sync/wire"
)

// Errors of Fetch.
var (
	ErrNotConnected = errors.New("the hub is not connected")
	errLost         = errors.New("the connection ended before the answer")
)

// maxFetches is how many requests for content may be unanswered.
const maxFetches = 16

// Fetch asks the hub for a part of a file and waits for the answer, ctx, or the end of the connection. It gives the
// request its id.
func (l *Link) Fetch(ctx context.Context, req wire.Fetch) (wire.Chunk, error) {
	s, id, answer, err := l.expect()
	if err != nil {
		return wire.Chunk{}, fmt.Errorf("fetch %s: %w", req.Name, err)
	}
	defer l.forgetFetch(id)
	req.ID = id
	b, err := req.Encode()
	if err != nil {
		return wire.Chunk{}, err
	}
	s.client.Publish(l.addr.Topic(wire.KindFetch), 1, false, b)
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	select {
	case c, ok := <-answer:
		if !ok {
			return wire.Chunk{}, fmt.Errorf("fetch %s: %w", req.Name, errLost)
		}
		if c.Name != req.Name || c.Error == "" && c.Offset != req.Offset || len(c.Data) > req.Length {
			return wire.Chunk{}, fmt.Errorf("fetch %s: the answer is to something else", req.Name)
		}
		return c, nil
	case <-ctx.Done():
		return wire.Chunk{}, fmt.Errorf("fetch %s: %w", req.Name, ctx.Err())
	}
}

// connectWait is how long content waits for a connection. It is asked for again then.
const connectWait = 10 * time.Second

// Content is the link for those who can wait: a request is sent as soon as there is a connection.
type Content struct{ Link *Link }

// Fetch asks as [Link.Fetch] does and waits for a connection first.
func (c Content) Fetch(ctx context.Context, req wire.Fetch) (wire.Chunk, error) {
	if arrived := c.Link.arrival(); arrived != nil {
		timer := time.NewTimer(connectWait)
		defer timer.Stop()
		select {
		case <-arrived:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return c.Link.Fetch(ctx, req)
}

// arrival is closed when there is a connection; nil where there is one.
func (l *Link) arrival() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current != nil {
		return nil
	}
	if l.arrived == nil {
		l.arrived = make(chan struct{})
	}
	return l.arrived
}

// expect makes room for an answer.
func (l *Link) expect() (*session, uint64, <-chan wire.Chunk, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current == nil {
		return nil, 0, nil, ErrNotConnected
	}
	if len(l.fetches) >= maxFetches {
		return nil, 0, nil, errors.New("too many requests are unanswered")
	}
	l.fetchID++
	answer := make(chan wire.Chunk, 1)
	l.fetches[l.fetchID] = answer
	return l.current, l.fetchID, answer, nil
}

func (l *Link) forgetFetch(id uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.fetches, id)
}

// fetched hands an answer to whoever waits for it.
func (l *Link) fetched(payload []byte) {
	c, err := wire.DecodeChunk(payload)
	if err != nil {
		l.log.Warn("hub sent content that cannot be read", "err", err)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if answer, ok := l.fetches[c.ID]; ok {
		delete(l.fetches, c.ID)
		answer <- c
	}
}

// attach notes the connection that requests go over, nil when it has ended: then nobody need wait for answers.
func (l *Link) attach(s *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current = s
	if s == nil {
		for id, answer := range l.fetches {
			delete(l.fetches, id)
			close(answer)
		}
		return
	}
	if l.arrived != nil {
		close(l.arrived)
		l.arrived = nil
	}
	for _, b := range l.unsent {
		l.publishResult(s, b)
	}
	l.unsent = nil
	if l.report != nil {
		l.wakeReport() // what was reported meanwhile, or before the hub was set up anew
	}
}

// desired passes on what the hub wants to be shown.
func (l *Link) desired(payload []byte) {
	d, err := wire.DecodeDesired(payload)
	if err != nil {
		l.log.Warn("hub sent a wish that cannot be read", "err", err)
		return
	}
	if l.opt.Desired != nil {
		l.opt.Desired(d)
	}
}

// emergency passes on what the hub wants shown over everything.
func (l *Link) emergency(payload []byte) {
	e, err := wire.DecodeEmergency(payload)
	if err != nil {
		l.log.Warn("hub sent an emergency message that cannot be read", "err", err)
		return
	}
	if l.opt.Emergency != nil {
		l.opt.Emergency(e)
	}
}

// visits passes on what has happened to visits at other kiosks.
func (l *Link) visits(payload []byte) {
	n, err := wire.DecodeVisitNotice(payload)
	if err != nil {
		l.log.Warn("hub sent a notice about visits that cannot be read", "err", err)
		return
	}
	if l.opt.Visits != nil {
		l.opt.Visits(n)
	}
}

// Report tells the hub how far the kiosk is with a release: now, and again at each connection. The newest report
// replaces those before. It does not block.
func (l *Link) Report(d wire.Deploy) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.report = &d
	l.wakeReport()
}

func (l *Link) wakeReport() {
	select {
	case l.reports <- struct{}{}:
	default:
	}
}

// deploy sends the newest report.
func (s *session) deploy() mqtt.Token {
	s.l.mu.Lock()
	d := s.l.report
	s.l.mu.Unlock()
	if d == nil {
		return nil
	}
	b, err := d.Encode()
	if err != nil {
		s.l.log.Warn("report not sent", "err", err)
		return nil
	}
	return s.client.Publish(s.l.addr.Topic(wire.KindDeploy), 1, false, b)
}
