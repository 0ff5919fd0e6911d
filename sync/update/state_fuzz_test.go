package update

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// FuzzDeployFile starts a kiosk on whatever may be left of its notes about a deployment: it opens a release, of those that
// are there, and notes nothing outside its folder.
func FuzzDeployFile(f *testing.F) {
	for _, seed := range []string{
		"", "{", "null", `{"release_id":"3-abc","number":3,"status":"installing","attempts":2,"previous":"/nowhere"}`,
		`{"release_id":"../../x","status":"pause_before_committing","attempts":99,"previous":"../.."}`, `{"status":"success","failed_number":-1}`,
		`{"status":"installing","attempts":-9223372036854775808}`, `{"latest_time":"9999-12-31T23:59:59Z","ts":"x"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		outside := t.TempDir()
		dir, factory := filepath.Join(outside, "content"), filepath.Join(outside, "factory")
		for _, d := range []string{dir, factory} {
			if err := os.Mkdir(d, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "deploy.json"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		for range 4 { // starts in a row
			s, err := OpenStore(dir, factory, func() time.Time { return epoch })
			if err != nil {
				t.Fatal(err)
			}
			opened := ""
			err = s.Start(func(d string) error {
				if d != factory && !strings.HasPrefix(d, dir+string(filepath.Separator)) {
					return errors.New("it is not there")
				}
				if _, err := os.Stat(filepath.Join(d, "none")); d != factory || err == nil {
					return errors.New("it is not there")
				}
				opened = d
				return nil
			})
			if err == nil && opened != factory {
				t.Fatalf("started with %q", opened)
			}
		}
		entries, err := os.ReadDir(outside)
		if err != nil || len(entries) != 2 {
			t.Errorf("beside the folders there is something else: %v, %v", entries, err)
		}
	})
}
