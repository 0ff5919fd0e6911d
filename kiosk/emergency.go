package kiosk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"docent/internal/durable"
)

const (
	maxEmergency     = 2_000 // bytes for each language
	maxEmergencyFile = 256 << 10
)

// The types of memory events that say what the screens were covered with, so that the hub learns that they are.
const (
	eventEmergencyShown = "emergency.shown"
	eventEmergencyOver  = "emergency.over"
)

type emergencyChanged struct {
	Number    uint64   `json:"number"`
	Languages []string `json:"languages,omitempty"`
}

// Emergency is a message that covers every page of a kiosk. One without texts ends the one before.
type Emergency struct {
	// Number rises with every message and with every end of one.
	Number uint64            `json:"number"`
	Text   map[string]string `json:"text"` // by language
}

// SetEmergency covers every page of this kiosk with a message, also after a restart, until it is called with one that
// has no texts. A page shows its visitor's language and, below it, all others. A message whose number is not above the
// last one's changes nothing. Texts beyond 2,000 bytes are refused. A message that cannot be kept is shown all the same,
// and the error returned.
func (k *Kiosk) SetEmergency(e Emergency) error {
	if err := e.check(); err != nil {
		return err
	}
	if !k.signals.cover(e) {
		return nil
	}
	k.log.Warn("emergency message", "number", e.Number, "shown", len(e.Text) > 0)
	err := k.keepEmergency(e)
	typ := eventEmergencyShown
	if len(e.Text) == 0 {
		typ = eventEmergencyOver
	}
	k.remember(typ, emergencyChanged{Number: e.Number, Languages: slices.Sorted(maps.Keys(e.Text))})
	return err
}

func (e Emergency) check() error {
	for lang, t := range e.Text {
		if len(t) > maxEmergency {
			return fmt.Errorf("set emergency: the text in %s is longer than %d bytes", lang, maxEmergency)
		}
	}
	return nil
}

// cover makes a message the current one and wakes the pages, unless it is out of date.
func (s *signals) cover(e Emergency) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Number <= s.emergency.Number {
		return false
	}
	s.emergency = Emergency{Number: e.Number, Text: maps.Clone(e.Text)}
	if len(e.Text) == 0 {
		s.emergency.Text = nil
	}
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
	return true
}

func (k *Kiosk) emergencyFile() string { return filepath.Join(k.config.DataDir, "emergency.json") }

func (k *Kiosk) keepEmergency(e Emergency) error {
	b, err := json.Marshal(e)
	if err == nil {
		err = durable.WriteFile(k.emergencyFile(), b, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep emergency message: %w", err)
	}
	return nil
}

// recallEmergency shows what was shown before a restart. Where that cannot be read, the hub says it again.
func (k *Kiosk) recallEmergency() {
	e, err := readEmergency(k.emergencyFile())
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		k.log.Error("emergency message not read", "error", err)
	default:
		k.signals.cover(e)
	}
}

func readEmergency(path string) (Emergency, error) {
	f, err := os.Open(path)
	if err != nil {
		return Emergency{}, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxEmergencyFile))
	if err != nil {
		return Emergency{}, err
	}
	var e Emergency
	if err := json.Unmarshal(b, &e); err != nil {
		return Emergency{}, fmt.Errorf("read %s: %w", path, err)
	}
	return e, e.check()
}
