package mvau_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/hlslib/mvau"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/randomtest"
)

// grouped draws a layer with the given number of groups, each with outputs by channels of positions.
func grouped(r *rand.Rand, groups, outputs, positions, channels int, weights num.Range) mvau.Params {
	w := layertest.Weights(r, groups*outputs, positions*channels, weights, weights.Lo != -1)
	return mvau.Params{Weights: w, Groups: groups}
}

// groups returns layers with groups.
func groups(*testing.T) []layertest.Case {
	r := rand.New(rand.NewPCG(11, 2))
	four, signs := num.Range{Lo: -4, Hi: 3}, num.Range{Lo: -1, Hi: 1}
	perChannel := dataflow.StreamType{Shape: dataflow.Shape{2, 2, 6}, Elem: intN(4),
		Range: []num.Range{{Lo: 0, Hi: 1}, {Lo: -8, Hi: 7}, {Lo: 3, Hi: 3}, {Lo: -1, Hi: 4}, {Lo: -2, Hi: 0},
			{Lo: 0, Hi: 7}}}
	relu := num.StepFunction{At: []int64{1, 3, 6}, Value: []int64{0, 1, 2, 3}}
	steps := mvau.Params{Weights: grouped(r, 2, 3, 2, 2, four).Weights, Groups: 2}
	for c := range steps.Weights {
		steps.Steps = append(steps.Steps, num.StepFunction{At: []int64{int64(c - 5), int64(c)},
			Value: []int64{int64(c - 2), int64(c), int64(2 * c)}})
	}
	shared := grouped(r, 3, 2, 4, 1, four)
	shared.Steps = []num.StepFunction{relu}
	cases := []layertest.Case{
		{Name: "one group", Op: mvau.New(grouped(r, 1, 4, 3, 2, four)), In: []dataflow.StreamType{typ(uintN(3), 2, 3,
			2)}},
		{Name: "two groups", Op: mvau.New(grouped(r, 2, 2, 3, 2, four)), In: []dataflow.StreamType{typ(uintN(3), 2, 3,
			4)}},
		{Name: "two groups with steps and bases", Op: mvau.New(steps), In: []dataflow.StreamType{typ(intN(3), 3, 2,
			4)}},
		{Name: "three groups, ranges by channel", Op: mvau.New(grouped(r, 3, 2, 2, 2, four)),
			In: []dataflow.StreamType{perChannel}},
		{Name: "two groups, ranges by channel, one position", Op: mvau.New(grouped(r, 2, 3, 1, 3, four)),
			In: []dataflow.StreamType{perChannel}},
		{Name: "depthwise", Op: mvau.New(grouped(r, 5, 1, 4, 1, four)), In: []dataflow.StreamType{typ(uintN(2), 2, 4,
			5)}},
		{Name: "depthwise with a multiplier", Op: mvau.New(shared), In: []dataflow.StreamType{typ(uintN(3), 2, 2, 4,
			3)}},
		{Name: "depthwise with a multiplier, one position", Op: mvau.New(grouped(r, 3, 4, 1, 1, four)),
			In: []dataflow.StreamType{typ(uintN(3), 2, 1, 3)}},
		{Name: "one position, no axis of it", Op: mvau.New(grouped(r, 2, 2, 1, 2, four)),
			In: []dataflow.StreamType{typ(uintN(3), 3, 4)}},
		{Name: "xnor", Op: mvau.New(grouped(r, 2, 2, 3, 2, signs)), In: []dataflow.StreamType{typ(bipolar, 2, 3, 4)}},
	}
	return append(cases, layertest.RandomCases(12, 2, randomtest.Grouped)...)
}

// TestGroupsAreLayers cuts a frame into its groups, and computes each with a layer of its own.
func TestGroupsAreLayers(t *testing.T) {
	t.Parallel()
	const groups, outputs, positions, channels, windows = 3, 2, 4, 2, 5
	r := rand.New(rand.NewPCG(1, 9))
	p := grouped(r, groups, outputs, positions, channels, num.Range{Lo: -7, Hi: 7})
	in := dataflow.StreamType{Shape: dataflow.Shape{windows, positions, groups * channels}, Elem: uintN(4)}
	for c := range groups * channels {
		in.Range = append(in.Range, num.Range{Lo: 0, Hi: int64(2*c + 3)})
	}
	x := dataflow.Tensor{Shape: in.Shape}
	for i := range in.Shape.ElementCount() {
		x.Data = append(x.Data, layertest.RandomInRange(r, in.ChannelRange(i%len(in.Range))))
	}
	op, out, err := mvau.New(p).Bind([]dataflow.StreamType{in})
	if err != nil {
		t.Fatal(err)
	}
	if want := (dataflow.Shape{windows, groups * outputs}); !slices.Equal(out[0].Shape, want) {
		t.Errorf("output of shape %v, want %v", out[0].Shape, want)
	}
	y := op.Eval([]dataflow.Tensor{x})[0]
	bits := op.Describe().Accumulators().Channels
	for g := range groups {
		part := dataflow.StreamType{Shape: dataflow.Shape{windows, positions, channels},
			Range: in.Range[g*channels : (g+1)*channels], Elem: in.Elem}
		v := dataflow.Tensor{Shape: part.Shape}
		for i := 0; i < len(x.Data); i += groups * channels {
			v.Data = append(v.Data, x.Data[i+g*channels:i+(g+1)*channels]...)
		}
		one, typ, err := mvau.New(
			mvau.Params{Weights: p.Weights[g*outputs : (g+1)*outputs]}).Bind([]dataflow.StreamType{part})
		if err != nil {
			t.Fatal(err)
		}
		alone := one.Eval([]dataflow.Tensor{v})[0]
		for w := range windows {
			if got, want := y.Data[(w*groups+g)*outputs:][:outputs],
				alone.Data[w*outputs:][:outputs]; !slices.Equal(got, want) {
				t.Errorf("group %d, window %d: %v, alone %v", g, w, got, want)
			}
		}
		if got := out[0].Range[g*outputs:][:outputs]; !slices.Equal(got, typ[0].Range) {
			t.Errorf("group %d: ranges %v, alone %v", g, got, typ[0].Range)
		}
		want := one.Describe().Accumulators().Channels
		if !slices.Equal(bits[g*outputs:][:outputs], want) {
			t.Errorf("group %d: accumulators of %v bits, alone %v", g, bits[g*outputs:][:outputs], want)
		}
	}
}

// TestGroupLoop checks the clocks and words of a grouped layer, its accumulator, its counts and its cost.
func TestGroupLoop(t *testing.T) {
	t.Parallel()
	p := grouped(rand.New(rand.NewPCG(2, 2)), 2, 6, 9, 2, num.Range{Lo: -4, Hi: 3}) // MW 18, C 4
	op := layertest.Bind(t, mvau.New(p), typ(uintN(2), 5, 9, 4))
	f := dataflow.Fold{PE: 3, SIMD: 6, Memory: dataflow.MemoryBRAM, Compute: dataflow.MultiplierInLUTs}
	l := op.Loop(f, dataflow.Target{})
	if got := []int{l.IterationsPerFrame(), l.WordsRead(0), l.WordsWritten(0), l.FirstWriteClock(0)}; !slices.Equal(got,
		[]int{5 * 2 * 2 * 3, 5 * 2 * 3, 5 * 2 * 2, 2 + 3}) {
		t.Errorf("iterations, words read and written, first clock: %v", got)
	}
	in, out := op.Ports(f)
	if want := (dataflow.Port{Elem: uintN(2), PerWord: 6, Words: 30, Tile: 2}); in[0] != want {
		t.Errorf("input %+v, want %+v", in[0], want)
	}
	if got := out[0]; got.PerWord != 3 || got.Words != 20 || got.Tile != 0 {
		t.Errorf("output %+v", got)
	}
	if got := op.Describe().Counts()["op_mac_UINT2_INT3"]; got != 5*12*18 {
		t.Errorf("%d multiply-accumulates, want %d", got, 5*12*18)
	}
	if folds := layertest.CountFolds(op); folds != 4*6*6 { // PE divides 6, SIMD divides 18
		t.Errorf("%d folds, want %d", folds, 4*6*6)
	}
}
