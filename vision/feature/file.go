package feature

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Limits of what a file may hold.
const (
	MaxSets     = 1 << 20
	MaxPerSet   = 1 << 14
	MaxPixels   = 1 << 12 // longer side of a described picture
	maxCentres  = 1 << 16
	pointBytes  = 8
	placeUnit   = 1.0 / 16 // places and sizes are stored in sixteenths of a pixel
	angleUnit   = 360.0 / 65536
	setOverhead = 8
)

// ErrFormat is wrapped by errors about bytes that are not what the builder wrote.
var ErrFormat = errors.New("malformed features")

// EncodeSets writes sets one after the other: count (4 bytes), then for each width, height (2 each), number of
// features (4), the points (x, y, size in sixteenths of a pixel, angle in 1/65536 turn; 2 bytes each) and the
// descriptors. Little-endian.
func EncodeSets(sets []Set) ([]byte, error) {
	if len(sets) > MaxSets {
		return nil, fmt.Errorf("encode features: %d pictures, at most %d", len(sets), MaxSets)
	}
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(sets)))
	for i, s := range sets {
		if err := s.check(); err != nil {
			return nil, fmt.Errorf("encode features of picture %d: %w", i, err)
		}
		out = binary.LittleEndian.AppendUint16(out, uint16(s.Width))
		out = binary.LittleEndian.AppendUint16(out, uint16(s.Height))
		out = binary.LittleEndian.AppendUint32(out, uint32(s.Len()))
		for _, p := range s.Points {
			for _, v := range [3]float32{p.X, p.Y, p.Size} {
				out = binary.LittleEndian.AppendUint16(out, stored(float64(v)/placeUnit))
			}
			turn := math.Mod(float64(p.Angle)/angleUnit, 65536)
			if turn < 0 {
				turn += 65536
			}
			out = binary.LittleEndian.AppendUint16(out, uint16(uint32(turn)))
		}
		out = append(out, s.Descriptors...)
	}
	return out, nil
}

// stored rounds to a 16-bit number.
func stored(v float64) uint16 {
	return uint16(math.Round(min(max(v, 0), math.MaxUint16)))
}

// DecodeSets reads what EncodeSets wrote. The descriptors are parts of data, which must not change afterwards.
func DecodeSets(data []byte) ([]Set, error) {
	if len(data) < 4 {
		return nil, fmt.Errorf("%w: no count", ErrFormat)
	}
	count := binary.LittleEndian.Uint32(data)
	data = data[4:]
	if count > MaxSets || int64(count)*setOverhead > int64(len(data)) {
		return nil, fmt.Errorf("%w: %d pictures in %d bytes", ErrFormat, count, len(data))
	}
	sets := make([]Set, count)
	for i := range sets {
		if len(data) < setOverhead {
			return nil, fmt.Errorf("%w: picture %d is cut short", ErrFormat, i)
		}
		n := binary.LittleEndian.Uint32(data[4:])
		s := Set{Width: int(binary.LittleEndian.Uint16(data)), Height: int(binary.LittleEndian.Uint16(data[2:]))}
		data = data[setOverhead:]
		if n > MaxPerSet || int64(n)*(pointBytes+DescriptorBytes) > int64(len(data)) {
			return nil, fmt.Errorf("%w: picture %d claims %d features", ErrFormat, i, n)
		}
		s.Points = make([]Point, n)
		for j := range s.Points {
			p := data[j*pointBytes:]
			s.Points[j] = Point{
				X:     float32(binary.LittleEndian.Uint16(p)) * placeUnit,
				Y:     float32(binary.LittleEndian.Uint16(p[2:])) * placeUnit,
				Size:  float32(binary.LittleEndian.Uint16(p[4:])) * placeUnit,
				Angle: float32(binary.LittleEndian.Uint16(p[6:])) * angleUnit,
			}
		}
		data = data[int(n)*pointBytes:]
		end := int(n) * DescriptorBytes
		s.Descriptors = data[:end:end]
		data = data[end:]
		if err := s.check(); err != nil {
			return nil, fmt.Errorf("picture %d: %w", i, err)
		}
		sets[i] = s
	}
	if len(data) != 0 {
		return nil, fmt.Errorf("%w: %d bytes too many", ErrFormat, len(data))
	}
	return sets, nil
}

// check says what makes a set impossible.
func (s Set) check() error {
	switch {
	case s.Width < 1 || s.Height < 1 || s.Width > MaxPixels || s.Height > MaxPixels:
		return fmt.Errorf("%w: picture of %d×%d pixels", ErrFormat, s.Width, s.Height)
	case len(s.Points) > MaxPerSet:
		return fmt.Errorf("%w: %d features, at most %d", ErrFormat, len(s.Points), MaxPerSet)
	case len(s.Descriptors) != len(s.Points)*DescriptorBytes:
		return fmt.Errorf("%w: %d descriptor bytes for %d features", ErrFormat, len(s.Descriptors), len(s.Points))
	}
	return checkBytes(s.Descriptors)
}

// checkBytes makes sure that descriptors or centres keep to the limit their sums of products rely on.
func checkBytes(descriptors []byte) error {
	var all byte
	for _, b := range descriptors {
		all |= b
	}
	if all > MaxByte { // MaxByte is all ones
		return fmt.Errorf("%w: a descriptor has a byte above %d", ErrFormat, MaxByte)
	}
	return nil
}

// Model is what is trained on a collection: its vocabulary and the projection of its vectors.
type Model struct {
	Codebook   Codebook
	Projection Projection
}

// Encode writes a model: number of centres and projected numbers (4 bytes each), centres, mean, rows (float32).
func (m Model) Encode() []byte {
	out := binary.LittleEndian.AppendUint32(nil, uint32(m.Codebook.Len()))
	out = binary.LittleEndian.AppendUint32(out, uint32(m.Projection.Out))
	out = append(out, m.Codebook.Centres...)
	out = appendFloats(out, m.Projection.Mean)
	return appendFloats(out, m.Projection.Rows)
}

// DecodeModel reads what Encode wrote.
func DecodeModel(data []byte) (Model, error) {
	if len(data) < 8 {
		return Model{}, fmt.Errorf("%w: model is cut short", ErrFormat)
	}
	k, out := int64(binary.LittleEndian.Uint32(data)), int64(binary.LittleEndian.Uint32(data[4:]))
	data = data[8:]
	in := k * DescriptorBytes
	if k < 1 || k > maxCentres || out < 1 || out > in || in+4*in+4*in*out != int64(len(data)) {
		return Model{}, fmt.Errorf("%w: model of %d centres and %d numbers in %d bytes", ErrFormat, k, out, len(data))
	}
	if err := checkBytes(data[:in]); err != nil {
		return Model{}, err
	}
	m := Model{Codebook: Codebook{Centres: data[:in:in]}, Projection: Projection{In: int(in), Out: int(out)}}
	m.Projection.Mean = floats(data[in : 5*in])
	m.Projection.Rows = floats(data[5*in:])
	for _, list := range [][]float32{m.Projection.Mean, m.Projection.Rows} {
		for _, v := range list {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return Model{}, fmt.Errorf("%w: model holds a number that is not finite", ErrFormat)
			}
		}
	}
	return m, nil
}

func appendFloats(out []byte, values []float32) []byte {
	for _, v := range values {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	return out
}

func floats(data []byte) []float32 {
	out := make([]float32, len(data)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return out
}
