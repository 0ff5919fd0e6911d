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

// featureBytes of a feature in the file: signature 8, word 2, direction 1, size 1.
const featureBytes = 12

// Encode writes an index: number of centres of each half (4 bytes), the centres, then the features in the order of the
// pictures. Little-endian. They are not in the order of the words, in which they are searched: then a picture that changes
// would change every part of the file, and all of it would travel to the kiosks.
func (x *Index) Encode() []byte {
	v := x.vocabulary
	out := make([]byte, 0, 4+2*len(v.halves[0])+featureBytes*len(x.postings))
	out = binary.LittleEndian.AppendUint32(out, uint32(v.size()))
	out = append(out, v.halves[0]...)
	out = append(out, v.halves[1]...)
	first := make([]int, len(x.sets)) // of each picture's features
	for i := 1; i < len(first); i++ {
		first[i] = first[i-1] + x.sets[i-1].Len()
	}
	features := out[len(out):cap(out)]
	for word := range v.Words() {
		for i := x.starts[word]; i < x.starts[word+1]; i++ {
			p := x.postings[i]
			to := features[(first[p.picture]+int(p.feature))*featureBytes:]
			binary.LittleEndian.PutUint64(to, x.signatures[i])
			binary.LittleEndian.PutUint16(to[8:], uint16(word))
			to[10], to[11] = p.view.turn, p.view.size
		}
	}
	return out[:cap(out)]
}

// Decode reads what Encode wrote of an index over sets.
func Decode(data []byte, sets []feature.Set) (*Index, error) {
	if len(data) < 4 {
		return nil, fmt.Errorf("%w: it is cut short", ErrFormat)
	}
	k := int(binary.LittleEndian.Uint32(data))
	data = data[4:]
	if k < 1 || k > maxHalf || len(data) < 2*k*halfBytes {
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

	n := 0
	for _, s := range sets {
		n += s.Len()
	}
	if n*featureBytes != len(data) {
		return nil, fmt.Errorf("%w: %d features in %d bytes", ErrFormat, n, len(data))
	}
	x := &Index{vocabulary: v, starts: make([]uint32, k*k+1), sets: sets}
	word := func(i int) int { return int(binary.LittleEndian.Uint16(data[i*featureBytes+8:])) }
	for i := range n {
		w := word(i)
		if w >= k*k {
			return nil, fmt.Errorf("%w: feature %d has word %d of %d", ErrFormat, i, w, k*k)
		}
		x.starts[w+1]++
	}
	for w := 1; w < len(x.starts); w++ {
		x.starts[w] += x.starts[w-1]
	}
	x.postings, x.signatures = make([]posting, n), make([]uint64, n)
	next := slices.Clone(x.starts)
	i := 0
	for picture, s := range sets {
		for of := range s.Len() {
			w, from := word(i), data[i*featureBytes:]
			x.signatures[next[w]] = binary.LittleEndian.Uint64(from)
			x.postings[next[w]] = posting{picture: uint32(picture), feature: uint16(of), view: view{turn: from[10], size: from[11]}}
			next[w]++
			i++
		}
	}
	return x, nil
}
