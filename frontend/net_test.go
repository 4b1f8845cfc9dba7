package frontend_test

import (
	"fmt"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio/onnxtest"
)

// A net is a small model in the making; parameters are initializers with made-up names.
type net struct {
	*onnxtest.Model
	names int
}

func (n *net) name() string {
	n.names++
	return fmt.Sprintf("p%d", n.names)
}

// c is a constant.
func (n *net) c(shape []int, v ...float64) string {
	name := n.name()
	n.Init(name, graph.Float32, shape, v...)
	return name
}

func (n *net) s(v float64) string { return n.c(nil, v) }

func (n *net) i(v ...float64) string {
	name := n.name()
	n.Init(name, graph.Int64, []int{len(v)}, v...)
	return name
}

// quant is a QONNX quantiser.
func (n *net) quant(x, y, scale string, zero float64, bits int, signed int64) {
	n.Node("Quant", x, scale, n.s(zero), n.s(float64(bits))).Domain("qonnx.custom_op.general").Int("signed", signed).Name(y).Out(y)
}

func (n *net) op(op, y string, in ...string) *onnxtest.Node {
	return n.Node(op, in...).Name(y).Out(y)
}

// input quantises x to q in steps of 1/2.
func (n *net) input(dims ...any) {
	n.Input("x", graph.Float32, dims...)
	n.quant("x", "q", n.s(0.5), 0, 4, 1)
}

func (n *net) output(dims ...any) { n.Output("y", graph.Float32, dims...) }

// weights of 3 by 4, with a column of zeros and one whose values share a factor.
var weights = []float64{1, 0, -2, 6, -3, 0, 1, -4, 2, 0, 2, 2}

// dense is h = q * weights.
func (n *net) dense() {
	n.op("MatMul", "h", "q", n.c([]int{3, 4}, weights...))
}
