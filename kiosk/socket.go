package kiosk

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/gofiber/contrib/websocket"
	"github.com/gofiber/fiber/v2"

	"docent/agent"
)

const (
	maxMessage  = 8 << 10          // bytes of one message from a client: 500 characters, escaped
	socketWrite = 10 * time.Second // for one message
	socketPing  = 20 * time.Second
	socketQuiet = 60 * time.Second // without a message or pong, after which a client counts as gone
)

// getSocket answers over a WebSocket. The origin was checked before.
func (k *Kiosk) getSocket() fiber.Handler {
	upgrade := websocket.New(k.serveSocket, websocket.Config{
		HandshakeTimeout: 5 * time.Second,
		RecoverHandler: func(*websocket.Conn) {
			if e := recover(); e != nil {
				k.log.Error("socket panicked", "panic", e, "stack", string(debug.Stack()))
			}
		},
	})
	return func(c *fiber.Ctx) error {
		if !websocket.IsWebSocketUpgrade(c) {
			return &problem{status: fiber.StatusUpgradeRequired, code: codeBadRequest, reason: "this address speaks WebSocket"}
		}
		if _, err := k.visits.Get(c.Query("visit")); err != nil {
			return err
		}
		return upgrade(c)
	}
}

// socket is one connection. One goroutine reads, one answers at a time, one pings; writes take turns.
type socket struct {
	k     *Kiosk
	visit string
	conn  *websocket.Conn

	writing sync.Mutex
	answers sync.WaitGroup
	cancel  context.CancelFunc // of the answer under way
	over    atomic.Bool
}

func (k *Kiosk) serveSocket(conn *websocket.Conn) {
	if !k.streams.enter() {
		return
	}
	defer k.streams.leave()
	s := &socket{k: k, visit: conn.Query("visit"), conn: conn, cancel: func() {}}
	ctx, stop := context.WithCancel(k.stopping)
	var own sync.WaitGroup
	own.Go(func() { s.ping(ctx) })
	s.read(ctx)
	stop()
	own.Wait()
	s.answers.Wait()
}

// read takes messages until the client goes, says something strange, or the connection is closed.
func (s *socket) read(ctx context.Context) {
	s.conn.SetReadLimit(maxMessage)
	s.conn.SetPongHandler(func(string) error { return s.alive() })
	for s.alive() == nil {
		kind, data, err := s.conn.ReadMessage()
		if err != nil {
			return
		}
		if err := s.take(ctx, kind, data); err != nil {
			s.refuse(err)
		}
	}
}

// alive gives the client time until its next sign of life.
func (s *socket) alive() error {
	err := s.conn.SetReadDeadline(time.Now().Add(socketQuiet))
	if s.over.Load() { // looked at after the deadline was set, which may have undone that of hangUp
		return errOver
	}
	return err
}

var errOver = errors.New("connection is over")

// take does what a message asks for.
func (s *socket) take(ctx context.Context, kind int, data []byte) error {
	var m struct {
		Type     string `json:"type"`
		Question string `json:"question"`
	}
	if kind != websocket.TextMessage || !utf8.Valid(data) {
		return badRequest("messages are JSON text")
	}
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return badRequest("the message is not the JSON that is expected: " + err.Error())
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return badRequest("the message goes on after the JSON")
	}
	switch m.Type {
	case "stop":
		s.stop()
		return nil
	case "ask":
		return s.answer(ctx, askRequest{Visit: s.visit, Question: m.Question})
	case "explain":
		return s.answer(ctx, askRequest{Visit: s.visit, Explain: true})
	}
	return badRequest("the message's type is none of ask, explain, stop")
}

// stop cancels the answer under way and waits for its end, so that none of its events comes later.
func (s *socket) stop() {
	s.cancel()
	s.answers.Wait()
}

// answer begins an answer; the one before is stopped first.
func (s *socket) answer(ctx context.Context, r askRequest) error {
	s.stop()
	t, err := s.k.begin(r)
	if err != nil {
		return err
	}
	ctx, s.cancel = context.WithCancel(ctx)
	cancel := s.cancel
	s.answers.Go(func() {
		defer t.close()
		defer cancel()
		s.k.run(ctx, t, s.send)
	})
	return nil
}

// refuse tells the visitor about an error in their language.
func (s *socket) refuse(err error) {
	p := problemOf(err)
	if p.cause != nil {
		s.k.log.Error("answer over socket", "error", p.cause)
	}
	lang := ""
	if v, err := s.k.visits.Get(s.visit); err == nil {
		lang = v.Language
	}
	s.send(agent.Event{Type: agent.EventError, Message: sentenceFor(p, lang).detail})
}

// send says whether the client is still there.
func (s *socket) send(e agent.Event) bool {
	data, err := json.Marshal(e)
	if err != nil {
		s.k.log.Error("encode answer", "error", err)
		return false
	}
	return s.write(websocket.TextMessage, data)
}

func (s *socket) write(kind int, data []byte) bool {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.conn.SetWriteDeadline(time.Now().Add(socketWrite)) == nil && s.conn.WriteMessage(kind, data) == nil
}

// hangUp ends the reading for good; the server closes the connection after that.
func (s *socket) hangUp() {
	s.over.Store(true)
	_ = s.conn.SetReadDeadline(time.Now())
}

// ping keeps the connection, and hangs up when the client is gone or the kiosk stops.
func (s *socket) ping(ctx context.Context) {
	t := time.NewTicker(socketPing)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			if !s.write(websocket.PingMessage, nil) {
				s.hangUp()
				return
			}
		case <-ctx.Done():
			s.write(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseGoingAway, ""))
			s.hangUp()
			return
		}
	}
}
