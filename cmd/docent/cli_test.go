package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExitCodes(t *testing.T) {
	broken, doubled := filepath.Join(t.TempDir(), "broken.yaml"), filepath.Join(t.TempDir(), "doubled.yaml")
	for path, text := range map[string]string{broken: "site: [louvre\n", doubled: "site: louvre\nsite: prado\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name   string
		args   []string
		code   int
		stdout string
		stderr string
	}{
		{"no command", nil, 0, "Usage: docent", ""},
		{"help", []string{"--help"}, 0, "Usage: docent", ""},
		{"help of a command", []string{"demo", "--help"}, 0, "Usage: docent demo", ""},
		{"version", []string{"version"}, 0, "docent ", ""},
		{"unknown command", []string{"guide"}, exitUsage, "", "unexpected argument guide"},
		{"missing flags", []string{"evaluate", "recognition"}, exitUsage, "", "missing flags"},
		{"folder that is not there", []string{"gallery", "check", "/nowhere"}, exitUsage, "", "/nowhere"},
		{"configuration that is not there", []string{"kiosk", "--config", "/nowhere.yaml"}, exitUsage, "", "/nowhere.yaml"},
		{"a kiosk's configuration that is no YAML", []string{"kiosk", "--config", broken}, exitUsage, "", broken},
		{"a hub's configuration that is no YAML", []string{"hub", "--config", broken}, exitUsage, "", broken},
		{"a kiosk's setting twice", []string{"kiosk", "--config", doubled}, exitUsage, "", "already defined"},
		{"a hub's setting twice", []string{"hub", "--config", doubled}, exitUsage, "", "already defined"},
		{"two cameras", []string{"demo", "--photos", ".", "--camera", "0"}, exitUsage, "", "--camera"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := docent(t, test.args...)
			if code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			if !strings.Contains(stdout, test.stdout) {
				t.Errorf("standard output lacks %q:\n%s", test.stdout, stdout)
			}
			if !strings.Contains(stderr, test.stderr) {
				t.Errorf("standard error lacks %q:\n%s", test.stderr, stderr)
			}
		})
	}
}

// TestBrokenGallery checks that mistakes are named by file, line and reason, and that nothing is packed.
func TestBrokenGallery(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("gallery.yaml", "id: small\nname: {en: Small}\nlanguages: [en]\ntime_zone: Europe/Paris\nhalls:\n  - {id: one, name: {en: One}, floor: 0, outline: [[0, 0], [1, 0], [1, 1]]}\n")
	write("exhibits/vase.md", "---\ntitel: Vase\nhall: two\npictures:\n  - file: pictures/vase.png\n---\n\n## About\n\nA vase[^nobody].\n")

	code, stdout, stderr := docent(t, "gallery", "check", dir)
	if code != exitFailed {
		t.Errorf("exit code %d, want %d", code, exitFailed)
	}
	for _, want := range []string{`exhibits/vase.md:2`, `titel`, `did you mean`, `exhibits/vase.md:3`, `exhibits/vase.md:5`, `pictures/vase.png`, `exhibits/vase.md:10`, `nobody`} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the mistakes lack %q:\n%s%s", want, stdout, stderr)
		}
	}
	if code, _, _ := docent(t, "gallery", "build", dir); code != exitFailed {
		t.Errorf("build: exit code %d, want %d", code, exitFailed)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "releases", "*")); err != nil || len(left) > 0 {
		t.Errorf("something was packed: %v %v", left, err)
	}
}
