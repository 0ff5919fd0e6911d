package kiosk

import (
	"crypto/rand"
	"encoding/base64"
	"slices"
	"sync"
)

const (
	photosPerVisit = 3   // kept, the newest
	photosAtOnce   = 100 // kept of all visits
)

// photoShelf keeps visitors' photos as JPEG, in memory only. It is bounded per visit, in number and in bytes; the
// oldest go first.
type photoShelf struct {
	most int // bytes

	mu     sync.Mutex
	bytes  int
	photos []storedPhoto // oldest first
}

type storedPhoto struct {
	id, visit string
	jpeg      []byte
}

func newPhotoShelf(mostBytes int) *photoShelf { return &photoShelf{most: mostBytes} }

// put keeps a photo of a visit and returns its id, which cannot be guessed.
func (s *photoShelf) put(visit string, jpeg []byte) string {
	raw := make([]byte, 16)
	_, _ = rand.Read(raw) // crypto/rand.Read never fails
	id := base64.RawURLEncoding.EncodeToString(raw)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.photos = append(s.photos, storedPhoto{id, visit, jpeg})
	s.bytes += len(jpeg)
	ofVisit := 0
	for i := len(s.photos) - 1; i >= 0; i-- {
		if s.photos[i].visit != visit {
			continue
		}
		if ofVisit++; ofVisit > photosPerVisit {
			s.remove(i)
		}
	}
	for len(s.photos) > photosAtOnce || s.bytes > s.most && len(s.photos) > 0 {
		s.remove(0)
	}
	return id
}

// get returns a photo of that visit. The bytes are shared and must not be changed.
func (s *photoShelf) get(visit, id string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.photos {
		if p.id == id && p.visit == visit {
			return p.jpeg, true
		}
	}
	return nil, false
}

// wipe removes all photos of a visit.
func (s *photoShelf) wipe(visit string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.photos) - 1; i >= 0; i-- {
		if s.photos[i].visit == visit {
			s.remove(i)
		}
	}
}

// remove is called with mu held. slices.Delete clears what it frees, so no pixel stays reachable.
func (s *photoShelf) remove(i int) {
	s.bytes -= len(s.photos[i].jpeg)
	s.photos = slices.Delete(s.photos, i, i+1)
}
