package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"docent/kiosk"
)

func TestDoctorFindsWhatIsMissing(t *testing.T) {
	t.Setenv(runAsDocent, "1") // the camera's process is this test binary
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	plugged := fstest.MapFS{
		"class/video4linux/video7/name":  {Data: []byte("Hall camera\n")},
		"class/video4linux/video7/index": {Data: []byte("0\n")},
	}
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "manifest.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*doctor)
		check  func(doctor) finding
		status string
		say    []string // parts of the detail and the advice
	}{
		"no release": {func(d *doctor) { d.config.Release = "/no/such/release" }, func(d doctor) finding { return d.release(t.Context()) },
			wellMissing, []string{"/no/such/release", "docent gallery build"}},
		"no release, and nobody said there is": {func(d *doctor) { d.config.Release, d.configured = "/no/such/release", false },
			func(d doctor) finding { return d.release(t.Context()) }, wellNote, []string{"--config"}},
		"a broken release": {func(d *doctor) { d.config.Release = broken }, func(d doctor) finding { return d.release(t.Context()) },
			wellMissing, []string{"Copy the release again"}},
		"a camera that is not there": {func(d *doctor) { d.config.Camera.Source = "/dev/video251" }, func(d doctor) finding { return d.camera(t.Context(), nil) },
			wellMissing, []string{"/dev/video251", "/dev/video7 (Hall camera)", "Plug it in"}},
		"a stream that is not there": {func(d *doctor) { d.config.Camera.Source = "rtsp://me:secret@127.0.0.1:1/" }, func(d doctor) finding { return d.camera(t.Context(), nil) },
			wellMissing, []string{"xxxxx", "does not answer"}},
		"a video as the camera": {func(d *doctor) { d.config.Camera.Source = video(t, t.TempDir()) }, func(d doctor) finding { return d.camera(t.Context(), nil) },
			wellOK, []string{"320 × 240"}},
		"a camera nobody set": {func(*doctor) {}, func(d doctor) finding { return d.camera(t.Context(), nil) },
			wellNote, []string{"/dev/video7 (Hall camera)", "camera.source"}},
		"no camera at all": {func(d *doctor) { d.sys = fstest.MapFS{} }, func(d doctor) finding { return d.camera(t.Context(), nil) },
			wellNote, []string{"no camera is plugged in", "phones"}},
		"a camera that a kiosk lost": {func(d *doctor) { d.config.Camera.Source = "0" },
			func(d doctor) finding {
				return d.camera(t.Context(), &runningKiosk{Camera: "alert", CameraTrouble: "the picture is black"})
			}, wellMissing, []string{"alert: the picture is black"}},
		"a camera in use": {func(d *doctor) { d.config.Camera.Source = "0" },
			func(d doctor) finding { return d.camera(t.Context(), &runningKiosk{Camera: "ready"}) }, wellOK, []string{"running kiosk"}},
		"no tesseract": {func(*doctor) { t.Setenv("PATH", t.TempDir()) }, func(d doctor) finding { return d.labels(t.Context()) },
			wellNote, []string{"not installed", "apt-get install tesseract-ocr"}},
		"no voice": {func(*doctor) { t.Setenv("PATH", t.TempDir()) }, func(d doctor) finding { return d.voice(t.Context()) },
			wellNote, []string{"espeak-ng is not installed", "apt-get install espeak-ng"}},
		"no model": {func(*doctor) {}, func(d doctor) finding { return d.model(t.Context()) }, wellOK, []string{"none in the settings"}},
		"a model out of reach": {func(d *doctor) { d.config.Model.BaseURL, d.config.Model.Key = "http://127.0.0.1:1/v1", "secret" },
			func(d doctor) finding { return d.model(t.Context()) }, wellNote, []string{"not in reach", "own texts"}},
		"a model that wants another key": {func(d *doctor) { d.config.Model.BaseURL, d.config.Model.Key = refusing(t), "secret" },
			func(d doctor) finding { return d.model(t.Context()) }, wellNote, []string{"refuses the key", "model.key"}},
		"a port in use": {func(d *doctor) { d.config.Listen = busy.Addr().String() }, func(d doctor) finding { return d.port(nil) },
			wellMissing, []string{"in use", "choose another"}},
		"a port that is free": {func(d *doctor) { d.config.Listen = freeAddress(t) }, func(d doctor) finding { return d.port(nil) }, wellOK, []string{"free"}},
		"a data folder that is a file": {func(d *doctor) { d.config.DataDir = os.Args[0] }, func(d doctor) finding { return d.disk(t.Context()) },
			wellMissing, []string{"is a file"}},
		"a data folder to be made": {func(d *doctor) { d.config.DataDir = filepath.Join(t.TempDir(), "new") }, func(d doctor) finding { return d.disk(t.Context()) },
			"", []string{"GiB free"}},
		"a hub out of reach": {func(d *doctor) { d.config.Hub.Broker = "tls://127.0.0.1:1" }, func(d doctor) finding { return d.hub(t.Context(), nil)[0] },
			wellNote, []string{"not in reach", "connection refused", "works without", "the hub runs"}},
		"a hub in clear": {func(d *doctor) { d.config.Hub.Broker = "tcp://127.0.0.1:1883" }, func(d doctor) finding { return d.hub(t.Context(), nil)[0] },
			wellMissing, []string{"without TLS", "tls://HOST:PORT"}},
		"no hub": {func(d *doctor) { d.config.Hub.Broker = "tls://" + strings.Split(refusing(t), "/")[2] },
			func(d doctor) finding { return d.hub(t.Context(), nil)[0] }, wellNote, []string{"not in reach: http: server gave HTTP response", "nothing between opens TLS"}},
		"no picture of the screen": {func(d *doctor) { t.Setenv("PATH", t.TempDir()) }, func(d doctor) finding { return d.screenshot(t.Context()) },
			wellNote, []string{"screen.devtools", "grim is not installed"}},
		"a screen that cannot be dimmed": {func(d *doctor) { t.Setenv("PATH", t.TempDir()) }, func(d doctor) finding { return d.brightness(t.Context()) },
			"", []string{""}},
		"OpenCV": {func(*doctor) {}, func(d doctor) finding { return d.openCV(t.Context()) }, wellOK, []string{"4.6"}},
		"clock":  {func(*doctor) {}, func(d doctor) finding { return d.clock(t.Context()) }, "", []string{"20"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := doctor{config: kiosk.DefaultConfig(), configured: true, sys: plugged, log: &terminal{out: io.Discard, err: io.Discard}}
			c.change(&d)
			got := c.check(d)
			if c.status != "" && got.Status != c.status {
				t.Errorf("%+v, want %s", got, c.status)
			}
			for _, part := range c.say {
				if !strings.Contains(got.Detail+got.Advice, part) {
					t.Errorf("%+v does not say %q", got, part)
				}
			}
			if strings.Contains(got.Detail, "secret") {
				t.Errorf("%+v tells a password", got)
			}
		})
	}
}

// TestDoctor runs the command on a machine with all and with one thing missing.
func TestDoctor(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the sample release; not part of -short")
	}
	dir := t.TempDir()
	config := func(release string) string {
		path := filepath.Join(dir, "kiosk.yaml")
		text := fmt.Appendf(nil, "listen: %s\ndata_dir: %s\nrelease: %s\n", freeAddress(t), filepath.Join(dir, "data"), release)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	report := filepath.Join(dir, "report.json")
	code, out, errs := docent(t, "doctor", "--config", config(sampleRelease(t)), "--json", report)
	pageBuilt := !strings.Contains(out, "pages are not part of this build")
	if want := map[bool]int{true: exitDone, false: exitFailed}[pageBuilt]; code != want {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	for _, line := range []string{"OpenCV", "24 exhibits, en and zh", "is free", "Label reading"} {
		if !strings.Contains(out, line) {
			t.Errorf("does not say %q:\n%s", line, out)
		}
	}
	data, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var r findings
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	if r.OK != pageBuilt || !slices.ContainsFunc(r.Checks, func(f finding) bool { return f.Name == "Release" && f.Status == wellOK }) {
		t.Errorf("report %+v", r)
	}
	code, out, errs = docent(t, "doctor", "--config", config(filepath.Join(dir, "none")))
	if code != exitFailed || !strings.Contains(out, "MISSING") || !strings.Contains(errs, errMissing.Error()) {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	if code, _, _ := docent(t, "doctor", "--config", filepath.Join(dir, "no.yaml")); code != exitUsage {
		t.Errorf("exit code %d without a file of settings", code)
	}
}

// refusing is a server that wants another key.
func refusing(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" || r.URL.Path != "/v1/models" {
			t.Errorf("asked %s with %q", r.URL, r.Header.Get("Authorization"))
		}
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1/"
}
