package frontend_test

import (
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
)

// TestShapes binds axes without a name, and axes of one name with different sizes, as the data of a run would; and has
// shapes that do not fit the file.
func TestShapes(t *testing.T) {
	t.Parallel()
	const other = 3
	for _, c := range []struct {
		name   string
		axes   []any // of the input, which is a quantised image
		shapes frontend.GivenInputShapes
		want   []int  // nil: refused
		why    string // and the hint
	}{
		{"one name for two axes", []any{1, 2, "?", "?"}, frontend.GivenInputShapes{"x": {1, 2, 5, 4}}, []int{1, 2, 5,
			4},
			""},
		{"the only input", []any{"?", 2, "?", "?"}, frontend.GivenInputShapes{"": {1, 2, 4, 7}}, []int{1, 2, 4, 7}, ""},
		{"no names", []any{"", 2, "", ""}, frontend.GivenInputShapes{"x": {1, 2, 4, 7}}, []int{1, 2, 4, 7}, ""},
		{"fixed axes", []any{1, 2, 5, 5}, frontend.GivenInputShapes{"x": {1, 2, 5, 5}}, []int{1, 2, 5, 5}, ""},
		{"nothing is bound", []any{1, 2, "?", "?"}, nil, nil, "--shape x=1,2,SIZE,SIZE"},
		{"no batch", []any{1, 2, "?", "?"}, frontend.GivenInputShapes{"x": {2, 5, 4}}, nil,
			`[1 2 "?" "?"] give the size`},
		{"another input", []any{1, 2, "?", "?"}, frontend.GivenInputShapes{"z": {1, 2, 5, 4}}, nil, `these are: "x"`},
		{"another size", []any{1, 2, "?", 4}, frontend.GivenInputShapes{"x": {1, other, 5, 4}}, nil,
			"the file 2 give 2 there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := newNet(13).Input("x", graph.DTypeFloat32, c.axes...)
			n.quant("x", "q", "half", 0, 4, 1).Init("half", graph.DTypeFloat32, nil, 0.5)
			n.op("Conv", "y", "q", n.c([]int{1, 2, 2, 2}, 1, -2, 3, 0, 2, -1, 1, 1))
			n.output("N", 1, "H", "W")
			im, found := imported(t, n, frontend.Options{Shapes: c.shapes})
			if c.want == nil {
				if len(found) != 1 || found[0].Code != diag.ShapeUnknown ||
					!strings.Contains(found[0].Msg+" "+found[0].Hint, c.why) {
					t.Errorf("%v, want %s: %s", found, diag.ShapeUnknown, c.why)
				}
				return
			}
			if im.Model == nil {
				t.Fatal(found)
			}
			if got := im.Model.In[0].Shape; !slices.Equal(got, c.want) {
				t.Errorf("the input has shape %v, want %v", got, c.want)
			}
		})
	}
}

// TestShapesOfFloat has a network without quantisers, whose axes have one name, read with both ways to tell them apart.
func TestShapesOfFloat(t *testing.T) {
	t.Parallel()
	n := newNet(13).Input("x", graph.DTypeFloat32, "?", 2, "?", "?")
	n.op("Conv", "y", "x", n.c([]int{1, 2, 2, 2}, 1, -2, 3, 0, 2, -1, 1, 1))
	n.output("N", 1, "H", "W")
	for _, opt := range []frontend.Options{{Shapes: frontend.GivenInputShapes{"x": {1, 2, 5, 4}}},
		{Dims: map[string]int{"x:2": 5, "x:3": 4}}} {
		var d diag.List
		q := frontend.NewQuantisationSession("m.onnx", n.Bytes(), opt, false, &d)
		if q == nil {
			t.Errorf("%+v: %v", opt, d.Diags)
		} else if got := q.Model.In[0].Shape; !slices.Equal(got, []int{1, 2, 5, 4}) {
			t.Errorf("%+v: the input has shape %v", opt, got)
		}
	}
}
