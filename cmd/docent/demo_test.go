package main

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDemoFolderIsTakenOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	first, err := lockDemo(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockDemo(dir); !errors.Is(err, errDemoRuns) {
		t.Errorf("second demo in one folder: %v, want %v", err, errDemoRuns)
	}
	half := filepath.Join(dir, makingPrefix+"1")
	if err := os.Mkdir(half, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := lockDemo(dir)
	if err != nil {
		t.Fatalf("the folder of a demo that ended: %v", err)
	}
	defer again.Close()
	if _, err := os.Stat(half); !os.IsNotExist(err) {
		t.Errorf("what a killed demo left half made is still there: %v", err)
	}
}

// TestDemoRefusesAddresses makes sure that a wrong or taken address is refused before the gallery is made.
func TestDemoRefusesAddresses(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, flag := range []string{"--listen=nonsense", "--listen=" + taken.Addr().String(), "--hub-listen=" + taken.Addr().String()} {
		code, stdout, stderr := docent(t, "demo", "--dir", t.TempDir(), "--listen=127.0.0.1:0", "--hub-listen=127.0.0.1:0", flag)
		if code != exitFailed || strings.Contains(stdout, "Preparing") || !strings.Contains(stderr, "--listen") {
			t.Errorf("%s: exit code %d, printed %q and %q", flag, code, stdout, stderr)
		}
	}
}
