package voting

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"docent/vision/feature"
)

// posting is one feature of a picture.
type posting struct {
	signature uint64
	picture   uint32
	feature   uint16
}

// Index is an inverted file: for every word the features of all pictures that have it. It is safe for concurrent use.
type Index struct {
	vocabulary *Vocabulary
	starts     []uint32 // of each word in postings; one more than there are words
	postings   []posting
	sets       []feature.Set
}

// Build files the features of sets, whose numbers are the pictures' keys. The sets are kept.
func Build(v *Vocabulary, sets []feature.Set) *Index {
	x := &Index{vocabulary: v, starts: make([]uint32, v.Words()+1), sets: sets}
	words := make([][]uint32, len(sets))
	for i, s := range sets {
		words[i] = make([]uint32, s.Len())
		for j, c := range v.cells(s.Descriptors, 1) {
			w := uint32(c[0].first*v.size() + c[0].second)
			words[i][j] = w
			x.starts[w+1]++
		}
	}
	for w := 1; w < len(x.starts); w++ {
		x.starts[w] += x.starts[w-1]
	}
	x.postings = make([]posting, x.starts[len(x.starts)-1])
	next := slices.Clone(x.starts)
	for i, s := range sets {
		for j, w := range words[i] {
			p := projection(s.Descriptors[j*feature.DescriptorBytes : (j+1)*feature.DescriptorBytes])
			x.postings[next[w]] = posting{
				signature: v.signature(&p, int(w)/v.size(), int(w)%v.size()),
				picture:   uint32(i),
				feature:   uint16(j),
			}
			next[w]++
		}
	}
	return x
}

// How features vote. Measured on the photos named in docs/recognition.md, the first place changes by at most 2 % of
// the photos for 3 to 12 words and 18 to 26 bits.
const (
	wordsAsked = 6    // words near a feature that are looked into
	maxHamming = 22   // bits in which signatures may differ, of 64
	sigma      = 11.0 // bits; a vote weighs exp(−bits²/2σ²)
	maxRanked  = 60   // best pictures by pose whose votes are compared with each other
)

// weights is what a vote weighs by the bits its signatures differ in.
var weights = func() (w [maxHamming + 1]float32) {
	for h := range w {
		w[h] = float32(math.Exp(-float64(h*h) / (2 * sigma * sigma)))
	}
	return w
}()

// vote is one feature of the photo that is like one of a picture.
type vote struct {
	picture uint32
	feature uint16
	query   uint16
	weight  float32
}

// Hit is a picture that was voted for.
type Hit struct {
	Picture int
	Score   float32 // weight of the votes that agree
	Votes   float32 // weight of all votes
}

// Search returns up to n pictures that share features with a photo, best first.
func (x *Index) Search(photo feature.Set, n int) []Hit {
	votes := x.votes(photo)
	counts := make([]float32, len(x.sets)*cells)
	for i := range votes {
		v := &votes[i]
		q, r := photo.Points[v.query], x.sets[v.picture].Points[v.feature]
		a, s := pose(q.Angle-r.Angle, q.Size/max(r.Size, 0.1))
		counts[int(v.picture)*cells+a*scaleSteps+s] += v.weight
	}
	var ranked []Hit
	for i := range x.sets {
		if p := peak(counts[i*cells : (i+1)*cells]); p > 0 {
			ranked = append(ranked, Hit{Picture: i, Votes: p})
		}
	}
	slices.SortFunc(ranked, byVotes)
	ranked = ranked[:min(len(ranked), maxRanked)]

	place := make(map[uint32]int, len(ranked))
	for i, h := range ranked {
		place[uint32(h.Picture)] = i
	}
	of := make([][]vote, len(ranked))
	for _, v := range votes {
		if i, ok := place[v.picture]; ok {
			of[i] = append(of[i], v)
		}
	}
	for i := range ranked {
		ranked[i].Score = agreeing(photo, x.sets[ranked[i].Picture], of[i])
	}
	slices.SortFunc(ranked, func(a, b Hit) int {
		if c := cmp.Compare(b.Score, a.Score); c != 0 {
			return c
		}
		return byVotes(a, b)
	})
	return ranked[:min(n, len(ranked))]
}

func byVotes(a, b Hit) int {
	if c := cmp.Compare(b.Votes, a.Votes); c != 0 {
		return c
	}
	return cmp.Compare(a.Picture, b.Picture)
}

// votes collects the votes of all features of a photo. A feature votes once for a picture: repeated patterns would
// count many times otherwise.
func (x *Index) votes(photo feature.Set) []vote {
	v := x.vocabulary
	var votes, own []vote                 // own are those of one feature
	at := make([]int32, len(x.sets))      // place of a picture in own
	current := make([]int32, len(x.sets)) // feature that at is of, counted from 1
	for i, cells := range v.cells(photo.Descriptors, wordsAsked) {
		p := projection(photo.Descriptors[i*feature.DescriptorBytes : (i+1)*feature.DescriptorBytes])
		own = own[:0]
		for _, c := range cells {
			word := c.first*v.size() + c.second
			list := x.postings[x.starts[word]:x.starts[word+1]]
			if len(list) == 0 {
				continue
			}
			sig := v.signature(&p, c.first, c.second)
			for j := range list {
				q := &list[j]
				h := bits.OnesCount64(sig ^ q.signature)
				if h > maxHamming {
					continue
				}
				one := vote{picture: q.picture, feature: q.feature, query: uint16(i), weight: weights[h]}
				switch {
				case current[q.picture] != int32(i+1):
					current[q.picture], at[q.picture] = int32(i+1), int32(len(own))
					own = append(own, one)
				case one.weight > own[at[q.picture]].weight:
					own[at[q.picture]] = one
				}
			}
		}
		// A feature that many pictures have says little about each (inverse document frequency).
		idf := float32(math.Log(1 + float64(len(x.sets))/float64(max(1, len(own)))))
		for _, o := range own {
			o.weight *= idf
			votes = append(votes, o)
		}
	}
	return votes
}
