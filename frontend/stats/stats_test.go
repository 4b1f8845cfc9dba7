package stats_test

import (
	"fmt"
	"maps"
	"math"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/frontend/stats"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/onnxtest"
)

// A net is a model under construction, with the names of its tensors.
type net struct {
	*onnxtest.Model
	made int
}

func newNet() *net { return &net{Model: onnxtest.New(13).Opset(operators.QONNXDomain, 1)} }

func (n *net) fresh() string {
	n.made++
	return fmt.Sprint("t", n.made)
}

// weights adds weights, none of which is an integer.
func (n *net) weights(shape ...int) string {
	name, v := n.fresh(), make([]float64, graph.ElementCount(shape))
	for i := range v {
		v[i] = 0.5 + float64(i%7)
	}
	n.Init(name, graph.DTypeFloat32, shape, v...)
	return name
}

// quant adds a quantiser with the given number of bits and a scale of 0.5 behind a tensor.
func (n *net) quant(x string, bits float64) string {
	out := n.fresh()
	n.Init(out+"s", graph.DTypeFloat32, nil, 0.5).Init(out+"z", graph.DTypeFloat32, nil, 0)
	n.Init(out+"b", graph.DTypeFloat32, nil, bits)
	n.Model.Node("Quant", x, out+"s", out+"z", out+"b").Domain(operators.QONNXDomain).Out(out)
	return out
}

func (n *net) op(op string, inputs ...string) string {
	out := n.fresh()
	n.Model.Node(op, inputs...).Out(out)
	return out
}

// count completes the model and counts it.
func (n *net) count(t *testing.T, out string, shape ...any) *stats.ModelStats {
	t.Helper()
	n.Output(out, graph.DTypeFloat32, shape...)
	return count(t, n.Bytes())
}

func count(t *testing.T, file []byte) *stats.ModelStats {
	t.Helper()
	return stats.ModelStatsOfProgram(programOf(t, file), nil)
}

func programOf(t *testing.T, file []byte) *program.Program {
	t.Helper()
	var d diag.List
	g := onnxio.ParseGraph("test.onnx", file, &d)
	if d.HasErrors() {
		t.Fatal(d.Diags)
	}
	return onnxtest.Prepare(t, g)
}

// TestPaperNetwork counts the network of arXiv 2102.11289, table 1, with 32 bits, and with 6 bits behind an input
// of 32 bits.
func TestPaperNetwork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bits float64 // 32: no quantisers
		want float64
	}{{32, 4_652_832}, {6, 412_960}} {
		n := newNet()
		n.Input("x", graph.DTypeFloat32, 1, 16)
		x := "x"
		widths := []int{16, 64, 32, 32, 5}
		for i, wide := range widths[1:] {
			w := n.weights(widths[i], wide)
			if c.bits < 32 {
				w = n.quant(w, c.bits)
			}
			if x = n.op("Relu", n.op("MatMul", x, w)); c.bits < 32 {
				x = n.quant(x, c.bits)
			}
		}
		got := n.count(t, x, 1, 5)
		if got.Total.BOPs != c.want || got.Total.DenseBOPs != c.want || got.Total.MACs != 4256 ||
			got.Total.WeightBits != int64(4256*c.bits) {
			t.Errorf("%g bits: %+v, want %g bit operations", c.bits, got.Total, c.want)
		}
	}
}

// TestPruned counts a pruned network. Its bit operations were computed independently of this program.
func TestPruned(t *testing.T) {
	t.Parallel()
	n := count(t, models.Find(t, "jets-qap-w6a6-s80").Read(t, "model.onnx"))
	if n.Total.BOPs != 109_888 || n.Total.DenseBOPs != 240_928 {
		t.Errorf("%+v", n.Total)
	}
	for i, want := range []float64{33_600, 45_180, 24_140, 6_968} {
		if got := n.Layers[i].BOPs; got != want {
			t.Errorf("layer %d: %g bit operations, want %g", i, got, want)
		}
	}
}

// TestKinds checks the counts of layers of each kind. All inputs have 4 bits, all weights 3.
func TestKinds(t *testing.T) {
	t.Parallel()
	image := func(n *net) string {
		n.Input("x", graph.DTypeFloat32, 1, 4, 6, 6)
		return n.quant("x", 4)
	}
	for _, c := range []struct {
		name   string
		build  func(n *net) (out string, shape []any)
		kind   stats.ProductKind
		macs   int64
		terms  int
		input  string
		held   int64 // weights of the network
		beside int64 // operations without weights
	}{
		{"convolution with stride and padding", func(n *net) (string, []any) {
			out := n.fresh()
			n.Node("Conv", image(n), n.quant(n.weights(8, 4, 3, 3), 3)).Ints("strides", 2, 2).Ints("pads", 1, 1, 1, 1).
				Out(out)
			return out, []any{1, 8, 3, 3}
		}, stats.ProductKindConvolution, 8 * 9 * 36, 36, "INT4", 288, 0},
		{"depthwise", func(n *net) (string, []any) {
			out := n.fresh()
			n.Node("Conv", image(n), n.quant(n.weights(4, 1, 3, 3), 3)).Int("group", 4).Out(out)
			return out, []any{1, 4, 4, 4}
		}, stats.ProductKindDepthwise, 4 * 16 * 9, 9, "INT4", 36, 0},
		{"grouped", func(n *net) (string, []any) {
			out := n.fresh()
			n.Node("Conv", image(n), n.quant(n.weights(6, 2, 3, 3), 3)).Int("group", 2).Out(out)
			return out, []any{1, 6, 4, 4}
		}, stats.ProductKindGrouped, 6 * 16 * 18, 18, "INT4", 108, 0},
		{"a transposed convolution: no products with the zeros between", func(n *net) (string, []any) {
			out := n.fresh()
			n.Node("ConvTranspose", image(n), n.quant(n.weights(4, 5, 2, 2), 3)).Ints("strides", 2, 2).Out(out)
			return out, []any{1, 5, 12, 12}
		}, stats.ProductKindConvolution, 36 * 4 * 5 * 4, 4, "INT4", 80, 0},
		{"after a pool of maxima and a rectifier", func(n *net) (string, []any) {
			pool, out := n.fresh(), n.fresh()
			n.Node("MaxPool", n.op("Relu", image(n))).Ints("kernel_shape", 2, 2).Ints("strides", 2, 2).Out(pool)
			n.Node("Conv", pool, n.quant(n.weights(2, 4, 1, 1), 3)).Out(out)
			return out, []any{1, 2, 3, 3}
		}, stats.ProductKindConvolution, 9 * 8, 4, "INT4", 8, 0},
		{"after a sum: 9 codes from -8 to 7 make 8 bits", func(n *net) (string, []any) {
			pool, out := n.fresh(), n.fresh()
			n.Node("AveragePool", image(n)).Ints("kernel_shape", 3, 3).Ints("strides", 3, 3).Out(pool)
			n.Node("Conv", pool, n.quant(n.weights(2, 4, 1, 1), 3)).Out(out)
			return out, []any{1, 2, 2, 2}
		}, stats.ProductKindConvolution, 4 * 8, 4, "INT8", 8, 4 * 4 * 9},
		{"up-sampling moves", func(n *net) (string, []any) {
			n.Init("scales", graph.DTypeFloat32, []int{4}, 1, 1, 2, 2)
			up, out := n.fresh(), n.fresh()
			n.Node("Resize", image(n), "", "scales").Str("mode", "nearest").
				Str("coordinate_transformation_mode", "asymmetric").Str("nearest_mode", "floor").Out(up)
			n.Node("Conv", up, n.quant(n.weights(2, 4, 1, 1), 3)).Out(out)
			return out, []any{1, 2, 12, 12}
		}, stats.ProductKindConvolution, 144 * 8, 4, "INT4", 8, 0},
		{"weights in front", func(n *net) (string, []any) {
			n.Input("x", graph.DTypeFloat32, 4, 5)
			return n.op("MatMul", n.quant(n.weights(3, 4), 3), n.quant("x", 4)), []any{3, 5}
		}, stats.ProductKindDense, 60, 4, "INT4", 12, 0},
		{"a sum of two streams is no product", func(n *net) (string, []any) {
			n.Input("x", graph.DTypeFloat32, 1, 4)
			x := n.quant("x", 4)
			both := n.quant(n.op("Add", n.quant(n.op("Relu", x), 4), x), 4)
			return n.op("MatMul", both, n.quant(n.weights(4, 2), 3)), []any{1, 2}
		}, stats.ProductKindDense, 8, 4, "INT4", 8, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := newNet()
			out, shape := c.build(n)
			got := n.count(t, out, shape...)
			if len(got.Layers) != 1 {
				t.Fatalf("%d layers", len(got.Layers))
			}
			l, p := got.Layers[0], got.Layers[0].Products[0]
			beside := int64(0)
			for _, o := range got.Others {
				beside += o.Operations
			}
			if l.Kind != c.kind || l.MACs != c.macs || l.EffectiveMACs != c.macs || p.Terms != c.terms ||
				p.Input != c.input || p.Weight != "INT3" || got.Total.Weights != c.held || beside != c.beside {
				t.Errorf("%s, %d MACs (%d), %d terms, %s x %s, %d weights, %d beside", l.Kind, l.MACs, l.EffectiveMACs,
					p.Terms, p.Input, p.Weight, got.Total.Weights, beside)
			}
			a, m := int64(p.InputWidth), float64(c.macs)
			if want := m*float64(a*3+a+3) + m*math.Log2(float64(c.terms)); l.BOPs != want {
				t.Errorf("%v bit operations, want %v", l.BOPs, want)
			}
		})
	}
}

// TestDataAndShared checks that products of data with data have no weights, and that weights which two layers share
// count once.
func TestDataAndShared(t *testing.T) {
	t.Parallel()
	n := newNet()
	n.Input("x", graph.DTypeFloat32, 3, 3)
	x, w := n.quant("x", 4), n.weights(3, 3)
	y := n.quant(n.op("MatMul", x, n.quant(w, 3)), 5)
	z := n.quant(n.op("MatMul", y, n.quant(w, 3)), 6)
	got := n.count(t, n.op("MatMul", y, z), 3, 3)
	if len(got.Layers) != 3 || got.Total.MACs != 81 || got.Total.Weights != 9 || got.Total.WeightBits != 27 ||
		got.Layers[1].Weights != 9 {
		t.Errorf("%+v", got.Total)
	}
	if l := got.Layers[2]; l.Kind != stats.ProductKindDataByData || l.Weights != 0 || l.Entropy != nil ||
		l.BOPs != 27*(30+11)+27*math.Log2(3) {
		t.Errorf("%+v", l)
	}
}

// TestRecurrent checks that products of a recurrence count in each of its steps, but its weights once.
func TestRecurrent(t *testing.T) {
	t.Parallel()
	n := newNet()
	n.Input("x", graph.DTypeFloat32, 7, 1, 3)
	n.Node("LSTM", n.quant("x", 4), n.quant(n.weights(2, 16, 3), 3), n.quant(n.weights(2, 16, 4), 2)).
		Int("hidden_size", 4).Str("direction", "bidirectional").Out("y")
	got := n.count(t, "y", 7, 2, 1, 4)
	if len(got.Layers) != 2 || !got.Layers[1].Reverse || got.Layers[0].Reverse {
		t.Fatalf("%d layers", len(got.Layers))
	}
	for _, l := range got.Layers {
		bops := 0.0
		for _, p := range l.Products {
			want := stats.ProductStats{Input: "INT4", InputWidth: 4, Weight: "INT3", WeightWidth: 3, Terms: 3}
			if p.Terms == 4 { // the state, which has no quantiser
				want = stats.ProductStats{Input: "FLOAT32", InputWidth: 32, Weight: "INT2", WeightWidth: 2, Terms: 4}
			}
			if p.Input != want.Input || p.Weight != want.Weight || p.Terms != want.Terms || p.Sums != 7*4 ||
				p.InputWidth != want.InputWidth || p.WeightWidth != want.WeightWidth {
				t.Errorf("%+v", p)
			}
			bops += p.BOPs
		}
		if l.Kind != stats.ProductKindRecurrent || l.Steps != 7 || l.MACs != 7*(16*3+16*4) ||
			l.MACsPerStep != 16*3+16*4 ||
			l.Weights != 16*7 || l.WeightBits != 16*(3*3+4*2) || l.InputBits != 7*3*4 || l.BOPs != bops {
			t.Errorf("%+v", l)
		}
	}
}

// TestDialects checks that a model has the same counts in both of Brevitas' dialects.
func TestDialects(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"digits-conv1d-w4a4", "digits-mlp-asym-u8", "digits-cnn-ptq-w4a4",
		"digits-mlp-w4a4-pot", "a2qplus-mlp-signed-w4a4-p9"} {
		m := models.Find(t, name)
		a, b := count(t, m.Read(t, "model.onnx")), count(t, m.Read(t, "qcdq.onnx"))
		if a.Total != b.Total || *a.Entropy != *b.Entropy || len(a.Layers) != len(b.Layers) {
			t.Errorf("%s: QONNX %+v, QCDQ %+v", name, a.Total, b.Total)
		}
	}
}

// TestDeclared checks the bits of minifloats, bipolar weights, tensors with FINN's annotations, and integers.
func TestDeclared(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ model, input, weight string }{
		{"minifloat-mlp-e2m1", "E2M1", "E2M1"}, {"digits-mlp-w1a1", "BIPOLAR", "BIPOLAR"},
		{"digits-mlp-balanced2", "UINT4", "INT2"},
	} {
		p := count(t, models.Find(t, c.model).Read(t, "model.onnx")).Layers[1].Products[0]
		if p.Input != c.input || p.Weight != c.weight {
			t.Errorf("%s: %s x %s", c.model, p.Input, p.Weight)
		}
	}
	n := newNet()
	n.Input("x", graph.DTypeFloat32, 1, 4).Init("w", graph.DTypeFloat32, []int{4, 2}, 1, -1, 1, 1, -1, -1, -1, 1)
	n.Init("v", graph.DTypeFloat32, []int{2, 2}, 1, -5, 0, 1).Annotate("x", "INT3")
	got := n.count(t, n.op("MatMul", n.op("MatMul", "x", "w"), "v"), 1, 2)
	for i, want := range []string{"INT3 x BIPOLAR", "FLOAT32 x INT4"} {
		if p := got.Layers[i].Products[0]; p.Input+" x "+p.Weight != want {
			t.Errorf("%s x %s, want %s", p.Input, p.Weight, want)
		}
	}
}

// TestEntropy checks that the entropy of weights is that of their codes, even if every channel has its own scale.
func TestEntropy(t *testing.T) {
	t.Parallel()
	n := newNet()
	n.Input("x", graph.DTypeFloat32, 1, 1, 4)
	n.Init("w", graph.DTypeFloat32, []int{2, 1, 4}, 0, 1, 2, 3, 0, 0.5, 1, 1.5)
	n.Init("s", graph.DTypeFloat32, []int{2, 1, 1}, 1, 0.5).Init("z", graph.DTypeFloat32, nil, 0).Init("b",
		graph.DTypeFloat32, nil, 4)
	n.Node("Quant", "w", "s", "z", "b").Domain(operators.QONNXDomain).Out("q")
	n.Node("Conv", "x", "q").Out("y")
	e := n.count(t, "y", 1, 2, 1).Entropy
	if e.Bits != 2 || e.Compression != 16 { // codes 0 to 3, twice each
		t.Errorf("%+v", e)
	}
}

// TestStates checks that states are counted per sample and output position, and are those behind the layer's
// activation.
func TestStates(t *testing.T) {
	t.Parallel()
	n := newNet()
	n.Input("x", graph.DTypeFloat32, 1, 2, 2, 1)
	sums, flat := n.fresh(), n.fresh()
	n.Node("Conv", "x", n.weights(2, 2, 1, 1)).Out(sums)
	code := n.quant(n.op("Relu", sums), 4)
	n.Node("Flatten", code).Out(flat)
	got := n.count(t, n.op("MatMul", flat, n.weights(4, 1)), 1, 1)
	o := got.NewNeuronStateObserver()
	for _, given := range [][]float64{
		{1, 0, 0, 2}, // channels one after the other: states 10 and 01
		{1, 3, 1, 2}, // 11 and 11
	} {
		o.CollectSample(func(tensor string) ([]int, []float64) {
			if tensor == code {
				return []int{1, 2, 2, 1}, given
			}
			return []int{1, 1}, given[:1] // on, both times
		})
	}
	if e := o.SetNeuronStateStats(); e != 0 {
		t.Errorf("efficiency %g of a network with a layer that is always in one state", e)
	}
	want := stats.NeuronStateStats{Tensor: code, Neurons: 2, Seen: 4, Distinct: 3, On: 0.75, Entropy: 1.5,
		Efficiency: 0.75}
	if s := *got.Layers[0].States; s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
	if s := *got.Layers[1].States; s.Neurons != 1 || s.Seen != 2 || s.Distinct != 1 || s.Entropy != 0 || s.On != 1 {
		t.Errorf("%+v", s)
	}
}

// TestInferenceCost compares the figures with those of qonnx' inference_cost, computed by hand.
func TestInferenceCost(t *testing.T) {
	t.Parallel()
	n := newNet()
	n.Input("x", graph.DTypeFloat32, 1, 2).Init("w", graph.DTypeFloat32, []int{2, 3}, 0, 1, -1, 0.5, 0, 2)
	got := n.count(t, n.quant(n.op("MatMul", n.quant("x", 4), n.quant("w", 3)), 5), 1, 3).QONNXInferenceCost()
	want := map[string]float64{"op_mac_INT4_INT3": 4, "mem_w_INT3": 4, "mem_o_INT5": 3, "total_macs": 4,
		"total_bops": 48, "total_mem_w_elems": 4, "total_mem_w_bits": 12, "total_mem_o_elems": 3,
		"total_mem_o_bits": 15}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
