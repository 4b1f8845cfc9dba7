package convert

import (
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/internal/testsupport/onnxtest"
)

// TestFunctionVersions converts models with functions that import another version of ONNX' operators. The result
// computes the same, or the model is refused. Branches that a constant selects disappear.
func TestFunctionVersions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		maps  bool
		write func(f *onnxtest.Model)
	}{
		{"the same in both", true, func(f *onnxtest.Model) { f.Node("Relu", "a").Out("b") }},
		{"an attribute that became an input", false, func(f *onnxtest.Model) {
			f.Node("Clip", "a").Float("min", 0).Out("b")
		}},
		{"a branch", true, func(f *onnxtest.Model) {
			arm := onnxtest.New(0).Output("out", graph.DTypeFloat32)
			arm.Node("Relu", "a").Out("out")
			f.Node("Constant").Tensor("value", graph.DTypeBool, nil, 1).Out("yes")
			f.Node("If", "yes").Graph("then_branch", arm).Graph("else_branch", arm).Out("b")
		}},
	} {
		m := onnxtest.New(18).Opset("own", 1).Opset(operators.QONNXDomain, 1).Input("x", graph.DTypeFloat32, 1, 4)
		m.Init("s", graph.DTypeFloat32, nil, 0.5).Init("z", graph.DTypeFloat32, nil, 0).Init("b", graph.DTypeFloat32,
			nil, 4)
		m.Node("Quant", "x", "s", "z", "b").Domain(operators.QONNXDomain).Int("signed", 1).Str("rounding_mode",
			"ROUND").Out("q")
		f := onnxtest.New(0)
		c.write(f)
		m.Function("own", "F", "a", "b", f).OpsetImport[0].Version = new(int64(9))
		m.Node("F", "q").Domain("own").Out("r")
		m.Node("Quant", "r", "s", "z", "b").Domain(operators.QONNXDomain).Int("signed", 0).Str("rounding_mode",
			"ROUND").Out("y")
		onnx := m.Output("y", graph.DTypeFloat32, 1, 4).Bytes()
		for _, o := range []Options{{Clean: true}, {To: DialectQCDQ}} {
			r, why := convert(t, c.name, onnx, o)
			if (r != nil) != c.maps {
				t.Errorf("%s, %+v: %s", c.name, o, why)
			}
			if r != nil {
				sameOutputs(t, c.name, onnx, r.ONNX)
			}
		}
	}
}
