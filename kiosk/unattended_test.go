package kiosk

import (
	"errors"
	"net/http"
	"testing"
)

func TestWhileUnattended(t *testing.T) {
	h := open(t)
	own := errors.New("its own")
	during := func(f func()) error {
		return h.WhileUnattended(func() error {
			f()
			return nil
		})
	}
	if err := during(func() {}); err != nil {
		t.Errorf("with nobody there: %v", err)
	}
	if err := h.WhileUnattended(func() error { return own }); !errors.Is(err, own) {
		t.Errorf("what failed: %v", err)
	}
	end := func(visit string) {
		h.post("/api/v1/visit/end", map[string]string{"visit": visit}, http.StatusNoContent)
	}
	if err := during(func() { end(h.startVisit("en")) }); !errors.Is(err, ErrAttended) {
		t.Errorf("a visit that came and went: %v", err)
	}
	visit := h.startVisit("en")
	if err := during(func() { t.Error("done before a visitor's eyes") }); !errors.Is(err, ErrAttended) {
		t.Errorf("during a visit: %v", err)
	}
	end(visit)
	if err := during(func() {}); err != nil {
		t.Errorf("after the visit: %v", err)
	}
}
