package mochi

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"docent/sync/hub/broker"
	"docent/sync/wire"
)

// hook is where the broker asks and tells the hub. Its methods run in the connections' goroutines.
type hook struct {
	mqtt.HookBase
	ctx    context.Context
	to     Receiver
	log    *slog.Logger
	server *mqtt.Server
}

// ID names the hook.
func (h *hook) ID() string { return "hub" }

// Provides lists the methods below.
func (h *hook) Provides(b byte) bool {
	return bytes.IndexByte([]byte{
		mqtt.OnConnectAuthenticate, mqtt.OnSessionEstablished, mqtt.OnACLCheck, mqtt.OnPublish, mqtt.OnSubscribed, mqtt.OnWill,
	}, b) >= 0
}

// OnConnectAuthenticate admits a kiosk under its own name: MQTT 3.1.1, a clean session, a keep-alive, and a will on
// its own status topic (the library checks no rights when it sends a will). With client certificates the name must
// be the certificate's.
func (h *hook) OnConnectAuthenticate(cl *mqtt.Client, pk packets.Packet) bool {
	addr, err := wire.ParseClientID(cl.ID)
	refuse := func(why string) bool {
		h.log.Warn("connection refused", "remote", cl.Net.Remote, "reason", why)
		return false
	}
	if err != nil {
		return refuse("client id is not of the form SITE_KIOSK")
	}
	if cl.Properties.ProtocolVersion != 4 || !cl.Properties.Clean {
		return refuse("not MQTT 3.1.1 with a clean session")
	}
	if k := pk.Connect.Keepalive; k == 0 || k > maxKeepAlive {
		return refuse("keep-alive not in 1…600 s")
	}
	c := connection(cl, addr)
	if c.Certificate != nil && c.Certificate.Subject.CommonName != cl.ID {
		return refuse("client id is not the certificate's name")
	}
	if pk.Connect.WillFlag {
		st, err := wire.DecodeStatus(pk.Connect.WillPayload)
		if err != nil || st.State != wire.PresenceLost || pk.Connect.WillTopic != addr.Topic(wire.KindStatus) {
			return refuse("will is not the kiosk's own")
		}
		c.BootID, c.Session = st.BootID, st.SessionSeq
	}
	if before, ok := h.server.Clients.Get(cl.ID); ok && !before.Closed() {
		c.Taken = true
	}
	if err := h.to.Admit(c); err != nil {
		return refuse(err.Error())
	}
	return true
}

// connection describes a client that has shown its name.
func connection(cl *mqtt.Client, addr wire.Address) Connection {
	c := Connection{Kiosk: addr, Remote: cl.Net.Remote}
	if conn, ok := cl.Net.Conn.(*tls.Conn); ok {
		if certs := conn.ConnectionState().PeerCertificates; len(certs) > 0 {
			c.Certificate = certs[0]
		}
	}
	return c
}

// OnSessionEstablished asks again: what was revoked while the kiosk came in was not in the list of connections yet.
func (h *hook) OnSessionEstablished(cl *mqtt.Client, _ packets.Packet) { h.recheck(cl) }

func (h *hook) recheck(cl *mqtt.Client) {
	addr, err := wire.ParseClientID(cl.ID)
	if err == nil {
		err = h.to.Allowed(connection(cl, addr))
	}
	if err != nil {
		h.log.Warn("connection ended", "remote", cl.Net.Remote, "client", cl.ID, "reason", err)
		cl.Stop(err)
	}
}

// OnACLCheck allows a kiosk to publish on its own upward topics and to subscribe to its one filter of commands, and
// lets commands through to it.
func (h *hook) OnACLCheck(cl *mqtt.Client, topic string, write bool) bool {
	addr, err := wire.ParseClientID(cl.ID)
	if err != nil {
		return false
	}
	if !write && topic == addr.Commands() {
		return true
	}
	to, kind, err := wire.ParseTopic(topic)
	return err == nil && to == addr && kind.Up() == write
}

// OnPublish runs before the kiosk gets its answer (PUBACK). Nothing goes on to subscribers: there are none for what
// kiosks send. ErrRejectPacket is the one error that withholds the answer of a 3.1.1 client; the connection is closed
// so that the kiosk sends again.
func (h *hook) OnPublish(cl *mqtt.Client, pk packets.Packet) (packets.Packet, error) {
	if cl.Net.Inline {
		return pk, nil
	}
	_, kind, err := wire.ParseTopic(pk.TopicName)
	switch {
	case err != nil:
		return pk, h.reject(cl, err)
	case pk.FixedHeader.Retain && kind != wire.KindStatus:
		return pk, h.reject(cl, errRetain)
	case pk.FixedHeader.Qos == 0 && kind == wire.KindEvent:
		return pk, h.reject(cl, errQoS)
	}
	if err := broker.Deliver(h.ctx, h.to, pk.TopicName, pk.Payload); err != nil {
		return pk, h.reject(cl, err)
	}
	return pk, nil
}

var (
	errQoS    = errors.New("events need QoS 1")
	errRetain = errors.New("only status may be retained")
)

// reject withholds the answer and ends the connection.
func (h *hook) reject(cl *mqtt.Client, err error) error {
	h.log.Warn("message not taken, connection closed", "client", cl.ID, "err", err)
	cl.Stop(err)
	return packets.ErrRejectPacket
}

// OnSubscribed tells the hub that a kiosk listens.
func (h *hook) OnSubscribed(cl *mqtt.Client, pk packets.Packet, codes []byte) {
	addr, err := wire.ParseClientID(cl.ID)
	if err != nil {
		return
	}
	for i, f := range pk.Filters {
		if f.Filter == addr.Commands() && i < len(codes) && codes[i] <= 1 {
			h.to.Subscribed(h.ctx, addr)
		}
	}
}

// OnWill passes a will on. The will of a connection that a newer one of the same kiosk has replaced is not retained.
func (h *hook) OnWill(cl *mqtt.Client, will mqtt.Will) (mqtt.Will, error) {
	addr, err := wire.ParseClientID(cl.ID)
	if err != nil {
		return will, err
	}
	st, err := wire.DecodeStatus(will.Payload)
	if err != nil {
		return will, err
	}
	if cl.IsTakenOver() {
		will.Retain = false
	}
	return will, h.to.Status(context.WithoutCancel(h.ctx), addr, st)
}

var _ mqtt.Hook = (*hook)(nil)
