package voting

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"docent/vision/feature"
)

const bytesEach = feature.DescriptorBytes

// descriptor draws one like a RootSIFT descriptor: length about 254, most bytes small.
func descriptor(rng *rand.Rand) []byte {
	v := make([]float64, bytesEach)
	var sum float64
	for i := range v {
		v[i] = rng.ExpFloat64()
		sum += v[i] * v[i]
	}
	out := make([]byte, bytesEach)
	for i := range v {
		out[i] = byte(min(127, v[i]*254/math.Sqrt(sum)))
	}
	return out
}

// picture draws n features on 400×300 pixels.
func picture(rng *rand.Rand, n int) feature.Set {
	s := feature.Set{Width: 400, Height: 300}
	for range n {
		s.Points = append(s.Points, feature.Point{
			X: 400 * rng.Float32(), Y: 300 * rng.Float32(), Size: 3 + 20*rng.Float32(), Angle: 360 * rng.Float32(),
		})
		s.Descriptors = append(s.Descriptors, descriptor(rng)...)
	}
	return s
}

// seen is a photo of a part of a picture: turned, half as large, its descriptors disturbed.
func seen(rng *rand.Rand, p feature.Set, share float64) feature.Set {
	s := feature.Set{Width: 640, Height: 480}
	const angle, scale = 30.0, 0.5
	sin, cos := math.Sincos(angle * math.Pi / 180)
	for i, q := range p.Points {
		if rng.Float64() > share {
			continue
		}
		x, y := float64(q.X)*scale, float64(q.Y)*scale
		turned := q.Angle + angle
		if turned >= 360 {
			turned -= 360
		}
		s.Points = append(s.Points, feature.Point{
			X: float32(200 + cos*x - sin*y), Y: float32(100 + sin*x + cos*y), Size: q.Size * scale, Angle: turned,
		})
		for _, b := range p.Descriptors[i*bytesEach : (i+1)*bytesEach] {
			s.Descriptors = append(s.Descriptors, byte(min(max(int(b)+rng.IntN(9)-4, 0), 127)))
		}
	}
	return s
}

// add joins the features of two photos of one size.
func add(a, b feature.Set) feature.Set {
	a.Points = slices.Concat(a.Points, b.Points)
	a.Descriptors = slices.Concat(a.Descriptors, b.Descriptors)
	return a
}

func index(t testing.TB, rng *rand.Rand, pictures, features int) (*Index, []feature.Set) {
	var sets []feature.Set
	var all []byte
	for range pictures {
		sets = append(sets, picture(rng, features))
		all = append(all, sets[len(sets)-1].Descriptors...)
	}
	v, err := Train(all, len(all)/bytesEach, rand.New(rand.NewPCG(9, 9)))
	if err != nil {
		t.Fatal(err)
	}
	return Build(v, sets), sets
}

func TestSearchFindsThePicture(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	x, sets := index(t, rng, 30, 120)
	clutter := picture(rng, 300)
	for _, want := range []int{0, 7, 29} {
		photo := add(seen(rng, sets[want], 0.25), clutter)
		hits := x.Search(photo, 5)
		if len(hits) == 0 || hits[0].Picture != want {
			t.Fatalf("photo of picture %d among clutter finds %v", want, hits)
		}
		if len(hits) > 1 && hits[0].Score < 3*hits[1].Score {
			t.Errorf("picture %d has score %g, the next %g: votes that agree should count far more", want, hits[0].Score, hits[1].Score)
		}
	}
}

func TestSearchFindsBothOfTwoPictures(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	x, sets := index(t, rng, 20, 120)
	hits := x.Search(add(seen(rng, sets[3], 0.3), seen(rng, sets[11], 0.3)), 2)
	got := []int{hits[0].Picture, hits[1].Picture}
	slices.Sort(got)
	if diff := cmp.Diff([]int{3, 11}, got); diff != "" {
		t.Errorf("pictures (-want +got):\n%s", diff)
	}
}

func TestVotesThatDisagreeCountLittle(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	x, sets := index(t, rng, 20, 120)
	photo := seen(rng, sets[5], 0.5)
	whole := x.Search(photo, 1)[0]
	for i := range photo.Points { // the same features, thrown about
		photo.Points[i].X, photo.Points[i].Y, photo.Points[i].Angle = 640*rng.Float32(), 480*rng.Float32(), 360*rng.Float32()
	}
	thrown := x.Search(photo, 1)[0]
	if thrown.Picture != 5 || thrown.Score > whole.Score/3 {
		t.Errorf("features in disorder score %g, in order %g", thrown.Score, whole.Score)
	}
}

func TestSearchOfNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	x, _ := index(t, rng, 5, 40)
	if hits := x.Search(feature.Set{Width: 10, Height: 10}, 5); len(hits) != 0 {
		t.Errorf("no features find %v", hits)
	}
	if _, err := Train(nil, 0, rng); err == nil {
		t.Error("a vocabulary of nothing is made")
	}
}

func TestCountingInPartsIsCounting(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 14))
	x, sets := index(t, rng, 700, 40) // more than are looked at closely
	photo := add(seen(rng, sets[17], 0.5), picture(rng, 60))
	b := x.Ballot(photo)
	for _, asked := range []int{0, 1, 30, 20, 79, photo.Len() + 5} {
		b.Count(asked)
		b.Best(3)
	}
	want := x.Search(photo, 10)
	if diff := cmp.Diff(want, b.Best(10), cmpopts.EquateApprox(1e-4, 0)); diff != "" {
		t.Errorf("counted in parts, not at once (-once +parts):\n%s", diff)
	}
	if len(want) == 0 || want[0].Picture != 17 {
		t.Errorf("found %v, not picture 17", want)
	}
	b = x.Ballot(photo)
	b.Count(60)
	if got := b.Best(1); len(got) != 1 || got[0].Picture != 17 {
		t.Errorf("found %v by some features, not picture 17", got)
	}
}

func TestRankedPassesOverNone(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 71))
	x, sets := index(t, rng, 1500, 30)
	for i := range 20 {
		b := x.Ballot(add(seen(rng, sets[i], 0.3), picture(rng, 100)))
		b.Count(math.MaxInt)
		var want []Hit
		for k := range x.sets {
			if p := peak(b.counts[k*cells : (k+1)*cells]); p > 0 {
				want = append(want, Hit{Picture: k, Votes: p})
			}
		}
		slices.SortFunc(want, byVotes)
		want = want[:min(len(want), maxRanked)]
		if diff := cmp.Diff(want, b.ranked()); diff != "" {
			t.Fatalf("ranked by one number first (-all +ranked):\n%s", diff)
		}
	}
}

func TestSearchGivesTheSameEveryTime(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	x, sets := index(t, rng, 20, 80)
	photo := add(seen(rng, sets[2], 0.5), picture(rng, 200))
	want := x.Search(photo, 20)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if diff := cmp.Diff(want, x.Search(photo, 20)); diff != "" {
				t.Errorf("hits differ:\n%s", diff)
			}
		})
	}
	wg.Wait()
}

func TestSmallestIndex(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	x, sets := index(t, rng, 1, 1)
	if hits := x.Search(sets[0], 3); len(hits) != 1 || hits[0].Picture != 0 {
		t.Errorf("one feature finds %v", hits)
	}
}

func TestProjectionKeepsDistances(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	a, b := descriptor(rng), descriptor(rng)
	pa, pb := projection(a), projection(b)
	var before, after float64
	for i := range a {
		before += math.Pow(float64(a[i])-float64(b[i]), 2)
	}
	for i := range pa {
		after += math.Pow(float64(pa[i]-pb[i]), 2)
	}
	after /= bytesEach // of the transform, times ½ for half of its coordinates
	if ratio := after / before; ratio < 0.3 || ratio > 0.7 {
		t.Errorf("half the coordinates hold %.2f of the distance, want about ½", ratio)
	}
}

func TestAppendLeast(t *testing.T) {
	got := appendLeast(nil, []int32{5, 3, 9, 3, 1, 7}, 3)
	want := []cell{{first: 4, distance: 1}, {first: 1, distance: 3}, {first: 3, distance: 3}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(cell{})); diff != "" {
		t.Errorf("least (-want +got):\n%s", diff)
	}
}

func TestTurn(t *testing.T) {
	for in, want := range map[float32]float32{0: 0, 90: 90, -90: 90, 270: 90, -350: 10, 180: 180, 700: 20} {
		if got := turn(in); got != want {
			t.Errorf("turn of %g is %g, want %g", in, got, want)
		}
	}
}

func TestIndexComesBackFromItsFile(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	x, sets := index(t, rng, 10, 60)
	data := x.Encode()
	back, err := Decode(data, sets)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(data, back.Encode()) {
		t.Error("the file changes when it is read and written again")
	}
	photo := seen(rng, sets[4], 0.5)
	if diff := cmp.Diff(x.Search(photo, 5), back.Search(photo, 5)); diff != "" {
		t.Errorf("hits (-written +read):\n%s", diff)
	}
	if _, err := Decode(data, sets[:9]); !errors.Is(err, ErrFormat) {
		t.Errorf("with a picture missing: error %v, want ErrFormat", err)
	}
}

func FuzzDecode(f *testing.F) {
	rng := rand.New(rand.NewPCG(10, 10))
	x, sets := index(f, rng, 2, 3)
	data := x.Encode()
	f.Add(data)
	f.Add(data[:30])
	f.Add([]byte{255, 0, 0, 0})
	photo := seen(rng, sets[0], 1)
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := Decode(data, sets)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Errorf("error %v is not ErrFormat", err)
			}
			return
		}
		x.Search(photo, 3)
	})
}

func BenchmarkSearch(b *testing.B) {
	rng := rand.New(rand.NewPCG(11, 11))
	x, sets := index(b, rng, 300, 300)
	photo := add(seen(rng, sets[0], 0.5), picture(rng, 700))
	for b.Loop() {
		x.Search(photo, 20)
	}
}
