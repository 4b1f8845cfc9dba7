package frontend_test

import (
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/onnxtest"
)

// A labelling is a loop h = Q(x[t]*w + h*r). If back is set, the next h is the row of a table at the index of the
// largest sum. of names the tensor that the body's ArgMax reads; if it is empty, the body has none. gives lists the
// body's outputs for the sequence. The model gives output itself if that is the label, else an ArgMax of it.
type labelling struct {
	of     string
	back   bool
	gives  []string
	output string
}

func (l labelling) write() []byte {
	m := onnxtest.New(14).Opset("qonnx.custom_op.general", 2).Input("x", graph.DTypeFloat32, 6, 1, 2)
	m.Init("w", graph.DTypeFloat32, []int{2, 3}, 1, -0.5, 0.25, 2, 0.5, 0.75)
	m.Init("r", graph.DTypeFloat32, []int{3, 3}, 0.5, 1, -1, 0.25, 0.5, 0.25, -0.75, 1, 0.5)
	m.Init("table", graph.DTypeFloat32, []int{3, 3}, 0.25, 0.5, 1, -0.5, 0.75, 0, 0.25, 0.25, -1)
	m.Init("s", graph.DTypeFloat32, nil, 0.25).Init("zero", graph.DTypeFloat32, nil, 0).Init("bits",
		graph.DTypeFloat32, nil, 4)
	m.Init("h0", graph.DTypeFloat32, []int{1, 3}, 0, 0, 0)
	quant := func(m *onnxtest.Model, x, y string) {
		m.Node("Quant", x, "s", "zero", "bits").Domain("qonnx.custom_op.general").Int("signed", 1).
			Str("rounding_mode", "ROUND").Out(y)
	}
	order := func(m *onnxtest.Model, x, y string, axis int64) {
		m.Node("ArgMax", x).Int("axis", axis).Int("keepdims", 0).Out(y)
	}
	quant(m, "x", "q")
	quant(m, "w", "wq")
	quant(m, "r", "rq")
	b := onnxtest.New(0).Input("h", graph.DTypeFloat32, 1, 3).Input("xt", graph.DTypeFloat32, 1, 2)
	b.Node("MatMul", "xt", "wq").Out("a")
	b.Node("MatMul", "h", "rq").Out("b")
	b.Node("Add", "a", "b").Out("sum")
	next := "sum"
	if !l.back {
		quant(b, next, "codes")
	}
	if l.of != "" {
		order(b, l.of, "label", 1)
	}
	if l.back {
		b.Node("Gather", "table", "label").Out("row")
		quant(b, "row", "codes")
	}
	b.Output("codes", graph.DTypeFloat32, 1, 3)
	var out []string
	for _, o := range l.gives {
		if o == "label" {
			b.Output(o, graph.DTypeInt64, 1)
		} else {
			b.Node("Identity", o).Out(o + " of a step")
			b.Output(o+" of a step", graph.DTypeFloat32, 1, 3)
		}
		out = append(out, "all "+o)
	}
	m.Node("Scan", "h0", "q").Name("loop").Graph("body", b).Int("num_scan_inputs", 1).
		Out(append([]string{""}, out...)...)
	if l.output == "label" {
		m.Node("Identity", "all label").Out("y")
	} else {
		order(m, "all "+l.output, "y", 2)
	}
	return m.Output("y", graph.DTypeInt64).Bytes()
}

// TestLabelsInLoops checks the hint about an ArgMax in the body of a loop, and that following it makes the model map.
func TestLabelsInLoops(t *testing.T) {
	t.Parallel()
	const behind = "give its input out of the loop, and put it behind the loop"
	for _, c := range []struct {
		labelling
		hint string // empty: it maps
	}{
		{labelling{of: "sum", gives: []string{"label"}, output: "label"}, behind},
		{labelling{of: "codes", gives: []string{"label"}, output: "label"}, behind},
		{labelling{gives: []string{"sum"}, output: "sum"}, ""},
		{labelling{gives: []string{"codes"}, output: "codes"}, ""},
		{labelling{of: "sum", gives: []string{"codes", "label"}, output: "codes"}, ""}, // nobody asks for the labels
		{labelling{of: "sum", back: true, gives: []string{"label"}, output: "label"},
			"hand on the quantised values that it reads, and what it makes of them behind the loop alone"},
	} {
		var d diag.List
		im, err := frontend.Import("m.onnx", c.write(), frontend.Options{}, &d)
		if err != nil {
			t.Fatal(err)
		}
		hint := ""
		for _, x := range d.Diags {
			if x.Severity == diag.SeverityError {
				hint += x.Hint
			}
		}
		if hint != c.hint || (im.Model != nil) != (c.hint == "") {
			t.Errorf("%+v: %v", c.labelling, d.Diags)
		}
	}
}
