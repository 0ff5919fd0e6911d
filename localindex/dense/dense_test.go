package dense

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
)

// twoSubjects are texts about ceramics and about bells, of a few words each.
func twoSubjects() []string {
	ceramics := []string{"kiln", "glaze", "porcelain", "vase", "cobalt", "blue", "lotus", "clay", "wheel", "bowl"}
	bells := []string{"clapper", "chime", "bronze", "bell", "struck", "tune", "hammer", "tone", "cast", "rack"}
	random := rand.New(rand.NewPCG(1, 1))
	var texts []string
	for i := range 60 {
		for _, subject := range [][]string{ceramics, bells} {
			text := subject[i%len(subject)]
			for range 4 {
				text += " " + subject[random.IntN(len(subject))]
			}
			texts = append(texts, text)
		}
	}
	return texts
}

func train(t testing.TB, texts []string) *Model {
	t.Helper()
	m, _, err := Train(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func cosine(a, b []float32) float64 {
	var dot float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
	}
	return dot
}

func TestWordsOfOneSubjectComeTogether(t *testing.T) {
	m := train(t, twoSubjects())
	kiln := m.Embed("the kiln")
	if near, far := cosine(kiln, m.Embed("cobalt glaze")), cosine(kiln, m.Embed("chime without a clapper")); near < far+0.3 {
		t.Errorf("kiln is %.2f near glaze and %.2f near clapper", near, far)
	}
	if length := cosine(kiln, kiln); math.Abs(length-1) > 1e-5 {
		t.Errorf("the vector has the length %v", length)
	}
	if misspelt := cosine(m.Embed("porcelian"), m.Embed("porcelain")); misspelt < 0.5 {
		t.Errorf("a misspelt word is %.2f near", misspelt)
	}
	for _, unknown := range []string{"", "？！", "qqq zzz"} {
		if v := m.Embed(unknown); slices.ContainsFunc(v, func(x float32) bool { return x != 0 }) {
			t.Errorf("the vector of %q is not zero", unknown)
		}
	}
}

func TestChinese(t *testing.T) {
	var texts []string
	ceramics, bells := []string{"青花", "瓷器", "窑炉", "釉色", "莲纹"}, []string{"青銅", "编钟", "敲击", "悬挂", "音高"}
	random := rand.New(rand.NewPCG(2, 2))
	for range 60 {
		for _, subject := range [][]string{ceramics, bells} {
			text := ""
			for range 4 {
				text += subject[random.IntN(len(subject))] + "，"
			}
			texts = append(texts, text)
		}
	}
	m := train(t, texts)
	if near, far := cosine(m.Embed("窑炉"), m.Embed("釉色")), cosine(m.Embed("窑炉"), m.Embed("悬挂")); near < far+0.3 {
		t.Errorf("窑炉 is %.2f near 釉色 and %.2f near 悬挂", near, far)
	}
	if same := cosine(m.Embed("編鐘"), m.Embed("编钟")); same < 0.999 {
		t.Errorf("traditional and simplified differ: %.3f", same)
	}
}

func TestLikeness(t *testing.T) {
	for _, tt := range []struct {
		a, b        string
		least, most float64
	}{
		{"blue vase", "blue vase", 0.999, 1.001},
		{"blue vases", "a blue vase", 0.4, 0.95},
		{"blue vase", "old clock", 0, 0.05},
		{"青花瓷器", "青花瓷瓶", 0.4, 0.9},
		{"", "vase", 0, 0},
	} {
		got, err := Likeness{}.Similar(t.Context(), tt.a, tt.b)
		if err != nil || got < tt.least || got > tt.most {
			t.Errorf("%q and %q are %.2f alike, %v; want %.2f to %.2f", tt.a, tt.b, got, err, tt.least, tt.most)
		}
	}
}

func TestTrainIsRepeatable(t *testing.T) {
	a, b := train(t, twoSubjects()), train(t, twoSubjects())
	if !bytes.Equal(a.Encode(), b.Encode()) {
		t.Error("the same texts gave two models")
	}
	_, learnt, err := Train(t.Context(), twoSubjects())
	if err != nil {
		t.Fatal(err)
	}
	all := a.EmbedAll(twoSubjects())
	if !slices.Equal(all, learnt) {
		t.Error("the vectors that training returns are others than the model's")
	}
	for i, text := range twoSubjects() {
		if got := all[i*a.Dimension() : (i+1)*a.Dimension()]; !slices.Equal(got, a.Embed(text)) {
			t.Fatalf("text %d has another vector among many than alone", i)
		}
	}
}

func TestTrainRefuses(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name  string
		ctx   context.Context
		texts []string
		want  error
	}{
		{"nothing", t.Context(), nil, ErrTooFew},
		{"one text", t.Context(), []string{"a vase"}, ErrTooFew},
		{"nothing in common", t.Context(), []string{"abc", "xyz", "123", "咖啡"}, ErrTooFew},
		{"only marks", t.Context(), []string{"…", "!!", "?", ""}, ErrTooFew},
		{"cancelled", cancelled, twoSubjects(), context.Canceled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, _, err := Train(tt.ctx, tt.texts); !errors.Is(err, tt.want) {
				t.Errorf("error is %v, want %v", err, tt.want)
			}
		})
	}
}

func TestFile(t *testing.T) {
	m := train(t, twoSubjects())
	path := filepath.Join(t.TempDir(), "model.bin")
	if err := m.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	read, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(read.Encode(), m.Encode()) || !slices.Equal(read.Embed("blue vase"), m.Embed("blue vase")) {
		t.Error("the model that was read is another one")
	}
	whole := m.Encode()
	for _, at := range []int{0, 7, 9, 13, 20, headerSize, len(whole) / 2, len(whole) - 1} {
		changed := bytes.Clone(whole)
		changed[at] ^= 1
		if _, err := Decode(changed); !errors.Is(err, ErrDamaged) {
			t.Errorf("with byte %d changed the error is %v", at, err)
		}
	}
	for _, n := range []int{0, headerSize, len(whole) - 1} {
		if _, err := Decode(whole[:n]); !errors.Is(err, ErrDamaged) {
			t.Errorf("cut to %d bytes the error is %v", n, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	m, _, err := Train(context.Background(), twoSubjects()[:8])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(m.Encode())
	huge := make([]byte, headerSize)
	copy(huge, fileMagic)
	binary.LittleEndian.PutUint32(huge[8:], math.MaxUint32)
	binary.LittleEndian.PutUint32(huge[12:], 128)
	f.Add(huge)
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := Decode(data); err == nil {
			m.Embed("porcelain")
		}
	})
}

func FuzzEmbed(f *testing.F) {
	m, _, err := Train(context.Background(), twoSubjects())
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{"kiln", "\xff\x00", "青花a", "ﬁ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if length := cosine(m.Embed(text), m.Embed(text)); length != 0 && math.Abs(length-1) > 1e-4 {
			t.Errorf("the vector of %q has the length %v", text, length)
		}
	})
}
