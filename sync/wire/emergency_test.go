package wire

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEmergency(t *testing.T) {
	many := map[string]string{}
	for i := range MaxEmergencyLanguages + 1 {
		many[fmt.Sprintf("x-%d", i)] = "out"
	}
	for name, c := range map[string]struct {
		e  Emergency
		ok bool
	}{
		"a message":        {Emergency{Number: 7, Text: map[string]string{"en": "Please leave.\nNow.", "zh-Hans": "请离开。"}}, true},
		"its end":          {Emergency{Number: 8}, true},
		"no number":        {Emergency{Text: map[string]string{"en": "x"}}, false},
		"an empty text":    {Emergency{Number: 1, Text: map[string]string{"en": " \n"}}, false},
		"a long text":      {Emergency{Number: 1, Text: map[string]string{"en": strings.Repeat("x", MaxEmergencyText+1)}}, false},
		"control bytes":    {Emergency{Number: 1, Text: map[string]string{"en": "a\x1b[2J"}}, false},
		"no language":      {Emergency{Number: 1, Text: map[string]string{"": "x"}}, false},
		"a strange one":    {Emergency{Number: 1, Text: map[string]string{"en/../": "x"}}, false},
		"many languages":   {Emergency{Number: 1, Text: many}, false},
		"a number too big": {Emergency{Number: MaxSeq + 1}, false},
	} {
		b, err := c.e.Encode()
		if (err == nil) != c.ok || err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		if got, err := DecodeEmergency(b); err != nil || !cmp.Equal(got, c.e) {
			t.Errorf("%s: read back %+v, %v", name, got, err)
		}
	}
	if _, err := DecodeEmergency(make([]byte, MaxEmergency+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too many bytes: %v", err)
	}
	if _, err := DecodeEmergency([]byte(`{"number":1,"texts":{}}`)); !errors.Is(err, ErrInvalid) {
		t.Errorf("an unknown key: %v", err)
	}
}

func FuzzDecodeEmergency(f *testing.F) {
	for _, s := range []string{`{"number":1,"text":{"en":"Leave."}}`, `{"number":2}`, `{"number":1,"text":{"en":""}}`, `[]`, "{\"number\":1,\"text\":{\"en\":\"\xff\"}}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := DecodeEmergency(b)
		if err != nil {
			return
		}
		again, err := e.Encode()
		if errors.Is(err, ErrTooLarge) {
			t.Skip() // escapes made it longer
		}
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if got, err := DecodeEmergency(again); err != nil || got.Number != e.Number || len(got.Text) != len(e.Text) {
			t.Fatalf("%+v became %+v, %v", e, got, err)
		}
	})
}
