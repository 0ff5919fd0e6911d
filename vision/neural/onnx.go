package neural

import (
	"fmt"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Limits of what is read of a model.
const (
	maxNodes   = 20_000
	maxTensors = 20_000
	maxDims    = 8
	maxOfStep  = 256
	maxNames   = 1024 // bytes of a name
)

// Outline is what a model says of itself.
type Outline struct {
	Opset  int64
	Nodes  []Node
	Inputs []string // that are no weights
}

// Node is one step of a model.
type Node struct {
	Name    string
	Op      string
	Inputs  []string // "" where one is left out
	Outputs []string
}

// Inspect reads the outline of an ONNX file and checks that all parts of it are whole and say the truth about their size,
// because OpenCV trusts them. The error wraps [ErrModel].
func Inspect(model []byte) (Outline, error) {
	if len(model) > MaxModelBytes {
		return Outline{}, fmt.Errorf("%w: it has %d bytes, at most %d", ErrModel, len(model), MaxModelBytes)
	}
	x := inspector{weights: map[string]bool{}}
	if err := x.model(model); err != nil {
		return Outline{}, fmt.Errorf("%w: it is no whole ONNX file: %w", ErrModel, err)
	}
	switch {
	case !x.graph:
		return Outline{}, fmt.Errorf("%w: it is no ONNX file, or an empty one", ErrModel)
	case len(x.out.Nodes) == 0:
		return Outline{}, fmt.Errorf("%w: it has no steps", ErrModel)
	}
	for _, name := range x.inputs {
		if !x.weights[name] {
			x.out.Inputs = append(x.out.Inputs, name)
		}
	}
	if len(x.out.Inputs) != 1 {
		return Outline{}, fmt.Errorf("%w: it takes %d inputs (%s), want one picture", ErrModel, len(x.out.Inputs), strings.Join(x.out.Inputs, ", "))
	}
	if err := x.order(); err != nil {
		return Outline{}, fmt.Errorf("%w: %w", ErrModel, err)
	}
	return x.out, nil
}

// order checks that each step works on what is there before it, and that nothing is made twice.
func (x *inspector) order() error {
	there := map[string]bool{"": true, x.out.Inputs[0]: true}
	for name := range x.weights {
		there[name] = true
	}
	for _, node := range x.out.Nodes {
		for _, in := range node.Inputs {
			if !there[in] {
				return fmt.Errorf("step %q works on %q, which nothing before it makes", node.Name, in)
			}
		}
		for _, out := range node.Outputs {
			if there[out] && out != "" {
				return fmt.Errorf("step %q makes %q, which is there already", node.Name, out)
			}
			there[out] = true
		}
	}
	return nil
}

// inspector gathers an outline. The numbers of the fields are those of onnx.proto (IR version 3 and later).
type inspector struct {
	out     Outline
	graph   bool
	inputs  []string
	weights map[string]bool
	tensors int
}

// fields calls f for each field of a message.
func fields(b []byte, f func(n protowire.Number, t protowire.Type, value []byte, number uint64) error) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		var value []byte
		var number uint64
		switch typ {
		case protowire.VarintType:
			number, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			value, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
			if n >= 0 {
				value = b[:n]
			}
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		if err := f(num, typ, value, number); err != nil {
			return err
		}
	}
	return nil
}

func (x *inspector) model(b []byte) error {
	return fields(b, func(n protowire.Number, t protowire.Type, value []byte, _ uint64) error {
		switch {
		case n == 7 && t == protowire.BytesType:
			if x.graph {
				return fmt.Errorf("it has two graphs")
			}
			x.graph = true
			return x.readGraph(value)
		case n == 8 && t == protowire.BytesType:
			return x.opset(value)
		}
		return nil
	})
}

func (x *inspector) opset(b []byte) error {
	domain, version := "", uint64(0)
	err := fields(b, func(n protowire.Number, t protowire.Type, value []byte, number uint64) error {
		switch {
		case n == 1 && t == protowire.BytesType:
			domain = string(value)
		case n == 2 && t == protowire.VarintType:
			version = number
		}
		return nil
	})
	if domain == "" || domain == "ai.onnx" {
		x.out.Opset = int64(min(version, math.MaxInt32))
	}
	return err
}

func (x *inspector) readGraph(b []byte) error {
	return fields(b, func(n protowire.Number, t protowire.Type, value []byte, _ uint64) error {
		if t != protowire.BytesType {
			return nil
		}
		switch n {
		case 1:
			return x.node(value)
		case 5:
			return x.tensor(value)
		case 11:
			name, err := nameOf(value)
			x.inputs = append(x.inputs, name)
			if len(x.inputs) > maxTensors {
				return fmt.Errorf("it has more than %d inputs", maxTensors)
			}
			return err
		}
		return nil
	})
}

// nameOf is the name in a ValueInfoProto.
func nameOf(b []byte) (name string, err error) {
	err = fields(b, func(n protowire.Number, t protowire.Type, value []byte, _ uint64) (err error) {
		if n == 1 && t == protowire.BytesType {
			name, err = text(value)
		}
		return err
	})
	return name, err
}

func text(b []byte) (string, error) {
	if len(b) > maxNames {
		return "", fmt.Errorf("a name has %d bytes, at most %d", len(b), maxNames)
	}
	return string(b), nil
}

// list adds a name to those of a step.
func list(names []string, b []byte) ([]string, error) {
	name, err := text(b)
	if len(names) == maxOfStep {
		return nil, fmt.Errorf("a step has more than %d inputs or outputs", maxOfStep)
	}
	return append(names, name), err
}

func (x *inspector) node(b []byte) error {
	var node Node
	err := fields(b, func(n protowire.Number, t protowire.Type, value []byte, _ uint64) (err error) {
		if t != protowire.BytesType {
			return nil
		}
		switch n {
		case 1:
			node.Inputs, err = list(node.Inputs, value)
		case 2:
			node.Outputs, err = list(node.Outputs, value)
		case 3:
			node.Name, err = text(value)
		case 4:
			node.Op, err = text(value)
		case 5:
			err = x.attribute(value)
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(node.Outputs) == 0 {
		return fmt.Errorf("step %q has no output", node.Name)
	}
	x.out.Nodes = append(x.out.Nodes, node)
	if len(x.out.Nodes) > maxNodes {
		return fmt.Errorf("it has more than %d steps", maxNodes)
	}
	return nil
}

func (x *inspector) attribute(b []byte) error {
	return fields(b, func(n protowire.Number, t protowire.Type, value []byte, _ uint64) error {
		switch {
		case t == protowire.BytesType && (n == 5 || n == 10):
			return x.tensor(value)
		case t == protowire.BytesType && (n == 6 || n == 11):
			return fmt.Errorf("it has branches or loops, which are not run")
		}
		return nil
	})
}

// bytesOf is the size of one number of a tensor's type, 0 for types that hold no plain numbers.
var bytesOf = map[uint64]int64{1: 4, 2: 1, 3: 1, 4: 2, 5: 2, 6: 4, 7: 8, 9: 1, 10: 2, 11: 8, 12: 4, 13: 8}

// tensor checks that a tensor has as many numbers as its sides say.
func (x *inspector) tensor(b []byte) error {
	if x.tensors++; x.tensors > maxTensors {
		return fmt.Errorf("it has more than %d tensors", maxTensors)
	}
	var dims []uint64
	var typ uint64
	var name string
	raw, packed := int64(-1), int64(0)
	err := fields(b, func(n protowire.Number, t protowire.Type, value []byte, number uint64) (err error) {
		switch n {
		case 1:
			if t == protowire.VarintType {
				dims = append(dims, number)
			} else if dims, err = varints(dims, value); err != nil {
				return err
			}
			if len(dims) > maxDims {
				return fmt.Errorf("a tensor has more than %d sides", maxDims)
			}
		case 2:
			typ = number
		case 4, 5, 7, 10, 11:
			packed += numbersIn(n, t, value)
		case 8:
			name, err = text(value)
		case 9:
			raw = int64(len(value))
		case 13:
			return fmt.Errorf("its weights are in another file; export it into one")
		}
		return err
	})
	if err != nil {
		return err
	}
	x.weights[name] = true
	count := int64(1)
	for _, d := range dims {
		if d > MaxModelBytes || count*int64(d) > MaxModelBytes {
			return fmt.Errorf("tensor %q is too large", name)
		}
		count *= int64(d)
	}
	size := bytesOf[typ]
	switch {
	case size == 0:
		return fmt.Errorf("tensor %q is of type %d", name, typ)
	case raw >= 0 && raw != count*size, raw < 0 && packed != count:
		return fmt.Errorf("tensor %q has not the %d numbers that its sides say", name, count)
	}
	return nil
}

func varints(to []uint64, b []byte) ([]uint64, error) {
	for len(b) > 0 {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		if to = append(to, v); len(to) > maxDims {
			return nil, fmt.Errorf("a tensor has more than %d sides", maxDims)
		}
		b = b[n:]
	}
	return to, nil
}

// numbersIn counts the numbers in a field of a tensor, packed or single.
func numbersIn(field protowire.Number, t protowire.Type, value []byte) int64 {
	if t != protowire.BytesType {
		return 1
	}
	switch field {
	case 4:
		return int64(len(value) / 4)
	case 10:
		return int64(len(value) / 8)
	}
	n := int64(0)
	for _, b := range value {
		if b < 0x80 { // a varint's last byte
			n++
		}
	}
	return n
}
