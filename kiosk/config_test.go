package kiosk

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/internal/settings"
)

func writeConfig(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kiosk.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// wantProblems checks that a configuration has as many problems as want, and names each.
func wantProblems(t *testing.T, c Config, want []string) {
	t.Helper()
	err := c.Validate()
	var told *settings.Error
	if (err != nil) != (len(want) > 0) || err != nil && !errors.As(err, &told) {
		t.Fatalf("error is %v", err)
	}
	if told != nil && len(told.Problems) != len(want) {
		t.Errorf("problems are %q, want %q", told.Problems, want)
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %v does not name %s", err, w)
		}
	}
}

func TestDefaultConfigIsValid(t *testing.T) {
	if err := DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
}

func TestLoadConfig(t *testing.T) {
	path := writeConfig(t, `
site: north-wing
kiosk: 7
camera: {source: 0, burst: 3, frame_rate: 10}
visit: {ttl: 10m}
model: {base_url: "http://127.0.0.1:8000/v1", name: small, key: from-file}
`)
	got, err := settings.Load(path, []string{
		"PATH=/bin", "DOCENT_DATA=/somewhere", "DOCENT_MODEL_KEY=from=env", "DOCENT_LIMITS_ANSWERS=3",
		"DOCENT_CAMERA_FRAME_RATE=12.5", "DOCENT_VISIT_IDLE=45s",
	}, DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	want := DefaultConfig()
	want.Site, want.Kiosk = "north-wing", "7"
	want.Camera.Source, want.Camera.Burst, want.Camera.FrameRate = "0", 3, 12.5
	want.Visit = VisitConfig{TTL: 10 * time.Minute, Idle: 45 * time.Second, Keep: 24 * time.Hour, KeepForgotten: 7 * 24 * time.Hour, PassDays: 7, Talk: "summary", Turns: 8}
	want.Model.BaseURL, want.Model.Name, want.Model.Key = "http://127.0.0.1:8000/v1", "small", "from=env"
	want.Limits.Answers = 3
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestLoadConfigReportsEverythingAtOnce(t *testing.T) {
	path := writeConfig(t, `
site: North Wing
listen: nowhere
camra: {source: 0}
camera: {source: ftp://cam/, burst: many, widht: 3}
visit: {ttl: 90, idle: 5s}
model: {base_url: localhost}
hub: {broker: mqtt://hub}
log_level: loud
`)
	_, err := settings.Load(path, []string{"DOCENT_MODLE_NAME=x", "DOCENT_LIMITS_PHOTO_MIB=big"}, DefaultConfig())
	var c *settings.Error
	if !errors.As(err, &c) {
		t.Fatalf("got %v, want a ConfigError", err)
	}
	for _, key := range []string{
		"site: ", "listen: ", "camra: ", "camera.source: ", "camera.burst: ", "camera.widht: ", "visit.ttl: ", "visit.idle: ",
		"model.base_url: ", "model.name: ", "hub.broker: ", "log_level: ", "DOCENT_MODLE_NAME: ", "limits.photo_mib: ",
	} {
		n := 0
		for _, p := range c.Problems {
			if strings.HasPrefix(p, key) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%q is reported %d times in\n%s", key, n, strings.Join(c.Problems, "\n"))
		}
	}
	if len(c.Problems) != 14 {
		t.Errorf("%d problems:\n%s", len(c.Problems), strings.Join(c.Problems, "\n"))
	}
}

func TestLoadConfigOfABadFile(t *testing.T) {
	for name, text := range map[string]string{
		"no YAML": "site: [", "a list": "- site", "a key twice": "site: a\nsite: b", "a section as a text": "camera: none",
		"a key with dots": "camera.burst: 3",
		"not UTF-8":       "site: \xff", "large": "# " + strings.Repeat("x", settings.MaxBytes),
	} {
		if c, err := settings.Load(writeConfig(t, text), nil, DefaultConfig()); err == nil {
			t.Errorf("%s: accepted as %+v", name, c)
		}
	}
	if _, err := settings.Load(filepath.Join(t.TempDir(), "none.yaml"), nil, DefaultConfig()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func TestPrintedConfigReadsBackAndHidesSecrets(t *testing.T) {
	c := DefaultConfig()
	c.Model = ModelConfig{BaseURL: "https://models.example/v1", Name: "m", Key: "top-secret", FirstTokenTimeout: 1500 * time.Millisecond, AnswerTimeout: time.Minute, PriceIn: 0.15}
	var out bytes.Buffer
	if err := settings.Print(&out, c); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if strings.Contains(text, "top-secret") || !strings.Contains(text, settings.Hidden) {
		t.Errorf("printed:\n%s", text)
	}
	got, err := settings.Load(writeConfig(t, text), nil, DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	c.Model.Key = settings.Hidden
	if d := cmp.Diff(c, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if s := fmt.Sprintf("%v %+v %#v %s", c.Model, c.Model, settings.Secret("top-secret"), settings.Secret("top-secret")); strings.Contains(s, "top-secret") {
		t.Errorf("formatted: %s", s)
	}
}

func FuzzLoadConfig(f *testing.F) {
	f.Add("site: a\ncamera: {source: 0}\n")
	f.Add("visit: {ttl: .nan}\nlimits: {answers: 1e99}\n")
	f.Add("? [a, b]\n: {c: d}\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := settings.Load(writeConfig(t, text), nil, DefaultConfig())
		if err == nil && c.Validate() != nil {
			t.Errorf("accepted a configuration that is not valid: %+v", c)
		}
	})
}
