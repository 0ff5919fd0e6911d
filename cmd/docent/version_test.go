package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	info := func(module string, settings ...string) *debug.BuildInfo {
		b := &debug.BuildInfo{Main: debug.Module{Version: module}}
		for i := 0; i < len(settings); i += 2 {
			b.Settings = append(b.Settings, debug.BuildSetting{Key: settings[i], Value: settings[i+1]})
		}
		return b
	}
	for _, tt := range []struct {
		name, built string
		info        *debug.BuildInfo
		want        string
	}{
		{"make", "v1.2-3-gabcdef0", info("(devel)", "vcs.revision", "0123456789abcdef"), "v1.2-3-gabcdef0"},
		{"a long tag", strings.Repeat("v", 100), nil, strings.Repeat("v", 64)},
		{"go build", "", info("(devel)", "vcs.revision", "0123456789abcdef", "vcs.modified", "false"), "0123456789ab"},
		{"go build, changed", "", info("v0.0.0", "vcs.revision", "0123456789abcdef", "vcs.modified", "true"), "0123456789ab+changes"},
		{"go install", "", info("v1.2.3"), "v1.2.3"},
		{"without git", "", info("(devel)"), "unknown"},
		{"nothing", "", nil, "unknown"},
	} {
		if got := versionOf(tt.built, tt.info); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestMakeNamesTheVersion asks make what it would run.
func TestMakeNamesTheVersion(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("needs make")
	}
	cmd := exec.Command("make", "-n", "build", "VERSION=v9.8-7-gabcdef0")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "MAKEFLAGS=")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), `-X main.builtFrom=v9.8-7-gabcdef0`) {
		t.Errorf("make build runs\n%s", out)
	}
}
