package synthetic

import (
	"errors"
	"fmt"
	"image/color"
)

// Params says how a photo is taken. Each field names its unit and range; [Params.Check] tells what is out of range.
// The zero value of a field switches its effect off, except for the sizes and the field of view, which have defaults.
type Params struct {
	// Width and Height of the photo in pixels, 64–4096 each; 0 and 0 is 1024 × 768.
	Width, Height int
	// Seed of wall texture, label text and noise.
	Seed uint64

	// Wall is the wall's colour and Texture the strength of its plaster, 0–0.2 of full scale.
	Wall    color.RGBA
	Texture float64
	// Frame is the width of the frame and Mat of the mount inside it, 0–0.3 of the picture's short side each.
	Frame, Mat           float64
	FrameColor, MatColor color.RGBA
	// Shadow is how dark the frame's shadow on the wall is, 0–1.
	Shadow float64
	// Label hangs a small card with a few lines of text beside the picture.
	Label bool

	// Fill is the size of the framed picture seen straight on, in units of the largest that fits the photo, 0.1–3.
	// Above 1 its edges are cut off.
	Fill float64
	// ShiftX and ShiftY move the picture's middle off the photo's, −0.7–0.7 of the photo's width and height.
	ShiftX, ShiftY float64
	// Yaw turns the camera round the picture's upright axis and Pitch round its level one, −50–50 degrees each; Roll
	// turns the photo, −180–180 degrees clockwise.
	Yaw, Pitch, Roll float64
	// View is the angle of view along the photo's long side, 30–100 degrees; 0 is 66, as of a phone's main camera.
	View float64

	// Light is how much darker the dark side of the photo is, 0–0.8, and LightAngle the direction in which it grows
	// darker, in degrees clockwise from the right.
	Light, LightAngle float64
	// Vignette is how much darker the corners are, 0–0.6.
	Vignette float64
	// Exposure in stops, −4–3.
	Exposure float64
	// Cast multiplies red, green and blue, 0.5–1.5 each; all 0 is no cast.
	Cast [3]float64
	// Glare is the strength of a reflection on the glass, 0–1; GlareX and GlareY its place in widths and heights of
	// the picture, −0.5–1.5; GlareSize its radius, 0–1 of the picture's long side.
	Glare, GlareX, GlareY, GlareSize float64

	// Defocus is the standard deviation of the blur in pixels, 0–12.
	Defocus float64
	// Motion is the length of the smear by a moving hand in pixels, 0–60, along MotionAngle in degrees.
	Motion, MotionAngle float64
	// Noise is the standard deviation of the sensor's noise in steps of 255, 0–60.
	Noise float64
	// Quality of the JPEG the photo went through, 5–100; 0 is none.
	Quality int
}

// Defaults of [Params].
const (
	DefaultWidth  = 1024
	DefaultHeight = 768
	DefaultView   = 66.0
)

// withDefaults fills in what zero stands for.
func (p Params) withDefaults() Params {
	if p.Width == 0 && p.Height == 0 {
		p.Width, p.Height = DefaultWidth, DefaultHeight
	}
	if p.View == 0 {
		p.View = DefaultView
	}
	if p.Cast == [3]float64{} {
		p.Cast = [3]float64{1, 1, 1}
	}
	return p
}

// Check tells all that is out of range, nil when nothing is.
func (p Params) Check() error {
	p = p.withDefaults()
	var errs []error
	within := func(name string, v, low, high float64) {
		if !(v >= low && v <= high) { // also not a number
			errs = append(errs, fmt.Errorf("%s is %v, want %v to %v", name, v, low, high))
		}
	}
	within("width", float64(p.Width), 64, 4096)
	within("height", float64(p.Height), 64, 4096)
	within("texture", p.Texture, 0, 0.2)
	within("frame", p.Frame, 0, 0.3)
	within("mat", p.Mat, 0, 0.3)
	within("shadow", p.Shadow, 0, 1)
	within("fill", p.Fill, 0.1, 3)
	within("shift x", p.ShiftX, -0.7, 0.7)
	within("shift y", p.ShiftY, -0.7, 0.7)
	within("yaw", p.Yaw, -50, 50)
	within("pitch", p.Pitch, -50, 50)
	within("roll", p.Roll, -180, 180)
	within("view", p.View, 30, 100)
	within("light", p.Light, 0, 0.8)
	within("light angle", p.LightAngle, -360, 360)
	within("vignette", p.Vignette, 0, 0.6)
	within("exposure", p.Exposure, -4, 3)
	for i, name := range []string{"red", "green", "blue"} {
		within("cast of "+name, p.Cast[i], 0.5, 1.5)
	}
	within("glare", p.Glare, 0, 1)
	within("glare x", p.GlareX, -0.5, 1.5)
	within("glare y", p.GlareY, -0.5, 1.5)
	within("glare size", p.GlareSize, 0, 1)
	within("defocus", p.Defocus, 0, 12)
	within("motion", p.Motion, 0, 60)
	within("motion angle", p.MotionAngle, -360, 360)
	within("noise", p.Noise, 0, 60)
	if p.Quality != 0 {
		within("quality", float64(p.Quality), 5, 100)
	}
	return errors.Join(errs...)
}
