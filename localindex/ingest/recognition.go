package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"docent/localindex/gallery"
)

// Limits of a neural network's file and of the pictures it is given; recognition has the same.
const (
	maxModelBytes   = 256 << 20
	minNeuralInput  = 16
	maxNeuralInput  = 1024
	maxNeuralNumber = 255
)

// checkRecognition checks what can be checked without the files that are named.
func (y *yamlFile) checkRecognition(r gallery.Recognition) {
	if !slices.Contains([]string{"", "auto", "exact", "hnsw"}, r.Index) {
		y.errorf([]any{"recognition", "index"}, "recognition.index: %q must be auto, exact or hnsw", r.Index)
	}
	n := r.Neural
	if n == (gallery.Neural{}) {
		return
	}
	at := func(key string) []any { return []any{"recognition", "neural", key} }
	switch {
	case n.Model == "":
		y.errorf(at("model"), "recognition.neural.model: name the ONNX file, such as models/net.onnx")
	case !fs.ValidPath(n.Model) || n.Model == "." || strings.Contains(n.Model, "\\"):
		y.errorf(at("model"), "recognition.neural.model: %q must be a path inside the gallery's folder, such as models/net.onnx", n.Model)
	case !strings.EqualFold(path.Ext(n.Model), ".onnx"):
		y.errorf(at("model"), "recognition.neural.model: %q is no ONNX file (.onnx)", n.Model)
	}
	for _, side := range n.Input {
		if side < minNeuralInput || side > maxNeuralInput {
			y.errorf(at("input"), "recognition.neural.input: width and height in pixels that the model takes, each %d to %d, such as [224, 224]", minNeuralInput, maxNeuralInput)
			break
		}
	}
	for i := range 3 {
		if !(n.Std[i] > 1e-4 && n.Std[i] <= maxNeuralNumber) {
			y.errorf(at("std"), "recognition.neural.std: the deviations of red, green and blue, from 0 to 1 and above 0, such as [0.229, 0.224, 0.225]")
			break
		}
	}
	for i := range 3 {
		if !(n.Mean[i] >= -maxNeuralNumber && n.Mean[i] <= maxNeuralNumber) {
			y.errorf(at("mean"), "recognition.neural.mean: the means of red, green and blue, from 0 to 1, such as [0.485, 0.456, 0.406]")
			break
		}
	}
}

// checkModel compares the file of the neural network with what gallery.yaml says of it.
func (y *yamlFile) checkModel(root *os.Root, n gallery.Neural) {
	if !fs.ValidPath(n.Model) || n.Model == "." || n.Model == "" {
		return // said already
	}
	sum, err := modelSum(root, n.Model)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		y.errorf([]any{"recognition", "neural", "model"}, "recognition.neural.model: there is no file %s", n.Model)
	case err != nil:
		y.errorf([]any{"recognition", "neural", "model"}, "recognition.neural.model: %s: %v", n.Model, err)
	case n.SHA256 == "":
		y.errorf([]any{"recognition", "neural", "sha256"}, "recognition.neural.sha256: missing; if %s is the file you mean, write sha256: %s", n.Model, sum)
	case !strings.EqualFold(n.SHA256, sum):
		y.errorf([]any{"recognition", "neural", "sha256"}, "recognition.neural.sha256: %s is another file than the one named here; its SHA-256 is %s", n.Model, sum)
	}
}

// modelSum is the SHA-256 of a model's file, in hex.
func modelSum(root *os.Root, name string) (string, error) {
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", errors.New("it is no plain file")
	case info.Size() > maxModelBytes:
		return "", fmt.Errorf("it has %d MiB, at most %d are allowed", info.Size()>>20, maxModelBytes>>20)
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, maxModelBytes)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
