package mochi

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"docent/sync/wire"
)

func TestSubscriptionsAreOnesOwn(t *testing.T) {
	b, r := start(t)
	c, _ := mustConnect(t, options(b))
	for _, filter := range []string{
		"#", "+", "+/+/+/+/+/+", "dt/#", "cmd/#", "cmd/docent/v1/#", "cmd/docent/v1/museum/#", "cmd/docent/v1/museum/+/ack",
		"cmd/docent/v1/+/kiosk-1/+", mine.Topic(wire.KindAck) + "/#", "cmd/docent/v1/museum/kiosk-1/#",
		theirs.Commands(), theirs.Topic(wire.KindAck), mine.Topic(wire.KindEvent), mine.Topic(wire.KindStatus),
		"$SYS/#", "$share/group/" + mine.Commands(), "$share/group/#",
	} {
		token := c.Subscribe(filter, 1, func(paho.Client, paho.Message) {})
		if !token.WaitTimeout(5*time.Second) || token.Error() != nil {
			t.Fatalf("%s: no answer, %v", filter, token.Error())
		}
		for _, code := range token.(*paho.SubscribeToken).Result() {
			if code != 0x80 {
				t.Errorf("%s: granted (0x%02x)", filter, code)
			}
		}
	}
	if n := r.count(func() int { return len(r.subscribed) }); n != 0 {
		t.Errorf("the hub was told of %d subscriptions", n)
	}
	for _, filter := range []string{mine.Commands(), mine.Topic(wire.KindAck)} {
		token := c.Subscribe(filter, 1, func(paho.Client, paho.Message) {})
		if !token.WaitTimeout(5*time.Second) || token.Error() != nil || token.(*paho.SubscribeToken).Result()[filter] != 1 {
			t.Errorf("%s: refused", filter)
		}
	}
	if got := r.subscribed; len(got) != 1 || got[0] != mine {
		t.Errorf("the hub was told of %v", got)
	}
}

func TestMessagesReachTheirKioskOnly(t *testing.T) {
	b, _ := start(t)
	got := make(chan string, 10)
	handler := func(name string) paho.MessageHandler {
		return func(_ paho.Client, m paho.Message) { got <- name + " " + string(m.Payload()) }
	}
	for _, a := range []wire.Address{mine, theirs} {
		c, _ := mustConnect(t, options(b).SetClientID(a.ClientID()))
		if token := c.Subscribe(a.Commands(), 1, handler(a.Kiosk)); !token.WaitTimeout(5*time.Second) || token.Error() != nil {
			t.Fatal(token.Error())
		}
	}
	for _, m := range []struct {
		to   wire.Address
		text string
	}{{theirs, "one"}, {mine, "two"}} {
		if err := b.Publish(m.to.Topic(wire.KindAck), []byte(m.text), false); err != nil {
			t.Fatal(err)
		}
		if s := <-got; s != m.to.Kiosk+" "+m.text {
			t.Errorf("got %q", s)
		}
	}
	if len(got) > 0 {
		t.Errorf("and then %q", <-got)
	}
}

func TestForbiddenPublishesAreNotAnsweredAndEndTheConnection(t *testing.T) {
	tests := []struct {
		name, topic string
		qos         byte
		retain      bool
		payload     string
	}{
		{"as another kiosk", theirs.Topic(wire.KindEvent), 1, false, "x"},
		{"status of another kiosk", theirs.Topic(wire.KindStatus), 1, true, "x"},
		{"a command to itself", mine.Topic(wire.KindAck), 1, false, "x"},
		{"a command to another", theirs.Topic(wire.KindRequest), 1, false, "x"},
		{"a topic of no contract", "dt/docent/v1/museum/kiosk-1/event/more", 1, false, "x"},
		{"an answer of another kiosk", theirs.Topic(wire.KindResult), 1, false, "x"},
		{"an answer that is none", mine.Topic(wire.KindResult), 1, false, "{}"},
		{"a retained answer", mine.Topic(wire.KindResult), 1, true, "x"},
		{"events at QoS 0", mine.Topic(wire.KindEvent), 0, false, "x"},
		{"retained events", mine.Topic(wire.KindEvent), 1, true, "x"},
		{"a status that is none", mine.Topic(wire.KindStatus), 1, true, "hello"},
		{"over the limit", mine.Topic(wire.KindEvent), 1, false, strings.Repeat("x", maxPacket)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, r := start(t)
			c, lost := mustConnect(t, options(b))
			token := c.Publish(tt.topic, tt.qos, tt.retain, tt.payload)
			select {
			case <-lost:
			case <-time.After(10 * time.Second):
				t.Fatal("the connection stays open")
			}
			if tt.qos > 0 && token.WaitTimeout(5*time.Second) && token.Error() == nil {
				t.Error("the message was answered")
			}
			if n := r.count(func() int { return len(r.events) + len(r.statuses) }); n != 0 {
				t.Errorf("%d messages reached the hub", n)
			}
		})
	}
}

// TestTopicsOfTheBroker: what a client sends there is passed over by the library, or ends the connection.
func TestTopicsOfTheBroker(t *testing.T) {
	for _, topic := range []string{"$SYS/broker/uptime", "$share/group/" + mine.Topic(wire.KindEvent), "$" + mine.Topic(wire.KindEvent)} {
		b, r := start(t)
		c, lost := mustConnect(t, options(b))
		ignored := c.Publish(topic, 1, false, "x")
		good := c.Publish(mine.Topic(wire.KindEvent), 1, false, "event")
		select {
		case <-lost:
		case <-good.Done(): // and not the one before, which the broker answers in order
		case <-time.After(10 * time.Second):
			t.Fatal("no answer")
		}
		select {
		case <-ignored.Done():
			if ignored.Error() == nil {
				t.Errorf("%s was answered", topic)
			}
		default:
		}
		r.mu.Lock()
		for _, e := range r.events {
			if e != "kiosk-1 event" {
				t.Errorf("%s: the hub got %q", topic, e)
			}
		}
		r.mu.Unlock()
	}
}

func TestLargestPayloadPasses(t *testing.T) {
	b, r := start(t)
	c, _ := mustConnect(t, options(b))
	token := c.Publish(mine.Topic(wire.KindEvent), 1, false, strings.Repeat("x", wire.MaxPayload))
	if !token.WaitTimeout(10*time.Second) || token.Error() != nil {
		t.Fatalf("not answered: %v", token.Error())
	}
	if n := r.count(func() int { return len(r.events) }); n != 1 {
		t.Errorf("%d messages", n)
	}
}

func TestNoAnswerUnlessDurable(t *testing.T) {
	b, r := start(t)
	r.fail = errors.New("disk full")
	c, lost := mustConnect(t, options(b))
	token := c.Publish(mine.Topic(wire.KindEvent), 1, false, "event")
	select {
	case <-lost:
	case <-time.After(10 * time.Second):
		t.Fatal("the connection stays open")
	}
	if token.WaitTimeout(5*time.Second) && token.Error() == nil {
		t.Error("the message was answered")
	}
}

func TestConnectionsThatAreRefused(t *testing.T) {
	lost := func(state string) string {
		return `{"state":"` + state + `","session_seq":1,"boot_id":"` + bootID + `"}`
	}
	tests := []struct {
		name   string
		change func(*paho.ClientOptions)
	}{
		{"client id of no kiosk", func(o *paho.ClientOptions) { o.SetClientID("someone") }},
		{"client id with a wildcard", func(o *paho.ClientOptions) { o.SetClientID("museum_+") }},
		{"client id of nobody", func(o *paho.ClientOptions) { o.SetClientID("") }},
		{"another site", func(o *paho.ClientOptions) { o.SetClientID("elsewhere_kiosk-1") }},
		{"a session that stays", func(o *paho.ClientOptions) { o.SetCleanSession(false) }},
		{"no keep-alive", func(o *paho.ClientOptions) { o.SetKeepAlive(0) }},
		{"a day's keep-alive", func(o *paho.ClientOptions) { o.SetKeepAlive(12 * time.Hour) }},
		{"MQTT 3.1", func(o *paho.ClientOptions) { o.SetProtocolVersion(3) }},
		{"a will in another's name", func(o *paho.ClientOptions) {
			o.SetWill(theirs.Topic(wire.KindStatus), lost("lost"), 1, true)
		}},
		{"a will that is an event", func(o *paho.ClientOptions) {
			o.SetWill(mine.Topic(wire.KindEvent), lost("lost"), 1, true)
		}},
		{"a will that says ready", func(o *paho.ClientOptions) {
			o.SetWill(mine.Topic(wire.KindStatus), lost("ready"), 1, true)
		}},
		{"a will that says nothing", func(o *paho.ClientOptions) { o.SetWill(mine.Topic(wire.KindStatus), "bye", 1, true) }},
	}
	b, r := start(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			opts := options(b)
			tt.change(opts)
			if _, _, err := connect(t, opts); err == nil {
				t.Error("admitted")
			}
		})
	}
	if n := r.count(func() int { return len(r.statuses) }); n != 0 {
		t.Errorf("%d wills were sent", n)
	}
}

func TestRecheckEndsWhatIsNotAllowedAnyMore(t *testing.T) {
	b, r := start(t)
	_, lost := mustConnect(t, options(b))
	other, _ := mustConnect(t, options(b).SetClientID(theirs.ClientID()))
	b.Recheck()
	if b.Connected() != 2 {
		t.Fatalf("%d connections", b.Connected())
	}
	r.mu.Lock()
	r.banned = mine
	r.mu.Unlock()
	b.Recheck()
	select {
	case <-lost:
	case <-time.After(10 * time.Second):
		t.Fatal("the connection stays open")
	}
	if token := other.Publish(theirs.Topic(wire.KindEvent), 1, false, "x"); !token.WaitTimeout(5*time.Second) || token.Error() != nil {
		t.Errorf("the other kiosk: %v", token.Error())
	}
	if _, _, err := connect(t, options(b)); err == nil {
		t.Error("admitted again")
	}
}

// TestBannedWhileComingIn lets a kiosk be banned after it was admitted and before it is in the list of connections.
func TestBannedWhileComingIn(t *testing.T) {
	b, _ := start(t, func(o *Options) { o.Receiver = &late{receiver: o.Receiver.(*receiver)} })
	_, lost, err := connect(t, options(b))
	if err != nil {
		return // refused at once is as good
	}
	select {
	case <-lost:
	case <-time.After(10 * time.Second):
		t.Fatal("the connection stays open")
	}
}

func TestConnectionsOfAnotherProtocolAreHandedOver(t *testing.T) {
	ca := newAuthority(t)
	server := ca.issue(t, "hub", time.Hour)
	got := make(chan string, 1)
	b, _ := start(t, func(o *Options) {
		o.TLS = &tls.Config{Certificates: []tls.Certificate{server}, NextProtos: []string{"mqtt", "other"}}
		o.Next = map[string]func(*tls.Conn){"other": func(c *tls.Conn) {
			buf := make([]byte, 5)
			_, err := io.ReadFull(c, buf)
			if err == nil {
				_, err = c.Write([]byte("bye"))
			}
			got <- string(buf)
			if err != nil {
				t.Error(err)
			}
		}}
	})
	c, err := tls.Dial("tcp", b.Addr().String(), &tls.Config{RootCAs: ca.pool(), ServerName: "hub", NextProtos: []string{"other"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(c)
	if err != nil || string(answer) != "bye" || <-got != "hello" {
		t.Errorf("answer %q, %v", answer, err)
	}
}

func TestWillOfACutConnection(t *testing.T) {
	b, r := start(t)
	var conn net.Conn
	opts := options(b).SetWill(mine.Topic(wire.KindStatus), `{"state":"lost","session_seq":7,"boot_id":"`+bootID+`"}`, 1, true)
	opts.SetCustomOpenConnectionFn(func(u *url.URL, _ paho.ClientOptions) (net.Conn, error) {
		var err error
		conn, err = net.Dial("tcp", u.Host)
		return conn, err
	})
	mustConnect(t, opts)
	conn.Close()
	for r.count(func() int { return len(r.statuses) }) == 0 {
		time.Sleep(5 * time.Millisecond)
	}
	if st := r.statuses[0]; st.State != wire.PresenceLost || st.SessionSeq != 7 {
		t.Errorf("will %+v", st)
	}
}

func TestSilentConnectionsEnd(t *testing.T) {
	b, _ := start(t, func(o *Options) { o.Handshake = 200 * time.Millisecond })
	for name, first := range map[string][]byte{
		"nothing":       nil,
		"half a packet": {0x10, 0x40, 0x00, 0x04, 'M', 'Q'},
	} {
		conn, err := net.Dial("tcp", b.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Write(first); err != nil {
			t.Fatal(err)
		}
		conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.ReadAll(conn); errors.Is(err, context.DeadlineExceeded) || err != nil && err.(net.Error).Timeout() {
			t.Errorf("%s: the connection stays open", name)
		}
	}
}

func TestCloseWithOpenConnectionsLeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	b, _ := start(t)
	mustConnect(t, options(b))
	idle, err := net.Dial("tcp", b.Addr().String()) // never says CONNECT
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(10 * time.Second)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestCertificateNamesTheKiosk(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	server := ca.issue(t, "hub", time.Hour)
	b, r := start(t, func(o *Options) {
		o.TLS = &tls.Config{Certificates: []tls.Certificate{server}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ca.pool()}
	})
	client := func(cert ...tls.Certificate) *paho.ClientOptions {
		opts := options(b).SetTLSConfig(&tls.Config{RootCAs: ca.pool(), Certificates: cert, ServerName: "hub"})
		opts.Servers = nil
		return opts.AddBroker("tls://" + b.Addr().String())
	}
	c, _ := mustConnect(t, client(ca.issue(t, mine.ClientID(), time.Hour)))
	if token := c.Publish(mine.Topic(wire.KindEvent), 1, false, "event"); !token.WaitTimeout(5*time.Second) || token.Error() != nil {
		t.Errorf("own certificate: %v", token.Error())
	}
	for name, opts := range map[string]*paho.ClientOptions{
		"another kiosk's certificate": client(ca.issue(t, theirs.ClientID(), time.Hour)),
		"expired":                     client(ca.issue(t, mine.ClientID(), -time.Hour)),
		"of another authority":        client(other.issue(t, mine.ClientID(), time.Hour)),
		"none":                        client(),
	} {
		if _, _, err := connect(t, opts); err == nil {
			t.Errorf("%s: admitted", name)
		}
	}
	if n := r.count(func() int { return len(r.events) }); n != 1 {
		t.Errorf("%d messages", n)
	}
}

func TestNoPayloadIsLogged(t *testing.T) {
	var log strings.Builder
	var mu sync.Mutex
	b, _ := start(t, func(o *Options) {
		o.Logger = slog.New(slog.NewTextHandler(writerFunc(func(p []byte) (int, error) {
			mu.Lock()
			defer mu.Unlock()
			return log.Write(p)
		}), &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	c, lost := mustConnect(t, options(b))
	c.Publish(theirs.Topic(wire.KindEvent), 1, false, "what a visitor asked")
	<-lost
	c, lost = mustConnect(t, options(b))
	c.Publish(mine.Topic(wire.KindStatus), 1, true, "what a visitor asked")
	<-lost
	mu.Lock()
	defer mu.Unlock()
	if s := log.String(); strings.Contains(s, "visitor") || strings.Contains(s, "119 104 97 116") || !strings.Contains(s, "connection closed") {
		t.Errorf("log:\n%s", s)
	}
}
