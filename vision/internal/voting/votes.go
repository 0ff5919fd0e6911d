package voting

import (
	"cmp"
	"math"
	"slices"

	"docent/vision/feature"
	"docent/vision/internal/kernel"
)

// posting is one feature of a picture. It holds the feature's direction and size too, so that a vote can be counted
// without a look at the picture, whose features lie elsewhere in memory.
type posting struct {
	picture uint32
	feature uint16
	view    view
}

// Index is an inverted file: for every word the features of all pictures that have it. It is safe for concurrent use.
type Index struct {
	vocabulary *Vocabulary
	starts     []uint32 // of each word in postings; one more than there are words
	postings   []posting
	signatures []uint64 // of the postings; apart, as most are compared and few looked at
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
	x.signatures = make([]uint64, len(x.postings))
	next := slices.Clone(x.starts)
	for i, s := range sets {
		for j, w := range words[i] {
			p := projection(s.Descriptors[j*feature.DescriptorBytes : (j+1)*feature.DescriptorBytes])
			x.signatures[next[w]] = v.signature(&p, int(w)/v.size(), int(w)%v.size())
			x.postings[next[w]] = posting{picture: uint32(i), feature: uint16(j), view: viewOf(s.Points[j])}
			next[w]++
		}
	}
	return x
}

// Vocabulary is what the features are told apart by.
func (x *Index) Vocabulary() *Vocabulary { return x.vocabulary }

// How features vote. Measured on the photos named in docs/recognition.md among 2,055 pictures: with 16 bits 4 of 139
// photos less have the right picture first, with 22 none more, for twice the time; with 3 words 2 less, with 10 none
// more. With only the 60 best by pose, 4 to 10 are lost.
const (
	wordsAsked = 6    // words near a feature that are looked into
	maxHamming = 18   // bits in which signatures may differ, of 64
	sigma      = 11.0 // bits; a vote weighs exp(−bits²/2σ²)
	maxRanked  = 500  // best pictures by pose whose votes are compared with each other
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
	pose    uint8 // step of angle and scale, below cells
}

// Hit is a picture that was voted for.
type Hit struct {
	Picture int
	Score   float32 // weight of the votes that agree
	Votes   float32 // weight of all votes of the best pose
}

// Search returns up to n pictures that share features with a photo, best first.
func (x *Index) Search(photo feature.Set, n int) []Hit {
	b := x.Ballot(photo)
	b.Count(photo.Len())
	return b.Best(n)
}

// Ballot is the votes of one photo, which may be counted in parts: what is plainly on a photo is plain from some of its
// features. It is for one goroutine.
type Ballot struct {
	index  *Index
	photo  feature.Set
	asked  int // features of the photo that have voted
	votes  []vote
	counts []float32 // weight of the votes, by picture and pose
	sums   []float32 // the same, by picture

	// For a feature's own votes.
	finder  kernel.Finder
	lists   []kernel.List
	own     []vote
	at      []int32 // place of a picture in own
	current []int32 // feature that at is of, counted from 1
}

// Ballot is an empty one for a photo.
func (x *Index) Ballot(photo feature.Set) *Ballot {
	n := len(x.sets)
	return &Ballot{
		index: x, photo: photo, counts: make([]float32, n*cells), sums: make([]float32, n),
		at: make([]int32, n), current: make([]int32, n),
	}
}

// Best returns up to n of the pictures that were voted for, best first.
func (b *Ballot) Best(n int) []Hit {
	x, ranked := b.index, b.ranked()
	// Only votes that agree in pose can agree in place. So a picture whose best pose, widened by a step, has less than
	// the n-th best so far need not be looked at.
	var best []Hit
	of := x.sorted(b.votes, ranked)
	for i, h := range ranked {
		var enough float32
		if len(best) == n {
			enough = best[n-1].Score
		}
		if n == 0 || widest(b.counts[h.Picture*cells:(h.Picture+1)*cells])*roundingErrors < enough {
			continue
		}
		h.Score = agreeing(b.photo, x.sets[h.Picture], of[i])
		at, _ := slices.BinarySearchFunc(best, h, byScore)
		best = slices.Insert(best, at, h)
		best = best[:min(n, len(best))]
	}
	return best
}

// ranked is the pictures whose best pose has the most votes, best first. No pose has more than all of them together, so
// most pictures of a large collection are passed over by one number.
func (b *Ballot) ranked() []Hit {
	var order []int32
	for i, sum := range b.sums {
		if sum > 0 {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(i, j int32) int { return cmp.Or(cmp.Compare(b.sums[j], b.sums[i]), cmp.Compare(i, j)) })
	var ranked []Hit
	var least float32 // of the best maxRanked so far, as often as it was looked at
	for _, i := range order {
		if b.sums[i]*roundingErrors < least {
			break
		}
		ranked = append(ranked, Hit{Picture: int(i), Votes: peak(b.counts[int(i)*cells : int(i+1)*cells])})
		if len(ranked) == 2*maxRanked {
			slices.SortFunc(ranked, byVotes)
			ranked = ranked[:maxRanked]
			least = ranked[maxRanked-1].Votes
		}
	}
	slices.SortFunc(ranked, byVotes)
	return ranked[:min(len(ranked), maxRanked)]
}

// sorted is the votes for each of the ranked pictures.
func (x *Index) sorted(votes []vote, ranked []Hit) [][]vote {
	place := make([]int32, len(x.sets)) // counted from 1
	for i, h := range ranked {
		place[h.Picture] = int32(i + 1)
	}
	ends := make([]int, len(ranked)+1)
	for i := range votes {
		ends[place[votes[i].picture]]++
	}
	ends[0] = 0
	for i := 1; i < len(ends); i++ {
		ends[i] += ends[i-1]
	}
	all := make([]vote, ends[len(ranked)])
	of := make([][]vote, len(ranked))
	for i := range of {
		of[i] = all[ends[i]:ends[i]:ends[i+1]]
	}
	for _, v := range votes {
		if i := place[v.picture]; i > 0 {
			of[i-1] = append(of[i-1], v)
		}
	}
	return of
}

func byScore(a, b Hit) int {
	if c := cmp.Compare(b.Score, a.Score); c != 0 {
		return c
	}
	return byVotes(a, b)
}

func byVotes(a, b Hit) int {
	if c := cmp.Compare(b.Votes, a.Votes); c != 0 {
		return c
	}
	return cmp.Compare(a.Picture, b.Picture)
}

// Count lets features of the photo vote until upTo of them have, strongest first. A feature votes once for a picture:
// repeated patterns would count many times otherwise.
func (b *Ballot) Count(upTo int) {
	x, from := b.index, b.asked
	v := x.vocabulary
	b.asked = max(b.asked, min(upTo, b.photo.Len()))
	first := len(b.votes)
	for i, near := range v.cells(b.photo.Descriptors[from*feature.DescriptorBytes:b.asked*feature.DescriptorBytes], wordsAsked) {
		i += from
		p := projection(b.photo.Descriptors[i*feature.DescriptorBytes : (i+1)*feature.DescriptorBytes])
		seen := viewOf(b.photo.Points[i])
		b.own, b.lists = b.own[:0], b.lists[:0]
		for _, c := range near {
			word := c.first*v.size() + c.second
			if from, to := x.starts[word], x.starts[word+1]; from < to {
				b.lists = append(b.lists, kernel.List{From: from, To: to, Wanted: v.signature(&p, c.first, c.second)})
			}
		}
		for _, hit := range b.finder.Near(x.signatures, b.lists, maxHamming) {
			q := &x.postings[hit.At]
			one := vote{picture: q.picture, feature: q.feature, query: uint16(i), weight: weights[hit.Bits], pose: seen.from(q.view)}
			switch {
			case b.current[q.picture] != int32(i+1):
				b.current[q.picture], b.at[q.picture] = int32(i+1), int32(len(b.own))
				b.own = append(b.own, one)
			case one.weight > b.own[b.at[q.picture]].weight:
				b.own[b.at[q.picture]] = one
			}
		}
		// A feature that many pictures have says little about each (inverse document frequency).
		idf := float32(math.Log(1 + float64(len(x.sets))/float64(max(1, len(b.own)))))
		for _, o := range b.own {
			o.weight *= idf
			b.votes = append(b.votes, o)
		}
	}
	for i := range b.votes[first:] {
		o := &b.votes[first+i]
		b.counts[int(o.picture)*cells+int(o.pose)] += o.weight
		b.sums[o.picture] += o.weight
	}
}
