package canvas

import (
	"math"
	"testing"
)

var (
	white = Hex(0xffffff)
	black = Hex(0x000000)
)

// ink is how much ink lies on the sheet, in square units.
func ink(c *Canvas) float64 {
	sum := 0.0
	for i := 0; i < len(c.pix); i += 3 {
		sum += 1 - float64(c.pix[i])
	}
	return sum / (c.scale * c.scale)
}

func TestInkCoversTheArea(t *testing.T) {
	for _, test := range []struct {
		name string
		draw func(*Canvas)
		want float64
	}{
		{"square between pixels", func(c *Canvas) { c.Fill(black, Rect(10.3+10.7i, 30.3+30.7i)) }, 400},
		{"square turned the other way", func(c *Canvas) { c.Fill(black, []complex128{10 + 10i, 10 + 30i, 30 + 30i, 30 + 10i}) }, 400},
		{"two that overlap unite", func(c *Canvas) { c.Fill(black, Rect(10+10i, 30+30i), Rect(20+10i, 40+30i)) }, 600},
		{"hole", func(c *Canvas) {
			c.Fill(black, Rect(10+10i, 30+30i), []complex128{15 + 15i, 15 + 25i, 25 + 25i, 25 + 15i})
		}, 300},
		{"disc", func(c *Canvas) { c.Disc(black, 32+32i, 15) }, math.Pi * 225},
		{"ring", func(c *Canvas) { c.Ring(black, 2, 32+32i, 15) }, 2 * math.Pi * 15 * 2},
		{"line with round ends", func(c *Canvas) { c.Stroke(black, 6, 10+20i, 50+40i) }, math.Hypot(40, 20)*6 + math.Pi*9},
		{"hairline", func(c *Canvas) { c.Stroke(black, 0.4, 10+10i, 50+10i) }, 40 * 0.4},
		{"line there and back covers once", func(c *Canvas) { c.Stroke(black.Fade(0.5), 6, 10+20i, 50+20i, 10+20i) }, (40*6 + math.Pi*9) / 2},
		{"clipped", func(c *Canvas) { c.Clip(0, 20+64i); c.Fill(black, Rect(10+10i, 30+30i)) }, 200},
		{"partly off the sheet", func(c *Canvas) { c.Fill(black, Rect(-1e9-10i, 10+10i)) }, 100},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, scale := range []float64{1, 2.5} {
				c := New(64, 64, scale, white)
				test.draw(c)
				if got := ink(c); math.Abs(got-test.want) > 0.015*test.want+0.5 {
					t.Errorf("at scale %v: %v square units inked, want %v", scale, got, test.want)
				}
			}
		})
	}
}

func TestMixInOKLab(t *testing.T) {
	a, b := Hex(0x10243f), Hex(0xe9b44c)
	for _, test := range []struct {
		t    float64
		want Color
	}{{0, a}, {1, b}, {-3, a}, {7, b}} {
		got := Mix(a, b, test.t)
		for i, d := range []float32{got.R - test.want.R, got.G - test.want.G, got.B - test.want.B} {
			if math.Abs(float64(d)) > 0.002 {
				t.Errorf("at %v channel %d is off by %v", test.t, i, d)
			}
		}
	}
	if grey := Mix(black, white, 0.5); math.Abs(float64(grey.R)-0.388) > 0.01 {
		t.Errorf("the middle grey is %v, want about 0.39", grey.R)
	}
}

func TestInset(t *testing.T) {
	if got := Area(Inset(Rect(0, 10+10i), 2)); math.Abs(got-36) > 1e-9 {
		t.Errorf("area %v, want 36", got)
	}
	if got := Inset(Rect(0, 10+10i), 6); got != nil {
		t.Errorf("%v is left of a square that is inset by more than its half", got)
	}
}
