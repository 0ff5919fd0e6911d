package vision

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"docent/vision/neural"
)

// FuzzNeuralVectors changes what stands in a sealed file of neural vectors.
func FuzzNeuralVectors(f *testing.F) {
	good, err := encodeNeural(neuralHead{
		Index: "a", Model: "b", Settings: neural.Settings{Width: 32, Height: 32, Std: [3]float32{1, 1, 1}}, Floor: 0.7, Pictures: 2, Numbers: 3,
	}, [][]float32{{1, 0, 0}, {0.6, 0.8, 0}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add([]byte{255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		h, vectors, err := decodeNeural(data)
		if err != nil {
			return
		}
		again, err := encodeNeural(h, vectors)
		if err != nil {
			t.Fatal(err)
		}
		h2, vectors2, err := decodeNeural(again)
		if err != nil || !cmp.Equal(h, h2) || !cmp.Equal(vectors, vectors2) {
			t.Errorf("%+v becomes %+v: %v", h, h2, err)
		}
	})
}
