// Package mosquitto lets a hub's processes work behind a Mosquitto broker, or another MQTT broker that has shared
// subscriptions. Each process is a client with a persistent session; they share what kiosks send, and answer a message
// only when it is durable.
package mosquitto

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"sync"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"docent/sync/hub/broker"
	"docent/sync/internal/subscribe"
	"docent/sync/wire"
)

// filter is what the hub's processes subscribe to under the name of their group.
const filter = "/dt/docent/v1/+/+/+"

// Bounds of a Broker.
const (
	lanes          = 128 // messages dealt with at once
	laneDepth      = 256 // waiting in each; the broker sends no more than its max_inflight_messages unanswered
	maxUnanswered  = 512 // messages to kiosks that the broker has not answered
	publishWait    = 10 * time.Second
	connectTimeout = 15 * time.Second
	keepAlive      = 15 * time.Second
	retryBase      = 200 * time.Millisecond
	retryCap       = 10 * time.Second
	goodbye        = 250 // ms for what is being written
)

// Errors of Publish. What was not sent is said again when the kiosk gives a sign of life.
var (
	ErrNotConnected = errors.New("the broker is not connected")
	errFull         = errors.New("the broker does not answer")
	errOverrun      = errors.New("the broker sends more than it may have unanswered")
)

// Options of a Broker. All but Logger are required.
type Options struct {
	URL    string // "mqtts://HOST:PORT"
	Worker string // client id; each process has its own, and keeps it
	// Group is the name under which the processes share. It is secret: Mosquitto lets any client subscribe to anything and
	// holds back only what it may not read, so a kiosk that joined the group would make its share of messages vanish.
	Group    string
	TLS      func() (*tls.Config, error)
	Receiver broker.Receiver
	Logger   *slog.Logger // nil discards
}

// Broker is a process's connection to the broker, made again whenever it is lost.
type Broker struct {
	opt    Options
	addr   string
	cancel context.CancelFunc
	ctx    context.Context
	done   chan struct{}
	once   sync.Once

	mu      sync.Mutex
	current *session // nil without a connection
}

// Start connects, and goes on trying where that does not work.
func Start(opt Options) (*Broker, error) {
	u, err := url.Parse(opt.URL)
	if err != nil || u.Scheme != "mqtts" || u.Hostname() == "" || u.Port() == "" {
		return nil, fmt.Errorf("broker %q is not of the form mqtts://HOST:PORT", opt.URL)
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	b := &Broker{opt: opt, addr: "tls://" + u.Host, done: make(chan struct{})}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	go b.run()
	return b, nil
}

// Close lets the messages under way finish and ends the connection. The broker keeps the session and what is not
// answered.
func (b *Broker) Close() error {
	b.once.Do(b.cancel)
	<-b.done
	return nil
}

// run connects again and again until Close.
func (b *Broker) run() {
	defer close(b.done)
	for attempt := 0; ; {
		connected, err := b.session()
		if b.ctx.Err() != nil {
			return
		}
		if connected {
			attempt = 0
		}
		wait := time.Duration(rand.Float64() * float64(min(retryCap, retryBase<<min(attempt, 8))))
		attempt++
		b.opt.Logger.Warn("broker not connected", "err", err, "again_in", wait.Round(time.Millisecond))
		select {
		case <-b.ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// session is one connection: one paho client, never used again afterwards.
type session struct {
	b      *Broker
	client mqtt.Client
	lanes  *broker.Lanes[mqtt.Message]
	slots  chan struct{} // capacity maxUnanswered
	ready  chan error    // capacity 1: outcome of the subscription
	lost   chan error    // capacity 1
	ended  chan struct{} // closed when nothing is answered any more

	mu     sync.Mutex // between handlers and the end of the lanes
	closed bool
	conn   net.Conn
}

// open dials the broker. It is called by paho.
func (s *session) open(config *tls.Config) mqtt.OpenConnectionFunc {
	return func(u *url.URL, _ mqtt.ClientOptions) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(s.b.ctx, connectTimeout)
		defer cancel()
		conn, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", u.Host)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.conn = conn
		return conn, err
	}
}

// hangUp ends a connection that has not been answered yet.
func (s *session) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		s.conn.Close()
	}
}

// session takes messages until the connection is lost, the hub cannot store, or Close is called.
func (b *Broker) session() (connected bool, err error) {
	config, err := b.opt.TLS()
	if err != nil {
		return false, err
	}
	s := &session{
		b: b, slots: make(chan struct{}, maxUnanswered), ready: make(chan error, 1), lost: make(chan error, 1), ended: make(chan struct{}),
	}
	s.lanes = broker.NewLanes(lanes, laneDepth, s.deal)
	s.client = mqtt.NewClient(mqtt.NewClientOptions().
		AddBroker(b.addr).SetCustomOpenConnectionFn(s.open(config)).
		SetClientID(b.opt.Worker).
		SetProtocolVersion(4).
		SetCleanSession(false). // the broker keeps what comes while this process is away
		SetAutoReconnect(false).
		SetConnectRetry(false).
		SetAutoAckDisabled(true). // answered when durable
		SetOrderMatters(true).    // take only hands on, so it may run in the reader
		SetKeepAlive(keepAlive).
		SetConnectTimeout(connectTimeout).
		SetWriteTimeout(publishWait).
		SetDefaultPublishHandler(s.take).
		SetOnConnectHandler(s.subscribe).
		SetConnectionLostHandler(func(_ mqtt.Client, err error) { s.fail(err) }))
	defer s.end()
	token := s.client.Connect()
	select {
	case <-token.Done():
		if err := token.Error(); err != nil {
			return false, fmt.Errorf("connect: %w", err)
		}
	case <-b.ctx.Done():
		s.hangUp()
		<-token.Done()
		return false, b.ctx.Err()
	}
	select {
	case err = <-s.ready:
	case err = <-s.lost:
	case <-b.ctx.Done():
		return false, b.ctx.Err()
	}
	if err != nil {
		return false, err
	}
	b.attach(s)
	defer b.attach(nil)
	b.opt.Logger.Info("broker connected", "broker", b.addr, "worker", b.opt.Worker)
	select {
	case err = <-s.lost:
	case <-b.ctx.Done():
		err = b.ctx.Err()
	}
	return true, err
}

// end lets the messages under way finish, then ends the connection.
func (s *session) end() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.lanes.Close()
	s.client.Disconnect(goodbye)
	close(s.ended)
}

func (s *session) fail(err error) {
	if err == nil {
		err = errors.New("connection closed")
	}
	select {
	case s.lost <- err:
	default:
	}
}

func (b *Broker) attach(s *session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.current = s
}

// subscribe joins the processes that share what kiosks send. paho runs it in a goroutine of its own.
func (s *session) subscribe(c mqtt.Client) {
	token := c.Subscribe("$share/"+s.b.opt.Group+filter, 1, nil)
	err := subscribe.Wait(token, connectTimeout)
	if errors.As(err, new(subscribe.RefusedError)) {
		err = fmt.Errorf("%w; is this process named in the broker's files?", err)
	}
	s.ready <- err
}

// take hands a message on. It runs in paho's reader and must not block. A message that is not answered comes again with
// the next connection.
func (s *session) take(_ mqtt.Client, m mqtt.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	key := m.Topic()
	if from, _, err := wire.ParseTopic(key); err == nil {
		key = from.ClientID()
	}
	if !s.lanes.Offer(key, m) {
		s.fail(errOverrun)
	}
}

// deal answers a message once the hub has dealt with it. MQTT 3.1.1 gives a message again with a new connection only, so
// where the hub cannot store, that is what it gets.
func (s *session) deal(m mqtt.Message) {
	err := broker.Deliver(context.WithoutCancel(s.b.ctx), s.b.opt.Receiver, m.Topic(), m.Payload())
	if errors.Is(err, broker.ErrMessage) {
		s.b.opt.Logger.Warn("message not taken", "topic", m.Topic(), "err", err)
		err = nil // it would come for ever
	}
	if err != nil {
		s.fail(fmt.Errorf("message not dealt with: %w", err))
		return
	}
	m.Ack()
}

// Publish sends a message to the kiosk that listens for it, with the QoS of its kind. It waits for room, not for delivery.
func (b *Broker) Publish(topic string, payload []byte, retain bool) error {
	_, kind, err := wire.ParseTopic(topic)
	if err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	b.mu.Lock()
	s := b.current
	b.mu.Unlock()
	if s == nil {
		return fmt.Errorf("publish: %w", ErrNotConnected)
	}
	limit := time.NewTimer(publishWait)
	defer limit.Stop()
	select {
	case s.slots <- struct{}{}:
	case <-s.ended:
		return fmt.Errorf("publish: %w", ErrNotConnected)
	case <-limit.C:
		return fmt.Errorf("publish: %w", errFull)
	}
	token := s.client.Publish(topic, kind.QoS(), retain, payload)
	select {
	case <-token.Done():
		<-s.slots
		if err := token.Error(); err != nil {
			return fmt.Errorf("publish: %w", err)
		}
	default:
		go func() { // at most maxUnanswered of them
			select {
			case <-token.Done():
			case <-s.ended: // paho leaves the tokens of a kept session open when the connection ends
			}
			<-s.slots
		}()
	}
	return nil
}

// Recheck does nothing: this broker lets kiosks in by its files.
func (b *Broker) Recheck() {}
