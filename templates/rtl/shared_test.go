package rtl_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/boards"
	"hlsgen/hlslib/mvau"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/circuittest"
	"hlsgen/internal/testsupport/tier"
)

// TestSharedAdders compares layers of random matrices whose outputs share adders with plain products, for devices with
// adders of two operands and of three: the circuits, and in the full tier some in Verilator.
func TestSharedAdders(t *testing.T) {
	t.Parallel()
	matrices, compiled := 60, 0
	if tier.Full() {
		compiled = 8
	}
	if tier.Long() {
		matrices, compiled = 1000, 200
	}
	r := rand.New(rand.NewPCG(45, 3))
	var list []told
	three := 0
	for n := range matrices {
		name := []string{"vck190", "pynq-z1", "alveo-u250"}[n%3]
		board, err := boards.FindBoard(name)
		if err != nil {
			t.Fatal(err)
		}
		rows, columns := circuittest.DrawMatrix(r)
		in := num.Range{}
		for _, c := range columns {
			in = in.Union(c)
		}
		typ := dataflow.StreamType{Shape: dataflow.Shape{len(columns)}, Range: []num.Range{in},
			Elem: num.NarrowestIntTypeFor(in)}
		bound, outs, err := mvau.New(mvau.Params{Weights: rows}).Bind([]dataflow.StreamType{typ})
		if err != nil {
			t.Fatal(err)
		}
		fold := dataflow.Fold{PE: len(rows), SIMD: len(columns), Memory: dataflow.MemoryLUTRAM,
			Compute: dataflow.SharedAdders}
		if !slices.Contains(slices.Collect(bound.Folds()), fold) {
			t.Fatalf("%v has no fold %+v", rows, fold)
		}
		c := told{m: bound.(dataflow.HasCircuit).Circuit(fold, dataflow.Target{Board: board,
			ClockMHz: 100 + 100*float64(r.IntN(4)), Backend: dataflow.BackendRTL})}
		if slices.ContainsFunc(c.m.Nodes, func(n circuit.Node) bool { return n.Op == circuit.OpSumOfThree }) {
			if three++; name == "vck190" {
				t.Errorf("an adder of three operands for %s", name)
			}
		}
		machine, err := circuit.NewMachine(c.m)
		if err != nil {
			t.Fatal(err)
		}
		for range wideWords {
			x, want := make([]int64, len(columns)), make([]int64, len(rows))
			for i := range x {
				x[i] = []int64{in.Lo, in.Hi, in.Lo + r.Int64N(in.ValueCount())}[r.IntN(3)]
			}
			for i, row := range rows {
				for k, w := range row {
					want[i] += w * x[k]
				}
			}
			word := circuit.AppendPackedElements(nil, typ.Elem, x)
			product := circuit.AppendPackedElements(nil, outs[0].Elem, want)
			_, err := machine.Iterate([][]uint64{word})
			if got := machine.WrittenWord(0); err != nil || !slices.Equal(got, product) {
				t.Fatalf("%v times %v for %s: %v, want %v, %v", rows, x, name, got, want, err)
			}
			c.in = append(c.in, circuittest.OfLimbs(word))
			c.out = append(c.out, circuittest.OfLimbs(product))
		}
		list = append(list, c)
	}
	if three == 0 {
		t.Error("no adder has three operands")
	}
	for some := range slices.Chunk(list[:compiled], 20) {
		runTold(t, some)
	}
}
