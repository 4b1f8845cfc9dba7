package firstlast_test

import (
	"testing"

	"hlsgen/hlslib/firstlast"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/layertest"
)

// TestSteps checks the layer for sequences of any length.
func TestSteps(t *testing.T) {
	t.Parallel()
	mutant := func(from, to string) layertest.Mutant {
		return layertest.Mutant{Path: "firstlast.hpp", From: from, To: to}
	}
	layertest.CheckSequences(t, func(int) bool { return true }, []layertest.Mutant{
		mutant("if (at.writing == 0) at.several = 1;", "at.several = 1;"),
		mutant("(at.several == 1 ? C::behind : 0)", "0"),
	},
		layertest.Case{Name: "the last step", Op: firstlast.New(firstlast.Params{Step: 6, Chunk: 3, Order: last(1, 0),
			Shape: []int{6}}), In: []dataflow.StreamType{typ(int4, 4, 6)}},
		layertest.Case{Name: "the first step", Op: firstlast.New(firstlast.Params{Step: 2, Chunk: 2, Order: first(0),
			Shape: []int{2}}), In: []dataflow.StreamType{typ(int4, 3, 2)}},
		layertest.Case{Name: "both", Op: firstlast.New(firstlast.Params{Step: 8, Chunk: 4,
			Order: append(last(0), first(1, 0)...), Shape: []int{12}}), In: []dataflow.StreamType{typ(int4, 5, 8)}})
}
