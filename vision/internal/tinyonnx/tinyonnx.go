// Package tinyonnx writes small ONNX files for tests, so that none has to be kept.
package tinyonnx

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Tensor is a named array of 32 bit numbers.
type Tensor struct {
	Name   string
	Dims   []int64
	Values []float32
}

// Node is one step of a model.
type Node struct {
	Name, Op        string
	Inputs, Outputs []string
	Ints            map[string][]int64
}

// Model is a model of one input, a picture of three channels, and one output.
type Model struct {
	Width, Height int64
	Nodes         []Node
	Weights       []Tensor
	Output        string
}

// Colours is a model that describes a picture by the mean colours of its fields, 4 × 4 of them at 32 × 32 pixels. Its
// layer "fields" has the three channels and their places, its output "described" is one row of 48 numbers.
func Colours() Model {
	weights := make([]float32, 3*3*8*8)
	for c := range 3 {
		for i := range 64 {
			weights[(c*3+c)*64+i] = 1.0 / 64
		}
	}
	return Model{
		Width: 32, Height: 32,
		Nodes: []Node{
			{Name: "means", Op: "Conv", Inputs: []string{"picture", "weights"}, Outputs: []string{"fields"},
				Ints: map[string][]int64{"kernel_shape": {8, 8}, "strides": {8, 8}}},
			{Name: "row", Op: "Flatten", Inputs: []string{"fields"}, Outputs: []string{"described"}},
		},
		Weights: []Tensor{{Name: "weights", Dims: []int64{3, 3, 8, 8}, Values: weights}},
		Output:  "described",
	}
}

// Encode writes a model as a file (onnx.proto, IR version 7, operators of version 11).
func (m Model) Encode() []byte {
	var graph []byte
	for _, n := range m.Nodes {
		graph = message(graph, 1, n.encode())
	}
	graph = text(graph, 2, "tiny")
	for _, w := range m.Weights {
		graph = message(graph, 5, w.encode())
	}
	graph = message(graph, 11, value("picture", 1, 3, m.Height, m.Width))
	graph = message(graph, 12, value(m.Output))
	model := number(nil, 1, 7)
	model = message(model, 7, graph)
	return message(model, 8, number(text(nil, 1, ""), 2, 11))
}

func (n Node) encode() (b []byte) {
	for _, in := range n.Inputs {
		b = text(b, 1, in)
	}
	for _, out := range n.Outputs {
		b = text(b, 2, out)
	}
	b = text(text(b, 3, n.Name), 4, n.Op)
	for _, name := range []string{"kernel_shape", "strides", "axes", "perm"} {
		if values, ok := n.Ints[name]; ok {
			a := text(nil, 1, name)
			for _, v := range values {
				a = number(a, 8, uint64(v))
			}
			b = message(b, 5, number(a, 20, 7)) // INTS
		}
	}
	return b
}

func (t Tensor) encode() (b []byte) {
	for _, d := range t.Dims {
		b = number(b, 1, uint64(d))
	}
	b = text(number(b, 2, 1), 8, t.Name) // FLOAT
	var raw []byte
	for _, v := range t.Values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return message(b, 9, raw)
}

// value is a ValueInfoProto: a tensor of 32 bit numbers.
func value(name string, dims ...int64) []byte {
	var shape []byte
	for _, d := range dims {
		shape = message(shape, 1, number(nil, 1, uint64(d)))
	}
	tensor := message(number(nil, 1, 1), 2, shape)
	return message(text(nil, 1, name), 2, message(nil, 1, tensor))
}

func message(b []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), m)
}

func text(b []byte, field protowire.Number, s string) []byte { return message(b, field, []byte(s)) }

func number(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}
