package kiosk

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fasthttp/websocket"

	"docent/agent"
	"docent/kiosk/visit"
)

func nothing(*visit.Visit) {}

func (h *house) dial(t testing.TB, visit string, header ...string) *websocket.Conn {
	t.Helper()
	hd := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		hd.Set(header[i], header[i+1])
	}
	conn, _, err := websocket.DefaultDialer.Dial("ws://"+h.Addr()+"/api/v1/ws?visit="+visit, hd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func say(t testing.TB, c *websocket.Conn, text string) {
	t.Helper()
	if err := c.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func hear(t testing.TB, c *websocket.Conn) agent.Event {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, data, err := c.ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	var e agent.Event
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestSocket(t *testing.T) {
	g := newTold()
	h := open(t, func(o *Options) { o.Guide = g })
	id := h.startVisit("zh")
	if _, err := h.visits.Update(id, func(v *visit.Visit) { v.Hold("red-fan") }); err != nil {
		t.Fatal(err)
	}
	c := h.dial(t, id, "Origin", "http://"+h.Addr())

	say(t, c, `{"type":"explain"}`)
	if turn := wait(t, g.turns); !turn.Explain || turn.Exhibit != "red-fan" {
		t.Errorf("turn %+v", turn)
	}
	g.events <- agent.Event{Type: agent.EventToken, Text: "红扇"}
	if e := hear(t, c); e.Text != "红扇" {
		t.Errorf("got %+v", e)
	}
	// A question ends the explanation.
	say(t, c, `{"type":"ask","question":"为什么？"}`)
	wait(t, g.ended)
	if turn := wait(t, g.turns); turn.Question != "为什么？" {
		t.Errorf("turn %+v", turn)
	}
	g.events <- done(false)
	if e := hear(t, c); e.Type != agent.EventDone {
		t.Errorf("got %+v", e)
	}
	h.events.wantTypes(t, "question.unanswered")

	say(t, c, `{"type":"ask","question":"Again?"}`)
	wait(t, g.turns)
	say(t, c, `{"type":"stop"}`)
	wait(t, g.ended)

	for _, bad := range []string{
		"hello", `{"type":"dance"}`, `{"type":"ask"}`, `{"type":"ask","question":"` + strings.Repeat("x", 501) + `"}`,
		`{"type":"explain","question":"x"}{}`, `{"kind":"ask"}`, "\"\\ud800", `[]`, `null`,
	} {
		say(t, c, bad)
		if e := hear(t, c); e.Type != agent.EventError || !strings.ContainsFunc(e.Message, func(r rune) bool { return r > 0x2e80 }) {
			t.Errorf("%.40s: got %+v", bad, e)
		}
	}
	if err := c.WriteMessage(websocket.BinaryMessage, []byte{1}); err != nil {
		t.Fatal(err)
	}
	if e := hear(t, c); e.Type != agent.EventError {
		t.Errorf("binary message: got %+v", e)
	}
	h.events.wantTypes(t)

	// A client that goes takes its answer with it.
	say(t, c, `{"type":"ask","question":"Last?"}`)
	wait(t, g.turns)
	c.Close()
	wait(t, g.ended)
}

func TestSocketRefuses(t *testing.T) {
	h := open(t)
	id := h.startVisit("en")
	for name, tt := range map[string]struct {
		visit, origin string
		status        int
	}{
		"unknown visit": {"x", "", 404},
		"another site":  {id, "http://evil.example", 403},
		"no site":       {id, "null", 403},
		"another port":  {id, "http://127.0.0.1:1", 403},
	} {
		hd := http.Header{}
		if tt.origin != "" {
			hd.Set("Origin", tt.origin)
		}
		c, resp, err := websocket.DefaultDialer.Dial("ws://"+h.Addr()+"/api/v1/ws?visit="+tt.visit, hd)
		if err == nil {
			c.Close()
			t.Errorf("%s: connected", name)
		} else if resp == nil || resp.StatusCode != tt.status {
			t.Errorf("%s: %v, %v", name, resp, err)
		}
	}
	c := h.dial(t, id)
	say(t, c, `{"type":"ask","question":"`+strings.Repeat("x", maxMessage)+`"}`)
	if _, _, err := c.ReadMessage(); err == nil {
		t.Error("a message over the limit did not end the connection")
	}
}
