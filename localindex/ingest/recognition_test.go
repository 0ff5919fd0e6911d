package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"docent/localindex/gallery"
)

func TestNeuralSettings(t *testing.T) {
	model := []byte("a model")
	bytes := sha256.Sum256(model)
	sum := hex.EncodeToString(bytes[:])
	// what gallery.yaml says from its fifth line on
	const head = "id: x\nname: X\nlanguages: [en]\ntime_zone: UTC\n"
	good := "recognition:\n  neural:\n    model: models/net.onnx\n    sha256: " + sum + "\n    input: [224, 160]\n    mean: [0.5, 0.4, 0.3]\n    std: [0.2, 0.2, 0.1]\n    layer: pool\n"
	with := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	for _, c := range []struct {
		name, yaml string
		want       []string // beginnings of problems
	}{
		{"good", good, nil},
		{"capital letters in the sum", with(sum, strings.ToUpper(sum)), nil},
		{"off", "recognition: {index: exact}\n", nil},
		{"another file", with(sum, strings.Repeat("0", 64)), []string{"gallery.yaml:8: error: recognition.neural.sha256: models/net.onnx is another file than the one named here; its SHA-256 is " + sum}},
		{"no sum", with("    sha256: "+sum+"\n", ""), []string{"gallery.yaml:6: error: recognition.neural.sha256: missing; if models/net.onnx is the file you mean, write sha256: " + sum}},
		{"no file", with("net.onnx", "none.onnx"), []string{"gallery.yaml:7: error: recognition.neural.model: there is no file models/none.onnx"}},
		{"a folder", with("net.onnx", "dir.onnx"), []string{"gallery.yaml:7: error: recognition.neural.model: models/dir.onnx: it is no plain file"}},
		{"outside", with("models/net.onnx", "../net.onnx"), []string{"gallery.yaml:7: error: recognition.neural.model: \"../net.onnx\" must be a path inside"}},
		{"by a link", with("net.onnx", "link.onnx"), []string{"gallery.yaml:7: error: recognition.neural.model: models/link.onnx: "}},
		{"no ONNX", with("net.onnx", "net.pt"), []string{"gallery.yaml:7: error: recognition.neural.model: \"models/net.pt\" is no ONNX file", "gallery.yaml:7: error: recognition.neural.model: there is no file"}},
		{"no input", with("    input: [224, 160]\n", ""), []string{"gallery.yaml:6: error: recognition.neural.input: "}},
		{"a tiny input", with("224", "2"), []string{"gallery.yaml:9: error: recognition.neural.input: "}},
		{"one number", with("[224, 160]", "224"), []string{"gallery.yaml:9: error: recognition.neural.input: expected 2 numbers", "gallery.yaml:9: error: recognition.neural.input: width and height"}},
		{"no deviation", with("[0.2, 0.2, 0.1]", "[0.2, 0, 0.1]"), []string{"gallery.yaml:11: error: recognition.neural.std: "}},
		{"a wild mean", with("0.4", "4000"), []string{"gallery.yaml:10: error: recognition.neural.mean: "}},
		{"a misspelt key", with("layer", "layr"), []string{`gallery.yaml:12: error: unknown key "recognition.neural.layr": did you mean "layer"?`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, "models", "dir.onnx"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "models", "net.onnx"), model, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("/etc/passwd", filepath.Join(dir, "models", "link.onnx")); err != nil {
				t.Fatal(err)
			}
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			rep := &report{}
			g := parseGallery(root, []byte(head+c.yaml), nil, rep)
			var got []string
			for _, p := range rep.sorted() {
				got = append(got, p.String())
			}
			slices.Sort(c.want)
			slices.Sort(got)
			if len(got) != len(c.want) || slices.ContainsFunc(got, func(s string) bool {
				return !slices.ContainsFunc(c.want, func(w string) bool { return strings.HasPrefix(s, w) })
			}) {
				t.Errorf("problems\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			if c.name != "good" {
				return
			}
			want := gallery.Recognition{Neural: gallery.Neural{
				Model: "models/net.onnx", SHA256: sum, Input: [2]int{224, 160}, Mean: [3]float64{0.5, 0.4, 0.3}, Std: [3]float64{0.2, 0.2, 0.1}, Layer: "pool",
			}}
			if d := cmp.Diff(want, g.Recognition); d != "" {
				t.Errorf("recognition (-want +got)\n%s", d)
			}
		})
	}
}
