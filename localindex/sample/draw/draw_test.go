package draw

import (
	"flag"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var out = flag.String("out", "", "folder to write the full-size drawings to, for looking at them")

// TestWriteFullSize writes the drawings where -out says, for the eye.
func TestWriteFullSize(t *testing.T) {
	if *out == "" {
		t.Skip("no -out folder given")
	}
	for _, d := range All() {
		t.Run(d.ID, func(t *testing.T) {
			start := time.Now()
			img := d.Draw()
			took := time.Since(start)
			f, err := os.Create(filepath.Join(*out, d.ID+".png"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if err := png.Encode(f, img); err != nil {
				t.Fatal(err)
			}
			info, err := f.Stat()
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: drawn in %v, %d kB", d.ID, took.Round(time.Millisecond), info.Size()/1000)
		})
	}
}
