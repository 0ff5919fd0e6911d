package display

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// browse starts a real Chromium without a screen on a page, and returns where its DevTools are.
func browse(t *testing.T, page string) (devtools string) {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil || testing.Short() {
		t.Skip("needs Debian's chromium; not part of -short")
	}
	profile := t.TempDir()
	cmd := exec.Command(chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--window-size=1280,800", "--hide-scrollbars",
		"--remote-debugging-port=0", "--user-data-dir="+profile, page)
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait() // its code tells nothing
	})
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		text, err := os.ReadFile(filepath.Join(profile, "DevToolsActivePort"))
		if port, _, ok := strings.Cut(string(text), "\n"); err == nil && ok {
			return "127.0.0.1:" + port
		}
	}
	t.Fatal("chromium does not offer DevTools")
	return ""
}

func TestShotOfARealBrowser(t *testing.T) {
	drawn := make(chan struct{}, 16)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/drawn" {
			drawn <- struct{}{}
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<body style="margin:0;background:#1e6432"><script>requestAnimationFrame(() => setTimeout(() => fetch("/drawn")))</script>`))
	}))
	defer s.Close()
	screen := Screen{DevTools: browse(t, s.URL), Page: s.URL}
	select {
	case <-drawn:
	case <-time.After(time.Minute):
		t.Fatal("the page is not drawn")
	}
	shot, err := screen.Take(t.Context(), 96<<10)
	if err != nil {
		t.Fatal(err)
	}
	img, err := jpeg.Decode(bytes.NewReader(shot.JPEG))
	if err != nil {
		t.Fatal(err)
	}
	if b := img.Bounds(); b.Dx() != shot.Width || b.Dy() != shot.Height || b.Dx() < 1000 || !strings.Contains(shot.By, "DevTools") {
		t.Errorf("%d × %d, by %s", b.Dx(), b.Dy(), shot.By)
	}
	r, g, b, _ := img.At(shot.Width/2, shot.Height/2).RGBA()
	if !near(r, 0x1e) || !near(g, 0x64) || !near(b, 0x32) {
		t.Errorf("in the middle it is %x %x %x", r>>8, g>>8, b>>8)
	}
	if by, err := screen.By(t.Context()); err != nil || by != shot.By {
		t.Errorf("%q, %v", by, err)
	}
}

func near(got uint32, want int) bool { d := int(got>>8) - want; return d > -6 && d < 6 }

// picture is a PNG that compresses badly.
func picture(t testing.TB, width, height int) []byte {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	img := image.NewGray(image.Rect(0, 0, width, height))
	for i := range img.Pix {
		img.Pix[i] = byte(rng.IntN(256))
	}
	img.SetGray(0, 0, color.Gray{255})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestShotByTheCompositor(t *testing.T) {
	var asked string
	screen := Screen{Wayland: true, Grim: func(_ context.Context, args ...string) ([]byte, error) {
		asked = strings.Join(args, " ")
		return picture(t, 960, 540), nil
	}}
	shot, err := screen.Take(t.Context(), 32<<10)
	if err != nil {
		t.Fatal(err)
	}
	if len(shot.JPEG) > 32<<10 || shot.Width >= 960 || shot.Width*9 != shot.Height*16 || asked != "-t png -l 1 -" {
		t.Errorf("%d bytes, %d × %d, grim was asked %q", len(shot.JPEG), shot.Width, shot.Height, asked)
	}
	if _, err := screen.Take(t.Context(), 100); err == nil || errors.Is(err, ErrNoControl) {
		t.Errorf("into 100 bytes: %v", err)
	}
}

func TestNoShot(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	address := gone.Listener.Addr().String()
	gone.Close()
	grim := func(out string, err error) Run {
		return func(context.Context, ...string) ([]byte, error) { return []byte(out), err }
	}
	for _, tt := range []struct {
		name   string
		screen Screen
		says   string
		cannot bool // nothing is set up for it
	}{
		{"nothing", Screen{}, "no DevTools of the browser are set (screen.devtools); grim is not installed", true},
		{"no compositor", Screen{Grim: grim("", nil)}, "WAYLAND_DISPLAY", true},
		{"no browser", Screen{DevTools: address}, "connection refused", false},
		{"elsewhere", Screen{DevTools: "192.0.2.1:9222"}, "not on this machine", false},
		{"grim fails", Screen{Grim: grim("", errors.New("exit status 1: compositor doesn't support wlr-screencopy")), Wayland: true}, "wlr-screencopy", false},
		{"no picture", Screen{Grim: grim("GIF89a", nil), Wayland: true}, "unknown format", false},
	} {
		_, err := tt.screen.Take(t.Context(), 96<<10)
		if err == nil || !strings.Contains(err.Error(), tt.says) || errors.Is(err, ErrNoControl) != tt.cannot {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// TestBrowserThatAnswersBadly plays a DevTools port.
func TestBrowserThatAnswersBadly(t *testing.T) {
	for _, tt := range []struct{ name, list, message, says string }{
		{"no tabs", `[]`, "", "shows no page"},
		{"no list", `{`, "", "tabs"},
		{"an id that leads elsewhere", `[{"type":"page","id":"../x","url":"http://a"}]`, "", "shows no page"},
		{"refused", `[{"type":"page","id":"A1"}]`, `{"id":1,"error":{"message":"Unable to capture screenshot"}}`, "Unable to capture"},
		{"empty", `[{"type":"page","id":"A1"}]`, `{"id":1,"result":{}}`, "empty"},
		{"no JSON", `[{"type":"page","id":"A1"}]`, `<html>`, "answer"},
		{"events without end", `[{"type":"page","id":"A1"}]`, `{"method":"Page.frame"}`, "does not answer"},
		{"no picture", `[{"type":"page","id":"A1"}]`, `{"id":1,"result":{"data":"R0lGODlh"}}`, "unknown format"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/json/list" {
					_, _ = w.Write([]byte(tt.list))
					return
				}
				up := websocket.Upgrader{}
				conn, err := up.Upgrade(w, r, nil)
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				if _, _, err := conn.ReadMessage(); err != nil {
					t.Error(err)
				}
				for range maxMessages {
					if conn.WriteMessage(websocket.TextMessage, []byte(tt.message)) != nil {
						return
					}
				}
				_, _, _ = conn.ReadMessage() // until it goes
			}))
			defer s.Close()
			_, err := Screen{DevTools: s.Listener.Addr().String()}.Take(t.Context(), 96<<10)
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v, want %q", err, tt.says)
			}
		})
	}
}

func TestChooseATab(t *testing.T) {
	list := `[{"type":"browser_ui","id":"U","url":"chrome://omnibox"},{"type":"page","id":"A","url":"http://127.0.0.1:80/x"},{"type":"page","id":"B","url":"http://127.0.0.1:8080/"}]`
	for page, want := range map[string]string{"http://127.0.0.1:8080/": "B", "http://elsewhere/": "A", "": "A"} {
		if got, err := choose([]byte(list), page); err != nil || got.ID != want {
			t.Errorf("for %q: %+v, %v", page, got, err)
		}
	}
}

func TestCheckDevTools(t *testing.T) {
	for address, good := range map[string]bool{
		"127.0.0.1:9222": true, "localhost:9222": true, "[::1]:9222": true,
		"": false, "9222": false, "127.0.0.1:": false, "127.0.0.1:0": false, "0.0.0.0:9222": false, "192.168.1.5:9222": false, "example.org:9222": false,
	} {
		if err := CheckDevTools(address); (err == nil) != good {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func FuzzChoose(f *testing.F) {
	f.Add([]byte(`[{"type":"page","id":"A1","url":"http://127.0.0.1:8080/"}]`))
	f.Fuzz(func(t *testing.T, list []byte) {
		if got, err := choose(list, "http://"); err == nil && !validTarget(got.ID) {
			t.Errorf("%+v", got)
		}
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"id":1,"result":{"data":"R0lGODlh"}}`))
	f.Add([]byte(`{"id":1,"error":{"message":"x"}}`))
	f.Fuzz(func(t *testing.T, message []byte) {
		if data, ok, err := answer(message); ok && err == nil && len(data) == 0 {
			t.Error("an answer without a picture")
		}
	})
}

func FuzzFit(f *testing.F) {
	f.Add(picture(f, 40, 30), 2000)
	f.Add([]byte("\x89PNG\r\n\x1a\n"), 100)
	f.Fuzz(func(t *testing.T, data []byte, most int) {
		if shot, err := fit(data, most); err == nil && (len(shot.JPEG) > most || shot.Width < 1 || shot.Height < 1) {
			t.Errorf("%d bytes of at most %d", len(shot.JPEG), most)
		}
	})
}
