package operators_test

import (
	"math"
	"slices"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/graphtest"
)

// An opCase has an operator with its arguments, and the elements it gives.
type opCase struct {
	name   string
	domain string
	op     string
	opset  int64 // 0 is 13
	attrs  graphtest.Attrs
	args   []*graph.ConstantTensor
	fixed  bool // every argument but the first must be a constant
	shape  []int
	want   []float64
}

// opCases has the cases of all operators.
var opCases = slices.Concat(arithmeticCases, shapeCases, quantiserCases)

func TestOperators(t *testing.T) {
	t.Parallel()
	for _, c := range opCases {
		c.check(t)
	}
}

// check executes a case on constants, on data, and with the first argument alone as data.
func (c opCase) check(t *testing.T) {
	t.Helper()
	opset := c.opset
	if opset == 0 {
		opset = 13
	}
	ways := map[string]func(int) bool{
		"constants": func(int) bool { return false },
		"one input": func(i int) bool { return i == 0 },
		"data":      func(int) bool { return true },
	}
	if c.fixed {
		delete(ways, "data")
	}
	if c.args[0].Len() == 0 {
		delete(ways, "one input")
		delete(ways, "data")
	}
	for way, data := range ways {
		g := graphtest.Single(c.domain, c.op, opset, c.attrs, data, c.args...)
		operators.DecomposeOperators(g)
		var d diag.List
		p := operators.Prepare(g, "model.onnx", operators.Options{}, &d)
		if p == nil {
			t.Errorf("%s (%s): %v", c.name, way, d.Diags)
			continue
		}
		if got := p.Known["y"].Shape; !slices.Equal(got, c.shape) {
			t.Errorf("%s (%s): shape %v, want %v", c.name, way, got, c.shape)
		}
		checkWindows(t, c.name, p)
		var in [][]float64
		for i, a := range c.args {
			if a != nil && data(i) {
				in = append(in, values(a))
			}
		}
		got, err := graphtest.Execute(p, in...)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s (%s): %v, %v, want %v", c.name, way, got, err, c.want)
		}
	}
}

func TestShape(t *testing.T) {
	t.Parallel()
	x := graphtest.Reals([]int{2, 3, 4}, graphtest.Count(24)...)
	for _, c := range []struct {
		attrs graphtest.Attrs
		want  []int64
	}{
		{nil, []int64{2, 3, 4}},
		{graphtest.Attrs{"start": 1}, []int64{3, 4}},
		{graphtest.Attrs{"start": -1}, []int64{4}},
		{graphtest.Attrs{"end": -1}, []int64{2, 3}},
		{graphtest.Attrs{"start": 1, "end": 2}, []int64{3}},
		{graphtest.Attrs{"start": 2, "end": 1}, nil},
		{graphtest.Attrs{"start": int64(math.MinInt64), "end": int64(math.MaxInt64)}, []int64{2, 3, 4}},
	} {
		var d diag.List
		p := operators.Prepare(graphtest.Single("", "Shape", 15, c.attrs, func(int) bool { return true }, x), "m",
			operators.Options{},
			&d)
		if p == nil {
			t.Errorf("%v: %v", c.attrs, d.Diags)
			continue
		}
		k := p.Known["y"]
		if k.Const == nil || k.DType != graph.DTypeInt64 || !slices.Equal(k.Const.I, c.want) ||
			!slices.Equal(k.Shape, []int{len(c.want)}) {
			t.Errorf("%v: %v, want %v", c.attrs, k, c.want)
		}
	}
}

func TestConstant(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		attrs graphtest.Attrs
		shape []int
		want  []float64
	}{
		{graphtest.Attrs{"value": graphtest.Reals([]int{2}, 1, 2)}, []int{2}, []float64{1, 2}},
		{graphtest.Attrs{"value_float": 0.5}, nil, []float64{0.5}},
		{graphtest.Attrs{"value_int": 7}, nil, []float64{7}},
		{graphtest.Attrs{"value_floats": []float64{1, 2}}, []int{2}, []float64{1, 2}},
		{graphtest.Attrs{"value_ints": []int64{3}}, []int{1}, []float64{3}},
	} {
		var d diag.List
		p := operators.Prepare(graphtest.Single("", "Constant", 13, c.attrs, nil), "m", operators.Options{}, &d)
		if p == nil || p.Known["y"].Const == nil || !slices.Equal(values(p.Known["y"].Const), c.want) ||
			!slices.Equal(p.Known["y"].Shape, c.shape) {
			t.Errorf("%v: %v", c.attrs, d.Diags)
		}
	}
}

// TestExactIntegers moves integers that no float64 holds: the ends of slices are such.
func TestExactIntegers(t *testing.T) {
	t.Parallel()
	big := []int64{math.MaxInt64, math.MinInt64, 1<<53 + 1}
	var d diag.List
	p := operators.Prepare(graphtest.Single("", "Concat", 13, graphtest.Attrs{"axis": 0},
		func(int) bool { return false }, graphtest.Int64s(big...),
		graphtest.Int64s(7)), "m", operators.Options{}, &d)
	if p == nil || p.Known["y"].Const == nil || !slices.Equal(p.Known["y"].Const.I, append(big, 7)) {
		t.Errorf("%v %v", p, d.Diags)
	}
	// Arithmetic on them is exact as well, though no constant comes of it.
	p = operators.Prepare(graphtest.Single("", "Sub", 13, nil, func(int) bool { return false },
		graphtest.Int64s(1<<53+1, math.MaxInt64),
		graphtest.Int64s(1<<53, math.MaxInt64-2)), "m", operators.Options{}, &d)
	if got, err := graphtest.Execute(p); err != nil || !slices.Equal(got, []float64{1, 2}) {
		t.Errorf("differences of large integers: %v, %v, want 1 and 2", got, err)
	}
}
