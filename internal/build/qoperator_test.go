package build

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/engines"
	"hlsgen/internal/options"
	"hlsgen/internal/samples"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/tier"
)

// A quantised is an 8-bit tensor of a network of QLinear operators: its codes, and the names of scale and zero point.
type quantised struct {
	codes, scale, zero string
	c                  int
}

func (q quantised) inputs() []string { return []string{q.codes, q.scale, q.zero} }

// qnet is a network of 8-bit operators in the making.
type qnet struct {
	*network
}

// tensor draws scale and zero point of a tensor that is about to be made.
func (n *qnet) tensor(codes string, c int, scale float64) quantised {
	zero := n.fresh("z")
	n.Init(zero, graph.DTypeUInt8, nil, float64(n.rnd.IntN(3)*n.rnd.IntN(60)))
	return quantised{codes, n.scalar(scale * (0.5 + n.rnd.Float64())), zero, c}
}

// weights adds int8 weights, with a scale for all or one per output. Codes that they give have about the spread of
// bytes.
func (n *qnet) weights(shape []int, outputs, inputs int) []string {
	w, s, z := n.fresh("w"), n.fresh("s"), n.fresh("z")
	codes := make([]float64, graph.ElementCount(shape))
	for i := range codes {
		codes[i] = float64(n.rnd.IntN(256) - 128)
	}
	n.Init(w, graph.DTypeInt8, shape, codes...)
	scales := make([]float64, outputs)
	for i := range scales {
		scales[i] = (0.5 + n.rnd.Float64()) / (74 * math.Sqrt(float64(inputs)))
	}
	n.Init(s, graph.DTypeFloat32, []int{outputs}, scales...).Init(z, graph.DTypeInt8, []int{outputs}, make([]float64,
		outputs)...)
	return []string{w, s, z}
}

// conv is a QLinearConv of a kernel of k by k that keeps the extents, or halves them.
func (n *qnet) conv(x quantised, c, k, stride int) quantised {
	y := n.tensor(n.fresh("conv"), c, 0.05)
	bias, b := n.fresh("b"), make([]float64, c)
	for i := range b {
		b[i] = float64(n.rnd.IntN(4000) - 2000)
	}
	n.Init(bias, graph.DTypeInt32, []int{c}, b...)
	p := int64(k / 2)
	in := append(append(x.inputs(), n.weights([]int{c, x.c, k, k}, c, x.c*k*k)...), y.scale, y.zero, bias)
	n.Node("QLinearConv", in...).Ints("kernel_shape", int64(k), int64(k)).Ints("pads", p, p, p, p).Ints("strides",
		int64(stride), int64(stride)).Out(y.codes)
	return y
}

// block is two convolutions and a short path, which is one where the extents change; the sum has scales of its own.
func (n *qnet) block(x quantised, c, stride int) quantised {
	short := x
	if c != x.c {
		short = n.conv(x, c, 1, stride)
	}
	long := n.conv(n.conv(x, c, 3, stride), c, 3, 1)
	y := n.tensor(n.fresh("sum"), c, 0.08)
	n.Node("QLinearAdd", append(append(long.inputs(), short.inputs()...), y.scale,
		y.zero)...).Domain("com.microsoft").Out(y.codes)
	return y
}

// residual8 has the shape of the digits residual network: 8 by 8 pixels, three blocks, a global mean and ten classes.
func residual8(seed uint64) []byte {
	n := &qnet{&network{Model: onnxtest.New(13).Opset("com.microsoft", 1), rnd: rand.New(rand.NewPCG(seed, 11))}}
	n.Input("x", graph.DTypeFloat32, "N", 1, 8, 8)
	q := n.tensor("xq", 1, 0.05)
	n.Node("QuantizeLinear", "x", q.scale, q.zero).Out(q.codes)
	q = n.conv(q, 16, 3, 1)
	for _, c := range []int{16, 24, 32} {
		stride := 1
		if c > 16 {
			stride = 2
		}
		q = n.block(q, c, stride)
	}
	mean := n.tensor("mean", q.c, 0.05)
	n.Node("QLinearGlobalAveragePool", append(q.inputs(), mean.scale,
		mean.zero)...).Domain("com.microsoft").Out(mean.codes)
	n.Node("Flatten", mean.codes).Out("flat")
	classes := n.tensor("classes", 10, 0.05)
	n.Node("QLinearMatMul", append(append([]string{"flat", mean.scale, mean.zero},
		n.weights([]int{mean.c, 10}, 10, mean.c)...), classes.scale, classes.zero)...).Out(classes.codes)
	n.Node("DequantizeLinear", classes.inputs()...).Out("y")
	n.Output("y", graph.DTypeFloat32, "N", 10)
	if seed > 0 {
		n.Prune(rand.New(rand.NewPCG(seed, 21)))
	}
	return n.Bytes()
}

// TestResidual8 builds residual networks of 8-bit operators, whose sums join tensors of unequal scales and zero points:
// the model as written, Eval and the simulated design agree.
func TestResidual8(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for seed := range uint64(2) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			model := samplefiles.WriteFile(t, "residual8.onnx", residual8(seed))
			r := built(t, Options{Source: options.Source{Model: model}, Hardware: options.Hardware{Board: "zcu104"},
				Verification: options.Verification{NoCSim: true, Verify: 4}})
			kinds := kinds(r.Imported.Model.Graph) // a design may split layers
			for kind, want := range map[string]int{"MVAU": 10, "AddStreams": 3, "DuplicateStreams": 3} {
				if got := strings.Count(" "+strings.Join(kinds, " ")+" ", " "+kind+" "); got != want {
					t.Errorf("%d of %s, want %d: %v", got, kind, want, kinds)
				}
			}
			s := samples.MakeRandomRuns(r.Imported.Model, 4)
			_, out, err := engines.RunHostAndEvalKeepingStreams(context.Background(), r.Imported.Model, s)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[float64]bool{}
			for _, y := range out {
				for _, v := range y[0].Data {
					seen[v] = true
				}
			}
			if len(seen) < 12 {
				t.Errorf("only %d different outputs: the test tells little", len(seen))
			}
		})
	}
}
