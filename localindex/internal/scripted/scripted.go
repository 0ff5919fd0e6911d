// Package scripted is an HTTP server for tests that answers as a script says: well, late, half, or not at all.
package scripted

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Reply answers one request; body is what was sent.
type Reply func(w http.ResponseWriter, r *http.Request, body []byte)

// Server answers its requests with one reply after the other; the last is used again and again.
type Server struct {
	URL string

	mu       sync.Mutex
	replies  []Reply
	requests [][]byte
	keys     []string
}

// New starts a server that ends with the test.
func New(t testing.TB, replies ...Reply) *Server {
	s := &Server{replies: replies}
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	reply := s.replies[min(len(s.requests), len(s.replies)-1)]
	s.requests = append(s.requests, append([]byte(r.URL.Path+" "), body...))
	s.keys = append(s.keys, r.Header.Get("Authorization"))
	s.mu.Unlock()
	reply(w, r, body)
}

// Requests are the paths and bodies so far.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, r := range s.requests {
		all = append(all, string(r))
	}
	return all
}

// Keys are the Authorization headers so far.
func (s *Server) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.keys...)
}

// JSON replies with a value.
func JSON(v any) Reply {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) { writeJSON(w, v) }
}

// Raw replies with a body as it is.
func Raw(body string) Reply {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) { _, _ = io.WriteString(w, body) }
}

// Status refuses with a status and a message as OpenAI-compatible servers have it. retryAfter is left out where 0.
func Status(status int, message string, retryAfter time.Duration) Reply {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		if retryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(retryAfter.Seconds())))
		}
		w.WriteHeader(status)
		writeJSON(w, map[string]any{"error": map[string]any{"message": message}})
	}
}

// Half sends the beginning of a longer body and closes the connection.
func Half(body string) Reply {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Content-Length", fmt.Sprint(2*len(body)))
		_, _ = io.WriteString(w, body)
	}
}

// Silence answers nothing until the client goes away.
func Silence() Reply {
	return func(_ http.ResponseWriter, r *http.Request, _ []byte) { <-r.Context().Done() }
}

// Embeddings replies with the vector that embed makes of each text.
func Embeddings(embed func(text string) []float32) Reply {
	return func(w http.ResponseWriter, _ *http.Request, body []byte) {
		var in struct {
			Input []string `json:"input"`
		}
		if err := json.Unmarshal(body, &in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		type item struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		var data []item
		for i := len(in.Input) - 1; i >= 0; i-- { // in an order of its own
			data = append(data, item{i, embed(in.Input[i])})
		}
		writeJSON(w, map[string]any{"object": "list", "data": data})
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
