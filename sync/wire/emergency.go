package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// Limits of an emergency message.
const (
	MaxEmergency          = 64 << 10 // bytes of an Emergency
	MaxEmergencyText      = 2_000    // bytes in one language
	MaxEmergencyLanguages = 16
)

// Emergency covers the screens of kiosks with a message. One without a text ends the one before.
type Emergency struct {
	// Number rises with every message and with every end of one. A kiosk takes none that is not above its last, so that
	// messages that overtake each other do no harm.
	Number uint64            `json:"number"`
	Text   map[string]string `json:"text,omitempty"` // by language tag
}

// Encode returns the message's bytes, or what is wrong with it.
func (e Emergency) Encode() ([]byte, error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	b, err := json.Marshal(e)
	if err == nil && len(b) > MaxEmergency {
		err = fmt.Errorf("emergency of %d bytes, at most %d: %w", len(b), MaxEmergency, ErrTooLarge)
	}
	return b, err
}

// DecodeEmergency reads a message and refuses what does not hold to its limits.
func DecodeEmergency(b []byte) (Emergency, error) {
	if len(b) > MaxEmergency {
		return Emergency{}, fmt.Errorf("emergency of %d bytes, at most %d: %w", len(b), MaxEmergency, ErrTooLarge)
	}
	var e Emergency
	if err := decodeStrict(b, &e); err != nil {
		return Emergency{}, fmt.Errorf("emergency: %w", err)
	}
	return e, e.Validate()
}

// Validate says what is wrong with the message, if anything.
func (e Emergency) Validate() error {
	if e.Number < 1 || e.Number > MaxSeq {
		return fmt.Errorf("emergency number: %w", ErrInvalid)
	}
	if len(e.Text) > MaxEmergencyLanguages {
		return fmt.Errorf("emergency in %d languages, at most %d: %w", len(e.Text), MaxEmergencyLanguages, ErrInvalid)
	}
	for lang, text := range e.Text {
		if !validTag(lang) {
			return fmt.Errorf("emergency: %q is no language: %w", lang, ErrInvalid)
		}
		if strings.TrimSpace(text) == "" || len(text) > MaxEmergencyText || strings.ContainsFunc(text, unprintable) {
			return fmt.Errorf("emergency: the text in %s must be 1 to %d bytes that can be shown: %w", lang, MaxEmergencyText, ErrInvalid)
		}
	}
	return nil
}

// validTag accepts what language tags are made of, "zh" or "zh-Hans" for example.
func validTag(s string) bool {
	if len(s) < 2 || len(s) > 35 {
		return false
	}
	for _, part := range strings.Split(s, "-") {
		if part == "" || len(part) > 8 || strings.ContainsFunc(part, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')
		}) {
			return false
		}
	}
	return true
}

func unprintable(r rune) bool {
	return r != '\n' && !unicode.IsGraphic(r) || r == unicode.ReplacementChar
}
