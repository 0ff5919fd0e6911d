// Package mochi is the hub's embedded MQTT broker, an adapter of mochi-mqtt/server. It answers a kiosk's message only
// after the hub has made it durable, and lets each kiosk use its own topics and nothing else.
package mochi

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"

	"docent/sync/hub/broker"
	"docent/sync/wire"
)

// Receiver is what the broker hands messages to, and asks. The methods are called from the connections' goroutines.
type Receiver interface {
	broker.Receiver
	broker.Gate
}

// Connection is what is known of a kiosk that connects.
type Connection = broker.Connection

// Limits of the broker.
const (
	maxPacket     = wire.MaxPayload + 1024 // bytes of an MQTT packet, topic and header included
	maxClients    = 10_000
	maxPending    = 256 // messages waiting to be written to one kiosk; more are dropped, acknowledgements are made up for
	maxInflight   = 256
	maxKeepAlive  = 10 * 60          // seconds
	handshake     = 10 * time.Second // from the first byte to a good CONNECT
	sysInfoPeriod = 3600             // seconds; nobody reads $SYS, and each round stops the world to read memory figures
)

// Options of a Broker. Listen and Receiver are required.
type Options struct {
	Listen string      // host:port; port 0 picks one
	TLS    *tls.Config // nil: in clear. With ClientAuth set, a client id must be the certificate's common name.
	// Next takes over connections of other protocols (ALPN) and returns when they have ended.
	Next     map[string]func(*tls.Conn)
	Receiver Receiver
	// Handshake is how long a connection may take until it has introduced itself; 0 means 10 seconds.
	Handshake time.Duration
	Logger    *slog.Logger // nil discards
}

// Broker is a running broker.
type Broker struct {
	server   *mqtt.Server
	listener *listener
	hook     *hook
	cancel   context.CancelFunc
	once     sync.Once
}

// Start listens and serves.
func Start(opt Options) (*Broker, error) {
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	if opt.Handshake == 0 {
		opt.Handshake = handshake
	}
	server := mqtt.New(&mqtt.Options{
		Logger:                 slog.New(quiet{opt.Logger.Handler()}),
		InlineClient:           true,
		SysTopicResendInterval: sysInfoPeriod,
		Capabilities: &mqtt.Capabilities{
			MaximumClients:               maxClients,
			MaximumMessageExpiryInterval: 0, // never: the default forgets retained messages after a day
			MaximumClientWritesPending:   maxPending,
			MaximumSessionExpiryInterval: 0,
			MaximumPacketSize:            maxPacket,
			ReceiveMaximum:               1024,
			MaximumInflight:              maxInflight,
			MinimumProtocolVersion:       4,
			MaximumQos:                   1,
			RetainAvailable:              1,
			WildcardSubAvailable:         1,
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	h := &hook{ctx: ctx, to: opt.Receiver, log: opt.Logger, server: server}
	if err := server.AddHook(h, nil); err != nil {
		cancel()
		return nil, fmt.Errorf("start broker: %w", err)
	}
	l := newListener(opt.Listen, opt.TLS, opt.Handshake, opt.Next, opt.Logger)
	if err := server.AddListener(l); err != nil {
		cancel()
		return nil, fmt.Errorf("start broker: %w", err)
	}
	if err := server.Serve(); err != nil {
		cancel()
		return nil, errors.Join(fmt.Errorf("start broker: %w", err), server.Close())
	}
	return &Broker{server: server, listener: l, hook: h, cancel: cancel}, nil
}

// Addr is the address the broker listens on.
func (b *Broker) Addr() net.Addr { return b.listener.addr() }

// Publish sends a message to the kiosk that listens for it, if it is there, with the QoS of its kind. It does not wait.
func (b *Broker) Publish(topic string, payload []byte, retain bool) error {
	_, kind, err := wire.ParseTopic(topic)
	if err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	if err := b.server.Publish(topic, payload, retain, kind.QoS()); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	return nil
}

// Recheck asks the receiver about each open connection again and ends those that are not allowed any more.
func (b *Broker) Recheck() {
	for _, cl := range b.server.Clients.GetAll() {
		if !cl.Net.Inline && !cl.Closed() {
			b.hook.recheck(cl)
		}
	}
}

// Connected tells how many kiosks are connected.
func (b *Broker) Connected() int {
	n := 0
	for _, cl := range b.server.Clients.GetAll() {
		if !cl.Net.Inline && !cl.Closed() {
			n++
		}
	}
	return n
}

// Close ends all connections and waits for their goroutines. Further calls do nothing.
func (b *Broker) Close() (err error) {
	b.once.Do(func() {
		b.cancel()
		b.listener.stop()
		if err = b.server.Close(); err != nil {
			err = fmt.Errorf("stop broker: %w", err)
		}
	})
	return err
}
