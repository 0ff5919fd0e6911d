package link

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"docent/sync/internal/subscribe"
	"docent/sync/wire"
)

const (
	dialTimeout    = 5 * time.Second // for the first answer, which a line that was down for a moment should not cost more
	connectTimeout = 15 * time.Second
	writeTimeout   = 10 * time.Second
	fetchTimeout   = 30 * time.Second
	goodbye        = 500 * time.Millisecond // for the last status message and DISCONNECT
	batchEvents    = 64                     // in one message
	maxPublishes   = 16                     // messages the broker has not answered
	maxStalls      = 3                      // ack timeouts in a row before the connection is given up
)

// session is one connection: one paho client, never used again afterwards.
type session struct {
	l      *Link
	client mqtt.Client
	number uint64

	ready chan error    // capacity 1: outcome of the subscription
	lost  chan error    // capacity 1: the connection ended
	acks  chan wire.Ack // capacity ackQueue; more are dropped, the next one says it all again
}

const ackQueue = 64

// session opens a connection, sends until it is lost or ctx ends, and waits until it is gone. It tells whether the
// hub turned the kiosk away, and how long the connection lasted.
func (l *Link) session(ctx context.Context) (turned bool, lasted time.Duration, err error) {
	config := l.opt.TLS
	if l.opt.Credentials != nil {
		if config, err = l.opt.Credentials.TLS(); err != nil {
			return false, 0, err
		}
	}
	number, err := l.opt.Outbox.NextSession()
	if err != nil {
		return false, 0, err
	}
	s := &session{
		l: l, number: number,
		ready: make(chan error, 1), lost: make(chan error, 1), acks: make(chan wire.Ack, ackQueue),
	}
	conns := newConns(context.WithoutCancel(ctx), l.opt.Dial)
	defer conns.close()
	opts, err := s.options(conns, config)
	if err != nil {
		return false, 0, err
	}
	s.client = mqtt.NewClient(opts)
	defer s.client.Disconnect(uint(goodbye.Milliseconds()))

	token := s.client.Connect()
	if err := wait(ctx, token, connectTimeout); err != nil {
		conns.close()
		<-token.Done()
		return conns.heard(), 0, fmt.Errorf("connect: %w", err)
	}
	select {
	case err = <-s.ready:
	case err = <-s.lost:
	case <-ctx.Done():
		return conns.heard(), 0, ctx.Err()
	}
	if err != nil {
		return conns.heard(), 0, err
	}
	start := time.Now()
	l.update(func(st *State) {
		st.Connected, st.Since, st.Session, st.LastError = true, start, number, ""
		st.Connects++
	})
	l.log.Info("hub connected", "session", number)
	if l.opt.Credentials != nil {
		l.opt.Credentials.Accepted()
	}
	l.attach(s)
	err = s.send(ctx)
	l.attach(nil)
	if ctx.Err() != nil {
		s.status(wire.PresenceDisconnected).WaitTimeout(goodbye)
	}
	return false, time.Since(start), err
}

func (s *session) options(conns *conns, config *tls.Config) (*mqtt.ClientOptions, error) {
	addr := s.l.addr
	will, err := wire.Status{State: wire.PresenceLost, SessionSeq: s.number, BootID: s.l.opt.Outbox.BootID()}.Encode()
	if err != nil {
		return nil, err
	}
	return mqtt.NewClientOptions().
		AddBroker(s.l.opt.Broker).
		SetClientID(addr.ClientID()).
		SetProtocolVersion(4).
		SetCleanSession(true). // durability is ours, not the session's
		SetAutoReconnect(false).
		SetConnectRetry(false).
		SetOrderMatters(false). // handlers run beside the reader and cannot block it
		SetKeepAlive(s.l.opt.KeepAlive).
		SetConnectTimeout(connectTimeout).
		SetWriteTimeout(writeTimeout).
		SetBinaryWill(addr.Topic(wire.KindStatus), will, 1, true).
		SetCustomOpenConnectionFn(conns.open(config)).
		SetDefaultPublishHandler(s.receive).
		SetOnConnectHandler(s.subscribe).
		SetConnectionLostHandler(func(_ mqtt.Client, err error) { s.end(err) }), nil
}

// subscribe asks for the kiosk's commands. paho runs it in a goroutine of its own.
func (s *session) subscribe(c mqtt.Client) {
	token := c.Subscribe(s.l.addr.Commands(), 1, nil)
	s.ready <- func() error {
		if err := subscribe.Wait(token, connectTimeout); err != nil {
			return err
		}
		return s.answer(s.present())
	}()
}

func (s *session) answer(token mqtt.Token) error {
	if !token.WaitTimeout(connectTimeout) {
		return errors.New("publish status: no answer")
	}
	return token.Error()
}

// receive handles every message that comes down. It must not block.
func (s *session) receive(_ mqtt.Client, m mqtt.Message) {
	addr, kind, err := wire.ParseTopic(m.Topic())
	if err != nil || addr != s.l.addr {
		return
	}
	switch kind {
	case wire.KindChunk:
		s.l.fetched(m.Payload())
		return
	case wire.KindDesired:
		s.l.desired(m.Payload())
		return
	case wire.KindEmergency:
		s.l.emergency(m.Payload())
		return
	case wire.KindVisit:
		s.l.visits(m.Payload())
		return
	case wire.KindRequest:
		s.l.command(m.Payload())
		return
	case wire.KindAck:
	default:
		return // of a newer hub
	}
	ack, err := wire.DecodeAck(m.Payload())
	if err != nil {
		s.l.log.Warn("hub sent an acknowledgement that cannot be read", "err", err)
		return
	}
	select {
	case s.acks <- ack:
	default:
	}
}

func (s *session) end(err error) {
	if err == nil {
		err = errors.New("connection closed")
	}
	select {
	case s.lost <- err:
	default:
	}
}

// present publishes that the kiosk is there, and how it is.
func (s *session) present() mqtt.Token {
	h := s.health()
	return s.say(h.Presence(s.l.opt.Outbox.State().Degraded), h)
}

func (s *session) health() wire.Health {
	if s.l.opt.Health == nil {
		return wire.Health{}
	}
	return s.l.opt.Health()
}

// status publishes the kiosk's presence under a word.
func (s *session) status(p wire.Presence) mqtt.Token { return s.say(p, s.health()) }

// say publishes the kiosk's presence, retained.
func (s *session) say(p wire.Presence, h wire.Health) mqtt.Token {
	st := s.l.opt.Outbox.State()
	h.ReleaseID, h.CameraTrouble = clip(h.ReleaseID, 64), clip(h.CameraTrouble, 256)
	b, err := wire.Status{
		State: p, SessionSeq: s.number, BootID: s.l.opt.Outbox.BootID(), TS: time.Now(), Version: s.l.opt.Version,
		StreamID: st.StreamID, OutboxDepth: st.Depth, AckedSeq: st.AckedSeq, FreeBytes: st.FreeBytes, Degraded: clip(st.Degraded, 256), Health: h,
	}.Encode()
	if err != nil {
		s.l.log.Warn("status not sent", "err", err)
		return &mqtt.DummyToken{}
	}
	return s.client.Publish(s.l.addr.Topic(wire.KindStatus), 1, true, b)
}

func clip(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "")
	}
	return s
}

// wait waits for a token, ctx or a time limit.
func wait(ctx context.Context, t mqtt.Token, limit time.Duration) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-t.Done():
		return t.Error()
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return errors.New("no answer in time")
	}
}
