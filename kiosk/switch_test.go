package kiosk

import (
	"net/http"
	"strings"
	"testing"
)

// TestPicturesOfTheReleaseBefore are had by pages that were opened with it, and no others are.
func TestPicturesOfTheReleaseBefore(t *testing.T) {
	h := open(t)
	before, giveBack, _ := h.shelf.take()
	old := before.pictures()
	giveBack()
	next := newContent(openTiny(t), h.recogniser)
	<-h.shelf.replace(next)
	if len(old.paths) == 0 {
		t.Fatal("the release has no pictures")
	}
	for file, path := range old.paths {
		for _, name := range []string{file, strings.TrimPrefix(file, picturesFolder)} {
			if got, ok := h.shelf.pictureBefore(old.release, name); !ok || got != path {
				t.Errorf("%s: %q, %v, want %s", name, got, ok, path)
			}
		}
		if _, ok := h.shelf.pictureBefore("9-0123456789ab", file); ok {
			t.Errorf("%s of another release is there", file)
		}
	}
	if _, ok := h.shelf.pictureBefore(old.release, "../manifest.json"); ok {
		t.Error("a file that is no picture is there")
	}
	r := h.get("/api/v1/pictures/red%20fan.png?w=320&v=" + old.release)
	if r.status != http.StatusOK || !strings.HasPrefix(r.header.Get("ETag"), `"`+old.release) {
		t.Errorf("%d, tag %s", r.status, r.header.Get("ETag"))
	}
}

// BenchmarkTakeWhileSwitching is what a request waits for the content while releases are switched all the time; without
// says what it is without.
func BenchmarkTakeWhileSwitching(b *testing.B) {
	for _, switching := range []bool{true, false} {
		name := map[bool]string{true: "switching", false: "without"}[switching]
		b.Run(name, func(b *testing.B) {
			var s shelf
			s.swap(&content{}, pictures{})
			stop, stopped := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(stopped)
				for switching {
					select {
					case <-stop:
						return
					default:
						s.swap(&content{}, pictures{})
					}
				}
			}()
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					_, giveBack, _ := s.take()
					giveBack()
				}
			})
			close(stop)
			<-stopped
		})
	}
}
