package frontend_test

import (
	"fmt"
	"slices"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/onnxtest"
)

// writtenOut writes a plain recurrent network with each step in the file: x[t]*w + h*r, quantised. between may add
// something between two steps.
func writtenOut(steps int, between func(m *onnxtest.Model, h string, step int) string) []byte {
	m := onnxtest.New(14).Opset("qonnx.custom_op.general", 2).Input("x", graph.DTypeFloat32, steps, 1, 2)
	m.Init("w", graph.DTypeFloat32, []int{2, 2}, 1, -0.5, 0.25, 2).Init("r", graph.DTypeFloat32, []int{2, 2}, 0.5, 1,
		-1, 0.25)
	m.Init("s", graph.DTypeFloat32, nil, 0.25).Init("z", graph.DTypeFloat32, nil, 0).Init("bits", graph.DTypeFloat32,
		nil, 4)
	m.Init("h", graph.DTypeFloat32, []int{1, 2}, 0, 0)
	quant := func(x, y string) {
		m.Node("Quant", x, "s", "z", "bits").Domain("qonnx.custom_op.general").Int("signed", 1).
			Str("rounding_mode", "ROUND").Out(y)
	}
	quant("x", "q")
	quant("w", "wq")
	quant("r", "rq")
	h := "h"
	for i := range steps {
		name := func(what string) string { return fmt.Sprint(what, i) }
		m.Init(name("i"), graph.DTypeInt64, nil, float64(i))
		m.Node("Gather", "q", name("i")).Int("axis", 0).Out(name("x"))
		m.Node("MatMul", name("x"), "wq").Out(name("a"))
		m.Node("MatMul", between(m, h, i), "rq").Out(name("b"))
		m.Node("Add", name("a"), name("b")).Out(name("c"))
		quant(name("c"), name("h"))
		h = name("h")
	}
	m.Node("Identity", h).Out("y")
	return m.Output("y", graph.DTypeFloat32, 1, 2).Bytes()
}

// TestStatefulWrittenOut checks that a recurrence that is written out keeps its state if all of its steps are alike.
// Otherwise it is refused, because no state is the one behind the last step.
func TestStatefulWrittenOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		odd  int // the step in front of which the state is turned; -1 for none
		idle int // the step that has a product which nobody reads; -1 for none
		ok   bool
	}{{"alike", -1, -1, true}, {"the last one is not", 5, -1, false}, {"one in the middle is not", 3, -1, false},
		{"the second one is not", 1, -1, false}, {"the first one has more, for nothing", -1, 0, true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			onnx := writtenOut(6, func(m *onnxtest.Model, h string, step int) string {
				if step == c.idle {
					m.Node("MatMul", "q", "wq").Out("idle")
				}
				if step != c.odd {
					return h
				}
				m.Node("Neg", h).Out("turned")
				return "turned"
			})
			for name, load := range map[string]func(d *diag.List) *frontend.ImportedModel{
				"import": func(d *diag.List) *frontend.ImportedModel {
					im, err := frontend.Import("m.onnx", onnx, frontend.Options{Stateful: true}, d)
					if err != nil {
						t.Fatal(err)
					}
					return im
				},
				"reference": func(d *diag.List) *frontend.ImportedModel {
					return frontend.ImportForReference("m.onnx", onnx, frontend.Options{Stateful: true}, d)
				}} {
				var d diag.List
				im := load(&d)
				refused := slices.ContainsFunc(d.Diags,
					func(x diag.Diag) bool { return x.Code == diag.StatefulFlagUnfit })
				if (im.Model != nil) != c.ok || refused == c.ok {
					t.Errorf("%s: %v", name, d.Diags)
				}
			}
		})
	}
}
