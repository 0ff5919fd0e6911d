package wire

import (
	"encoding/json"
	"testing"
	"time"
)

func TestVisitQuery(t *testing.T) {
	const name = "0123456789abcdef0123456789abcdef"
	for _, q := range []VisitQuery{
		{Kind: QueryPassKey}, {Kind: QueryVisit, Name: name}, {Kind: QueryCode, Name: name}, {Kind: QuerySign, Name: name, Expires: time.Unix(1_800_000_000, 0).UTC()},
	} {
		got, ok := ParseVisitQuery(q.String())
		if !ok || got != q {
			t.Errorf("%s reads back as %+v, %v", q, got, ok)
		}
		if err := (Fetch{ID: 1, Name: q.String(), Length: 1}).Validate(); err != nil {
			t.Errorf("%s: %v", q, err)
		}
	}
	for _, bad := range []string{"", "passkey.", "visit", "visit." + name + "0", "visit.0123456789ABCDEF0123456789ABCDEF", "code../..", "sign." + name, "sign." + name + ".-1", "sign." + name + ".01", "sign." + name + ".99999999999"} {
		if q, ok := ParseVisitQuery(bad); ok {
			t.Errorf("%q is read as %+v", bad, q)
		}
	}
}

func FuzzVisit(f *testing.F) {
	f.Add([]byte(`{"changed":["0123456789abcdef0123456789abcdef"]}`))
	f.Add([]byte(`{"expires":"2026-05-04T12:00:00Z","states":[{"kiosk":"hall","number":1,"box":"AA=="}]}`))
	f.Add([]byte(`sign.0123456789abcdef0123456789abcdef.1800000000`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if n, err := DecodeVisitNotice(b); err == nil {
			if _, err := n.Encode(); err != nil {
				t.Errorf("a notice that was read cannot be written: %v", err)
			}
		}
		if v, err := DecodeVisitBundle(b); err == nil {
			if _, err := json.Marshal(v); err != nil {
				t.Error(err)
			}
		}
		if q, ok := ParseVisitQuery(string(b)); ok && q.String() != string(b) {
			t.Errorf("%q reads back as %q", b, q)
		}
	})
}
