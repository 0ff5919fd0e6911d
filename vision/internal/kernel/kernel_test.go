package kernel

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// descriptors draws n rows of width bytes within the limit.
func descriptors(rng *rand.Rand, n, width int) []byte {
	out := make([]byte, n*width)
	for i := range out {
		out[i] = byte(rng.IntN(MaxByte + 1))
	}
	return out
}

func squared(a, b []byte) int {
	sum := 0
	for i := range a {
		d := int(a[i]) - int(b[i])
		sum += d * d
	}
	return sum
}

// plainMatch is Match as one would write it without a thought to speed.
func plainMatch(query, reference []byte, ratio float64) []int32 {
	nq, nr := len(query)/DescriptorBytes, len(reference)/DescriptorBytes
	at := func(b []byte, i int) []byte { return b[i*DescriptorBytes : (i+1)*DescriptorBytes] }
	best := make([]int32, nq)
	for i := range nq {
		first, second, from := 1<<30, 1<<30, -1
		for j := range nr {
			switch d := squared(at(query, i), at(reference, j)); {
			case d < first:
				first, second, from = d, first, j
			case d < second:
				second = d
			}
		}
		best[i] = -1
		if from < 0 || second < 1<<30 && float64(first) >= ratio*ratio*float64(second) {
			continue
		}
		nearest := true
		for k := range nq {
			if d := squared(at(query, k), at(reference, from)); d < first || d == first && k < i {
				nearest = false
			}
		}
		if nearest {
			best[i] = int32(from)
		}
	}
	return best
}

func TestMatch(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name   string
		nq, nr int
	}{
		{"many", 77, 133}, {"one of each", 1, 1}, {"one reference", 5, 1}, {"one query", 1, 40}, {"whole groups", 16, 32},
		{"no query", 0, 3}, {"no reference", 3, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			reference := descriptors(rng, c.nr, DescriptorBytes)
			query := descriptors(rng, c.nq, DescriptorBytes)
			for i := range c.nq / 2 { // half of them are disturbed copies
				if c.nr == 0 {
					break
				}
				from := rng.IntN(c.nr)
				copy(query[i*DescriptorBytes:], reference[from*DescriptorBytes:(from+1)*DescriptorBytes])
				for range 40 {
					query[i*DescriptorBytes+rng.IntN(DescriptorBytes)] = byte(rng.IntN(MaxByte + 1))
				}
			}
			want := plainMatch(query, reference, 0.8)
			for _, level := range []int{0, 1, 2} {
				if diff := cmp.Diff(want, match(query, reference, 0.8, level)); diff != "" {
					t.Errorf("matches at level %d (-want +got):\n%s", level, diff)
				}
			}
		})
	}
}

func TestMatchAtTheLimitOfTheBytes(t *testing.T) {
	full := make([]byte, DescriptorBytes)
	for i := range full {
		full[i] = MaxByte
	}
	reference := append(make([]byte, DescriptorBytes), full...)
	for _, level := range []int{0, 1, 2} {
		if diff := cmp.Diff([]int32{1}, match(full, reference, 0.8, level)); diff != "" {
			t.Errorf("matches at level %d (-want +got):\n%s", level, diff)
		}
	}
}

func TestNearestAndDistances(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, width := range []int{64, 128} {
		rows, centres := descriptors(rng, 37, width), descriptors(rng, 21, width)
		nearest, distances := Nearest(rows, centres, width), Distances(rows, centres, width)
		for i := range 37 {
			a := rows[i*width : (i+1)*width]
			length := squared(a, make([]byte, width))
			best := 0
			for j := range 21 {
				want := squared(a, centres[j*width:(j+1)*width])
				if got := int(distances[i*21+j]) + length; got != want {
					t.Fatalf("width %d: distance of %d to %d is %d, want %d", width, i, j, got, want)
				}
				if want < squared(a, centres[best*width:(best+1)*width]) {
					best = j
				}
			}
			if int(nearest[i]) != best {
				t.Errorf("width %d: nearest of %d is %d, want %d", width, i, nearest[i], best)
			}
		}
	}
}

func TestNear(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	signatures := make([]uint64, 1000)
	for i := range signatures {
		signatures[i] = rng.Uint64()
	}
	var f Finder
	for round := range 50 {
		var lists []List
		var want []NearHit
		const most = 26
		for range 6 {
			from := uint32(rng.IntN(900))
			l := List{From: from, To: from + uint32(rng.IntN(100)), Wanted: rng.Uint64()}
			lists = append(lists, l)
			for i := l.From; i < l.To; i++ {
				if b := bits.OnesCount64(signatures[i] ^ l.Wanted); b <= most {
					want = append(want, NearHit{At: i, Bits: uint32(b)})
				}
			}
		}
		for level := range 3 {
			if got := f.near(signatures, lists, most, level); !slices.Equal(got, want) {
				t.Fatalf("round %d, level %d: %v, want %v", round, level, got, want)
			}
		}
	}
	if got := f.Near(signatures, []List{{From: 5, To: 5}}, 64); len(got) != 0 {
		t.Errorf("an empty list has %v", got)
	}
	if got := f.Near(signatures[:9], []List{{From: 0, To: 9}}, 64); len(got) != 9 {
		t.Errorf("%d of 9 signatures differ in at most all bits", len(got))
	}
}

func TestHomographyFindsThePairsThatAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	want := [9]float64{0.9, 0.1, 30, -0.05, 1.1, 12, 1e-4, 2e-4, 1}
	const n, wrong = 60, 24
	src, dst := make([]float32, 2*n), make([]float32, 2*n)
	for i := range n {
		x, y := rng.Float64()*500, rng.Float64()*400
		w := want[6]*x + want[7]*y + want[8]
		src[2*i], src[2*i+1] = float32(x), float32(y)
		dst[2*i], dst[2*i+1] = float32((want[0]*x+want[1]*y+want[2])/w), float32((want[3]*x+want[4]*y+want[5])/w)
		if i < wrong {
			dst[2*i], dst[2*i+1] = rng.Float32()*500, rng.Float32()*400
		}
	}
	_, mask, inliers, err := Homography(src, dst, 4, 2000)
	if err != nil {
		t.Fatal(err)
	}
	if inliers < n-wrong {
		t.Errorf("%d pairs agree, want at least %d", inliers, n-wrong)
	}
	for i := wrong; i < n; i++ {
		if !mask[i] {
			t.Errorf("pair %d does not count, but it agrees", i)
		}
	}
}

func TestHomographyOfTooFewPairs(t *testing.T) {
	if _, _, n, err := Homography([]float32{0, 0, 1, 1, 2, 0}, []float32{0, 0, 1, 1, 2, 0}, 4, 100); n != 0 || err != nil {
		t.Errorf("three pairs give %d inliers, error %v; want none", n, err)
	}
}

// FuzzHomography lays pairs out so that no homography, or no single one, explains them.
func FuzzHomography(f *testing.F) {
	f.Add(uint64(1), uint8(4), uint8(0))
	f.Add(uint64(2), uint8(9), uint8(1))
	f.Add(uint64(3), uint8(30), uint8(2))
	f.Add(uint64(4), uint8(60), uint8(3))
	f.Fuzz(func(t *testing.T, seed uint64, count, kind uint8) {
		rng := rand.New(rand.NewPCG(seed, 0))
		n := int(count) % 80
		src, dst := make([]float32, 2*n), make([]float32, 2*n)
		for i := range n {
			x, y, u, v := 500*rng.Float32(), 400*rng.Float32(), 600*rng.Float32(), 500*rng.Float32()
			switch kind % 5 {
			case 0: // all on one spot
				x, y, u, v = 10, 10, 20, 20
			case 1: // all on one line
				y, v = x, 2*u
			case 2: // few places, many times over
				x, y, u, v = float32(i%3), float32(i%2), float32(i%2), float32(i%3)
			case 3: // many to one place
				u, v = 7, 7
			}
			src[2*i], src[2*i+1], dst[2*i], dst[2*i+1] = x, y, u, v
		}
		_, mask, inliers, err := Homography(src, dst, 4, 2000)
		if err != nil {
			t.Fatal(err)
		}
		marked := 0
		for _, in := range mask {
			if in {
				marked++
			}
		}
		if marked != inliers || inliers > n {
			t.Errorf("%d of %d pairs are marked, %d counted", marked, n, inliers)
		}
		again, _, _, _ := Homography(src, dst, 4, 2000)
		first, _, _, _ := Homography(src, dst, 4, 2000)
		if again != first {
			t.Error("the same pairs give two homographies")
		}
	})
}

func TestSIFT(t *testing.T) {
	const side = 128
	picture := make([]byte, side*side)
	for i := range picture {
		x, y := i%side, i/side
		picture[i] = 40
		if (x-40)*(x-40)+(y-50)*(y-50) < 100 || x > 80 && x < 100 && y > 70 && y < 95 {
			picture[i] = 220
		}
	}
	points, bytes, err := SIFT(picture, side, side, side, SIFTOptions{MaxFeatures: 50, Contrast: 0.02, Edge: 10, Doubled: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(points) < 3 || len(points) > 50 || len(bytes) != len(points)*DescriptorBytes {
		t.Fatalf("%d points with %d bytes, want 3 to 50 with %d bytes each", len(points), len(bytes), DescriptorBytes)
	}
	for i := range points {
		sum := squared(bytes[i*DescriptorBytes:(i+1)*DescriptorBytes], make([]byte, DescriptorBytes))
		if sum < 230*230 || sum > 260*260 { // 254², less what is cut off above 127
			t.Errorf("descriptor %d has length² %d, want about %d", i, sum, 254*254)
		}
	}
	if _, _, err := SIFT(picture[:10], side, side, side, SIFTOptions{}); err == nil {
		t.Error("a picture without its pixels is described")
	}
}

func BenchmarkMatch(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	query, reference := descriptors(rng, 1500, DescriptorBytes), descriptors(rng, 1500, DescriptorBytes)
	for b.Loop() {
		Match(query, reference, 0.8)
	}
}
