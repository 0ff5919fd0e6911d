package display

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sysfs makes a folder that looks like /sys; an empty text is a symbolic link to /dev/null.
func sysfs(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, "class", "backlight", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		err := os.WriteFile(path, []byte(text), 0o600)
		if text == "" {
			err = errors.Join(os.Remove(path), os.Symlink("/dev/null", path))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestBrightness(t *testing.T) {
	panel := map[string]string{
		"intel/type": "raw\n", "intel/max_brightness": "937\n", "intel/brightness": "500\n",
		"acpi/type": "firmware\n", "acpi/max_brightness": "15\n", "acpi/brightness": "7\n",
		"broken/type": "firmware\n", "broken/max_brightness": "many\n", "broken/brightness": "7\n",
	}
	monitor := func(out string) func(args []string) (string, error) {
		return func([]string) (string, error) { return out, nil }
	}
	for _, tt := range []struct {
		name    string
		files   map[string]string
		ddc     func(args []string) (string, error) // nil: not installed
		percent int
		by, say string // by, else what the error says
		file    string // NAME=TEXT afterwards
		asked   string // of ddcutil, last
	}{
		{"the panel's own, not the raw one", panel, nil, 50, "backlight acpi", "", "acpi/brightness=8", ""},
		{"the darkest is not dark", panel, nil, 0, "backlight acpi", "", "acpi/brightness=1", ""},
		{"all", panel, nil, 100, "backlight acpi", "", "acpi/brightness=15", ""},
		{"a panel goes before a display", panel, monitor("VCP 10 C 5 100\n"), 20, "backlight acpi", "", "acpi/brightness=3", ""},
		{"a driver that takes nothing", map[string]string{"x/type": "raw", "x/max_brightness": "9", "x/brightness": ""}, nil, 50, "", "set backlight x", "", ""},
		{"then the display", map[string]string{"x/type": "raw", "x/max_brightness": "9", "x/brightness": ""}, monitor("VCP 10 C 5 200\n"), 50, byDDC, "", "", "--verify setvcp 10 100"},
		{"a display", nil, monitor("warning\nVCP 10 C 45 80\n"), 0, byDDC, "", "", "--verify setvcp 10 0"},
		{"a display that says nothing", nil, monitor("VCP 10 ERR\n"), 50, "", "does not say how bright", "", "--brief getvcp 10"},
		{"a display that is not there", nil, func([]string) (string, error) { return "", errors.New("exit status 1: Display not found") }, 50, "", "Display not found", "", "--brief getvcp 10"},
		{"nothing", nil, nil, 50, "", "the system has no backlight (/sys/class/backlight); ddcutil is not installed", "", ""},
		{"out of range", panel, nil, 101, "", "0 to 100", "acpi/brightness=7\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, asked := Brightness{Sys: sysfs(t, tt.files)}, ""
			if tt.ddc != nil {
				b.DDC = func(_ context.Context, args ...string) ([]byte, error) {
					asked = strings.Join(args, " ")
					out, err := tt.ddc(args)
					return []byte(out), err
				}
			}
			by, err := b.Set(t.Context(), tt.percent)
			if by != tt.by || (err == nil) != (tt.by != "") || err != nil && !strings.Contains(err.Error(), tt.say) {
				t.Errorf("by %q, %v", by, err)
			}
			if err != nil && errors.Is(err, ErrNoControl) != (tt.percent <= 100) {
				t.Errorf("%v", err)
			}
			if asked != tt.asked {
				t.Errorf("ddcutil was asked %q, want %q", asked, tt.asked)
			}
			if name, want, ok := strings.Cut(tt.file, "="); ok {
				got, err := os.ReadFile(filepath.Join(b.Sys, "class", "backlight", name))
				if err != nil || string(got) != want {
					t.Errorf("%s is %q (%v), want %q", name, got, err, want)
				}
			}
		})
	}
}

func TestBrightnessByChangesNothing(t *testing.T) {
	b := Brightness{Sys: sysfs(t, map[string]string{"x/type": "raw", "x/max_brightness": "9", "x/brightness": "4"})}
	if by, err := b.By(t.Context()); err != nil || by != "backlight x" {
		t.Errorf("%q, %v", by, err)
	}
	if got, err := os.ReadFile(filepath.Join(b.Sys, "class/backlight/x/brightness")); err != nil || string(got) != "4" {
		t.Errorf("%q, %v", got, err)
	}
	b = Brightness{Sys: t.TempDir(), DDC: func(_ context.Context, args ...string) ([]byte, error) {
		if d := cmp.Diff([]string{"--brief", "getvcp", "10"}, args); d != "" {
			t.Error(d)
		}
		return []byte("VCP 10 C 45 100"), nil
	}}
	if by, err := b.By(t.Context()); err != nil || by != byDDC {
		t.Errorf("%q, %v", by, err)
	}
	if _, err := (Brightness{Sys: t.TempDir()}).By(t.Context()); !errors.Is(err, ErrNoControl) {
		t.Error(err)
	}
}

func TestPrograms(t *testing.T) {
	if Find("no-such-program-anywhere") != nil {
		t.Error("found what is not there")
	}
	sh := Find("sh")
	if out, err := sh(t.Context(), "-c", "echo light"); err != nil || string(out) != "light\n" {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := sh(t.Context(), "-c", "echo 'no display' >&2; exit 3"); err == nil || err.Error() != "exit status 3: no display" {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sh(ctx, "-c", "sleep 60"); !strings.HasPrefix(err.Error(), context.Canceled.Error()) {
		t.Error(err)
	}
	l := limited{most: 3}
	if n, err := l.Write([]byte("12345")); n != 5 || err != nil || l.String() != "123" || !l.over {
		t.Errorf("%d, %v, %q", n, err, l.String())
	}
}

func FuzzParseVCP(f *testing.F) {
	f.Add("VCP 10 C 45 100\n")
	f.Add("VCP 10 ERR\nVCP 10 C 1 99999999999")
	f.Fuzz(func(t *testing.T, out string) {
		if most, err := parseVCP(out); err == nil && (most < 1 || most > 0xffff) {
			t.Errorf("%d of %q", most, out)
		}
	})
}
