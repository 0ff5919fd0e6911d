package canvas

import "math"

// Color is an sRGB-encoded colour with opacity, all 0…1, not premultiplied.
type Color struct{ R, G, B, A float32 }

// Hex is the opaque colour 0xRRGGBB.
func Hex(rgb uint32) Color {
	return Color{float32(rgb>>16&255) / 255, float32(rgb>>8&255) / 255, float32(rgb&255) / 255, 1}
}

// Fade returns the colour with its opacity multiplied by a.
func (c Color) Fade(a float64) Color {
	c.A *= float32(a)
	return c
}

// Mix returns the colour at t (0…1, clamped) on the way from a to b, mixed in OKLab (Ottosson 2020), in which equal
// steps look equal.
func Mix(a, b Color, t float64) Color {
	t = min(max(t, 0), 1)
	la, lb := oklab(a), oklab(b)
	var l [3]float64
	for i := range l {
		l[i] = la[i] + (lb[i]-la[i])*t
	}
	c := fromOklab(l)
	c.A = a.A + (b.A-a.A)*float32(t)
	return c
}

// Toward is Mix done on the encoded values: not as even, but cheap enough for every pixel.
func (c Color) Toward(b Color, t float64) Color {
	f := float32(min(max(t, 0), 1))
	return Color{c.R + (b.R-c.R)*f, c.G + (b.G-c.G)*f, c.B + (b.B-c.B)*f, c.A + (b.A-c.A)*f}
}

// Ramp is a row of colours read by a number.
type Ramp struct{ table []Color }

const rampSteps = 1024

// NewRamp spreads the stops evenly over 0…1.
func NewRamp(stops ...Color) Ramp {
	r := Ramp{table: make([]Color, rampSteps+1)}
	for i := range r.table {
		at := float64(i) / rampSteps * float64(len(stops)-1)
		k := min(int(at), max(len(stops)-2, 0))
		r.table[i] = Mix(stops[k], stops[min(k+1, len(stops)-1)], at-float64(k))
	}
	return r
}

// At reads the ramp at t, clamped to 0…1.
func (r Ramp) At(t float64) Color {
	if !(t > 0) { // also not a number
		return r.table[0]
	}
	return r.table[int(min(t, 1)*rampSteps)]
}

func oklab(c Color) [3]float64 {
	r, g, b := linear(c.R), linear(c.G), linear(c.B)
	l := math.Cbrt(0.4122214708*r + 0.5363325363*g + 0.0514459929*b)
	m := math.Cbrt(0.2119034982*r + 0.6806995451*g + 0.1073969566*b)
	s := math.Cbrt(0.0883024619*r + 0.2817188376*g + 0.6299787005*b)
	return [3]float64{
		0.2104542553*l + 0.7936177850*m - 0.0040720468*s,
		1.9779984951*l - 2.4285922050*m + 0.4505937099*s,
		0.0259040371*l + 0.7827717662*m - 0.8086757660*s,
	}
}

func fromOklab(v [3]float64) Color {
	l := v[0] + 0.3963377774*v[1] + 0.2158037573*v[2]
	m := v[0] - 0.1055613458*v[1] - 0.0638541728*v[2]
	s := v[0] - 0.0894841775*v[1] - 1.2914855480*v[2]
	l, m, s = l*l*l, m*m*m, s*s*s
	return Color{
		encoded(4.0767416621*l - 3.3077115913*m + 0.2309699292*s),
		encoded(-1.2684380046*l + 2.6097574011*m - 0.3413193965*s),
		encoded(-0.0041960863*l - 0.7034186147*m + 1.7076147010*s),
		1,
	}
}

func linear(v float32) float64 {
	x := float64(v)
	if x <= 0.04045 {
		return x / 12.92
	}
	return math.Pow((x+0.055)/1.055, 2.4)
}

func encoded(x float64) float32 {
	x = min(max(x, 0), 1)
	if x <= 0.0031308 {
		return float32(x * 12.92)
	}
	return float32(1.055*math.Pow(x, 1/2.4) - 0.055)
}
