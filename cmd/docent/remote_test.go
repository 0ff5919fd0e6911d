package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"log/slog"
	"math/rand"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"docent/kiosk"
	commands "docent/sync/command"
	"docent/sync/wire"
)

// TestStaffReachAKioskFromTheHub enrols a kiosk, looks at what the hub says of it, and asks it for all that can be asked.
func TestStaffReachAKioskFromTheHub(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the whole product; not part of -short")
	}
	t.Setenv("INVOCATION_ID", "as under systemd")
	dir := t.TempDir()
	line, page, screen, devtools := freeAddress(t), freeAddress(t), freeAddress(t), freeAddress(t)
	hubConfig, config := filepath.Join(dir, "hub.yaml"), filepath.Join(dir, "kiosk.yaml")
	if err := os.WriteFile(hubConfig, fmt.Appendf(nil, "data_dir: %s\nmqtt_listen: %s\nhttp_listen: %s\n", filepath.Join(dir, "hub"), line, page), 0o600); err != nil {
		t.Fatal(err)
	}
	h := start(t, "hub", "--config", hubConfig)
	fingerprint := h.out.match(t, `fingerprint="([0-9a-f ]{79})"`)
	err := os.WriteFile(config, fmt.Appendf(nil, "site: louvre\nkiosk: kiosk-1\nlisten: %s\ndata_dir: %s\nrelease: %s\nhub: {broker: tls://%s, fingerprint: %q}\n"+
		"camera: {source: %s}\nscreen: {devtools: %s}\n",
		screen, filepath.Join(dir, "kiosk"), sampleRelease(t), line, fingerprint, video(t, dir), devtools), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	k := start(t, "kiosk", "--config", config)
	k.out.match(t, `code=([A-Z0-9]{6})`)
	if _, out, _ := docent(t, "hub", "kiosks", "list", "--hub", "http://"+page); !strings.Contains(out, "kiosk-1") || !strings.Contains(out, fingerprint) {
		t.Errorf("list said %s", out)
	}
	authorise(t, k, page)
	hub := func(args ...string) (int, string) {
		code, out, errs := docent(t, append(append([]string{"hub", "kiosks", "do", "louvre/kiosk-1"}, args...), "--hub", "http://"+page)...)
		return code, out + errs
	}
	var list struct {
		Kiosks []struct {
			State  string
			Report struct {
				ReleaseNumber int    `json:"release_number"`
				Camera        string `json:"camera"`
				MemoryTotal   uint64 `json:"memory_total"`
				CertUntil     string `json:"cert_until"`
			}
		}
	}
	eventually(t, "what the kiosk says of itself", func() bool {
		request(t, http.MethodGet, "http://"+page+"/api/v1/kiosks", nil, &list)
		return len(list.Kiosks) == 1 && list.Kiosks[0].Report.ReleaseNumber == 1 && list.Kiosks[0].Report.Camera == "ready"
	})
	if r := list.Kiosks[0]; r.State != "ready" || r.Report.MemoryTotal == 0 || r.Report.CertUntil == "" {
		t.Errorf("the kiosk says %+v", r)
	}

	for _, tt := range []struct {
		args []string
		code int
		said string
	}{
		{[]string{"sleep"}, exitDone, "Done."},
		{[]string{"volume", "--value", "30"}, exitDone, "Done. 30 % of what the page reads aloud"},
		{[]string{"refresh"}, exitDone, "pages were told"},
		{[]string{"brightness", "--value", "30"}, exitDone, "Done. 30 %"},
		{[]string{"screenshot"}, exitFailed, "connection refused"}, // its browser is not there yet
		{[]string{"dance"}, exitUsage, "must be one of"},
		{[]string{"volume", "--value", "101"}, exitUsage, "--value 101 is not within 0 to 100"},
	} {
		if code, said := hub(tt.args...); code != tt.code || !strings.Contains(said, tt.said) {
			t.Errorf("%v: %d, %s", tt.args, code, said)
		}
	}
	if got := heard(screen, "screen"); !strings.HasPrefix(got, `{"asleep":true,"volume":30,"brightness":`) {
		t.Errorf("a page hears %s", got)
	}
	eventually(t, "a sleeping kiosk at the hub", func() bool {
		request(t, http.MethodGet, "http://"+page+"/api/v1/kiosks", nil, &list)
		return list.Kiosks[0].State == "sleeping"
	})
	if code, said := hub("wake"); code != exitDone {
		t.Errorf("wake: %s", said)
	}
	logs := filepath.Join(dir, "log.gz")
	if code, said := hub("logs", "--out", logs); code != exitDone {
		t.Fatalf("logs: %s", said)
	}
	if text := unzipped(t, logs); !strings.Contains(text, "hub connected") {
		t.Errorf("the log holds %.500s", text)
	}
	// A command for a kiosk that is away runs out, and is not done when it is back.
	if err := k.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := k.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if code, said := hub("sleep", "--expires", "1s", "--wait", "10s"); code != exitFailed || !strings.Contains(said, "expired") {
		t.Errorf("a kiosk that is away: %d, %s", code, said)
	}
	k = start(t, "kiosk", "--config", config)
	k.out.match(t, `(hub connected)`)
	if code, said := hub("volume", "--value", "40"); code != exitDone {
		t.Errorf("volume: %s", said)
	}
	if got := heard(screen, "screen"); !strings.HasPrefix(got, `{"asleep":false,"volume":40,`) {
		t.Errorf("after what ran out, a page hears %s", got)
	}

	// A restart ends the program; what supervises it starts it again, and then it answers.
	asked := make(chan string, 1)
	go func() {
		_, said := hub("restart", "--wait", "2m")
		asked <- said
	}()
	if err := k.cmd.Wait(); err == nil {
		t.Error("the program ended as if nothing were to be started again")
	}
	start(t, "kiosk", "--config", config)
	if said := <-asked; !strings.Contains(said, "started again") {
		t.Errorf("restart: %s", said)
	}
}

// TestScreenshotsAndBrightnessInARealBrowser looks at the visitors' page as the hub's staff do.
func TestScreenshotsAndBrightnessInARealBrowser(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil || testing.Short() {
		t.Skip("needs Debian's chromium; not part of -short")
	}
	dir := t.TempDir()
	devtools, screen := freeAddress(t), freeAddress(t)
	config := kiosk.DefaultConfig()
	config.DataDir, config.Release, config.Listen, config.Screen.DevTools = filepath.Join(dir, "kiosk"), sampleRelease(t), screen, devtools
	a, err := openAppliance(t.Context(), config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-ended, a.close()); err != nil {
			t.Error(err)
		}
	})
	_, port, _ := strings.Cut(devtools, ":")
	browser := exec.Command(chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--window-size=1080,1920",
		"--remote-debugging-port="+port, "--user-data-dir="+filepath.Join(dir, "profile"), "http://"+screen+"/")
	if err := browser.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := browser.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		_ = browser.Wait()
	})

	own := newOwnScreen(config)
	own.light.Sys, own.light.DDC = t.TempDir(), nil // a box that cannot dim its screen, wherever this runs
	take := func() (light float64, answer commands.Answer, err error) {
		if answer, err = a.screenshot(own)(t.Context(), wire.Command{}); err != nil {
			return 0, answer, err
		}
		img, err := jpeg.Decode(bytes.NewReader(answer.Data))
		if err != nil {
			t.Fatal(err)
		}
		return meanLight(img), answer, nil
	}
	// Begins dark, while the page loads.
	var full float64
	eventually(t, "the waiting screen on a picture", func() bool {
		light, _, err := take()
		settled := err == nil && light > 20 && light-full < 2 && full-light < 2
		full = light
		return settled
	})
	dim := func(value int) string {
		answer, err := a.brightness(own)(t.Context(), wire.Command{Value: value})
		if err != nil {
			t.Fatal(err)
		}
		return answer.Detail
	}
	if said := dim(25); !strings.Contains(said, "the page dims itself") || !strings.Contains(said, "no backlight") {
		t.Errorf("dimmed: %s", said)
	}
	var dimmed float64
	eventually(t, "a page that is dim", func() bool {
		dimmed, _, err = take()
		return err == nil && dimmed < 0.6*full
	})
	a.kiosk.ReloadPages() // what the house has set stays
	eventually(t, "a page that is dim after it was loaded anew", func() bool {
		light, _, err := take()
		return err == nil && light > 0.8*dimmed && light < 0.6*full
	})
	_, answer, err := take()
	if err != nil || answer.Type != "image/jpeg" || len(answer.Data) > wire.MaxResultData || !strings.Contains(answer.Detail, "DevTools") {
		t.Errorf("%s, %d bytes of %s, %v", answer.Detail, len(answer.Data), answer.Type, err)
	}

	// Not before a visitor's eyes.
	var visit struct{ Visit string }
	request(t, http.MethodPost, "http://"+screen+"/api/v1/visit/start", map[string]string{"language": "en"}, &visit)
	if _, answer, err := take(); !errors.Is(err, commands.ErrRefused) || !errors.Is(err, kiosk.ErrAttended) || answer.Data != nil {
		t.Errorf("during a visit: %v, %d bytes", err, len(answer.Data))
	}
	request(t, http.MethodPost, "http://"+screen+"/api/v1/visit/end", map[string]string{"visit": visit.Visit}, nil)
	if _, _, err := take(); err != nil {
		t.Errorf("after the visit: %v", err)
	}
}

// meanLight is how bright a picture is, 0 to 255.
func meanLight(img image.Image) float64 {
	b, sum := img.Bounds(), 0.0
	for y := b.Min.Y; y < b.Max.Y; y += 4 {
		for x := b.Min.X; x < b.Max.X; x += 4 {
			sum += float64(color.GrayModel.Convert(img.At(x, y)).(color.Gray).Y)
		}
	}
	return sum * 16 / float64(b.Dx()*b.Dy())
}

// heard is what a page hears first of one kind from a kiosk, empty where there is none.
func heard(address, kind string) string {
	res, err := http.Get("http://" + address + "/api/v1/signals")
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	buf := make([]byte, 4096)
	n := 0
	for n < len(buf) {
		m, err := res.Body.Read(buf[n:])
		n += m
		if _, after, ok := strings.Cut(string(buf[:n]), "event: "+kind+"\ndata: "); ok {
			if data, _, ok := strings.Cut(after, "\n"); ok {
				return data
			}
		}
		if err != nil {
			return ""
		}
	}
	return ""
}

func unzipped(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return gunzip(t, data)
}

func gunzip(t *testing.T, data []byte) string {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestLastLines(t *testing.T) {
	var through bytes.Buffer
	l := &lastLines{to: &through}
	rng := rand.New(rand.NewSource(1))
	const hex = "0123456789abcdef"
	for i := range 30_000 { // 2 MB that does not compress well
		line := make([]byte, 60)
		for j := range line {
			line[j] = hex[rng.Intn(16)]
		}
		fmt.Fprintf(l, "%06d %s\n", i, line)
	}
	data, err := l.compressed(96 << 10)
	if err != nil {
		t.Fatal(err)
	}
	text := gunzip(t, data)
	if len(data) > 96<<10 || len(data) < 20<<10 || !strings.Contains(text, "\n029999 ") || len(strings.SplitN(text, " ", 2)[0]) != 6 {
		t.Errorf("%d bytes that begin with %.20q", len(data), text)
	}
	if through.Len() != 30_000*68 || len(l.held) > 2*keepLog {
		t.Errorf("%d bytes passed on, %d held", through.Len(), len(l.held))
	}
}
