package convert

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/real"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/onnxtest"
)

// quantised returns a model with an input x of 4 elements, a quantiser with the given parameters, a product with
// weights of 2 outputs, and another quantiser.
func quantised(zeroIn, zeroOut, scaleOut float64, between string) []byte {
	m := onnxtest.New(14).Opset(operators.QONNXDomain, 2)
	m.Input("x", graph.DTypeFloat32, 1, 4).Output("y", graph.DTypeFloat32, 1, 2)
	m.Init("s", graph.DTypeFloat32, nil, 0.25).Init("b8", graph.DTypeFloat32, nil, 8).Init("z0", graph.DTypeFloat32,
		nil, 0)
	m.Init("zi", graph.DTypeFloat32, nil, zeroIn).Init("zo", graph.DTypeFloat32, nil, zeroOut)
	m.Init("w", graph.DTypeFloat32, []int{4, 2}, 1, -2, 3, 1, -1, 2, 2, -3).Init("one", graph.DTypeFloat32, nil, 1)
	m.Init("b3", graph.DTypeFloat32, nil, 3).Init("so", graph.DTypeFloat32, nil, scaleOut)
	quant := func(x, s, z, b, out string, signed int64) {
		m.Node("Quant", x, s, z, b).Domain(operators.QONNXDomain).Int("signed", signed).Int("narrow",
			0).Name(out).Out(out)
	}
	quant("x", "s", "zi", "b8", "xq", 0)
	quant("w", "one", "z0", "b3", "wq", 1)
	m.Node("MatMul", "xq", "wq").Name("product").Out("p")
	last := "p"
	if between != "" {
		m.Node(between, "p").Name("between").Out("r")
		last = "r"
	}
	quant(last, "so", "zo", "b8", "y", 0)
	return m.Bytes()
}

// TestOddZeroPoints checks what is proved about odd zero points. In front of real inputs every value may arrive.
// Behind a product the sums that occur decide. Sums are multiples of 1/4 here. With a scale of 3/2, ties are odd
// multiples of 3/4, and some sums are ties. With a scale of 3/8, ties are odd multiples of 3/16, and no sum is a
// tie.
func TestOddZeroPoints(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in, out, scale float64
		want           string
	}{
		{0, 0, 1.5, "same program"},
		{8, 0, 1.5, "same program"},
		{0, 2, 1.5, "same program"},
		{7, 0, 1.5, "error: xq: its zero point is odd"},
		{0, 3, 1.5, "error: y: its zero point is odd"},
		{0, 3, 0.375, "same network"},
	} {
		_, got := convert(t, "odd", quantised(c.in, c.out, c.scale, ""), Options{To: DialectQCDQ})
		if !strings.Contains(got, c.want) || strings.Contains(c.want, "error") == strings.Contains(got, "same") {
			t.Errorf("zero points %v and %v: %s, want %s", c.in, c.out, got, c.want)
		}
	}
}

// TestOneOperator checks that a product and the steps behind it become a single operator if the codes stay the
// same.
func TestOneOperator(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ between, want string }{
		{"", "1 QLinearMatMul"}, {"Relu", "1 QLinearMatMul"}, {"Sigmoid", "1 MatMulInteger"},
	} {
		_, got := convert(t, "one", quantised(0, 0, 0.375, c.between), Options{To: DialectQOperator})
		if !strings.Contains(got, c.want) || !strings.Contains(got, "same ") {
			t.Errorf("%q: %s, want %s", c.between, got, c.want)
		}
	}
}

// TestAdd checks that a sum of two quantised tensors becomes a QLinearAdd, and that QOperator files convert to
// the other dialects.
func TestAdd(t *testing.T) {
	t.Parallel()
	m := onnxtest.New(14).Opset(operators.QONNXDomain, 2)
	m.Input("a", graph.DTypeFloat32, 1, 4).Input("b", graph.DTypeFloat32, 1, 4).Output("y", graph.DTypeFloat32, 1, 4)
	m.Init("s", graph.DTypeFloat32, nil, 0.25).Init("t", graph.DTypeFloat32, nil, 0.5).Init("z", graph.DTypeFloat32,
		nil, 0)
	m.Init("n", graph.DTypeFloat32, nil, 4)
	for _, q := range [][3]string{{"a", "s", "aq"}, {"b", "t", "bq"}} {
		m.Node("Quant", q[0], q[1], "z", "n").Domain(operators.QONNXDomain).Int("signed", 1).Int("narrow", 1).Out(q[2])
	}
	m.Node("Add", "aq", "bq").Name("sum").Out("c")
	m.Node("Quant", "c", "t", "z", "n").Domain(operators.QONNXDomain).Int("signed", 1).Int("narrow", 0).Out("y")
	r, got := convert(t, "add", m.Bytes(), Options{To: DialectQOperator})
	if r == nil || !strings.Contains(got, "1 QLinearAdd") || !strings.Contains(got, "3 Clip") {
		t.Fatal(got)
	}
	sameOutputs(t, "add", m.Bytes(), r.ONNX)
	for _, to := range []Dialect{DialectQCDQ, DialectQONNX} {
		back, line := convert(t, "add", r.ONNX, Options{To: to})
		if back == nil || strings.Contains(line, "QLinear") {
			t.Errorf("to %s: %s", to, line)
			continue
		}
		sameOutputs(t, "add back", m.Bytes(), back.ONNX)
	}
}

// TestOlderOpsets checks that constants of older opsets become inputs, and that nodes without a newer form are
// refused.
func TestOlderOpsets(t *testing.T) {
	t.Parallel()
	model := func(op string, axis int64) []byte {
		m := onnxtest.New(9).Opset(operators.QONNXDomain, 1)
		m.Input("x", graph.DTypeFloat32, 1, 4).Output("y", graph.DTypeFloat32)
		m.Init("s", graph.DTypeFloat32, nil, 0.25).Init("z", graph.DTypeFloat32, nil, 0).Init("n", graph.DTypeFloat32,
			nil, 4)
		m.Node("Quant", "x", "s", "z", "n").Domain(operators.QONNXDomain).Int("signed", 1).Out("q")
		n := m.Node(op, "q").Name("node")
		switch op {
		case "Clip":
			n.Float("min", -0.5).Float("max", 1)
		case "Softmax":
			n.Int("axis", axis)
		case "Unsqueeze", "Squeeze":
			n.Ints("axes", axis)
		}
		n.Out("y")
		return m.Bytes()
	}
	for _, c := range []struct {
		op   string
		axis int64
		want string
	}{
		{"Clip", 0, "same program"}, {"Unsqueeze", 1, "same program"}, {"Squeeze", 0, "same program"},
		{"Softmax", 1, "same program"}, {"Softmax", 0, "error: node: its form changed in opset 13"},
	} {
		_, got := convert(t, "old", model(c.op, c.axis), Options{To: DialectQCDQ})
		if !strings.Contains(got, c.want) {
			t.Errorf("%s %d: %s, want %s", c.op, c.axis, got, c.want)
		}
	}
}

// TestCleanDynamic checks that a dynamic axis stays dynamic: sizes that depend on it are not folded, and others
// are.
func TestCleanDynamic(t *testing.T) {
	t.Parallel()
	m := onnxtest.New(13)
	m.Input("x", graph.DTypeFloat32, "N", 4).Output("y", graph.DTypeFloat32, "N", 2, 2)
	m.Init("zero", graph.DTypeInt64, nil, 0).Init("rest", graph.DTypeInt64, []int{2}, 2, 2).Init("a", graph.DTypeInt64,
		[]int{1}, 0)
	m.Init("k", graph.DTypeFloat32, nil, 2)
	m.Node("Shape", "x").Out("shape")
	m.Node("Gather", "shape", "zero").Int("axis", 0).Out("n")
	m.Node("Unsqueeze", "n", "a").Out("n1")
	m.Node("Concat", "n1", "rest").Int("axis", 0).Out("to")
	m.Node("Mul", "k", "k").Out("four")
	m.Node("Mul", "x", "four").Out("scaled")
	m.Node("Reshape", "scaled", "to").Out("y")
	r, got := convert(t, "dynamic", m.Bytes(), Options{Clean: true})
	if r == nil || !strings.Contains(got, "1 Mul") || !strings.Contains(got, "1 Shape") {
		t.Fatal(got)
	}
	p := onnxtest.Of(r.ONNX).Proto.GetGraph()
	for _, v := range p.GetValueInfo() {
		if d := v.GetType().GetTensorType().GetShape().GetDim(); v.GetName() == "scaled" &&
			(len(d) != 2 || d[0].GetValue() != nil || d[1].GetDimValue() != 4) {
			t.Errorf("scaled is %v", d)
		}
	}
	if len(p.GetValueInfo()) != 5 {
		t.Errorf("%d shapes, want 5", len(p.GetValueInfo()))
	}
}

// TestWidths checks that limits determine a bit width, and the bit width the limits.
func TestWidths(t *testing.T) {
	t.Parallel()
	for bits := 1; bits <= 32; bits++ {
		for _, form := range [][2]bool{{true, false}, {true, true}, {false, false}, {false, true}} {
			if bits == 1 && (form[0] || form[1]) {
				continue
			}
			lo, hi := limits(bits, form[0], form[1])
			b, signed, narrow, ok := widthOf(lo, hi)
			if l, h := limits(b, signed, narrow); !ok || l != lo || h != hi {
				t.Errorf("%d bits %v: %d %v %v", bits, form, b, signed, narrow)
			}
		}
	}
	if _, _, _, ok := widthOf(-3, 5); ok {
		t.Error("-3 to 5 has a bit width")
	}
}

func TestRoundEven(t *testing.T) {
	t.Parallel()
	for n := int64(-40); n <= 40; n++ {
		for _, den := range []int64{1, 2, 3, 4, 8} {
			x := float64(n) / float64(den)
			if got := roundEven(big.NewRat(n, den)).Int64(); float64(got) != math.RoundToEven(x) {
				t.Errorf("%d/%d rounds to %d", n, den, got)
			}
		}
	}
}

// TestFusions checks that a fusion gives every code, and that the counted changes are those that occur, sum by sum.
func TestFusions(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range 200 {
		scale, bias := rng.NormFloat64()/8, rng.NormFloat64()
		f := &activation{product: &product{a: &coded{q: &quantiser{scale: channels{0.25}}},
			weights: [][]int64{{3, -2, 1}}}, q: &quantiser{scale: channels{0.5}, zero: channels{0}, lo: 0, hi: 7}}
		r := num.Range{Lo: -60, Hi: 75}
		v := &value{real.Add(real.Mul(real.Var(0), real.ConstantExprOfFloat(scale)), real.ConstantExprOfFloat(bias)),
			scale, bias}
		want, err := f.steps(v, r)
		if err != nil {
			t.Fatal(err)
		}
		near, err := f.candidate(f.nearest(v), r)
		if err != nil {
			t.Fatal(err)
		}
		n := int64(0)
		for x := r.Lo; x <= r.Hi; x++ {
			if want.Apply(x) != near.Apply(x) {
				n++
			}
		}
		if got := differing(want, near, r); got != n {
			t.Errorf("%d codes change, counted as %d", n, got)
		}
		how, ok := f.search(0, v, want, r)
		if !ok {
			continue
		}
		found++
		got, err := f.candidate(how, r)
		if err != nil || !got.RestrictedTo(r).Equal(want.RestrictedTo(r)) {
			t.Errorf("%+v gives %v, want %v", how, got, want)
		}
	}
	if found < 150 {
		t.Errorf("%d of 200 found", found)
	}
}
