package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStaffReachAKioskFromTheHub enrols a kiosk, looks at what the hub says of it, and asks it for all that can be asked.
func TestStaffReachAKioskFromTheHub(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the whole product; not part of -short")
	}
	t.Setenv("INVOCATION_ID", "as under systemd")
	dir := t.TempDir()
	line, page, screen := freeAddress(t), freeAddress(t), freeAddress(t)
	hubConfig, config := filepath.Join(dir, "hub.yaml"), filepath.Join(dir, "kiosk.yaml")
	if err := os.WriteFile(hubConfig, fmt.Appendf(nil, "data_dir: %s\nmqtt_listen: %s\nhttp_listen: %s\n", filepath.Join(dir, "hub"), line, page), 0o600); err != nil {
		t.Fatal(err)
	}
	h := start(t, "hub", "--config", hubConfig)
	fingerprint := h.out.match(t, `fingerprint="([0-9a-f ]{79})"`)
	err := os.WriteFile(config, fmt.Appendf(nil, "site: louvre\nkiosk: kiosk-1\nlisten: %s\ndata_dir: %s\nrelease: %s\nhub: {broker: tls://%s, fingerprint: %q}\n",
		screen, filepath.Join(dir, "kiosk"), sampleRelease(t), line, fingerprint), 0o600)
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
		return len(list.Kiosks) == 1 && list.Kiosks[0].Report.ReleaseNumber == 1
	})
	if r := list.Kiosks[0]; r.State != "ready" || r.Report.Camera != "none" || r.Report.MemoryTotal == 0 || r.Report.CertUntil == "" {
		t.Errorf("the kiosk says %+v", r)
	}

	for _, tt := range []struct {
		args []string
		code int
		said string
	}{
		{[]string{"sleep"}, exitDone, "Done."},
		{[]string{"volume", "--value", "30"}, exitDone, "Done."},
		{[]string{"refresh"}, exitDone, "pages were told"},
		{[]string{"brightness", "--value", "30"}, exitFailed, "unsupported"},
		{[]string{"screenshot"}, exitFailed, "unsupported"},
		{[]string{"dance"}, exitUsage, "must be one of"},
	} {
		if code, said := hub(tt.args...); code != tt.code || !strings.Contains(said, tt.said) {
			t.Errorf("%v: %d, %s", tt.args, code, said)
		}
	}
	if got := heard(screen, "screen"); !strings.HasPrefix(got, `{"asleep":true,"volume":30,"reload":1`) {
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
