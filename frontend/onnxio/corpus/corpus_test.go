// Package corpus reads and executes ONNX's conformance cases for operators, as onnx-go ships them. It is separate
// because the cases are slow to compile.
package corpus

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/owulveryck/onnx-go/backend/testbackend"
	_ "github.com/owulveryck/onnx-go/backend/testbackend/onnx"
	"gorgonia.org/tensor"

	"hlsgen/frontend/execution"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
)

// outside lists the cases that do not run, by title, with the reason.
var outside = map[string]string{
	"TestPow":                  "it raises negative numbers to fractions and expects NaN",
	"TestAveragepool3dDefault": volume, "TestConvtranspose3d": volume, "TestMaxpool3dDefault": volume,
	"TestMaxpoolWithArgmax2dPrecomputedPads": places, "TestMaxpoolWithArgmax2dPrecomputedStrides": places,
	"TestResizeDownsampleLinear": linear, "TestResizeUpsampleLinear": linear,
	"TestResizeDownsampleNearest": smaller, "TestResizeNearest": smaller,
}

const (
	volume  = "its windows are 3-D"
	places  = "the places of the maxima are asked for"
	linear  = "it interpolates"
	smaller = "its factors are below 1"
)

// parameters lists, by operator, the inputs that hlsgen needs as constants and that the cases give as data.
var parameters = map[string][]int{"Reshape": {1}, "Pow": {1}, "Gather": {1}, "Slice": {1, 2, 3, 4}, "TopK": {1},
	"Expand": {1}, "ConstantOfShape": {0}, "Resize": {1}, "Upsample": {1},
	"Tile": {1}, "OneHot": {1, 2}, "Range": {0, 1, 2}, "NonZero": {0}}

// least is the least number of cases that must run, so that cases cannot disappear unnoticed.
const least = 265

func TestConformance(t *testing.T) {
	t.Parallel()
	var cases []*testbackend.TestCase
	for _, f := range testbackend.GetAllRegisteredTests() {
		if c := f(); operators.IsSupportedOperator("", c.OpType) {
			cases = append(cases, c)
		}
	}
	slices.SortFunc(cases, func(a, b *testbackend.TestCase) int { return strings.Compare(a.Title, b.Title) })
	ran := 0
	for _, c := range cases {
		err := run(c)
		switch reason, known := outside[c.Title]; {
		case known && err == nil:
			t.Errorf("%s runs, though %s", c.Title, reason)
		case known:
		case err != nil:
			t.Errorf("%s: %v", c.Title, err)
		default:
			ran++
		}
	}
	t.Logf("%d of %d cases of known operators run", ran, len(cases))
	if ran < least {
		t.Errorf("%d cases ran, at least %d are there", ran, least)
	}
}

// run executes a case and compares its outputs.
func run(c *testbackend.TestCase) error {
	var d diag.List
	g := onnxio.ParseGraph(c.Title, c.ModelB, &d)
	if g == nil {
		return fmt.Errorf("not read: %v", d.Diags)
	}
	var in []*program.Reals
	var from, to []string
	for i, v := range g.Inputs {
		t, err := read(c.Input[i], v.DType)
		if err != nil {
			return err
		}
		if slices.Contains(parameters[c.OpType], i) {
			g.Init[v.Name] = t
			continue
		}
		data := make([]float64, t.Len())
		for k := range data {
			data[k] = t.FloatAt(k)
		}
		in, from = append(in, program.NewExactReals(t.Shape, data)), append(from, v.Name)
	}
	g.Inputs = slices.DeleteFunc(g.Inputs, func(v graph.ValueInfo) bool { return g.Init[v.Name] != nil })
	for _, v := range g.Outputs {
		to = append(to, v.Name)
	}
	p := operators.Prepare(g, c.Title, operators.Options{}, &d)
	if p == nil {
		return fmt.Errorf("not prepared: %v", d.Diags)
	}
	part, err := execution.NewProgramPart(p, from, to)
	if err != nil {
		return err
	}
	_, all, err := part.Run(in)
	if err != nil {
		return err
	}
	for i, name := range to {
		got, err := part.RoundedOutput(name, all)
		if err != nil {
			return err
		}
		want, err := read(c.ExpectedOutput[i], p.Known[name].DType)
		if err != nil {
			return err
		}
		if err := compare(got, p.Known[name].Shape, want); err != nil {
			return fmt.Errorf("output %q: %w", name, err)
		}
	}
	return nil
}

// compare compares outputs. It allows for the rounding of float32 arithmetic.
func compare(got []float64, shape []int, want *graph.ConstantTensor) error {
	// onnx-go has no scalars
	if !slices.Equal(shape, want.Shape) && !(graph.ElementCount(shape) == 1 && want.Len() == 1) {
		return fmt.Errorf("shape %v, want %v", shape, want.Shape)
	}
	for i, v := range got {
		if w := want.FloatAt(i); math.Abs(v-w) > 1e-5+1e-4*math.Abs(w) {
			return fmt.Errorf("element %d is %v, want %v", i, v, w)
		}
	}
	return nil
}

// read converts a tensor of onnx-go to a constant of the given type.
func read(t tensor.Tensor, dt graph.DType) (*graph.ConstantTensor, error) {
	out := &graph.ConstantTensor{DType: dt, Shape: slices.Clone([]int(t.Shape()))}
	add := func(v float64) {
		if dt.IsReal() {
			out.F = append(out.F, v)
		} else {
			out.I = append(out.I, int64(v))
		}
	}
	switch data := t.Data().(type) {
	case []float32:
		each(data, add)
	case []float64:
		each(data, add)
	case []int64:
		each(data, add)
	case []int32:
		each(data, add)
	case float32:
		add(float64(data))
	case float64:
		add(data)
	case int64:
		add(float64(data))
	case []bool:
		for _, b := range data {
			if b {
				add(1)
			} else {
				add(0)
			}
		}
	default:
		return nil, fmt.Errorf("a tensor of type %T", data)
	}
	if n := len(out.F) + len(out.I); n != out.Len() {
		return nil, fmt.Errorf("%d elements for shape %v", n, out.Shape)
	}
	return out, nil
}

func each[T float32 | float64 | int32 | int64](data []T, add func(float64)) {
	for _, v := range data {
		add(float64(v))
	}
}
