package build_test

import (
	"hlsgen/frontend/graph"
	"hlsgen/internal/testsupport/onnxtest"
)

// A network is a model under construction: a chain from the input x, QONNX's dialect.
type network struct {
	*onnxtest.Model
	width int    // of the last axis
	last  string // tensor
}

// chain starts a network at an input of width values.
func chain(width int) *network { return chainFrom(width, width) }

// chainFrom starts a network of a width at an input whose last axis is declared as in onnxtest.
func chainFrom(axis any, width int) *network {
	m := onnxtest.New(13).Opset("qonnx.custom_op.general", 2)
	m.Input("x", graph.DTypeFloat32, 1, axis)
	return &network{m, width, "x"}
}

// quant adds a quantiser; scales are one for all or one per channel.
func (n *network) quant(name string, bits float64, signed int64, scales ...float64) *network {
	var shape []int
	if len(scales) > 1 {
		shape = []int{len(scales)}
	}
	n.Init(name+".scale", graph.DTypeFloat32, shape, scales...)
	n.Init(name+".zero", graph.DTypeFloat32, nil, 0).Init(name+".bits", graph.DTypeFloat32, nil, bits)
	n.Node("Quant", n.last, name+".scale", name+".zero", name+".bits").Domain("qonnx.custom_op.general").
		Int("signed", signed).Int("narrow", 0).Str("rounding_mode", "ROUND").Name(name).Out(name + ".out")
	n.last = name + ".out"
	return n
}

// matmul adds a product with weights weight(input, output).
func (n *network) matmul(name string, outputs int, weight func(i, o int) float64) *network {
	var w []float64
	for i := range n.width {
		for o := range outputs {
			w = append(w, weight(i, o))
		}
	}
	n.Init(name+".weight", graph.DTypeFloat32, []int{n.width, outputs}, w...)
	n.width = outputs
	return n.node("MatMul", name, name+".weight")
}

// node adds an operator that reads the last tensor and others.
func (n *network) node(op, name string, others ...string) *network {
	n.Node(op, append([]string{n.last}, others...)...).Name(name).Out(name + ".out")
	n.last = name + ".out"
	return n
}

// end makes the last tensor the output and gives the file.
func (n *network) end() []byte {
	n.Output(n.last, graph.DTypeFloat32, 1, n.width)
	return n.Bytes()
}

// ones are weights of -1, 0 and 1.
func ones(i, o int) float64 { return float64((i+2*o)%3 - 1) }

// small is a network that builds: 8 inputs, 4 hidden neurons, 2 outputs.
func small() []byte {
	return chain(8).quant("in", 8, 0, 0.5).matmul("fc1", 4, ones).node("Relu", "relu").quant("act", 4, 0,
		0.25).matmul("fc2", 2, ones).end()
}

// large is a network with a table of many rows.
func large() []byte {
	return chain(1024).quant("in", 8, 0, 1).matmul("fc1", 8, ones).end()
}

// four is a network whose input is fixed to four samples; of all of them, if together, comes one result.
func four(together bool) []byte {
	m := onnxtest.New(13).Opset("qonnx.custom_op.general", 2)
	n := &network{m.Input("x", graph.DTypeFloat32, 4, 8), 8, "x"}
	n.quant("in", 8, 0, 0.5).matmul("fc1", 2, ones).node("Relu", "relu").quant("act", 4, 0, 0.25).matmul("fc2", 2, ones)
	if together {
		n.Init("zero", graph.DTypeInt64, []int{1}, 0)
		n.node("ReduceSum", "sum", "zero")
	}
	n.Output(n.last, graph.DTypeFloat32)
	return n.Bytes()
}

// wide is a network with one large layer.
func wide() []byte {
	return chain(1024).quant("in", 8, 0, 1).matmul("fc1", 4, ones).end()
}
