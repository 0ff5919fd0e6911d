package kiosk

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzReadEmergency reads whatever may stand in the file that keeps the message over a restart: an error, or a message
// that could have been shown.
func FuzzReadEmergency(f *testing.F) {
	for _, s := range []string{
		`{"number":1764000000000,"text":{"en":"Please leave.","zh":"请离开"}}`, `{"number":1}`, `{"number":-1}`, `{"text":{"en":1}}`, `null`, `{`, "", "\xff",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "emergency.json")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		e, err := readEmergency(path)
		if err == nil && e.check() != nil {
			t.Errorf("%s is taken: %v", data, e.check())
		}
	})
}
