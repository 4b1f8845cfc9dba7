package layertest

import (
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/rtlsim"
)

// BenchSearch measures the calls of a bound layer in a search of foldings: the iterations and the cost of every fold.
func BenchSearch(b *testing.B, op dataflow.Op) {
	n := 0
	for b.Loop() {
		for f := range op.Folds() {
			if op.Loop(f, dataflow.Target{}).IterationsPerFrame() == 0 || op.Cost(f,
				dataflow.Target{}).Total().LUT == 0 {
				b.Fatal("a fold for nothing")
			}
			n++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/fold")
}

// BenchSimulation simulates a frame of a layer with one input, clock by clock.
func BenchSimulation(b *testing.B, op dataflow.Op, in dataflow.StreamType, x dataflow.Tensor, f dataflow.Fold) {
	bound := &bound{Case: Case{In: []dataflow.StreamType{in}}}
	var err error
	if bound.op, bound.out, err = op.Bind(bound.In); err != nil {
		b.Fatal(err)
	}
	d := bound.design(f, 2)
	for b.Loop() {
		if _, err := rtlsim.RunFrames(b.Context(), d, [][]dataflow.Tensor{{x}}, rtlsim.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
