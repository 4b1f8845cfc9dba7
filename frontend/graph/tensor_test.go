package graph_test

import (
	"math"
	"slices"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
)

// coded is a tensor as codes, of the elements that another has.
func coded(t *graph.Tensor) *graph.Tensor {
	c := &graph.Tensor{DType: t.DType, Shape: t.Shape, Codes: []uint8{}, Values: []float64{math.Inf(1)}}
	for i := range t.Len() {
		at := slices.Index(c.Values, t.At(i))
		if at < 0 {
			at, c.Values = len(c.Values), append(c.Values, t.At(i))
		}
		c.Codes = append(c.Codes, uint8(at))
	}
	return c
}

func TestTensorForms(t *testing.T) {
	t.Parallel()
	for _, wide := range []*graph.Tensor{
		ints(graph.Int8, []int{2, 3}, -128, 127, 0, 1, 1, -128), ints(graph.Bool, []int{2}, 1, 0),
		ints(graph.Int64, nil, 5), ints(graph.Int8, []int{0, 2}),
		reals([]int{4}, 0.25, -1, 0.25, 3), reals(nil, -2), reals([]int{0}),
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
		if got := slices.Sorted(c.Occurring()); !slices.Equal(got, slices.Compact(slices.Sorted(wide.Occurring()))) {
			t.Errorf("%v as codes has the elements %v", wide, got)
		}
	}
}

// TestFoldCodes holds that what is computed of codes is what is computed of the same numbers, and stays codes where
// one element gives one.
func TestFoldCodes(t *testing.T) {
	t.Parallel()
	w := ints(graph.Int8, []int{2, 3}, -128, 127, 0, 1, 1, -128)
	x := reals([]int{2, 3}, 0.25, -1, 0.25, 3, 0, 0.25)
	for _, c := range []struct {
		name, op string
		attrs    graph.Attrs
		args     []*graph.Tensor
		codes    bool
	}{
		{"a scale", "DequantizeLinear", nil, []*graph.Tensor{w, scalar(0.1)}, true},
		{"a zero point", "DequantizeLinear", nil, []*graph.Tensor{w, scalar(0.1), ints(graph.Int8, nil, 3)}, true},
		{"a scale per row", "DequantizeLinear", graph.Attrs{"axis": graph.IntAttr(0)},
			[]*graph.Tensor{w, reals([]int{2}, 0.5, 3)}, false},
		{"twice the same", "Mul", nil, []*graph.Tensor{x, x}, true},
		{"another of codes", "Mul", nil, []*graph.Tensor{x, reals([]int{2, 3}, 1, 2, 3, 1, 2, 3)}, false},
		{"a number first", "Sub", nil, []*graph.Tensor{scalar(2), x}, true},
		{"broadcast", "Add", nil, []*graph.Tensor{x, reals([]int{2, 2, 3}, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6)},
			false},
		{"to integers", "Cast", graph.Attrs{"to": graph.IntAttr(int(graph.Int32))}, []*graph.Tensor{w}, true},
		{"no float64", "Div", nil, []*graph.Tensor{x, scalar(3)}, false},
		{"moved", "Transpose", nil, []*graph.Tensor{w}, true},
		{"another shape", "Reshape", nil, []*graph.Tensor{x, ints(graph.Int64, []int{1}, -1)}, true},
		{"side by side", "Concat", graph.Attrs{"axis": graph.IntAttr(0)}, []*graph.Tensor{w, w}, false},
	} {
		prepared := func(as func(*graph.Tensor) *graph.Tensor) *graph.Program {
			g := &graph.Graph{Opsets: map[string]int64{"": 13}, Init: map[string]*graph.Tensor{},
				Outputs: []graph.Value{{Name: "y"}}}
			n := &graph.Node{Op: c.op, Attrs: c.attrs, Outputs: []string{"y"}}
			names := map[*graph.Tensor]string{}
			for i, a := range c.args {
				if names[a] == "" {
					names[a] = string(rune('a' + i))
					g.Init[names[a]] = as(a)
				}
				n.Inputs = append(n.Inputs, names[a])
			}
			g.Nodes = []*graph.Node{n}
			var d diag.List
			p := graph.Prepare(g, "codes.onnx", graph.Options{}, &d)
			if p == nil {
				t.Fatalf("%s: %v", c.name, d.Diags)
			}
			return p
		}
		want := prepared(func(t *graph.Tensor) *graph.Tensor { return t }).Known["y"]
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
