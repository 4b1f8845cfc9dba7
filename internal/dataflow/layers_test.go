package dataflow_test

import (
	"testing"

	"hlsgen/hlslib"
	"hlsgen/hlslib/dwc"
	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/threshold"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
)

// perceptron returns a quantiser, a matrix product with a step function per channel, a converter and a bare matrix
// product.
func perceptron(t testing.TB) *dataflow.Graph {
	t.Helper()
	var b dataflow.GraphBuilder
	s := b.AddInput("x", dataflow.StreamType{Shape: dataflow.Shape{4}, Range: []num.Range{{Lo: -8, Hi: 7}},
		Elem: num.Type{Kind: num.KindInt, Width: 4}})
	for i, op := range []dataflow.Op{
		threshold.New(threshold.Params{Steps: []num.StepFunction{{At: []int64{-2, 3}, Value: []int64{-1, 0, 1}}}}),
		mvau.New(mvau.Params{Weights: [][]int64{{1, -2, 3, 1}, {0, 1, -1, 2}}, Steps: []num.StepFunction{
			{At: []int64{0}, Value: []int64{0, 1}}, {At: []int64{-1, 2}, Value: []int64{0, 1, 3}}}}),
		dwc.New(dwc.Params{In: 1, Out: 2}),
		mvau.New(mvau.Params{Weights: [][]int64{{1, -1}, {-1, 1}, {1, 1}}}),
	} {
		out, err := b.BindAndAddLayer(op, []int{s}, []string{[]string{"codes", "hidden", "", "y"}[i]}, []string{"/" +
			op.Kind()})
		if err != nil {
			t.Fatal(err)
		}
		s = out[0]
	}
	b.MarkOutput(s)
	g, err := b.VerifiedGraph()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestLayersRoundTrip(t *testing.T) {
	t.Parallel()
	want := perceptron(t)
	g, err := layertest.Parse(want.String(), hlslib.LayerKinds)
	if err != nil {
		t.Fatal(err)
	}
	if g.String() != want.String() {
		t.Errorf("got\n%swant\n%s", g, want)
	}
	in := dataflow.Tensor{Shape: dataflow.Shape{4}, Data: []int64{7, -8, 0, 3}}
	for _, g := range []*dataflow.Graph{g, want} {
		streams, err := g.EvalFirstFrameByStream(t.Context(), []dataflow.Tensor{in})
		if err != nil {
			t.Fatal(err)
		}
		// The codes are 1, -1, 0, 1, the sums 4 and 1, and the activations 1 and 1.
		if y := streams[g.Out[0]].Data; len(y) != 3 || y[0] != 0 || y[1] != 0 || y[2] != 2 {
			t.Errorf("y = %v, want [0 0 2]", y)
		}
	}
}

func FuzzParseLayers(f *testing.F) {
	f.Add(perceptron(f).String())
	f.Add("input s0 \"\" [2,3] [-1,1] BIPOLAR\nnode MVAU_0 MVAU (s0) -> (s1 \"\") from [] " +
		"{\"weights\":[[1,-1,1]]}\noutput s1\n")
	f.Add("input s0 \"\" [2,3] [0,9],[0,1],[2,2] UINT4\nnode Thresholding_0 Thresholding (s0) -> (s1 \"\") from [] " +
		"{\"steps\":[{\"at\":[1,4],\"value\":[0,7,-7]}]}\noutput s1\n")
	f.Add("input s0 \"\" [12] [0,9] UINT4\nnode StreamingDataWidthConverter_0 StreamingDataWidthConverter (s0) -> " +
		"(s1 \"\") from [] {\"in\":4,\"out\":6}\noutput s1\n")
	f.Add("input s0 \"\" [2] [-9223372036854775808,9223372036854775807] INT64\nnode MVAU_0 MVAU (s0) -> (s1 \"\") " +
		"from [] {\"weights\":[[1,0]]}\noutput s1\n")
	f.Fuzz(func(t *testing.T, text string) {
		g, err := layertest.Parse(text, hlslib.LayerKinds)
		if err != nil {
			return
		}
		once := g.String()
		again, err := layertest.Parse(once, hlslib.LayerKinds)
		if err != nil {
			t.Fatalf("%v in\n%s", err, once)
		}
		if twice := again.String(); twice != once {
			t.Fatalf("got\n%swant\n%s", twice, once)
		}
	})
}
