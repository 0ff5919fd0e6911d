package rank

import (
	"hash/fnv"
	"slices"
	"unicode"
)

// DuplicateShare is the share of common shingles (Jaccard) from which two texts are near-duplicates: a few words changed in
// a paragraph.
const DuplicateShare = 0.85

const (
	shingle    = 5  // letters and digits in a row
	sketchSize = 48 // smallest hashes kept of a text; the share they estimate is off by 0.07 or less two times in three
)

// Sketch is a small summary of a text by which near-duplicates are found (Broder, On the resemblance and containment of
// documents, 1997): the smallest hashes of its shingles, ascending.
type Sketch []uint32

// NewSketch summarises a text. Case, space and punctuation do not count.
func NewSketch(text string) Sketch {
	var letters []rune
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			letters = append(letters, unicode.ToLower(r))
		}
	}
	if len(letters) == 0 {
		return nil
	}
	hashes := make([]uint32, 0, len(letters))
	for i := 0; i == 0 || i+shingle <= len(letters); i++ {
		h := fnv.New32a()
		for _, r := range letters[i:min(i+shingle, len(letters))] {
			_, _ = h.Write([]byte{byte(r), byte(r >> 8), byte(r >> 16)}) // never an error
		}
		hashes = append(hashes, mix(h.Sum32()))
	}
	slices.Sort(hashes)
	hashes = slices.Compact(hashes)
	return Sketch(slices.Clone(hashes[:min(len(hashes), sketchSize)]))
}

// mix spreads the bits of a hash, as MurmurHash3 ends: FNV of like texts is too alike for its smallest to be a sample.
func mix(h uint32) uint32 {
	h ^= h >> 16
	h *= 0x85EBCA6B
	h ^= h >> 13
	h *= 0xC2B2AE35
	return h ^ h>>16
}

// Resembles estimates the share of shingles that two texts have in common, 0 to 1. It is exact for texts of less than 50
// shingles.
func (s Sketch) Resembles(o Sketch) float64 {
	if len(s) == 0 || len(o) == 0 {
		return 0
	}
	common, seen, i, j := 0, 0, 0, 0
	for seen < sketchSize && (i < len(s) || j < len(o)) {
		switch {
		case j == len(o) || i < len(s) && s[i] < o[j]:
			i++
		case i == len(s) || o[j] < s[i]:
			j++
		default:
			common++
			i++
			j++
		}
		seen++
	}
	return float64(common) / float64(seen)
}
