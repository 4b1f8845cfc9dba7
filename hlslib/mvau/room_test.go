package mvau_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/hlslib/mvau"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/randomtest"
	"hlsgen/internal/testsupport/tier"
)

// loaded returns layers whose weights are loaded.
func loaded(t *testing.T) []layertest.Case {
	var cases []layertest.Case
	for seed := range uint64(40) {
		c := randomtest.MVAU(rand.New(rand.NewPCG(seed, 12)))
		op := layertest.Bind(t, c.Op, c.In...).(dataflow.HasLoadableWeights)
		c.Op, c.Loose = op.Loaded(op.Room()), "what there is room for"
		cases = append(cases, c)
	}
	return cases
}

// external returns layers whose weights come with every frame.
func external(t *testing.T) []layertest.Case {
	var cases []layertest.Case
	for seed := range uint64(40) {
		c := randomtest.MVAU(rand.New(rand.NewPCG(seed, 13)))
		op := layertest.Bind(t, c.Op, c.In...).(dataflow.HasLoadableWeights)
		room := op.Room()
		room.External = true
		c.Op, c.Loose = op.Loaded(room), "what there is room for"
		cases = append(cases, c)
	}
	return cases
}

// TestRoom has weights and step functions that hardware has room for, of one circuit, and others.
func TestRoom(t *testing.T) {
	t.Parallel()
	in := layertest.FullType(layertest.UInt(2), 3)
	room := dataflow.NewLoadableWeightLimits(num.Type{Kind: num.KindInt, Width: 3}, num.Range{Lo: -3, Hi: 2}, nil,
		num.Type{Kind: num.KindUInt,
			Width: 2})
	step := num.StepFunction{At: []int64{1, 4, 5}, Value: []int64{0, 1, 2, 3}}
	for _, tt := range []struct {
		weights []int64
		step    num.StepFunction
		want    string
	}{
		{[]int64{1, -3, 3}, step, ""},
		{[]int64{0, 0, 0}, num.StepFunction{Value: []int64{2}}, ""},
		{[]int64{1, 1, 1}, num.StepFunction{At: []int64{3, 7}, Value: []int64{1, 3, 3}[:3]}, ""},
		{[]int64{1, -4, 3}, step, "channel 0: weight 1 is -4, and the hardware has room for INT3, -3 to 3"},
		{[]int64{1, 1, 1}, num.StepFunction{At: []int64{1}, Value: []int64{0, 4}},
			"a code is 4, and the hardware has room " +
				"for UINT2"},
		{[]int64{1, 1, 1}, num.StepFunction{At: []int64{1}, Value: []int64{1, 0}}, "the step function falls"},
	} {
		p := mvau.Params{Weights: [][]int64{tt.weights}, Steps: []num.StepFunction{tt.step}, Room: &room}
		op, _, err := mvau.New(p).Bind([]dataflow.StreamType{in})
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

// TestSumsOrCodes refuses step functions where the hardware gives sums, and sums where it has step functions.
func TestSumsOrCodes(t *testing.T) {
	t.Parallel()
	in := layertest.FullType(layertest.UInt(2), 2)
	step := []num.StepFunction{{At: []int64{1}, Value: []int64{0, 1}}}
	for _, tt := range []struct {
		built, given []num.StepFunction
		want         string
	}{
		{step, nil, "it gives its sums, and the hardware gives codes of BINARY"},
		{nil, step, "it has step functions behind its sums, and the hardware gives the sums"},
		{step, step, ""},
		{nil, nil, ""},
	} {
		p := mvau.Params{Weights: [][]int64{{1, -1}}, Steps: tt.built}
		room := layertest.Bind(t, mvau.New(p), in).(dataflow.HasLoadableWeights).Room()
		p.Steps = tt.given
		p.Room = &room
		_, _, err := mvau.New(p).Bind([]dataflow.StreamType{in})
		if err == nil != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v for %v: %v, want %q", tt.given, tt.built, err, tt.want)
		}
	}
}

// TestLoadedAnywhere has tables that are loaded on devices whose lookup tables are no memory, or of four inputs. Where
// they are no memory, a small table lies in registers, one for each of its bits.
func TestLoadedAnywhere(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	in := layertest.FullType(layertest.UInt(4), 8)
	p := mvau.Params{Weights: [][]int64{{1, -3, 3, 0, 2, 1, -2, 1}, {0, 1, 2, 3, -3, -2, -1, 0}}}
	plain := layertest.Bind(t, mvau.New(p), in)
	room := plain.(dataflow.HasLoadableWeights).Room()
	loaded := layertest.Bind(t, plain.(dataflow.HasLoadableWeights).Loaded(room), in)
	for _, name := range []string{"icebreaker", "ulx3s-85f", "arty-a7-35"} {
		board, err := boards.FindBoard(name)
		if err != nil {
			t.Fatal(err)
		}
		target := dataflow.Target{Board: board, ClockMHz: board.ClockMHz, Backend: dataflow.BackendRTL}
		for f := range loaded.Folds() {
			c, k := loaded.Cost(f, target).Total(), plain.Cost(f, target).Total()
			bits := 16 * room.Weight.Width
			if c.LUT <= k.LUT || c.FF <= k.FF || name == "icebreaker" && c.BRAM == 0 && c.FF < bits {
				t.Errorf("%s, %+v: %+v, with constant weights %+v", name, f, c, k)
			}
		}
	}
}
