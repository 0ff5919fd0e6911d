package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// config has a field of each kind that a configuration may have.
type config struct {
	Name  string        `koanf:"name"`
	Ready bool          `koanf:"ready"`
	Model model         `koanf:"model"`
	Wait  time.Duration `koanf:"wait"`
}

type model struct {
	BaseURL string  `koanf:"base_url"`
	Key     Secret  `koanf:"key"`
	Tokens  int     `koanf:"tokens"`
	Heat    float64 `koanf:"heat"`
}

func (c config) Validate() error {
	var p Problems
	p.Need("name", c.Name)
	Within(&p, "model.tokens", c.Model.Tokens, 1, 1000)
	Within(&p, "model.heat", c.Model.Heat, 0, 2)
	Within(&p, "wait", c.Wait, time.Second, time.Hour)
	return p.Err()
}

func defaults() config {
	return config{Name: "kiosk-1", Wait: time.Minute, Model: model{BaseURL: "http://127.0.0.1:8080", Tokens: 100, Heat: 0.5}}
}

func write(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "docent.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoad(t *testing.T) {
	changed := func(f func(*config)) config { c := defaults(); f(&c); return c }
	for _, tt := range []struct {
		name    string
		file    string
		environ []string
		want    config
	}{
		{"nothing", "", nil, defaults()},
		{"an empty file", "# nothing yet\n", nil, defaults()},
		{"a file over the defaults", "name: hall\nready: true\nwait: 90s\nmodel:\n  tokens: 7\n  heat: 1\n", nil, changed(func(c *config) {
			c.Name, c.Ready, c.Wait, c.Model.Tokens, c.Model.Heat = "hall", true, 90*time.Second, 7, 1
		})},
		{"a number where a text is meant", "name: 7\n", nil, changed(func(c *config) { c.Name = "7" })},
		{"variables over the file", "name: hall\nmodel:\n  tokens: 7\n", []string{"DOCENT_NAME=door", "DOCENT_MODEL_BASE_URL=http://localhost:1",
			"DOCENT_MODEL_TOKENS=9", "DOCENT_MODEL_HEAT=0.25", "DOCENT_WAIT=2m", "DOCENT_READY=true", "DOCENT_MODEL_KEY=s3cret"}, changed(func(c *config) {
			c.Name, c.Ready, c.Wait = "door", true, 2*time.Minute
			c.Model = model{"http://localhost:1", "s3cret", 9, 0.25}
		})},
		{"variables that are no settings", "", []string{"PATH=/bin", "DOCENT_DATA=/data", "DOCENT_URL=x", "DOCENT", "=x", ""}, defaults()},
		{"a variable that holds an equals sign", "", []string{"DOCENT_MODEL_BASE_URL=http://h/?a=b"}, changed(func(c *config) { c.Model.BaseURL = "http://h/?a=b" })},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := ""
			if tt.file != "" {
				path = write(t, tt.file)
			}
			got, err := Load(path, tt.environ, defaults())
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// TestLoadReportsAll: everything that is wrong is told at once, each with its key.
func TestLoadReportsAll(t *testing.T) {
	path := write(t, "model.heat: 1\nnmae: hall\nwait: soon\nmodel:\n  tokens: many\n  colour: red\n  deep:\n    deeper: 1\nname: ''\n")
	_, err := Load(path, []string{"DOCENT_MODEL_HEAT=3", "DOCENT_NO_SUCH=1"}, defaults())
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error is %v", err)
	}
	for _, key := range []string{"nmae", "wait", "model.tokens", "model.colour", "model.deep", "name", "model.heat", "DOCENT_NO_SUCH"} {
		if n := len(find(e.Problems, key+": ")); n == 0 {
			t.Errorf("nothing is told of %s in %q", key, e.Problems)
		}
	}
	if !strings.HasPrefix(err.Error(), "configuration: ") {
		t.Errorf("error says %q", err)
	}
}

func find(problems []string, prefix string) (found []string) {
	for _, p := range problems {
		if strings.HasPrefix(p, prefix) {
			found = append(found, p)
		}
	}
	return found
}

func TestLoadRefusesFiles(t *testing.T) {
	for name, path := range map[string]string{
		"none":      filepath.Join(t.TempDir(), "none.yaml"),
		"too large": write(t, "name: "+strings.Repeat("x", MaxBytes)),
		"no YAML":   write(t, "name: [\n"),
		"a list":    write(t, "- name\n- wait\n"),
		"a folder":  t.TempDir(),
	} {
		if got, err := Load(path, nil, defaults()); err == nil {
			t.Errorf("%s: loaded %+v", name, got)
		} else if got != (config{}) {
			t.Errorf("%s: an error and %+v", name, got)
		}
	}
}

func TestWithin(t *testing.T) {
	var p Problems
	Within(&p, "edge", 1, 1, 3)
	Within(&p, "edge", 3, 1, 3)
	if p.Err() != nil {
		t.Errorf("the ends are within: %v", p)
	}
	Within(&p, "low", 0, 1, 3)
	Within(&p, "high", 4*time.Second, time.Second, 3*time.Second)
	Within(&p, "nan", math.NaN(), 0, 1)
	p.Need("there", "x")
	p.Need("gone", "")
	want := Problems{"low: 0 is not within 1 to 3", "high: 4s is not within 1s to 3s", "nan: NaN is not within 0 to 1", "gone: is missing"}
	if d := cmp.Diff(want, p); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestSecretsStayHidden prints a secret in every way there is.
func TestSecretsStayHidden(t *testing.T) {
	c := defaults()
	c.Model.Key = "s3cret"
	var log, printed bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("configured", "key", c.Model.Key, "all", c.Model)
	if err := Print(&printed, c); err != nil {
		t.Fatal(err)
	}
	j, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{
		"log": log.String(), "print": printed.String(), "JSON": string(j),
		"%v": fmt.Sprintf("%v", c), "%+v": fmt.Sprintf("%+v", c), "%#v": fmt.Sprintf("%#v", c), "%q": fmt.Sprintf("%q", c.Model.Key),
	} {
		if strings.Contains(text, "s3cret") || !strings.Contains(text, Hidden) {
			t.Errorf("%s: %s", what, text)
		}
	}
	if c.Model.Key.Reveal() != "s3cret" || Secret("").String() != "" {
		t.Error("a secret is not what it was, or an empty one looks like one")
	}
}

func TestPrintedReadsBack(t *testing.T) {
	want := defaults()
	want.Name, want.Wait = "7: \"x\"\n#", 90*time.Second
	var printed bytes.Buffer
	if err := Print(&printed, want); err != nil {
		t.Fatal(err)
	}
	got, err := Load(write(t, printed.String()), nil, config{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// FuzzLoad: whatever a file and a variable hold, what is loaded is valid, holds no unknown key, and reads back from its
// print; what is not is refused with an error.
func FuzzLoad(f *testing.F) {
	for _, text := range []string{
		"", "name: hall\nwait: 90s\n", "model:\n  tokens: 7\n  key: s3cret\n", "model.tokens: 7\n", "name: [a]\nmodel: 3\n", "a: &a [*a]\n",
		"name: 7\nready: yes\n", "wait: 9223372036854775808\n", "? {a: b}\n: c\n", "name: !!binary aGk=\n", "\xff\xfe", "model:\n  heat: .nan\n", "<<: {name: x}\n",
	} {
		f.Add(text, "")
		f.Add(text, "7")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		path := write(t, text)
		var environ []string
		if value != "" {
			environ = []string{"DOCENT_NAME=" + value, "DOCENT_MODEL_TOKENS=" + value}
		}
		c, err := Load(path, environ, defaults())
		if err != nil {
			if c != (config{}) {
				t.Fatalf("an error and %+v", c)
			}
			return
		}
		if err := c.Validate(); err != nil {
			t.Fatalf("loaded what does not hold: %v", err)
		}
		if value != "" && c.Name != value {
			t.Fatalf("name is %q, the variable says %q", c.Name, value)
		}
		c.Model.Key = ""
		var printed bytes.Buffer
		if err := Print(&printed, c); err != nil {
			t.Fatal(err)
		}
		again, err := Load(write(t, printed.String()), nil, defaults())
		if err != nil {
			t.Fatalf("the print of %+v does not load: %v\n%s", c, err, printed.String())
		}
		if d := cmp.Diff(c, again); d != "" {
			t.Fatalf("the print is another configuration (-want +got)\n%s", d)
		}
	})
}
