package mvau_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"hlsgen/hlslib/layertest"
	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/randomtest"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// TestLoaded puts layers through the contract whose weights are loaded.
func TestLoaded(t *testing.T) {
	t.Parallel()
	var cases []layertest.Case
	for seed := range uint64(40) {
		c := randomtest.MVAU(rand.New(rand.NewPCG(seed, 12)))
		op := layertest.Bind(t, c.Op, c.In...).(dataflow.Loadable)
		c.Op, c.Loose = op.Loaded(op.Room()), "what there is room for"
		cases = append(cases, c)
	}
	layertest.Check(t, 40, cases...)
}

// TestRoom has weights and step functions that hardware has room for, of one circuit, and others.
func TestRoom(t *testing.T) {
	t.Parallel()
	in := layertest.Full(layertest.UInt(2), 3)
	room := dataflow.RoomOf(num.Type{Kind: num.Int, Width: 3}, num.Range{Lo: -3, Hi: 2}, nil, num.Type{Kind: num.UInt,
		Width: 2})
	step := num.Step{At: []int64{1, 4, 5}, Value: []int64{0, 1, 2, 3}}
	for _, tt := range []struct {
		weights []int64
		step    num.Step
		want    string
	}{
		{[]int64{1, -3, 3}, step, ""},
		{[]int64{0, 0, 0}, num.Step{Value: []int64{2}}, ""},
		{[]int64{1, 1, 1}, num.Step{At: []int64{3, 7}, Value: []int64{1, 3, 3}[:3]}, ""},
		{[]int64{1, -4, 3}, step, "channel 0: weight 1 is -4, and the hardware has room for INT3, -3 to 3"},
		{[]int64{1, 1, 1}, num.Step{At: []int64{1}, Value: []int64{0, 4}}, "a code is 4, and the hardware has room " +
			"for UINT2"},
		{[]int64{1, 1, 1}, num.Step{At: []int64{1}, Value: []int64{1, 0}}, "the step function falls"},
	} {
		p := mvau.Params{Weights: [][]int64{tt.weights}, Steps: []num.Step{tt.step}, Room: &room}
		op, _, err := mvau.New(p).Bind([]dataflow.Type{in})
		if tt.want != "" || err != nil {
			if tt.want == "" || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, %v: %v, want %q", tt.weights, tt.step, err, tt.want)
			}
			continue
		}
		for _, x := range [][]int64{{0, 0, 0}, {3, 3, 3}, {3, 0, 3}, {0, 3, 0}, {1, 2, 3}} {
			sum := int64(0)
			for i, w := range tt.weights {
				sum += w * x[i]
			}
			y := op.Eval([]dataflow.Tensor{{Shape: dataflow.Shape{3}, Data: x}})[0].Data[0]
			if want := tt.step.Apply(sum); y != want {
				t.Errorf("%v of %v: %d, want %d", tt.weights, x, y, want)
			}
		}
	}
}
