package frontend

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/tier"
)

// A chain is a random run of elementwise operators in front of a quantiser.
type chain struct {
	*onnxtest.Model
	rnd   *rand.Rand
	names int
	text  []string // what it consists of, for messages
}

func (c *chain) name() string { c.names++; return fmt.Sprintf("t%d", c.names) }

func (c *chain) constant(v float64) string {
	n := c.name()
	c.Init(n, graph.DTypeFloat32, nil, float64(float32(v)))
	return n
}

// perChannel adds a constant for each of the two channels.
func (c *chain) perChannel(f func() float64) string {
	n := c.name()
	c.Init(n, graph.DTypeFloat32, []int{2}, float64(float32(f())), float64(float32(f())))
	return n
}

// value is a constant that hits boundaries: often dyadic, sometimes tiny, sometimes negative.
func (c *chain) value() float64 {
	switch c.rnd.IntN(9) {
	case 8:
		return 0
	case 0:
		return math.Exp2(float64(c.rnd.IntN(7) - 4))
	case 1:
		return -math.Exp2(float64(c.rnd.IntN(5) - 3))
	case 2:
		return float64(c.rnd.IntN(9)-4) / 4
	case 3:
		return c.rnd.NormFloat64() * 1e-6
	}
	return c.rnd.NormFloat64()
}

// steps lists the operations of a chain.
var steps = []struct {
	op  string
	add func(c *chain, x string) *onnxtest.Node
}{
	{"scale", func(c *chain, x string) *onnxtest.Node { return c.Node("Mul", x, c.perChannel(c.value)) }},
	{"bias", func(c *chain, x string) *onnxtest.Node { return c.Node("Add", c.perChannel(c.value), x) }},
	{"minus", func(c *chain, x string) *onnxtest.Node { return c.Node("Sub", c.constant(c.value()), x) }},
	{"divide", func(c *chain, x string) *onnxtest.Node {
		return c.Node("Div", x, c.perChannel(func() float64 { return 0.25 + c.rnd.Float64() }))
	}},
	{"batch norm", func(c *chain, x string) *onnxtest.Node {
		gamma := func() float64 {
			return []float64{1, -1, 2.9e-7, -1e-41, 0, 0.5}[c.rnd.IntN(6)] * (0.5 + c.rnd.Float64())
		}
		variance := func() float64 {
			return []float64{1, 0.25, 1e-12, 0.1 + c.rnd.Float64()}[c.rnd.IntN(4)]
		}
		return c.Node("BatchNormalization", x, c.perChannel(gamma), c.perChannel(c.value), c.perChannel(c.value),
			c.perChannel(variance))
	}},
	{"relu", func(c *chain, x string) *onnxtest.Node { return c.Node("Relu", x) }},
	{"leaky relu", func(c *chain, x string) *onnxtest.Node { return c.Node("LeakyRelu", x) }},
	{"prelu", func(c *chain, x string) *onnxtest.Node { return c.Node("PRelu", x, c.perChannel(c.value)) }},
	{"clip", func(c *chain, x string) *onnxtest.Node { return c.Node("Clip", x, c.constant(-1.5), c.constant(2)) }},
	{"sigmoid", func(c *chain, x string) *onnxtest.Node { return c.Node("Sigmoid", x) }},
	{"tanh", func(c *chain, x string) *onnxtest.Node { return c.Node("Tanh", x) }},
	{"hard sigmoid", func(c *chain, x string) *onnxtest.Node { return c.Node("HardSigmoid", x) }},
	{"elu", func(c *chain, x string) *onnxtest.Node { return c.Node("Elu", x) }},
	{"selu", func(c *chain, x string) *onnxtest.Node { return c.Node("Selu", x) }},
	{"abs", func(c *chain, x string) *onnxtest.Node { return c.Node("Abs", x) }},
	{"neg", func(c *chain, x string) *onnxtest.Node { return c.Node("Neg", x) }},
	{"floor", func(c *chain, x string) *onnxtest.Node { return c.Node("Floor", x) }},
	{"round", func(c *chain, x string) *onnxtest.Node { return c.Node("Round", x) }},
	{"square", func(c *chain, x string) *onnxtest.Node { return c.Node("Mul", x, x) }},
	{"max", func(c *chain, x string) *onnxtest.Node { return c.Node("Max", x, c.constant(c.value())) }},
	{"swish", func(c *chain, x string) *onnxtest.Node {
		s := c.name()
		c.Node("Sigmoid", x).Out(s)
		return c.Node("Mul", x, s)
	}},
}

var modes = []string{"ROUND", "CEIL", "FLOOR", "UP", "DOWN", "HALF_UP", "HALF_DOWN"}

// randomChain takes codes of two channels through one to five steps into a quantiser.
func randomChain(seed uint64) (c *chain, in *IntegerInputType) {
	c = &chain{Model: onnxtest.New(14).Opset("qonnx.custom_op.general", 2), rnd: rand.New(rand.NewPCG(seed, 3))}
	c.Input("x", graph.DTypeFloat32, 1, 2).Output("y", graph.DTypeFloat32, 1, 2)
	x := "x"
	for range 1 + c.rnd.IntN(5) {
		s := steps[c.rnd.IntN(len(steps))]
		c.text = append(c.text, s.op)
		y := c.name()
		s.add(c, x).Out(y)
		x = y
	}
	bits, signed := 1+c.rnd.IntN(7), c.rnd.IntN(2)
	scale := []float64{0.5, 0.25, 1, 0.1, c.rnd.Float64() + 0.01, -0.25, -0.3}[c.rnd.IntN(7)]
	zero := []float64{0, 0, 0, 1, -0.5}[c.rnd.IntN(5)]
	mode := modes[c.rnd.IntN(len(modes))]
	c.text = append(c.text, fmt.Sprintf("quant bits=%d signed=%d scale=%v zero=%v %s", bits, signed, scale, zero, mode))
	c.Node("Quant", x, c.constant(scale), c.constant(zero),
		c.constant(float64(bits))).Domain("qonnx.custom_op.general").Int("signed", int64(signed)).Str("rounding_mode",
		mode).Out("y")
	in = &IntegerInputType{Type: num.Type{Kind: num.KindInt, Width: 4 + c.rnd.IntN(7)},
		Scale: new(big.Rat).SetFloat64(math.Exp2(float64(-c.rnd.IntN(7))))}
	if c.rnd.IntN(2) == 0 {
		in.Scale = big.NewRat(int64(1+c.rnd.IntN(9)), int64(1+c.rnd.IntN(300)))
	}
	return c, in
}

// TestChains compares the lowered step function of random chains with the exact execution of the model as written, on
// every integer of the input's range.
func TestChains(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	n := 150
	if tier.Long() {
		n = 2000
	}
	lowered := 0
	for seed := range n {
		c, in := randomChain(uint64(seed))
		var d diag.List
		im, err := Import("chain.onnx", c.Bytes(), Options{InputType: in}, &d)
		if err != nil {
			t.Fatal(err)
		}
		if im.Model == nil {
			if code := d.Diags[0].Code; code != diag.NothingQuantised && code != diag.NodeNotMapped {
				t.Errorf("chain %d %q: %v", seed, c.text, d.Diags)
			}
			continue // a chain that is constant, or leaves codes as they are
		}
		lowered++
		for k, r := in.Type.Range().Lo, in.Type.Range(); k <= r.Hi; k++ {
			x, _ := new(big.Rat).Mul(in.Scale, new(big.Rat).SetInt64(k)).Float32()
			sample := []dataflow.RealTensor{{Shape: []int{1, 2}, Data: []float64{float64(x), float64(x)}}}
			want, err := im.Model.Reference(sample)
			if err != nil {
				t.Fatalf("chain %d %q at %d: %v", seed, c.text, k, err)
			}
			codes, err := im.Model.Prefix.ToCodes(sample)
			if err != nil {
				t.Fatalf("chain %d %q at %d: %v", seed, c.text, k, err)
			}
			streams, err := im.Model.Graph.EvalFirstFrameByStream(context.Background(), codes)
			if err != nil {
				t.Fatal(err)
			}
			var out []dataflow.Tensor
			for _, s := range im.Model.Graph.Out {
				out = append(out, streams[s])
			}
			got, err := im.Model.Suffix.ToReal(sample, out)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got[0].Data, want[0].Data) {
				t.Fatalf("chain %d %q at %d (%v): layers give %v, the model %v", seed, c.text, k, x, got[0].Data,
					want[0].Data)
			}
		}
	}
	if lowered < n*3/4 {
		t.Errorf("only %d of %d chains became layers", lowered, n)
	}
}
