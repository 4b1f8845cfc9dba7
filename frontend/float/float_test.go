package float_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/frontend/execution"
	"hlsgen/frontend/float"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/tier"
)

// A drawing is a model that is being drawn: a chain of operators on a tensor, which branches now and then.
type drawing struct {
	*onnxtest.Model
	r      *rand.Rand
	n      int
	tensor string
	shape  []int // of tensor
	drawn  []string
}

func (d *drawing) fresh() string {
	d.n++
	return fmt.Sprintf("t%d", d.n)
}

// number is a float32 around 0, the same on every processor.
func (d *drawing) number() float64 { return float64(float32(4*d.r.Float64() - 2)) }

// constant is a tensor of numbers around 0, or, with positive, above it.
func (d *drawing) constant(positive bool, shape ...int) string {
	values := make([]float64, graph.ElementCount(shape))
	for i := range values {
		values[i] = d.number()
		if positive {
			values[i] = math.Abs(values[i]) + 0.25
		}
	}
	name := d.fresh()
	d.Init(name, graph.DTypeFloat32, shape, values...)
	return name
}

func (d *drawing) ints(values ...int) string {
	name, list := d.fresh(), make([]float64, len(values))
	for i, v := range values {
		list[i] = float64(v)
	}
	d.Init(name, graph.DTypeInt64, []int{len(values)}, list...)
	return name
}

// node writes a node on the tensor, which takes the tensor's place.
func (d *drawing) node(shape []int, op string, more ...string) *onnxtest.Node {
	n := d.Node(op, append([]string{d.tensor}, more...)...)
	d.drawn = append(d.drawn, op)
	d.tensor, d.shape = d.fresh(), shape
	return n.Out(d.tensor)
}

var curves = []string{"Sigmoid", "Tanh", "Elu", "Softplus", "HardSwish", "Gelu", "Softsign", "LeakyRelu", "Relu",
	"Mish", "HardSigmoid", "Erf", "Exp", "Selu", "Atan", "Sin", "Cos", "Neg", "Abs"}

// step draws an operator.
func (d *drawing) step() {
	s := slices.Clone(d.shape)
	image := len(s) == 4
	switch k := d.r.IntN(16); {
	case k < 4:
		op := curves[d.r.IntN(len(curves))]
		if op == "Exp" { // of what is not large
			d.node(s, "Tanh")
		}
		d.node(s, op)
	case k == 4 && image:
		group, out := 1, 1+d.r.IntN(9)
		if d.r.IntN(3) == 0 {
			group, out = s[1], s[1]*(1+d.r.IntN(2))
		}
		kernel, stride := 1+d.r.IntN(min(3, s[2], s[3])), 1+d.r.IntN(2)
		inputs := []string{d.constant(false, out, s[1]/group, kernel, kernel)}
		if d.r.IntN(2) == 0 {
			inputs = append(inputs, d.constant(false, out))
		}
		s[1], s[2], s[3] = out, (s[2]+1-kernel)/stride+1, (s[3]+1-kernel)/stride+1
		d.node(s, "Conv", inputs...).Int("group", int64(group)).Ints("strides", int64(stride), int64(stride)).
			Ints("pads", 1, 0, 0, 1)
	case k == 5 && image && s[2] > 1 && s[3] > 1:
		op := []string{"MaxPool", "AveragePool"}[d.r.IntN(2)]
		s[2], s[3] = (s[2]+1-2)/2+1, (s[3]+1-2)/2+1
		d.node(s, op).Ints("kernel_shape", 2, 2).Ints("strides", 2, 2).Ints("pads", 1, 1, 0, 0)
	case k == 6:
		n := 1 + d.r.IntN(20)
		w := d.constant(false, s[len(s)-1], n)
		s[len(s)-1] = n
		d.node(s, "MatMul", w)
	case k == 7:
		perm, turned := []int64{0}, []int{s[0]}
		for _, a := range d.r.Perm(len(s) - 1) {
			perm, turned = append(perm, int64(a+1)), append(turned, s[a+1])
		}
		d.node(turned, "Transpose").Ints("perm", perm...)
	case k == 8:
		d.node(s, "Softmax").Int("axis", int64(1+d.r.IntN(len(s)-1)))
	case k == 9:
		axis := 1 + d.r.IntN(len(s)-1)
		s[axis] = 1
		d.node(s, []string{"ReduceMean", "ReduceMax", "ReduceL2"}[d.r.IntN(3)]).Ints("axes", int64(axis))
	case k == 10:
		op := []string{"Add", "Mul", "Sub", "Div", "Max"}[d.r.IntN(5)]
		d.node(s, op, d.constant(op == "Div", s[len(s)-1]))
	case k == 11: // with what it was before
		before := d.tensor
		d.node(s, []string{"Sigmoid", "Tanh", "Neg"}[d.r.IntN(3)])
		op := []string{"Add", "Mul", "Concat"}[d.r.IntN(3)]
		if op != "Concat" {
			d.node(s, op, before)
			break
		}
		s[1] *= 2
		d.node(s, op, before).Int("axis", 1)
	case k == 12:
		axis := 1 + d.r.IntN(len(s)-1)
		from := d.r.IntN(s[axis])
		s[axis] -= from
		d.node(s, "Slice", d.ints(from), d.ints(1<<30), d.ints(axis))
	case k == 13 && s[1] > 1:
		c := s[1]
		d.node(s, "BatchNormalization", d.constant(true, c), d.constant(false, c), d.constant(false, c),
			d.constant(true, c))
	case k == 14 && image:
		s[2], s[3] = 2*s[2], 2*s[3]
		scales := d.fresh()
		d.Init(scales, graph.DTypeFloat32, []int{4}, 1, 1, 2, 2)
		d.node(s, "Resize", "", scales).Str("mode", "nearest").
			Str("coordinate_transformation_mode", "asymmetric").Str("nearest_mode", "floor")
	case k == 15:
		d.recurrent()
	}
}

// recurrent reads the elements as a sequence of one row each.
func (d *drawing) recurrent() {
	t, in, units := d.shape[1], graph.ElementCount(d.shape[2:]), 1+d.r.IntN(5)
	if t*in > 400 {
		return
	}
	gates, op := 4, "LSTM"
	if d.r.IntN(2) == 0 {
		gates, op = 3, "GRU"
	}
	d.node([]int{t, 1, in}, "Reshape", d.ints(t, 1, in))
	d.node([]int{t, 1, 1, units}, op, d.constant(false, 1, gates*units, in), d.constant(false, 1, gates*units, units)).
		Int("hidden_size", int64(units))
	d.node([]int{1, t, units}, "Reshape", d.ints(1, t, units))
}

// draw is a model of several operators, and its program.
func draw(t *testing.T, seed uint64) (*program.Program, *drawing) {
	d := &drawing{Model: onnxtest.New(17), r: rand.New(rand.NewPCG(seed, 7)), tensor: "x"}
	d.Opset("", 17)
	d.Proto.OpsetImport = d.Proto.OpsetImport[:1]
	d.shape = []int{1, 1 + d.r.IntN(6), 2 + d.r.IntN(9), 2 + d.r.IntN(14)}
	if d.r.IntN(3) == 0 {
		d.shape = []int{1, 1 + d.r.IntN(8), 1 + d.r.IntN(40)}
	}
	d.Input("x", graph.DTypeFloat32, d.shape[0], d.shape[1], d.shape[2])
	if len(d.shape) == 4 {
		d.Proto.Graph.Input = nil
		d.Input("x", graph.DTypeFloat32, d.shape[0], d.shape[1], d.shape[2], d.shape[3])
	}
	for range 1 + d.r.IntN(6) {
		if d.step(); graph.ElementCount(d.shape) > 4000 {
			break
		}
	}
	d.node(d.shape, "Mul", d.constant(true))
	d.Output(d.tensor, graph.DTypeFloat32)
	var told diag.List
	g := onnxio.ParseGraph("drawn.onnx", d.Bytes(), &told)
	if g == nil {
		t.Fatalf("seed %d: %v: %v", seed, d.drawn, told.Diags)
	}
	operators.DecomposeOperators(g)
	p := operators.Prepare(g, "drawn.onnx", operators.Options{}, &told)
	if p == nil {
		t.Fatalf("seed %d: %v: %v", seed, d.drawn, told.Diags)
	}
	return p, d
}

// outputs runs a part once and gives its only output.
func outputs(t *testing.T, part *float.Evaluator, in []float64) (out []float64) {
	t.Helper()
	err := part.Run([][]float64{in}, func(_ string, _ []int, data []float64) { out = slices.Clone(data) })
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDrawnModelsAreNearTheReference draws models in which nothing is rounded, and compares float64 with their meaning.
// The difference must be at most a step of float32, at the size of the tensor's largest value.
func TestDrawnModelsAreNearTheReference(t *testing.T) {
	t.Parallel()
	n := 150
	if tier.Long() {
		n = 1500
	}
	seen := map[string]int{}
	for seed := range n {
		p, d := draw(t, uint64(seed))
		for _, op := range d.drawn {
			seen[op]++
		}
		if float.NeedsExactArithmetic(p) {
			t.Fatalf("seed %d: %v decides something", seed, d.drawn)
		}
		in := make([]float64, graph.ElementCount(p.Known["x"].Shape))
		for i := range in {
			in[i] = d.number()
		}
		exact, err := execution.NewProgramPart(p, []string{"x"}, []string{d.tensor})
		if err != nil {
			t.Fatal(err)
		}
		all, err := exact.RunForOutputs([]*program.Reals{program.NewExactReals(p.Known["x"].Shape, in)})
		if err != nil {
			t.Fatalf("seed %d: %v: %v", seed, d.drawn, err)
		}
		want, err := exact.RoundedOutput(d.tensor, all)
		if err != nil {
			t.Fatalf("seed %d: %v: %v", seed, d.drawn, err)
		}
		part, err := float.NewEvaluator(p, []string{"x"}, []string{d.tensor})
		if err != nil {
			t.Fatal(err)
		}
		got, most := outputs(t, part, in), 0.0
		for _, v := range want {
			most = max(most, math.Abs(v))
		}
		step := math.Ldexp(1, math.Ilogb(max(most, 0x1p-126))-23)
		for i, v := range want {
			if off := math.Abs(float64(float32(got[i])) - v); off > step {
				t.Fatalf("seed %d: %v: element %d is %v, want %v: %.2g steps", seed, d.drawn, i, got[i], v, off/step)
			}
		}
		if others := outputs(t, part.Fork().UseGoroutines(3), in); !slices.Equal(got, others) {
			t.Fatalf("seed %d: %v: others on three goroutines", seed, d.drawn)
		}
		if again := outputs(t, part, in); !slices.Equal(got, again) {
			t.Fatalf("seed %d: %v: others in the second run", seed, d.drawn)
		}
	}
	for _, op := range append(slices.Clone(curves), "Conv", "MaxPool", "AveragePool", "MatMul", "Softmax", "Resize",
		"LSTM", "GRU", "Concat", "BatchNormalization") {
		if seen[op] == 0 {
			t.Errorf("no model with %s was drawn", op)
		}
	}
}
