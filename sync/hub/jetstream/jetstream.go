// Package jetstream lets a hub's processes work behind a cluster of NATS servers. What kiosks send over NATS' MQTT is
// kept in a stream; the processes share its two consumers and answer a message only when it is durable at the hub.
package jetstream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"docent/sync/hub/broker"
	"docent/sync/wire"
)

// Names in NATS.
const (
	Stream  = "DOCENT_UP"
	subject = "dt.docent.v1.*.*." // and the kind: a topic with dots for slashes
)

// Bounds of a Broker.
const (
	lanes         = 128 // messages dealt with at once, by each consumer
	laneDepth     = 8   // waiting in each
	pulled        = 256 // messages in a process that are not dealt with, of each consumer
	unanswered    = 4096
	answerWithin  = time.Minute // or the message goes to another process
	againAfter    = time.Second // where the hub could not store
	setUpEvery    = 2 * time.Second
	setUpTimeout  = 10 * time.Second
	reconnectWait = 500 * time.Millisecond
	flushTimeout  = 2 * time.Second
	// DefaultMaxBytes bounds what is kept while no process of the hub runs. Kiosks send again what has no acknowledgement
	// of the hub, so the oldest may go.
	DefaultMaxBytes = 4 << 30
)

// Options of a Broker. URL, Worker, TLS and Receiver are required.
type Options struct {
	URL      string // "nats://HOST:PORT", several separated by commas
	Worker   string // for the log of the servers
	TLS      func() (*tls.Config, error)
	Receiver broker.Receiver
	Replicas int          // of the stream; 0 means 1
	MaxBytes int64        // of the stream; 0 means DefaultMaxBytes
	Logger   *slog.Logger // nil discards
}

// Broker is a process's connection to the servers.
type Broker struct {
	opt    Options
	conn   *nats.Conn
	js     jetstream.JetStream
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	once   sync.Once
}

// Start connects, and goes on trying where that does not work.
func Start(opt Options) (*Broker, error) {
	for _, one := range strings.Split(opt.URL, ",") {
		if u, err := url.Parse(one); err != nil || u.Scheme != "nats" || u.Hostname() == "" || u.Port() == "" {
			return nil, fmt.Errorf("broker %q is not of the form nats://HOST:PORT", one)
		}
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	opt.Replicas = max(1, opt.Replicas)
	if opt.MaxBytes == 0 {
		opt.MaxBytes = DefaultMaxBytes
	}
	config, err := opt.TLS()
	if err != nil {
		return nil, err
	}
	b := &Broker{opt: opt}
	b.conn, err = nats.Connect(opt.URL,
		nats.Name("docent hub "+opt.Worker), nats.Secure(config), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait),
		nats.ReconnectBufSize(-1), // what cannot be sent now is said again later
		nats.IgnoreAuthErrorAbort(),
		nats.ConnectHandler(func(c *nats.Conn) { opt.Logger.Info("broker connected", "server", c.ConnectedUrl()) }),
		nats.ReconnectHandler(func(c *nats.Conn) { opt.Logger.Info("broker connected again", "server", c.ConnectedUrl()) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { opt.Logger.Warn("broker not connected", "err", err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { opt.Logger.Warn("broker", "err", err) }))
	if err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	if b.js, err = jetstream.New(b.conn); err != nil {
		b.conn.Close()
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	// Events and the rest are apart, so that a request for content does not wait behind a backlog of events.
	b.wg.Go(func() { b.consume("hub-events", wire.KindEvent) })
	b.wg.Go(func() { b.consume("hub-rest", wire.KindStatus, wire.KindDeploy, wire.KindResult, wire.KindFetch) })
	return b, nil
}

// Close lets the messages under way finish and ends the connection.
func (b *Broker) Close() (err error) {
	b.once.Do(func() {
		b.cancel()
		b.wg.Wait()
		if b.conn.IsConnected() {
			if err := b.conn.FlushTimeout(flushTimeout); err != nil { // answers on their way
				b.opt.Logger.Debug("broker not flushed", "err", err)
			}
		}
		b.conn.Close()
	})
	return nil
}

// consume takes messages of some kinds until Close, and begins anew whatever happens to its consumer.
func (b *Broker) consume(durable string, kinds ...wire.Kind) {
	for {
		err := b.messages(durable, kinds)
		if b.ctx.Err() != nil {
			return
		}
		b.opt.Logger.Warn("no messages from the broker", "consumer", durable, "err", err)
		select {
		case <-b.ctx.Done():
			return
		case <-time.After(setUpEvery):
		}
	}
}

// messages sets stream and consumer up, which changes nothing where they are so already, and takes messages.
func (b *Broker) messages(durable string, kinds []wire.Kind) error {
	ctx, cancel := context.WithTimeout(b.ctx, setUpTimeout)
	defer cancel()
	_, err := b.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: Stream, Subjects: []string{subject + "*"}, Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage,
		Replicas: b.opt.Replicas, MaxBytes: b.opt.MaxBytes, Discard: jetstream.DiscardOld, NoAck: true,
	})
	if err != nil {
		return fmt.Errorf("set up stream: %w", err)
	}
	var filters []string
	for _, k := range kinds {
		filters = append(filters, subject+string(k))
	}
	consumer, err := b.js.CreateOrUpdateConsumer(ctx, Stream, jetstream.ConsumerConfig{
		Durable: durable, FilterSubjects: filters, AckPolicy: jetstream.AckExplicitPolicy, AckWait: answerWithin, MaxAckPending: unanswered,
	})
	if err != nil {
		return fmt.Errorf("set up consumer: %w", err)
	}
	all, err := consumer.Messages(jetstream.PullMaxMessages(pulled))
	if err != nil {
		return fmt.Errorf("take messages: %w", err)
	}
	over := context.AfterFunc(b.ctx, all.Stop)
	defer over()
	defer all.Stop()
	work := broker.NewLanes(lanes, laneDepth, b.deal)
	defer work.Close()
	for {
		m, err := all.Next()
		if errors.Is(err, jetstream.ErrNoHeartbeat) && b.conn.Status() != nats.CLOSED {
			continue // a server is away; the library asks again when it is back
		}
		if err != nil {
			return fmt.Errorf("take messages: %w", err)
		}
		topic := strings.ReplaceAll(m.Subject(), ".", "/")
		key := topic
		if from, _, err := wire.ParseTopic(topic); err == nil {
			key = from.ClientID()
		}
		if err := work.Put(b.ctx, key, message{topic, m}); err != nil {
			return err
		}
	}
}

type message struct {
	topic string
	jetstream.Msg
}

// deal answers a message once the hub has dealt with it. An answer that gets lost costs a repetition.
func (b *Broker) deal(m message) {
	err := broker.Deliver(context.WithoutCancel(b.ctx), b.opt.Receiver, m.topic, m.Data())
	switch {
	case errors.Is(err, broker.ErrMessage):
		b.opt.Logger.Warn("message not taken", "topic", m.topic, "err", err)
		err = m.Term()
	case err != nil:
		b.opt.Logger.Warn("message not dealt with, it comes again", "topic", m.topic, "err", err)
		err = m.NakWithDelay(againAfter)
	default:
		err = m.Ack()
	}
	if err != nil {
		b.opt.Logger.Debug("message not answered, it comes again", "err", err)
	}
}

// Publish sends a message to the kiosk that listens for it. NATS passes it on to MQTT with QoS 0 and keeps none of it:
// retain has no effect, and whatever gets lost the hub says again at the kiosk's next sign of life.
func (b *Broker) Publish(topic string, payload []byte, _ bool) error {
	if err := b.conn.Publish(strings.ReplaceAll(topic, "/", "."), payload); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	return nil
}

// Recheck does nothing: NATS lets kiosks in by its files.
func (b *Broker) Recheck() {}
