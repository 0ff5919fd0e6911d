package fleet

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestProcessUsage(t *testing.T) {
	before, err := ProcessUsage(0)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "file")
	for range 10 {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for n, begun := 0, before.CPU; before.CPU-begun < 2*tick; n++ { // until the kernel's clock has moved twice
		now, err := ProcessUsage(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if now.Calls < before.Calls+10 || now.MiB <= 0 {
			t.Fatalf("before %+v, now %+v", before, now)
		}
		before.CPU = now.CPU
	}
	if _, err := ProcessUsage(1 << 30); err == nil {
		t.Error("a process that does not run has used something")
	}
}

func TestShare(t *testing.T) {
	got := share(Usage{CPU: time.Second, Calls: 100}, Usage{CPU: 3 * time.Second, Calls: 600}, 1000)
	if want := (Share{CPUS: 2, CPUEachUS: 2000, CallsEach: 0.5}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
