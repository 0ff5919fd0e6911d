package camera

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math/rand/v2"
	"mime/multipart"
	"net"
	"net/http"
	"net/textproto"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestNetworkCamera goes the whole way of a stream, with OpenCV and FFmpeg in the camera's process: a network camera
// that is switched off and on again.
func TestNetworkCamera(t *testing.T) {
	t.Parallel()
	address, switchOff := networkCamera(t, "127.0.0.1:0")
	o, err := NewOpener("http://me:secret@"+address+"/live.mjpg", Settings{FrameRate: 10}, func() *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), orders+"=serve")
		return cmd
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := Start(Options{Open: o.Open, Random: func() float64 { return .2 }})
	t.Cleanup(func() { closeInTime(t, c) })
	await(t, c, StateReady)
	p, err := c.Burst(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	if p.Size() != image.Pt(320, 240) {
		t.Errorf("a photo of %v", p.Size())
	}
	p.Close()

	switchOff()
	await(t, c, StateAlert)
	if h := c.Health(); h.Trouble == "" || strings.Contains(h.Trouble, "secret") {
		t.Errorf("health %+v", h)
	}
	networkCamera(t, address)
	await(t, c, StateReady)
}

// networkCamera serves noise as MJPEG.
func networkCamera(t *testing.T, address string) (at string, switchOff func()) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	on, off := context.WithCancel(context.Background())
	server := &http.Server{
		BaseContext: func(net.Listener) context.Context { return on },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			parts := multipart.NewWriter(w)
			w.Header().Set("Content-Type", "multipart/x-mixed-replace; boundary="+parts.Boundary())
			random := rand.New(rand.NewPCG(1, 2))
			for r.Context().Err() == nil {
				part, err := parts.CreatePart(textproto.MIMEHeader{"Content-Type": {"image/jpeg"}})
				if err != nil {
					return
				}
				img := image.NewGray(image.Rect(0, 0, 320, 240))
				for i := range img.Pix {
					img.Pix[i] = uint8(90 + random.IntN(60))
				}
				img.SetGray(1, 1, color.Gray{255})
				if jpeg.Encode(part, img, nil) != nil {
					return
				}
				fmt.Fprint(w, "\r\n")
				w.(http.Flusher).Flush()
				time.Sleep(50 * time.Millisecond)
			}
		}),
	}
	go server.Serve(l)
	switchOff = func() {
		off()
		server.Close()
	}
	t.Cleanup(switchOff)
	return l.Addr().String(), switchOff
}
