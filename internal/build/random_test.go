package build

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/onnxtest"
)

// A network is a random quantised perceptron: what exporters write, and what they could.
type network struct {
	*onnxtest.Model
	rnd   *rand.Rand
	names int
}

func (n *network) fresh(prefix string) string {
	n.names++
	return prefix + strconv.Itoa(n.names)
}

func (n *network) pick(of ...float64) float64 { return of[n.rnd.IntN(len(of))] }

// scalar adds a constant.
func (n *network) scalar(v float64) string {
	name := n.fresh("c")
	n.Init(name, graph.DTypeFloat32, nil, float64(float32(v)))
	return name
}

// vector adds a constant per channel.
func (n *network) vector(size int, f func() float64) string {
	name, v := n.fresh("v"), make([]float64, size)
	for i := range v {
		v[i] = float64(float32(f()))
	}
	n.Init(name, graph.DTypeFloat32, []int{size}, v...)
	return name
}

// scale is a quantiser's step: often a power of two, where ties are exact.
func (n *network) scale() float64 {
	if n.rnd.IntN(2) == 0 {
		return 1 / float64(int(1)<<n.rnd.IntN(5))
	}
	return 0.05 + n.rnd.Float64()
}

var roundings = []string{"ROUND", "CEIL", "FLOOR", "UP", "DOWN", "HALF_UP", "HALF_DOWN", "round", "ROUND_TO_ZERO",
	"half_even"}

// quant adds a QONNX quantiser of x.
func (n *network) quant(x string, bits int, signed, narrow bool, zero float64, scale string) string {
	y := n.fresh("q")
	i := func(b bool) int64 {
		if b {
			return 1
		}
		return 0
	}
	n.Node("Quant", x, scale, n.scalar(zero), n.scalar(float64(bits))).Domain("qonnx.custom_op.general").Int("signed",
		i(signed)).Int("narrow", i(narrow)).
		Str("rounding_mode", roundings[n.rnd.IntN(len(roundings))]).Out(y)
	return y
}

// bipolar adds a quantiser to -1 and +1.
func (n *network) bipolar(x, scale string) string {
	y := n.fresh("q")
	n.Node("BipolarQuant", x, scale).Domain("qonnx.custom_op.general").Out(y)
	return y
}

// thresholds adds FINN's form of a quantiser: codes 0 to steps, then scaled and moved.
func (n *network) thresholds(x string, width int) string {
	steps := 1 + n.rnd.IntN(4)
	var t []float64
	for range width {
		row := make([]float64, steps)
		for i := range row {
			row[i] = float64(float32(n.pick(-1, 0, 0.5, 1) + n.rnd.NormFloat64()))
		}
		slices.Sort(row)
		t = append(t, row...)
	}
	name, y := n.fresh("t"), n.fresh("q")
	n.Init(name, graph.DTypeFloat32, []int{width, steps}, t...)
	n.Node("MultiThreshold", x, name).Domain("finn.custom_op.general").Float("out_scale",
		float32(n.pick(1, 2, 0.5))).Float("out_bias", float32(n.pick(0, -1))).Out(y)
	return y
}

// function adds an activation function, monotone or not.
func (n *network) function(x string) string {
	y := n.fresh("f")
	switch n.rnd.IntN(9) {
	case 0:
		n.Node("LeakyRelu", x).Float("alpha", 0.125).Out(y)
	case 1:
		s := n.fresh("s")
		n.Node("Sigmoid", x).Out(s)
		n.Node("Mul", x, s).Out(y) // falls, then rises
	default:
		n.Node([]string{"Relu", "Sigmoid", "Tanh", "HardSigmoid", "Elu", "Abs", "Softsign"}[n.rnd.IntN(7)], x).Out(y)
	}
	return y
}

// dense adds a matrix product with quantised weights, as MatMul or Gemm, and perhaps a bias and a batch norm.
func (n *network) dense(x string, in, out int) string {
	bits, raw := 2+n.rnd.IntN(3), n.fresh("w")
	w := make([]float64, in*out)
	for i := range w {
		w[i] = float64(float32(n.rnd.NormFloat64()))
	}
	n.Init(raw, graph.DTypeFloat32, []int{in, out}, w...)
	scale := n.scalar(n.scale() / 2)
	if n.rnd.IntN(2) == 0 {
		scale = n.vector(out, func() float64 { return n.scale() / 2 })
	}
	zero := 0.0
	if bits == 2 && n.rnd.IntN(3) == 0 {
		zero = -0.5 // balanced: -1.5 -0.5 0.5 1.5
	}
	q := ""
	if n.rnd.IntN(4) == 0 {
		q = n.bipolar(raw, scale)
	} else {
		q = n.quant(raw, bits, true, n.rnd.IntN(2) == 0 && zero == 0, zero, scale)
	}
	y := n.fresh("y")
	if n.rnd.IntN(2) == 0 {
		n.Node("Gemm", x, q, n.vector(out, n.rnd.NormFloat64)).Float("alpha", float32(n.pick(1, 1, 0.5))).Out(y)
	} else {
		n.Node("MatMul", x, q).Out(y)
	}
	if n.rnd.IntN(3) > 0 {
		gamma := n.vector(out, func() float64 {
			return n.pick(1, -1, 2.9e-7, -1e-41, 0, 1,
				1) * (0.2 + n.rnd.Float64())
		})
		z := n.fresh("b")
		n.Node("BatchNormalization", y, gamma, n.vector(out, n.rnd.NormFloat64), n.vector(out, n.rnd.NormFloat64),
			n.vector(out, func() float64 { return 0.1 + n.rnd.Float64() })).Out(z)
		y = z
	}
	return y
}

// randomNetwork has one to three layers; every activation is quantised, the last one perhaps.
func randomNetwork(seed uint64) []byte { return drawnNetwork(seed).Bytes() }

func drawnNetwork(seed uint64) *onnxtest.Model {
	n := &network{Model: onnxtest.New(14).Opset("qonnx.custom_op.general", 2).Opset("finn.custom_op.general", 1),
		rnd: rand.New(rand.NewPCG(seed, 7))}
	width := 1 + n.rnd.IntN(12)
	n.Input("x", graph.DTypeFloat32, "N", width)
	y := ""
	if n.rnd.IntN(5) == 0 {
		y = n.bipolar("x", n.scalar(n.scale()))
	} else {
		y = n.quant("x", 2+n.rnd.IntN(6), n.rnd.IntN(2) == 0, false, n.pick(0, 0, 1), n.scalar(n.scale()))
	}
	layers := 1 + n.rnd.IntN(3)
	for l := range layers {
		next := 1 + n.rnd.IntN(12)
		y = n.dense(y, width, next)
		width = next
		if l == layers-1 && n.rnd.IntN(2) == 0 {
			break
		}
		signed := n.rnd.IntN(2) == 0
		if !signed || n.rnd.IntN(4) == 0 {
			y = n.function(y)
		}
		switch n.rnd.IntN(6) {
		case 0:
			y = n.bipolar(y, n.scalar(n.scale()))
			continue
		case 1:
			y = n.thresholds(y, width)
			continue
		}
		y = n.quant(y, 1+n.rnd.IntN(4)+b2i(signed), signed, n.rnd.IntN(3) == 0 && signed, n.pick(0, 0, 0, 1),
			n.scalar(n.scale()))
		if n.rnd.IntN(4) == 0 { // a quantiser of a quantiser: a layer of thresholds
			y = n.quant(y, 2+n.rnd.IntN(3), true, false, 0, n.scalar(n.scale()))
		}
	}
	n.Node("Identity", y).Out("out")
	n.Output("out", graph.DTypeFloat32, "N", width)
	return n.Model
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestRandomNetworks draws networks and folds: the model as written, Eval, the simulated design and, for some, the
// compiled C++ agree.
func TestRandomNetworks(t *testing.T) {
	t.Parallel()
	drawnAgree(t, 40, 2000, 4, 8, func(seed int) drawn {
		n := drawn{onnx: halfPruned(seed, drawnNetwork(uint64(seed))), folds: randomFolds, samples: 12}
		if seed%5 == 0 { // the first quantiser on the device, too
			scale := big.NewRat(1, int64(4+seed%7))
			n.opt.InputType = &frontend.IntegerInputType{Type: num.Type{Kind: num.KindInt, Width: 6}, Scale: scale}
		}
		return n
	})
}
