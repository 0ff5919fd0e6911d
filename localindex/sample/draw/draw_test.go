package draw

import (
	"flag"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

var (
	out    = flag.String("out", "", "folder to write the full-size drawings to, for looking at them")
	update = flag.Bool("update", false, "write the golden file anew")
)

// slow are the drawings that simulate or strew for most of their time, whatever the size.
var slow = map[string]bool{"turing-pattern": true, "chladni-figures": true, "diffusion-limited-aggregation": true, "barnsley-fern": true}

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

func TestAllAreNamedAndLargeEnough(t *testing.T) {
	all := All()
	if len(all) != 24 {
		t.Fatalf("%d drawings, want 24", len(all))
	}
	seen := map[string]bool{}
	for _, d := range all {
		if seen[d.ID] {
			t.Errorf("%s: listed twice", d.ID)
		}
		seen[d.ID] = true
		if min(d.Width, d.Height) < 1200 {
			t.Errorf("%s: %d×%d, want a short side of at least 1200", d.ID, d.Width, d.Height)
		}
	}
}

// TestDrawingsStayTheSame compares small renderings with the checksums recorded from the pictures that were looked at
// and found good. Run with -update after changing a drawing on purpose.
func TestDrawingsStayTheSame(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("checksums were recorded on amd64; fused multiplication changes the last digits elsewhere")
	}
	golden := filepath.Join("testdata", "golden.txt")
	want := map[string]string{}
	if !*update {
		text, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			id, sum, _ := strings.Cut(strings.TrimSpace(line), " ")
			want[id] = sum
		}
	}
	all := All()
	got := make([]string, len(all))
	t.Run("draw", func(t *testing.T) {
		for i, d := range all {
			t.Run(d.ID, func(t *testing.T) {
				if raceEnabled && slow[d.ID] {
					t.Skip("simulated for too long under the race detector")
				}
				t.Parallel()
				img, ok := d.DrawAt(0.125).(*image.RGBA)
				if !ok {
					t.Fatal("not an RGBA picture")
				}
				if w := int(float64(d.Width)*0.125 + 0.5); img.Rect.Dx() != w {
					t.Errorf("width %d, want %d", img.Rect.Dx(), w)
				}
				got[i] = fmt.Sprintf("%08x", crc32.ChecksumIEEE(img.Pix))
				if !*update && got[i] != want[d.ID] {
					t.Errorf("checksum %s, want %s", got[i], want[d.ID])
				}
				if flat(img) {
					t.Error("nearly all one colour")
				}
			})
		}
	})
	if *update && !t.Failed() {
		var text strings.Builder
		for i, d := range all {
			fmt.Fprintf(&text, "%s %s\n", d.ID, got[i])
		}
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// flat reports whether a picture hardly differs from its corner.
func flat(img *image.RGBA) bool {
	other := 0
	for i := 0; i < len(img.Pix); i += 4 {
		d := 0
		for k := range 3 {
			d = max(d, int(img.Pix[i+k])-int(img.Pix[k]), int(img.Pix[k])-int(img.Pix[i+k]))
		}
		if d > 24 {
			other++
		}
	}
	return other < len(img.Pix)/4/10
}
