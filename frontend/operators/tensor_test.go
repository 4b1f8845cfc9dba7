package operators_test

import (
	"math"
	"slices"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/graphtest"
	"hlsgen/internal/testsupport/tier"
)

// coded is a tensor as codes, of the elements that another has.
func coded(t *graph.ConstantTensor) *graph.ConstantTensor {
	c := &graph.ConstantTensor{DType: t.DType, Shape: t.Shape, Codes: []uint8{}, Values: []float64{math.Inf(1)}}
	for i := range t.Len() {
		at := slices.Index(c.Values, t.FloatAt(i))
		if at < 0 {
			at, c.Values = len(c.Values), append(c.Values, t.FloatAt(i))
		}
		c.Codes = append(c.Codes, uint8(at))
	}
	return c
}

func TestTensorForms(t *testing.T) {
	t.Parallel()
	for _, wide := range []*graph.ConstantTensor{
		graphtest.Ints(graph.DTypeInt8, []int{2, 3}, -128, 127, 0, 1, 1, -128), graphtest.Ints(graph.DTypeBool,
			[]int{2}, 1, 0),
		graphtest.Ints(graph.DTypeInt64, nil, 5), graphtest.Ints(graph.DTypeInt8, []int{0, 2}),
		graphtest.Reals([]int{4}, 0.25, -1, 0.25, 3), graphtest.Reals(nil, -2), graphtest.Reals([]int{0}),
	} {
		c := coded(wide)
		if !slices.Equal(c.Floats(), wide.Floats()) || !slices.Equal(c.Ints(), wide.Ints()) {
			t.Errorf("%v as codes: %v %v", wide, c.Floats(), c.Ints())
		}
		if !c.Equal(wide) || !wide.Equal(c) || !c.Equal(c) {
			t.Errorf("%v is not what it is as codes", wide)
		}
		if wide.Len() == 0 {
			continue
		}
		changed := *c
		changed.Values = append(slices.Clone(c.Values), 77)
		changed.Codes = slices.Clone(c.Codes)
		changed.Codes[len(c.Codes)-1] = uint8(len(c.Values))
		if changed.Equal(c) || wide.Equal(&changed) {
			t.Errorf("%v is as it was with another last element", wide)
		}
		if got := slices.Sorted(c.PossibleValues()); !slices.Equal(got,
			slices.Compact(slices.Sorted(wide.PossibleValues()))) {
			t.Errorf("%v as codes has the elements %v", wide, got)
		}
	}
}

// TestFoldCodes holds that what is computed of codes is what is computed of the same numbers, and stays codes where
// one element gives one.
func TestFoldCodes(t *testing.T) {
	t.Parallel()
	w := graphtest.Ints(graph.DTypeInt8, []int{2, 3}, -128, 127, 0, 1, 1, -128)
	x := graphtest.Reals([]int{2, 3}, 0.25, -1, 0.25, 3, 0, 0.25)
	for _, c := range []struct {
		name, op string
		attrs    graph.AttributesByName
		args     []*graph.ConstantTensor
		codes    bool
	}{
		{"a scale", "DequantizeLinear", nil, []*graph.ConstantTensor{w, graphtest.Scalar(0.1)}, true},
		{"a zero point", "DequantizeLinear", nil, []*graph.ConstantTensor{w, graphtest.Scalar(0.1),
			graphtest.Ints(graph.DTypeInt8,
				nil, 3)}, true},
		{"a scale per row", "DequantizeLinear", graph.AttributesByName{"axis": graph.NewIntAttr(0)},
			[]*graph.ConstantTensor{w, graphtest.Reals([]int{2}, 0.5, 3)}, false},
		{"twice the same", "Mul", nil, []*graph.ConstantTensor{x, x}, true},
		{"another of codes", "Mul", nil, []*graph.ConstantTensor{x, graphtest.Reals([]int{2, 3}, 1, 2, 3, 1, 2, 3)},
			false},
		{"a number first", "Sub", nil, []*graph.ConstantTensor{graphtest.Scalar(2), x}, true},
		{"broadcast", "Add", nil, []*graph.ConstantTensor{x, graphtest.Reals([]int{2, 2, 3}, 1, 2, 3, 4, 5, 6, 1, 2, 3,
			4, 5,
			6)},
			false},
		{"to integers", "Cast", graph.AttributesByName{"to": graph.NewIntAttr(int(graph.DTypeInt32))},
			[]*graph.ConstantTensor{w}, true},
		{"no float64", "Div", nil, []*graph.ConstantTensor{x, graphtest.Scalar(3)}, false},
		{"moved", "Transpose", nil, []*graph.ConstantTensor{w}, true},
		{"another shape", "Reshape", nil, []*graph.ConstantTensor{x, graphtest.Ints(graph.DTypeInt64, []int{1}, -1)},
			true},
		{"side by side", "Concat", graph.AttributesByName{"axis": graph.NewIntAttr(0)}, []*graph.ConstantTensor{w, w},
			false},
	} {
		prepared := func(as func(*graph.ConstantTensor) *graph.ConstantTensor) *program.Program {
			g := &graph.Graph{Opsets: map[string]int64{"": 13}, Init: map[string]*graph.ConstantTensor{},
				Outputs: []graph.ValueInfo{{Name: "y"}}}
			n := &graph.Node{Op: c.op, Attrs: c.attrs, Outputs: []string{"y"}}
			names := map[*graph.ConstantTensor]string{}
			for i, a := range c.args {
				if names[a] == "" {
					names[a] = string(rune('a' + i))
					g.Init[names[a]] = as(a)
				}
				n.Inputs = append(n.Inputs, names[a])
			}
			g.Nodes = []*graph.Node{n}
			var d diag.List
			p := operators.Prepare(g, "codes.onnx", operators.Options{}, &d)
			if p == nil {
				t.Fatalf("%s: %v", c.name, d.Diags)
			}
			return p
		}
		want := prepared(func(t *graph.ConstantTensor) *graph.ConstantTensor { return t }).Known["y"]
		got := prepared(coded).Known["y"]
		if (got.Const == nil) != (want.Const == nil) || got.DType != want.DType ||
			!slices.Equal(got.Shape, want.Shape) {
			t.Errorf("%s: %v, want %v", c.name, got, want)
			continue
		}
		if want.Const != nil && (!got.Const.Equal(want.Const) || (got.Const.Codes != nil) != c.codes) {
			t.Errorf("%s: %v, want %v (codes: %t)", c.name, got.Const, want.Const, c.codes)
		}
	}
}

// TestCodesOfChannels holds that codes with a scale per channel stay codes where channels lie in runs, however they are
// moved and scaled on, and are always what the same numbers are.
func TestCodesOfChannels(t *testing.T) {
	t.Parallel()
	shape := []int{4, 6, 5, 3}
	w := &graph.ConstantTensor{DType: graph.DTypeInt8, Shape: shape, I: make([]int64, graph.ElementCount(shape))}
	for i := range w.I {
		w.I[i] = int64(i * i % 7 % 3)
	}
	scales := func(n int) *graph.ConstantTensor {
		s := graphtest.Reals([]int{n})
		for i := range n {
			s.F = append(s.F, 0.5+float64(i*i)/4)
		}
		return s
	}
	of := func(shape ...int) *graph.ConstantTensor {
		s := scales(graph.ElementCount(shape))
		s.Shape = shape
		return s
	}
	perm := func(axes ...int64) graph.AttributesByName {
		return graph.AttributesByName{"perm": {Kind: graph.AttrKindInts, Ints: axes}}
	}
	for _, c := range []struct {
		name, op string
		attrs    graph.AttributesByName
		args     []*graph.ConstantTensor
		codes    [4]bool // by the axis of the scales
	}{
		{"as they are", "Identity", nil, nil, [4]bool{true, true, true, true}},
		{"turned round", "Transpose", perm(3, 2, 1, 0), nil, [4]bool{true, true, true, true}},
		{"two axes changed", "Transpose", perm(1, 0, 2, 3), nil, [4]bool{true, true, true, true}},
		{"as a matrix", "Flatten", nil, nil, [4]bool{true, true, true, true}},
		{"scaled", "Mul", nil, []*graph.ConstantTensor{graphtest.Scalar(3)}, [4]bool{true, true, true, true}},
		{"scaled along the last axis", "Mul", nil, []*graph.ConstantTensor{of(3)}, [4]bool{3: true}},
		{"scaled along the second axis", "Add", nil, []*graph.ConstantTensor{of(6, 1, 1)}, [4]bool{1: true}},
		{"scaled along two axes", "Mul", nil, []*graph.ConstantTensor{of(6, 1, 3)}, [4]bool{}},
		{"a slice of each", "Gather", graph.AttributesByName{"axis": graph.NewIntAttr(2)},
			[]*graph.ConstantTensor{graphtest.Int64s(1, 3)}, [4]bool{true, true, true, true}},
		{"in another order", "Gather", graph.AttributesByName{"axis": graph.NewIntAttr(1)},
			[]*graph.ConstantTensor{graphtest.Int64s(5, 0, 3)}, [4]bool{true, true, true, true}},
		{"some twice", "Gather", graph.AttributesByName{"axis": graph.NewIntAttr(1)},
			[]*graph.ConstantTensor{graphtest.Int64s(5, 0, 5, 1)},
			[4]bool{true, false, true, true}},
	} {
		for axis, d := range shape {
			prepared := func(w *graph.ConstantTensor) *graph.ConstantTensor {
				g := &graph.Graph{Opsets: map[string]int64{"": 13}, Outputs: []graph.ValueInfo{{Name: "y"}},
					Init: map[string]*graph.ConstantTensor{"w": w, "scales": scales(d)}}
				then := &graph.Node{Op: c.op, Attrs: c.attrs, Inputs: []string{"real"}, Outputs: []string{"y"}}
				for _, a := range c.args {
					g.Init["b"] = a
					then.Inputs = append(then.Inputs, "b")
				}
				g.Nodes = []*graph.Node{{Op: "DequantizeLinear",
					Attrs:  graph.AttributesByName{"axis": graph.NewIntAttr(axis)},
					Inputs: []string{"w", "scales"}, Outputs: []string{"real"}}, then}
				var d diag.List
				p := operators.Prepare(g, "channels.onnx", operators.Options{}, &d)
				if p == nil {
					t.Fatalf("%s, axis %d: %v", c.name, axis, d.Diags)
				}
				return p.Known["y"].Const
			}
			got, want := prepared(coded(w)), prepared(w)
			if want.Codes != nil || !got.Equal(want) || !slices.Equal(got.Floats(), want.Floats()) {
				t.Errorf("%s, axis %d: %v, want %v", c.name, axis, got.Floats(), want.Floats())
			}
			if (got.Codes != nil) != c.codes[axis] {
				t.Errorf("%s, axis %d: codes: %t, want %t", c.name, axis, got.Codes != nil, c.codes[axis])
			}
			checkMeaning(t, got)
		}
	}
}

// TestWithoutTables holds that large tensors, which have no tables of what belongs to each element, are computed as
// small ones are.
func TestWithoutTables(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	shape := []int{4, 1, 64, 4096}
	w := graphtest.Reals(shape)
	for i := range graph.ElementCount(shape) {
		w.F = append(w.F, float64(i%977))
	}
	for _, by := range [][]int{{64, 1}, {4096}, {4, 1, 1, 1}, {64, 4096}, {4, 1, 64, 1}, {4, 1, 1, 4096}} {
		v := graphtest.Reals(by)
		for i := range graph.ElementCount(by) {
			v.F = append(v.F, float64(i))
		}
		g := graphtest.Single("", "Add", 13, nil, func(int) bool { return false }, w, v)
		y := graphtest.Prepare(t, g).Known["y"].Const
		padded := append(slices.Repeat([]int{1}, 4-len(by)), by...)
		for i := range w.F {
			at, rest, stride := 0, i, 1
			for a := 3; a >= 0; a-- {
				if padded[a] > 1 {
					at, stride = at+rest%shape[a]*stride, stride*padded[a]
				}
				rest /= shape[a]
			}
			if want := w.F[i] + v.F[at]; y.FloatAt(i) != want {
				t.Fatalf("%v + %v: element %d is %v, want %v", shape, by, i, y.FloatAt(i), want)
			}
		}
	}
}

// checkMeaning holds the meaning of codes in rows and in columns of a tensor as a matrix against its elements.
func checkMeaning(t *testing.T, w *graph.ConstantTensor) {
	t.Helper()
	n := w.Shape[0]
	for _, matrix := range [][2]int{{n, w.Len() / n}, {w.Len() / w.Shape[len(w.Shape)-1], w.Shape[len(w.Shape)-1]}} {
		rows, columns := matrix[0], matrix[1]
		for _, c := range []struct{ offsets, bases []int32 }{
			{program.NewStridedIndexTable([]int{columns}, []int{1}), program.NewStridedIndexTable([]int{rows},
				[]int{columns})},
			{program.NewStridedIndexTable([]int{rows}, []int{columns}), program.NewStridedIndexTable([]int{columns},
				[]int{1})},
		} {
			meaning := w.NewCodeValuesFunc(c.offsets)
			for _, base := range c.bases {
				values := meaning(base)
				if w.Codes == nil && values != nil {
					t.Fatalf("codes that there are not have the meaning %v", values)
				}
				for _, at := range c.offsets {
					i := int(base + at)
					if values != nil && values[w.Codes[i]] != w.FloatAt(i) {
						t.Fatalf("element %d is %v, means %v", i, w.FloatAt(i), values[w.Codes[i]])
					}
				}
			}
		}
	}
	if w.Codes == nil || w.Groups.Count == 0 {
		return
	}
	whole := w.NewCodeValuesFunc([]int32{0})
	for i := range w.Len() {
		if whole(int32(i)) == nil {
			t.Fatalf("element %d alone has no meaning", i)
		}
	}
}
