package link

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"docent/sync/wire"
)

// maxPacket bounds what a broker may send in one MQTT packet. paho allocates what the first five bytes announce, up
// to 256 MB, before it reads a byte more (eclipse-paho/paho.mqtt.golang#754); the connection is cut before that.
const maxPacket = wire.MaxPayload + 1024 // topic, packet id and header

var errPacketTooLarge = errors.New("the broker announced a packet over the limit")

// conns opens the network connection of a session and can close it from outside.
type conns struct {
	dialer func(ctx context.Context, network, address string) (net.Conn, error)
	ctx    context.Context
	cancel context.CancelFunc
	mu     sync.Mutex
	conn   net.Conn
	opened bool // somebody answered
}

func newConns(ctx context.Context, dialer func(ctx context.Context, network, address string) (net.Conn, error)) *conns {
	ctx, cancel := context.WithCancel(ctx)
	return &conns{dialer: dialer, ctx: ctx, cancel: cancel}
}

// open dials the broker. It is called by paho.
func (c *conns) open(tlsConfig *tls.Config) mqtt.OpenConnectionFunc {
	return func(u *url.URL, _ mqtt.ClientOptions) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(c.ctx, connectTimeout)
		defer cancel()
		conn, err := c.dial(ctx, u, tlsConfig)
		if err != nil {
			return nil, fmt.Errorf("dial %s: %w", u.Host, err)
		}
		limited := &limitedConn{Conn: conn}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.conn = limited
		if c.ctx.Err() != nil {
			conn.Close()
			return nil, c.ctx.Err()
		}
		return limited, nil
	}
}

func (c *conns) dial(ctx context.Context, u *url.URL, tlsConfig *tls.Config) (net.Conn, error) {
	first, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	raw, err := c.dialer(first, "tcp", u.Host)
	if err == nil {
		c.mu.Lock()
		c.opened = true
		c.mu.Unlock()
	}
	if err != nil || u.Scheme != "tls" {
		return raw, err
	}
	if tlsConfig == nil {
		tlsConfig = &tls.Config{}
	}
	if tlsConfig.ServerName == "" && !tlsConfig.InsecureSkipVerify {
		tlsConfig = tlsConfig.Clone()
		tlsConfig.ServerName = u.Hostname()
	}
	conn := tls.Client(raw, tlsConfig)
	if err := conn.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, err
	}
	return conn, nil
}

// heard tells whether the network connection was opened.
func (c *conns) heard() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.opened
}

// close ends dialling and the connection; paho's goroutines end with it.
func (c *conns) close() {
	c.cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		c.conn.Close()
	}
}

// limitedConn follows the MQTT packets that come in and fails on one that is too long.
type limitedConn struct {
	net.Conn
	header int    // bytes of the fixed header seen, 0 before a packet
	length uint32 // remaining length read so far
	body   uint32 // bytes of the body still to come
}

func (c *limitedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err2 := c.follow(b[:n]); err2 != nil {
		c.Conn.Close()
		return 0, err2
	}
	return n, err
}

// follow steps through the bytes of MQTT packets: type, remaining length of 1 to 4 bytes, body.
func (c *limitedConn) follow(b []byte) error {
	for len(b) > 0 {
		if c.body > 0 {
			n := min(c.body, uint32(len(b)))
			c.body -= n
			b = b[n:]
			continue
		}
		if c.header > 0 {
			c.length |= uint32(b[0]&0x7f) << (7 * (c.header - 1))
			if c.length > maxPacket || c.header > 4 {
				return errPacketTooLarge
			}
			if b[0]&0x80 == 0 {
				c.body, c.header, c.length = c.length, 0, 0
			} else {
				c.header++
			}
			b = b[1:]
			continue
		}
		c.header, b = 1, b[1:]
	}
	return nil
}
