package evaluate

import (
	"path/filepath"
	"testing"
)

// TestMemoryCases plays visits that change their minds, go on after a restart, and go on at another kiosk.
func TestMemoryCases(t *testing.T) {
	r := measure(t, filepath.Join("..", "..", "localindex", "sample", "content"), filepath.Join("testdata", "memory.yaml"))
	if r.Kinds[KindMemory].Cases < 60 {
		t.Errorf("%d cases", r.Kinds[KindMemory].Cases)
	}
	for _, o := range r.Cases {
		if !o.OK {
			t.Errorf("%s: %q %v", o.Question, o.Text, o.Wrong)
		}
	}
}
