// Package neural describes pictures by a neural network that a gallery brings with it: any convolutional one in an ONNX
// file that OpenCV can run. It finds works that have too few local features, and says less surely than those what they
// are.
package neural

/*
#cgo pkg-config: opencv4
#cgo CXXFLAGS: -std=c++14 -O2 -Wall
#include <stdlib.h>
#include "net.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"unsafe"

	"gocv.io/x/gocv"
)

// Limits of a model and of what it is given and says.
const (
	MaxModelBytes = 256 << 20
	MinInput      = 16 // pixels of a side
	MaxInput      = 1024
	MaxDimension  = 8192
)

// ErrModel is wrapped by errors about a model that cannot be used.
var ErrModel = errors.New("unusable model")

// Settings say how a model is fed and read. Pictures are given to it whole, red first, each value as
// (value / 255 − Mean) / Std.
type Settings struct {
	Width  int        `json:"width"` // pixels
	Height int        `json:"height"`
	Mean   [3]float32 `json:"mean"` // of red, green and blue
	Std    [3]float32 `json:"std"`
	// Layer is the name of the node, or of its output, whose output describes a picture. Empty means the model's own
	// output. An output of channels and places is averaged over the places.
	Layer string `json:"layer,omitempty"`
}

// Check says what is wrong with the settings.
func (s Settings) Check() error {
	if min(s.Width, s.Height) < MinInput || max(s.Width, s.Height) > MaxInput {
		return fmt.Errorf("input of %d × %d pixels: each side must have %d to %d", s.Width, s.Height, MinInput, MaxInput)
	}
	for i := range 3 {
		if m := float64(s.Mean[i]); math.IsNaN(m) || math.Abs(m) > 255 {
			return fmt.Errorf("mean %v: it must be that of values from 0 to 1", s.Mean)
		}
		if d := float64(s.Std[i]); !(d > 1e-4 && d <= 255) {
			return fmt.Errorf("std %v: it must be that of values from 0 to 1, and above 0", s.Std)
		}
	}
	return nil
}

// Net is a model that is ready to run. It is safe for concurrent use; it describes one picture at a time.
type Net struct {
	settings  Settings
	layer     string // as OpenCV names it
	dimension int

	mu  sync.Mutex
	net unsafe.Pointer // nil once closed
}

// Open reads a model and tries it on a picture. The caller closes it. The error wraps [ErrModel] where the model is at
// fault.
func Open(model []byte, s Settings) (*Net, error) {
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("open neural network: %w", err)
	}
	outline, err := Inspect(model)
	if err != nil {
		return nil, fmt.Errorf("open neural network: %w", err)
	}
	n := &Net{settings: s}
	why := make([]byte, 512)
	data := C.CBytes(model)
	defer C.free(data)
	if C.docent_net_open((*C.char)(data), C.size_t(len(model)), &n.net, (*C.char)(unsafe.Pointer(&why[0])), C.size_t(len(why))) != 0 {
		return nil, fmt.Errorf("open neural network: %w: OpenCV %s does not read it: %s", ErrModel, gocv.OpenCVVersion(), told(why))
	}
	if err := n.choose(outline); err != nil {
		return nil, errors.Join(fmt.Errorf("open neural network: %w", err), n.Close())
	}
	if err := n.try(); err != nil {
		return nil, errors.Join(fmt.Errorf("open neural network: %w", err), n.Close())
	}
	return n, nil
}

// told is a message of C++ on one line.
func told(why []byte) string {
	s, _, _ := strings.Cut(string(why), "\x00")
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
}

// choose finds what OpenCV calls the layer that is asked for.
func (n *Net) choose(o Outline) error {
	if n.settings.Layer == "" {
		return nil
	}
	names := []string{n.settings.Layer}
	for _, node := range o.Nodes {
		for i, out := range node.Outputs {
			if out == n.settings.Layer || node.Name == n.settings.Layer {
				names = append(names, "onnx_node!"+node.Name, fmt.Sprintf("onnx_node_output_%d!%s", i, out), out)
			}
		}
	}
	for _, name := range names {
		c := C.CString(name)
		there := C.docent_net_layer(n.net, c, nil, 0)
		C.free(unsafe.Pointer(c))
		if there == 1 {
			n.layer = name
			return nil
		}
	}
	var last []string
	for _, node := range o.Nodes[max(0, len(o.Nodes)-6):] {
		last = append(last, node.Outputs...)
	}
	return fmt.Errorf("%w: it has no layer %q that OpenCV keeps; its last ones are %s", ErrModel, n.settings.Layer, strings.Join(last, ", "))
}

// try describes a picture of colours, to see that the net runs and says something.
func (n *Net) try() error {
	small := gocv.NewMatWithSize(64, 64, gocv.MatTypeCV8UC3)
	defer small.Close()
	pixels, err := small.DataPtrUint8()
	if err != nil {
		return err
	}
	for i := range pixels {
		pixels[i] = uint8(i * 7)
	}
	_, err = n.Describe(small)
	return err
}

// Dimension is how many numbers describe a picture.
func (n *Net) Dimension() int { return n.dimension }

// Describe returns the numbers for a picture (BGR, 8 bits, 3 channels), a vector of length 1.
func (n *Net) Describe(bgr gocv.Mat) ([]float32, error) {
	if bgr.Empty() || bgr.Type() != gocv.MatTypeCV8UC3 {
		return nil, errors.New("describe picture by neural network: it is empty or not BGR of 8 bits")
	}
	v, err := n.run(bgr)
	if err != nil {
		return nil, fmt.Errorf("describe picture by neural network: %w", err)
	}
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if length := math.Sqrt(sum); length > 1e-12 && !math.IsInf(length, 0) {
		for i := range v {
			v[i] = float32(float64(v[i]) / length)
		}
		return v, nil
	}
	return nil, fmt.Errorf("describe picture by neural network: %w: its output has the length %v", ErrModel, math.Sqrt(sum))
}

func (n *Net) run(bgr gocv.Mat) ([]float32, error) {
	pixels, step, done, err := memory(bgr)
	if err != nil {
		return nil, err
	}
	defer done()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.net == nil {
		return nil, errors.New("it is closed")
	}
	out := make([]float32, MaxDimension)
	why := make([]byte, 512)
	layer := C.CString(n.layer)
	defer C.free(unsafe.Pointer(layer))
	var count C.int
	s := n.settings
	if C.docent_net_run(n.net, (*C.uint8_t)(unsafe.Pointer(&pixels[0])), C.int(bgr.Rows()), C.int(bgr.Cols()), C.size_t(step),
		C.int(s.Width), C.int(s.Height), (*C.float)(&s.Mean[0]), (*C.float)(&s.Std[0]), layer,
		(*C.float)(&out[0]), C.int(len(out)), &count, (*C.char)(unsafe.Pointer(&why[0])), C.size_t(len(why))) != 0 {
		return nil, fmt.Errorf("%w: %s", ErrModel, told(why))
	}
	switch d := int(count); {
	case d < 2 || d > MaxDimension:
		return nil, fmt.Errorf("%w: its output has %d numbers, want 2 to %d; name a layer before the last", ErrModel, d, MaxDimension)
	case n.dimension == 0:
		n.dimension = d
	case d != n.dimension:
		return nil, fmt.Errorf("%w: its output has %d numbers, before it had %d", ErrModel, d, n.dimension)
	}
	return out[:n.dimension:n.dimension], nil
}

// memory is the pixels of a picture and the length of a row in bytes, until done.
func memory(bgr gocv.Mat) (pixels []byte, step int, done func(), err error) {
	m, done := bgr, func() {}
	if !bgr.IsContinuous() {
		m = bgr.Clone()
		done = func() { m.Close() }
	}
	pixels, err = m.DataPtrUint8()
	if err != nil {
		done()
		return nil, 0, nil, err
	}
	return pixels, m.Step(), done, nil
}

// Close releases the model. It may be called again.
func (n *Net) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.net != nil {
		C.docent_net_close(n.net)
		n.net = nil
	}
	return nil
}
