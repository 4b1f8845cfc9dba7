package mvau_test

import (
	"testing"

	"hlsgen/boards"
	"hlsgen/hlslib/mvau"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
)

// TestConstantWeights checks the cost of constant weights. In a fold that takes all weights in every clock, a layer
// costs what the digits of its weights do, and only a layer with as many digits counts as alike. In any other fold it
// costs the same as products of any weights.
func TestConstantWeights(t *testing.T) {
	t.Parallel()
	board, err := boards.FindBoard("zcu104")
	if err != nil {
		t.Fatal(err)
	}
	at := dataflow.Target{Board: board, ClockMHz: 100}
	layer := func(weights ...int64) dataflow.Op {
		rows := make([][]int64, 8)
		for c := range rows {
			for k := range 16 {
				rows[c] = append(rows[c], weights[(c+k)%len(weights)])
			}
		}
		rows[0][0], rows[7][15] = -85, 85 // all have weights of as many bits
		g := layertest.Chain(t, layertest.FullType(num.Type{Kind: num.KindUInt, Width: 4}, 16),
			mvau.New(mvau.Params{Weights: rows}))
		return g.Nodes[0].Op
	}
	dense, powers, pruned := layer(85, 43, -53, 77), layer(64, -32, 16, 64), layer(0, 0, 0, 85)
	all := dataflow.Fold{PE: 8, SIMD: 16, Memory: dataflow.MemoryLUTRAM, Compute: dataflow.MultiplierInLUTs}
	half, slices := all, all
	half.SIMD, slices.Compute = 8, dataflow.MultiplierInDSPs
	lut := func(o dataflow.Op, f dataflow.Fold) int { return o.Cost(f, at).Total().LUT }
	if d, p, z := lut(dense, all), lut(powers, all), lut(pruned, all); !(z < p && p < d/2) {
		t.Errorf("%d LUT of dense weights, %d of powers of two, %d of pruned ones", d, p, z)
	}
	for _, f := range []dataflow.Fold{half, slices} {
		if d, p := dense.Cost(f, at).Total(), powers.Cost(f, at).Total(); f.Compute == dataflow.MultiplierInDSPs &&
			d.DSP != p.DSP ||
			f.Compute == dataflow.MultiplierInLUTs && d.LUT-p.LUT > d.LUT/4 {
			t.Errorf("%+v: %+v of dense weights, %+v of powers of two", f, d, p)
		}
	}
	if o, ok := dense.(dataflow.HasDivisiblePE); !ok || o.Alike(powers, half, at) || !o.Alike(dense, half, at) {
		t.Error("layers are alike that differ in the digits of constants, or one is not like itself")
	}
}
