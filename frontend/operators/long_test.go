package operators_test

import (
	"errors"
	"testing"

	"hlsgen/frontend/execution"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/onnxtest"
)

// TestMost rounds a number in the middle between two float32s, of which intervals cannot tell that it is there.
func TestMost(t *testing.T) {
	t.Parallel()
	m := onnxtest.New(17).Input("x", graph.DTypeFloat32, 1).Output("y", graph.DTypeFloat32, 1)
	m.Init("three", graph.DTypeFloat32, nil, 3).Node("Div", "x", "three").Out("third")
	m.Node("Mul", "third", "three").Out("y")
	var d diag.List
	p := onnxtest.Prepare(t, onnxio.ParseGraph("m.onnx", m.Bytes(), &d))
	for most, want := range map[int]error{0: nil, 100: nil, 1: execution.ErrRoundingTooCostly} {
		part, err := execution.NewProgramPart(p, []string{"x"}, []string{"y"})
		if err != nil {
			t.Fatal(err)
		}
		part.Most = most
		all, err := part.RunForOutputs([]*program.Reals{program.NewExactReals([]int{1}, []float64{1 + 0x1p-24})})
		if err != nil {
			t.Fatal(err)
		}
		y, err := part.RoundedOutput("y", all)
		if !errors.Is(err, want) || err == nil && y[0] != 1 {
			t.Errorf("of at most %d: %v %v, want %v", most, y, err, want)
		}
	}
}
