package reorder_test

import (
	"testing"

	"hlsgen/hlslib/reorder"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/layertest"
)

// turn returns the order of a sequence of steps of several chunks. The chunks in turned come from the step at the same
// distance from the end.
func turn(steps, chunks int, turned ...bool) (order []int) {
	for t := range steps {
		for c, back := range turned {
			from := t
			if back {
				from = steps - 1 - t
			}
			order = append(order, from*chunks+c%chunks)
		}
	}
	return order
}

func TestSteps(t *testing.T) {
	t.Parallel()
	always := func(int) bool { return true }
	mutant := func(from, to string) layertest.Mutant {
		return layertest.Mutant{Path: "reorder.hpp", From: from, To: to}
	}
	t.Run("whole", func(t *testing.T) {
		t.Parallel()
		layertest.CheckSequences(t, always, []layertest.Mutant{
			mutant("if (last) writing = 1;", "if (last || steps == C::longest - 1) writing = 1;"),
			mutant("int(at.end) - int(at.step)", "C::longest - 1 - int(at.step)"),
			mutant("last = step == end;", "last = step == C::longest - 1;"),
			mutant("turned ? from - C::in_chunks : from", "from"),
		},
			layertest.Case{Name: "turned", Op: reorder.New(reorder.Params{Block: 5, Chunk: 6, Order: turn(5, 1, true),
				Shape: []int{5, 6}}), In: []dataflow.StreamType{typ(int4, 5, 6)}},
			layertest.Case{Name: "in their order", Op: reorder.New(reorder.Params{Block: 8, Chunk: 3,
				Order: turn(4, 2, false, false), Shape: []int{4, 6}}), In: []dataflow.StreamType{typ(int4, 4, 6)}},
			layertest.Case{Name: "half of them turned", Op: reorder.New(reorder.Params{Block: 10, Chunk: 4,
				Order: turn(5, 2, false, true, true), Shape: []int{5, 12}}), In: []dataflow.StreamType{typ(int4, 5,
				8)}})
	})
	t.Run("apart", func(t *testing.T) {
		t.Parallel()
		layertest.CheckSequences(t, always, []layertest.Mutant{
			mutant("over == 0 && block == C::blocks - 1 &&", "over == 0 &&"),
			mutant("over = last ? 1 : 0;", "over = last || (more && bank == 1) ? 1 : 0;"),
		},
			layertest.Case{Name: "more out", Op: reorder.New(reorder.Params{Block: 2, Chunk: 3,
				Order: []int{1, 1, 0}, Shape: []int{4, 9}}), In: []dataflow.StreamType{typ(int4, 4, 6)}},
			layertest.Case{Name: "less out", Op: reorder.New(reorder.Params{Block: 3, Chunk: 2, Order: []int{2},
				Shape: []int{4, 2}}), In: []dataflow.StreamType{typ(int4, 4, 6)}},
			layertest.Case{Name: "two in a step", Op: reorder.New(reorder.Params{Block: 3, Chunk: 2,
				Order: []int{2, 0, 1}, Shape: []int{4, 12}}), In: []dataflow.StreamType{typ(int4, 4, 12)}})
	})
}
