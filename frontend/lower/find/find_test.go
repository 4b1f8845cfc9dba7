package find

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"hlsgen/frontend/canon"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/onnxio"
	"hlsgen/frontend/pass"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/onnxtest"
)

// programOf prepares a model. Its input x, and r if it has one, are integers in steps of 1/2. They lie one behind the
// other on a stream of vectors along their last axis.
func programOf(t *testing.T, m *onnxtest.Model) *AnalysedProgram {
	t.Helper()
	var d diag.List
	g := onnxio.ParseGraph("m", m.Bytes(), &d)
	if g == nil {
		t.Fatal(d.Diags)
	}
	written := &canon.PassState{Program: onnxtest.Prepare(t, g)}
	canonical, err := canon.NormaliseGraph(written, pass.Options[*canon.PassState]{}, &d)
	if err != nil || canonical == nil {
		t.Fatal(err, d.Diags)
	}
	p := NewAnalysedProgram(canonical)
	code := num.Type{Kind: num.KindInt, Width: 4}
	for _, in := range g.Inputs {
		shape := p.Known[in.Name].Shape
		channels := shape[len(shape)-1]
		of := dataflow.StreamType{Shape: dataflow.Shape{graph.ElementCount(shape) / channels, channels},
			Range: []num.Range{code.Range()}, Elem: code}
		p.Integers.DeclareIntegerTensor(in.Name, []real.Affine{{Scale: big.NewRat(1, 2), Bias: new(big.Rat)}})
		p.Places[in.Name] = &place.TensorPlace{WireStream: place.NewStreamFromHost(in.Name, in.Name, of)}
	}
	return p
}

// model returns a model with an input of two vectors of three elements.
func model() *onnxtest.Model {
	m := onnxtest.New(13).Opset("qonnx.custom_op.general", 2)
	return m.Input("x", graph.DTypeFloat32, 2, 3).Init("one", graph.DTypeFloat32, nil, 1).Init("zero",
		graph.DTypeFloat32, nil, 0).
		Init("bits", graph.DTypeFloat32, nil, 4)
}

func quantised(m *onnxtest.Model, in, out string) {
	m.Node("Quant", in, "one", "zero", "bits").Domain("qonnx.custom_op.general").Int("signed", 1).Out(out)
}

// code returns the only quantiser of a model.
func code(t *testing.T, p *AnalysedProgram) *program.Step {
	t.Helper()
	at := slices.IndexFunc(p.Steps, scaled.IsQuantiserStep)
	if at < 0 {
		t.Fatal("no quantiser")
	}
	return p.Steps[at]
}

// producer returns the step of the only node of an operator.
func producer(t *testing.T, p *AnalysedProgram, is func(s *program.Step) bool) *program.Step {
	t.Helper()
	at := slices.IndexFunc(p.Steps, is)
	if at < 0 {
		t.Fatal("no such step")
	}
	return p.Steps[at]
}

// TestOperand checks the integers behind a tensor and their real values, channel by channel.
func TestOperand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		make  func(m *onnxtest.Model)
		froms string // source of each element
		of    string // scale and bias of each of three channels
		falls string
		fails bool
	}{
		{name: "a scale for each, and a bias", make: func(m *onnxtest.Model) {
			m.Init("s", graph.DTypeFloat32, []int{3}, 2, -4, 6)
			m.Node("Mul", "x", "s").Out("m")
			m.Node("Add", "m", "one").Out("v")
		}, froms: "[0 1 2 3 4 5]", of: "1 1, -2 1, 3 1", falls: "[false true false]"},
		{name: "vectors turned round", make: func(m *onnxtest.Model) {
			m.Init("last", graph.DTypeInt64, []int{3}, 2, 1, 0)
			m.Node("Gather", "x", "last").Int("axis", 1).Out("v")
		}, froms: "[2 1 0 5 4 3]", of: "1/2 0, 1/2 0, 1/2 0", falls: "[false false false]"},
		{name: "a scale for each vector", make: func(m *onnxtest.Model) {
			m.Init("s", graph.DTypeFloat32, []int{2, 1}, 2, 4)
			m.Node("Mul", "x", "s").Out("v")
		}, froms: "[0 1 2 3 4 5]"},
		{name: "a curve", make: func(m *onnxtest.Model) { m.Node("Relu", "x").Out("v") }, fails: true},
		{name: "two integers", make: func(m *onnxtest.Model) {
			m.Init("last", graph.DTypeInt64, []int{3}, 2, 1, 0)
			m.Node("Gather", "x", "last").Int("axis", 1).Out("turned")
			m.Node("Add", "x", "turned").Out("v")
		}, fails: true},
	} {
		m := model()
		tt.make(m)
		p := programOf(t, m.Output("v", graph.DTypeFloat32, 2, 3))
		o, err := p.OperandOf("v", program.NewIndexList(scaled.NewCountingList(6)))
		if (err != nil) != tt.fails {
			t.Errorf("%s: %v", tt.name, err)
		}
		if err != nil {
			continue
		}
		var froms []int32
		for k := range o.Len() {
			_, at := o.SourceOf(k)
			froms = append(froms, at)
		}
		if got := fmt.Sprint(froms); got != tt.froms || !slices.Equal(o.Tensors, []string{"x"}) {
			t.Errorf("%s: elements %s of %v, want %s", tt.name, got, o.Tensors, tt.froms)
		}
		of, ok := o.ChannelAffines(3)
		if ok != (tt.of != "") {
			t.Errorf("%s: scaled alike is %v", tt.name, ok)
		}
		if !ok {
			continue
		}
		text := ""
		for _, f := range of {
			text += ", " + f.Scale.RatString() + " " + f.Bias.RatString()
		}
		if falls, ok := o.DecreasingChannels(3); text[2:] != tt.of || !ok || fmt.Sprint(falls) != tt.falls {
			t.Errorf("%s: %s, %v, want %s, %s", tt.name, text[2:], falls, tt.of, tt.falls)
		}
	}
}

// TestCodes checks that a quantiser rounds a function of the integers per channel, or a joint function of several
// integers.
func TestCodes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		make      func(m *onnxtest.Model)
		functions []float64 // value at 3, by channel
		byElement bool
		joins     bool
	}{
		{name: "a scale and a bias", make: func(m *onnxtest.Model) {
			m.Init("s", graph.DTypeFloat32, []int{3}, 2, -4, 6)
			m.Node("Mul", "x", "s").Out("m")
			m.Node("Relu", "m").Out("v")
		}, functions: []float64{3, 0, 7}},
		{name: "by vectors", make: func(m *onnxtest.Model) {
			m.Init("s", graph.DTypeFloat32, []int{2, 1}, 2, 4)
			m.Node("Mul", "x", "s").Out("v")
		}, byElement: true, functions: []float64{3, 3, 3, 6, 6, 6}},
		{name: "with another one", make: func(m *onnxtest.Model) {
			m.Init("last", graph.DTypeInt64, []int{3}, 2, 1, 0)
			m.Node("Gather", "x", "last").Int("axis", 1).Out("turned")
			m.Node("Add", "x", "turned").Out("v")
		}, joins: true},
	} {
		m := model()
		tt.make(m)
		quantised(m, "v", "y")
		p := programOf(t, m.Output("y", graph.DTypeFloat32, 2, 3))
		c, err := p.ReadQuantiser(code(t, p))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if _, joins := c.SeveralIntegersForm(); joins != tt.joins {
			t.Errorf("%s: joins is %v", tt.name, joins)
		}
		if tt.joins {
			continue
		}
		list, reject := c.CodeSources()
		if (reject != nil) != tt.byElement {
			t.Errorf("%s: sources by channel: %v", tt.name, reject)
		}
		if tt.byElement {
			var ok bool
			if list, ok = c.CodeSourcesPerElement(); !ok {
				t.Errorf("%s: none by element", tt.name)
			}
		}
		if len(list) != 1 || list[0].Tensor != "x" ||
			list[0].HasFunctionPerElement(p.Places["x"].Type) != tt.byElement {
			t.Errorf("%s: sources %+v", tt.name, list)
			continue
		}
		var got []float64
		for _, f := range list[0].Functions {
			y, sure := real.Compile(f).EvaluateInterval([]real.Interval{real.NewPointInterval(3)})
			if !sure || !y.IsPoint() {
				t.Errorf("%s: a value between %v and %v", tt.name, y.Lo, y.Hi)
			}
			got = append(got, y.Lo)
		}
		if !slices.Equal(got, tt.functions) {
			t.Errorf("%s: values at 3 are %v, want %v", tt.name, got, tt.functions)
		}
	}
}

// TestUses checks that unused steps do not count, and that a quantiser is found only behind steps of one argument.
func TestUses(t *testing.T) {
	t.Parallel()
	m := model().Init("w", graph.DTypeFloat32, []int{3, 3}, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	m.Node("Relu", "x").Out("a")
	m.Node("Neg", "a").Out("b")
	quantised(m, "b", "q")
	m.Node("MatMul", "q", "w").Out("y")
	m.Node("Sigmoid", "x").Out("dead")
	p := programOf(t, m.Output("y", graph.DTypeFloat32, 2, 3))
	next, ok := p.Uses.SoleNextQuantiser("a")
	if !ok || next != code(t, p) {
		t.Errorf("%v, %v is the quantiser next to a", next, ok)
	}
	if n := len(p.Uses.ReadingSteps("x")); n != 1 || !p.Uses.FeedsLayer("x") || !p.Uses.FeedsQuantiser("x") ||
		!p.Uses.ReachesOutputsOnlyThrough("x", next) || p.Uses.FeedsQuantiser("y") || p.Uses.FeedsLayer("y") {
		t.Errorf("%d read x", n)
	}
	dot := producer(t, p, func(s *program.Step) bool { return s.Dot != nil })
	if !p.Uses.IsStepNeededByOutputs(dot) || p.Uses.IsHostTail(dot) || p.Uses.FeedsQuantiser(dot.Output) {
		t.Error("the product of weights is none of a layer")
	}
	if _, ok := p.Uses.SoleNextQuantiser(next.Output); ok {
		t.Error("a quantiser is found behind a product")
	}
	if at, ok := p.PlaceOf("x"); !ok || at != p.Places["x"] {
		t.Error("x is not ready")
	}
	p.Places["x"].Held = true
	if _, ok := p.PlaceOf("x"); ok {
		t.Error("x is ready while it is held")
	}
	if p.StreamNameOf(next.Output) != "q" || p.StreamNameOf("x") != "x" {
		t.Errorf("codes are called %q, an input %q", p.StreamNameOf(next.Output), p.StreamNameOf("x"))
	}
	if p.CountTowardsTraceLimit(0) == nil || p.CountTowardsTraceLimit(maxTraced) != nil ||
		p.CountTowardsTraceLimit(1) == nil {
		t.Error("elements are not counted")
	}
}

// TestQuantisedNext checks that a quantiser behind a product is not the next quantiser of the product's data.
func TestQuantisedNext(t *testing.T) {
	t.Parallel()
	m := model().Init("w", graph.DTypeFloat32, []int{3, 3}, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	m.Node("Neg", "x").Out("a")
	m.Node("MatMul", "a", "w").Out("b")
	m.Node("Neg", "b").Out("c")
	quantised(m, "c", "y")
	p := programOf(t, m.Output("y", graph.DTypeFloat32, 2, 3))
	for tensor, want := range map[string]bool{"x": false, "a": false, "b": true, "c": true} {
		if _, ok := p.Uses.SoleNextQuantiser(tensor); ok != want {
			t.Errorf("a quantiser next to %s: %v", tensor, ok)
		}
	}
}

// TestVectors checks that vectors are multiplied with the weights of their scaled elements, without those of
// constants.
func TestVectors(t *testing.T) {
	t.Parallel()
	m := model().Init("w", graph.DTypeFloat32, []int{3, 2}, 1, 0, 2, 3, 0, -1).Init("s", graph.DTypeFloat32, []int{3},
		1, 2, 1)
	m.Node("Mul", "x", "s").Out("v")
	m.Node("MatMul", "v", "w").Out("y")
	p := programOf(t, m.Output("y", graph.DTypeFloat32, 2, 2))
	step := producer(t, p, func(s *program.Step) bool { return s.Dot != nil })
	elements, rows, ok := ElementIndicesOfProductVectors(step.Dot)
	if !ok || rows != 2 || fmt.Sprint(elements) != "[0 1 2 3 4 5]" {
		t.Fatalf("%v, %d, %v", elements, rows, ok)
	}
	o, err := p.OperandOf("v", program.NewIndexList(elements))
	if err != nil {
		t.Fatal(err)
	}
	v, err := MatrixVectorsOf(step.Dot, p.Known["w"].Const, rows, o)
	if err != nil || v.Count != 2 || v.K != 3 {
		t.Fatalf("%+v, %v", v, err)
	}
	matrix, of, reject := v.NewMatrixProduct([]int{0, 1, 2}, 3)
	if reject != nil || fmt.Sprint(matrix.Weights) != "[[1 4 0] [0 6 -1]]" || len(of.Of) != 2 {
		t.Fatalf("%v, %v, %v", matrix.Weights, of, reject)
	}
	for c, f := range of.Of {
		if f.Scale.Cmp(big.NewRat(1, 2)) != 0 || f.Bias.Sign() != 0 {
			t.Errorf("output %d is in steps of %v from %v", c, f.Scale, f.Bias)
		}
	}
}

// TestJoint checks that integers of two tensors are joined in a sum of multiples that are as small as possible.
func TestJoint(t *testing.T) {
	t.Parallel()
	for _, shared := range []bool{false, true} {
		m := model().Input("r", graph.DTypeFloat32, 2, 3).Init("three", graph.DTypeFloat32, nil, 3)
		m.Node("Mul", "r", "three").Out("thrice")
		m.Node("Sub", "x", "thrice").Out("sum")
		m.Node("Add", "sum", "one").Out("v")
		quantised(m, "v", "y")
		if shared {
			m.Node("Neg", "sum").Out("z")
			m.Output("z", graph.DTypeFloat32, 2, 3)
		}
		p := programOf(t, m.Output("y", graph.DTypeFloat32, 2, 3))
		step := code(t, p)
		at, ok := p.FindCombiningStep(step.Node.Inputs[0])
		if !ok || at.Step.Output != "sum" || !slices.Equal(at.Data, []string{"x", "thrice"}) ||
			p.IsFromSharedSum(step.Node.Inputs[0]) != shared {
			t.Errorf("shared %v: integers meet in %+v, %v", shared, at, ok)
		}
		c, err := p.ReadQuantiser(step)
		if err != nil {
			t.Fatal(err)
		}
		j, err := p.MultiTensorValueOf(at.Step, forms(t, p, at.Step))
		if err != nil || !slices.Equal(j.Shape, dataflow.Shape{2, 3}) || j.At != nil || len(j.Operands) != 2 {
			t.Fatalf("%+v, %v", j, err)
		}
		sum, of, reject := j.AsWeightedSum([]dataflow.StreamType{p.Places["x"].Type, p.Places["r"].Type})
		if reject != nil || fmt.Sprint(sum.Factors) != "[[1 1 1] [-3 -3 -3]]" {
			t.Fatalf("%v, %v", sum.Factors, reject)
		}
		for _, f := range of.Of {
			if f.Scale.Cmp(big.NewRat(1, 2)) != 0 || f.Bias.Sign() != 0 {
				t.Errorf("the sum is in steps of %v from %v", f.Scale, f.Bias)
			}
		}
		if _, joins := c.SeveralIntegersForm(); !joins {
			t.Error("a sum of two joins none")
		}
	}
}

// forms returns the functions of a step's elements.
func forms(t *testing.T, p *AnalysedProgram, step *program.Step) *scaled.ElementForms {
	t.Helper()
	f, err := p.Integers.FormsOfStepElements(step, p.Integers.SharedCountingList(graph.ElementCount(step.Shape)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestRanking checks values to be sorted. Integers are sorted if their order is the values' order, or the reverse.
// Columns of different scales get a common scale by larger weights.
func TestRanking(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		scales    []float64
		falls, ok bool
		weights   string // for three columns of weights 1 and -2; empty if they get no common scale
	}{
		{[]float64{2, 2, 2}, false, true, "[[1 -2] [1 -2] [1 -2]]"},
		{[]float64{-2, -2, -2}, true, true, "[[1 -2] [1 -2] [1 -2]]"},
		{[]float64{2, 4, 6}, false, false, "[[1 -2] [2 -4] [3 -6]]"},
		{[]float64{1, -2, 1}, false, false, "[[1 -2] [-2 4] [1 -2]]"},
		{[]float64{1, 64, 1}, false, false, "[[1 -2] [64 -128] [1 -2]]"},
		{[]float64{1, 100, 1}, false, false, ""},
	} {
		m := model().Init("s", graph.DTypeFloat32, []int{3}, tt.scales...).Init("k", graph.DTypeInt64, []int{1}, 2)
		m.Node("Mul", "x", "s").Out("v")
		m.Node("TopK", "v", "k").Int("axis", 1).Out("values", "y")
		p := programOf(t, m.Output("y", graph.DTypeInt64, 2, 2))
		r, err := p.RowsToSortOf(producer(t, p, func(s *program.Step) bool { return s.Order != nil && s.Order.Index }))
		if err != nil || r.Source != "x" || r.N != 3 || r.K != 2 || len(r.Affine) != 6 {
			t.Fatalf("%v: %+v, %v", tt.scales, r, err)
		}
		if falls, ok := r.IsOrderReversed(); falls != tt.falls || ok != tt.ok {
			t.Errorf("%v: falls %v, %v", tt.scales, falls, ok)
		}
		out, of, falls, ok := p.EqualiseColumnScales(r, [][]int64{{1, -2}, {1, -2}, {1, -2}})
		if ok != (tt.weights != "") || ok && fmt.Sprint(out) != tt.weights {
			t.Errorf("%v: weights %v, %v, want %s", tt.scales, out, ok, tt.weights)
		}
		if ok && (falls != (tt.scales[0] < 0) || of.Of[1].Scale.Cmp(
			new(big.Rat).Quo(big.NewRat(1, 2), new(big.Rat).SetFloat64(tt.scales[1]/tt.scales[0]))) != 0) {
			t.Errorf("%v: falls %v, steps of %v", tt.scales, falls, of.Of[1].Scale)
		}
	}
}

// TestLayouts checks that frames of windows are pixels, whatever the order of the axes.
func TestLayouts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		last     bool
		shape    []int
		frame    string
		elements string
		channels ChannelLayout
	}{
		{false, []int{1, 2, 1, 3}, "[1 3 2]", "[0 3 1 4 2 5]", ChannelLayout{2, 3}},
		{true, []int{1, 1, 3, 2}, "[1 3 2]", "[0 1 2 3 4 5]", ChannelLayout{2, 1}},
	} {
		w, all := &program.Window{ChannelsLast: tt.last}, WindowLayoutCache{}
		for range 2 {
			frame, elements, err := all.WindowFrameElements(w, tt.shape)
			if err != nil || fmt.Sprint(frame) != tt.frame || fmt.Sprint(elements.ToSlice()) != tt.elements {
				t.Errorf("%v: %v, %v, %v", tt.shape, frame, elements.ToSlice(), err)
			}
			frame[0] = 100 // the list of the caller
		}
		c := ChannelLayoutOf(w, tt.shape)
		if c != tt.channels || c.ChannelOfElement(4) != map[bool]int32{false: 1, true: 0}[tt.last] || len(all) != 1 {
			t.Errorf("%v: channels %+v, element 4 in %d, %d layouts", tt.shape, c, c.ChannelOfElement(4), len(all))
		}
		if _, _, err := all.WindowFrameElements(w, []int{2, 2, 1, 3}); err == nil {
			t.Error("two samples are a frame")
		}
	}
}
