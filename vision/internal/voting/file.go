package voting

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"docent/vision/feature"
)

// ErrFormat is wrapped by errors about bytes that are not what Encode wrote.
var ErrFormat = errors.New("malformed votes")

const postingBytes = 16

// Encode writes an index: number of centres of each half (4 bytes), the centres, the first posting of each word (4
// bytes each, one more than there are words), the postings (signature 8, picture 4, feature 2, direction 1,
// size 1). Little-endian.
func (x *Index) Encode() []byte {
	v := x.vocabulary
	out := make([]byte, 0, 4+2*len(v.halves[0])+4*len(x.starts)+postingBytes*len(x.postings))
	out = binary.LittleEndian.AppendUint32(out, uint32(v.size()))
	out = append(out, v.halves[0]...)
	out = append(out, v.halves[1]...)
	for _, s := range x.starts {
		out = binary.LittleEndian.AppendUint32(out, s)
	}
	for i, p := range x.postings {
		out = binary.LittleEndian.AppendUint64(out, x.signatures[i])
		out = binary.LittleEndian.AppendUint32(out, p.picture)
		out = binary.LittleEndian.AppendUint16(out, p.feature)
		out = append(out, p.view.turn, p.view.size)
	}
	return out
}

// Decode reads what Encode wrote of an index over sets.
func Decode(data []byte, sets []feature.Set) (*Index, error) {
	if len(data) < 4 {
		return nil, fmt.Errorf("%w: it is cut short", ErrFormat)
	}
	k := int(binary.LittleEndian.Uint32(data))
	data = data[4:]
	if k < 1 || k > maxHalf || len(data) < 2*k*halfBytes+4*(k*k+1) {
		return nil, fmt.Errorf("%w: %d centres in %d bytes", ErrFormat, k, len(data))
	}
	v := &Vocabulary{}
	for h := range v.halves {
		v.halves[h] = data[: k*halfBytes : k*halfBytes]
		data = data[k*halfBytes:]
		if slices.Max(v.halves[h]) > feature.MaxByte {
			return nil, fmt.Errorf("%w: a centre has a byte above %d", ErrFormat, feature.MaxByte)
		}
	}
	v.project()

	x := &Index{vocabulary: v, starts: make([]uint32, k*k+1), sets: sets}
	for i := range x.starts {
		x.starts[i] = binary.LittleEndian.Uint32(data[4*i:])
		if i == 0 && x.starts[0] != 0 || i > 0 && x.starts[i] < x.starts[i-1] {
			return nil, fmt.Errorf("%w: word %d begins before the one ahead of it", ErrFormat, i)
		}
	}
	data = data[4*len(x.starts):]
	n := int64(x.starts[len(x.starts)-1])
	if n*postingBytes != int64(len(data)) {
		return nil, fmt.Errorf("%w: %d postings in %d bytes", ErrFormat, n, len(data))
	}
	x.postings, x.signatures = make([]posting, n), make([]uint64, n)
	for i := range x.postings {
		from := data[i*postingBytes:]
		p := posting{
			picture: binary.LittleEndian.Uint32(from[8:]),
			feature: binary.LittleEndian.Uint16(from[12:]),
			view:    view{turn: from[14], size: from[15]},
		}
		if int64(p.picture) >= int64(len(sets)) || int(p.feature) >= sets[p.picture].Len() {
			return nil, fmt.Errorf("%w: posting %d names feature %d of picture %d", ErrFormat, i, p.feature, p.picture)
		}
		x.postings[i], x.signatures[i] = p, binary.LittleEndian.Uint64(from)
	}
	return x, nil
}
