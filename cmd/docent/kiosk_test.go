package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"docent/kiosk"
)

func TestKioskWithoutARelease(t *testing.T) {
	t.Setenv("DOCENT_RELEASE", "")
	config := kiosk.DefaultConfig()
	config.Release = filepath.Join(t.TempDir(), "release")
	for name, c := range map[string]struct {
		cmd  kioskCmd
		want []string
	}{
		"no settings":         {kioskCmd{}, []string{"no settings", "--config FILE", "docent demo", config.Release}},
		"settings without it": {kioskCmd{Config: "kiosk.yaml"}, []string{config.Release, "gallery build"}},
	} {
		err := c.cmd.hasRelease(config)
		if !errors.As(err, new(usageError)) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q lacks %q", name, err, part)
			}
		}
	}
	config.Release = t.TempDir()
	if err := (kioskCmd{}).hasRelease(config); err != nil {
		t.Errorf("with a release: %v", err)
	}
}
