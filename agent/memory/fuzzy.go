package memory

import (
	"cmp"
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"docent/agent/internal/words"
)

// Preferences are found by vectors: what is alike in spelling or shares a word lies near, so that "patterned tiles" finds
// "tile patterns" and 几何图案 finds 几何. Without a model there is nothing better on the machine; with one,
// Options.Vector takes its place.
const (
	vectorSize  = 256
	gram        = 3
	fuzzyEnough = 0.18 // cosine; below it, what is alike is chance
)

// spelled is the vector of a text's letters: its words' stems and their trigrams, Chinese characters and their pairs, hashed
// into vectorSize places (Weinberger et al., "Feature Hashing for Large Scale Multitask Learning", ICML 2009), of length 1.
func spelled(text string) []float32 {
	v := make([]float32, vectorSize)
	add := func(feature string, weight float32) {
		h := fnv.New32a()
		_, _ = h.Write([]byte(feature)) // a hash never fails
		sum := h.Sum32()
		if sum&(1<<31) != 0 {
			weight = -weight
		}
		v[sum%vectorSize] += weight
	}
	for term := range words.Extract(text).Distinct() {
		add(term, 2)
		if padded := []rune("^" + term + "$"); term[0] < 0x80 && len(padded) > gram {
			for i := range len(padded) - gram + 1 {
				add(string(padded[i:i+gram]), 1)
			}
			continue
		}
		for _, r := range term {
			add(string(r), 1)
		}
	}
	norm := 0.0
	for _, x := range v {
		norm += float64(x) * float64(x)
	}
	if norm == 0 {
		return v
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(norm))
	}
	return v
}

// nearest ranks texts by the cosine of their vectors with a query's; those that are far are left out.
func nearest(query []float32, vectors [][]float32) []hit {
	var out []hit
	for i, v := range vectors {
		if score := cosine(query, v); score >= fuzzyEnough {
			out = append(out, hit{i, score})
		}
	}
	slices.SortStableFunc(out, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	return out
}

func cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	dot, aa, bb := 0.0, 0.0, 0.0
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / math.Sqrt(aa*bb)
}

// subject is what a preference is about, for its vector.
func (f Fact) subject() string {
	_, thing, _ := strings.Cut(f.Key, "/")
	return thing + " " + f.Text
}
