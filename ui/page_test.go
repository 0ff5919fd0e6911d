package ui

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"testing"
)

// TestPage runs the browser tests of the visitor's page, before a server of their own.
func TestPage(t *testing.T) {
	if testing.Short() {
		t.Skip("browser tests are not part of -short")
	}
	if _, err := Kiosk(); errors.Is(err, ErrNotBuilt) {
		t.Skip("ui/kiosk/dist is empty: run make pages")
	}
	if _, err := os.Stat("e2e/node_modules"); errors.Is(err, fs.ErrNotExist) {
		t.Skip("ui/e2e/node_modules is missing: run npm ci in ui/e2e")
	}
	cmd := exec.CommandContext(t.Context(), "npm", "run", "--silent", "test:page")
	cmd.Dir = "e2e"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the page in the browser: %v\n%s", err, out)
	}
}
