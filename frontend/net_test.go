package frontend_test

import (
	"fmt"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/onnxtest"
)

const qonnx = "qonnx.custom_op.general"

// A net is a small model in the making, written as a chain of calls; parameters are initializers with made-up names.
type net struct {
	*onnxtest.Model
	names int
	last  *onnxtest.Node
}

func newNet(opset int64) *net { return &net{Model: onnxtest.New(opset).Opset(qonnx, 2)} }

// imported reads a net. It fails the test if there is neither a model nor a diagnostic.
func imported(t *testing.T, n *net, opt frontend.Options) (*frontend.ImportedModel, []diag.Diag) {
	t.Helper()
	var d diag.List
	im, err := frontend.Import("model.onnx", n.Bytes(), opt, &d)
	if err != nil || im.Model == nil && len(d.Diags) == 0 {
		t.Fatal(err, d.Diags)
	}
	return im, d.Diags
}

// mapped checks that a net has layers, and that these agree with the model on some samples.
func (n *net) mapped(t *testing.T, name string, samples int) {
	t.Helper()
	im, found := imported(t, n, frontend.Options{})
	if im.Model == nil {
		t.Errorf("%s: %v", name, found)
		return
	}
	t.Run(name, func(t *testing.T) { agree(t, im.Model, samples) })
}

// kinds returns the kinds of the layers, in order.
func kinds(im *frontend.ImportedModel) string {
	var kinds []string
	for _, node := range im.Model.Graph.Nodes {
		kinds = append(kinds, node.Op.Kind())
	}
	return strings.Join(kinds, " ")
}

func (n *net) name() string {
	n.names++
	return fmt.Sprintf("p%d", n.names)
}

// c is a constant.
func (n *net) c(shape []int, v ...float64) string {
	name := n.name()
	n.Init(name, graph.DTypeFloat32, shape, v...)
	return name
}

func (n *net) s(v float64) string { return n.c(nil, v) }

func (n *net) i(v ...float64) string {
	name := n.name()
	n.Init(name, graph.DTypeInt64, []int{len(v)}, v...)
	return name
}

func (n *net) Input(name string, dt graph.DType, dims ...any) *net {
	n.Model.Input(name, dt, dims...)
	return n
}

func (n *net) Output(name string, dt graph.DType, dims ...any) *net {
	n.Model.Output(name, dt, dims...)
	return n
}

func (n *net) Init(name string, dt graph.DType, shape []int, v ...float64) *net {
	n.Model.Init(name, dt, shape, v...)
	return n
}

// op adds a node; Int, Ints and Float give it attributes.
func (n *net) op(op, y string, in ...string) *net {
	n.last = n.Node(op, in...).Name(y).Out(y)
	return n
}

func (n *net) Int(name string, v int64) *net {
	n.last.Int(name, v)
	return n
}

func (n *net) Ints(name string, v ...int64) *net {
	n.last.Ints(name, v...)
	return n
}

func (n *net) Float(name string, v float32) *net {
	n.last.Float(name, v)
	return n
}

// quant is a QONNX quantiser.
func (n *net) quant(x, y, scale string, zero float64, bits int, signed int64) *net {
	n.Node("Quant", x, scale, n.s(zero), n.s(float64(bits))).Domain(qonnx).Int("signed", signed).Name(y).Out(y)
	return n
}

func (n *net) bipolar(x, y, scale string) *net {
	n.Node("BipolarQuant", x, scale).Domain(qonnx).Out(y)
	return n
}

type v = []float64

// norm is a BatchNormalization: gamma, beta, mean and variance of each channel.
func (n *net) norm(x, y string, parameters ...v) *net {
	in := []string{x}
	for _, p := range parameters {
		in = append(in, n.c([]int{len(p)}, p...))
	}
	return n.op("BatchNormalization", y, in...)
}

// input quantises x to q in steps of 1/2.
func (n *net) input(dims ...any) *net {
	return n.Input("x", graph.DTypeFloat32, dims...).quant("x", "q", n.s(0.5), 0, 4, 1)
}

func (n *net) output(dims ...any) *net { return n.Output("y", graph.DTypeFloat32, dims...) }

// weights of 3 by 4, with a column of zeros and one whose values share a factor.
var weights = []float64{1, 0, -2, 6, -3, 0, 1, -4, 2, 0, 2, 2}

// dense is h = q * weights.
func (n *net) dense() *net { return n.op("MatMul", "h", "q", n.c([]int{3, 4}, weights...)) }
