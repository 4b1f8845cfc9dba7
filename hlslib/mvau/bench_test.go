package mvau_test

import (
	"testing"

	"hlsgen/hlslib/mvau"
	"hlsgen/internal/dataflow"
)

// BenchmarkSearch is what a search of foldings asks of a layer: every fold's iterations and cost.
func BenchmarkSearch(b *testing.B) {
	op, _, err := mvau.New(mvau.Params{Weights: many(256, 576)}).Bind([]dataflow.Type{typ(uintN(4), 14, 14, 576)})
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		for f := range op.Folds() {
			if op.Loop(f, dataflow.Target{}).Iterations() == 0 || op.Cost(f, dataflow.Target{}).Total().LUT == 0 {
				b.Fatal("a fold for nothing")
			}
			n++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/fold")
}
