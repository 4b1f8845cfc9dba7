package mvau_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/vvau"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/randomtest"
)

// uneven is weights whose rows need accumulators of very different widths.
func uneven(rows, columns int) [][]int64 {
	w := make([][]int64, rows)
	for c := range w {
		w[c] = make([]int64, columns)
		for k := range w[c] {
			w[c][k] = int64((c*7+k*3)%5-2) << (c % 4 * 2)
		}
	}
	return w
}

// lanes returns layers whose PE have accumulators of different widths.
func lanes(*testing.T) []layertest.Case {
	steps := []num.StepFunction{{At: []int64{-20, -3, 1, 40}, Value: []int64{0, 1, 2, 3, 4}}}
	cases := []layertest.Case{
		{Name: "sums", Op: mvau.New(mvau.Params{Weights: uneven(8, 6)}), In: []dataflow.StreamType{typ(intN(3), 2, 6)}},
		{Name: "steps", Op: mvau.New(mvau.Params{Weights: uneven(8, 6), Steps: steps}),
			In: []dataflow.StreamType{typ(uintN(3), 2, 6)}},
		{Name: "unsigned", Op: mvau.New(mvau.Params{
			Weights: [][]int64{{1, 0, 0, 0}, {9, 9, 9, 9}, {0, 0, 0, 0}, {2, 0, 1, 0}}, Steps: steps}),
			In: []dataflow.StreamType{typ(uintN(4), 2, 4)}},
		{Name: "matches", Op: mvau.New(mvau.Params{Weights: [][]int64{{1, -1, 1, 1, -1}, {-1, -1, -1, 1, 1}}}),
			In: []dataflow.StreamType{typ(bipolar, 2, 5)}},
		{Name: "depthwise", Op: vvau.New(vvau.Params{Weights: uneven(8, 6), Steps: steps}),
			In: []dataflow.StreamType{typ(uintN(3), 2, 6, 8)}},
		{Name: "depthwise sums", Op: vvau.New(vvau.Params{Weights: uneven(4, 6)}),
			In: []dataflow.StreamType{typ(intN(3), 2, 6, 4)}},
	}
	cases = append(cases, layertest.RandomCases(20, 17, randomtest.MVAU)...)
	for i := range 8 {
		c := randomtest.Grouped(rand.New(rand.NewPCG(uint64(i), 18)))
		c.Name = fmt.Sprintf("grouped %d", i)
		cases = append(cases, c)
	}
	for i := range cases {
		cases[i].PerPE = true
	}
	return cases
}

// TestLaneWidths has every lane as wide as the widest of its channels, and none wider than the layer's accumulator.
func TestLaneWidths(t *testing.T) {
	t.Parallel()
	op, _, err := mvau.New(mvau.Params{Weights: [][]int64{{1, 1}, {-100, 3}, {5, 5}, {1, -1}}}).
		Bind([]dataflow.StreamType{typ(uintN(4), 2)})
	if err != nil {
		t.Fatal(err)
	}
	laned := op.Describe().PEAccumulators
	for _, c := range []struct {
		pe   int
		want []int
	}{{1, nil}, {2, []int{9, 12}}, {4, []int{6, 12, 9, 5}}} {
		var got []int
		for _, lane := range laned(dataflow.Fold{PE: c.pe}, dataflow.Target{AccPerPE: true}) {
			got = append(got, lane.Width)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("PE %d: %v, want %v", c.pe, got, c.want)
		}
		if laned(dataflow.Fold{PE: c.pe}, dataflow.Target{}) != nil {
			t.Error("lanes that nobody asked for")
		}
	}
}

// TestVerilatorTrees runs a fold that Verilator 5.006 computes wrongly where it makes trees of bit operations.
func TestVerilatorTrees(t *testing.T) {
	t.Parallel()
	c := lanes(t)[4]
	c.Only = func(f dataflow.Fold) bool {
		return f.PE == 4 && f.SIMD == 6 && f.Memory == dataflow.MemoryBRAM && f.Compute == dataflow.MultiplierInLUTs
	}
	layertest.CheckInstances(t, 0, []layertest.Instance{{Case: c}})
}
