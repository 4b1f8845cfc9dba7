package mvau_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"hlsgen/boards"
	"hlsgen/hlslib/mvau"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
)

// inDSPs are the folds whose products are in DSP slices, of one memory.
func inDSPs(f dataflow.Fold) bool {
	return f.Compute == dataflow.MultiplierInDSPs && f.Memory == dataflow.MemoryBRAM
}

// packed returns layers whose channels share DSP slices of all kinds: wherever lanes are, how many, whether they
// overlap, and with slices that have fewer channels than lanes.
func packed(t *testing.T) []layertest.Case {
	var cases []layertest.Case
	packings := map[string]bool{}
	r := rand.New(rand.NewPCG(7, 7))
	for _, dsp := range []string{"DSP48E1", "DSP48E2", "DSP58"} {
		for _, weights := range []num.Range{{Lo: -128, Hi: 127}, {Lo: -127, Hi: 127}, {Lo: -8, Hi: 7}, {Lo: -7, Hi: 7},
			{Lo: 0, Hi: 15}, {Lo: -1, Hi: 1}, {Lo: 0, Hi: 1}, {Lo: -2, Hi: 0}} {
			for _, in := range []num.Type{intN(8), uintN(8), intN(4), uintN(4), uintN(1)} {
				mh, mw := 1+r.IntN(9), 1+r.IntN(12)
				p := mvau.Params{Weights: make([][]int64, mh)}
				for c := range p.Weights {
					for range mw {
						p.Weights[c] = append(p.Weights[c], layertest.RandomInRange(r, weights))
					}
				}
				p.Weights[0][0], p.Weights[mh-1][mw-1] = weights.Hi, weights.Lo
				c := layertest.Case{Name: fmt.Sprint(dsp, weights, in), Op: mvau.New(p), Only: inDSPs,
					In: []dataflow.StreamType{typ(in, mw)}, Board: boards.Board{DSPType: dsp}}
				op := layertest.Bind(t, c.Op, c.In...)
				folds := 0
				for f := range op.Folds() {
					if inDSPs(f) {
						folds++
						packings[packing(op.Emit(f, dataflow.Target{Board: c.Board}))] = true
					}
				}
				if folds > 0 {
					cases = append(cases, c)
				}
			}
		}
	}
	if len(packings) < 100 {
		t.Errorf("only %d packings", len(packings))
	}
	return cases
}

// packing is the fields of one, as text.
func packing(i dataflow.KernelInstance) (text string) {
	for _, f := range i.Config {
		switch f.Name {
		case "lanes", "overlaps", "terms", "packed_t", "packed_sum_t":
			text += fmt.Sprint(f.Value)
		}
	}
	return text
}

// TestPackedCost checks that channels that are computed side by side share slices. Rounded products do not, nor do
// products in LUTs.
func TestPackedCost(t *testing.T) {
	t.Parallel()
	wide := [][]int64{{-128, 127}, {1, 2}, {3, 4}, {5, 6}}
	narrow := [][]int64{{-8, 7}, {1, 2}, {3, 4}, {5, 6}}
	for _, tt := range []struct {
		name     string
		p        mvau.Params
		in       num.Type
		dsp      string
		pe, simd int
		want     int
	}{
		{"8 bits", mvau.Params{Weights: wide}, intN(8), "DSP48E2", 4, 2, 4},
		{"8 bits, DSP48E1", mvau.Params{Weights: wide}, uintN(8), "DSP48E1", 4, 2, 4},
		{"8 bits, DSP58", mvau.Params{Weights: wide}, intN(8), "DSP58", 4, 1, 2},
		{"one output", mvau.Params{Weights: wide}, intN(8), "DSP48E2", 1, 2, 2},
		{"an odd number", mvau.Params{Weights: wide[:3]}, intN(8), "DSP48E2", 3, 2, 4},
		{"4 bits", mvau.Params{Weights: narrow}, uintN(4), "DSP48E2", 4, 2, 2},
		{"4 bits, DSP48E1", mvau.Params{Weights: narrow}, uintN(4), "DSP48E1", 4, 2, 4},
		{"rounded", mvau.Params{Weights: wide, Product: &num.Requant{Multiplier: 1, Shift: 3, Mode: num.Roundings[0],
			Lo: -1 << 20, Hi: 1 << 20}}, intN(8), "DSP48E2", 4, 2, 8},
	} {
		op := layertest.Bind(t, mvau.New(tt.p), typ(tt.in, 2))
		target := dataflow.Target{Board: boards.Board{DSPType: tt.dsp}}
		f := dataflow.Fold{PE: tt.pe, SIMD: tt.simd, Memory: dataflow.MemoryBRAM, Compute: dataflow.MultiplierInDSPs}
		if got := op.Cost(f, target).Total().DSP; got != tt.want {
			t.Errorf("%s: %d DSP slices, want %d", tt.name, got, tt.want)
		}
		if got := multipliers(op.(dataflow.HasCircuit).Circuit(f, target)); got != tt.want {
			t.Errorf("%s: %d multipliers in the circuit, want %d", tt.name, got, tt.want)
		}
		packs := packing(op.Emit(f, target)) != ""
		if want := tt.want < tt.pe*tt.simd; packs != want {
			t.Errorf("%s: packed %t, want %t", tt.name, packs, want)
		}
		f.Compute = dataflow.MultiplierInLUTs
		if packing(op.Emit(f, target)) != "" || op.Cost(f, target).Total().DSP != 0 {
			t.Errorf("%s: packed in LUTs", tt.name)
		}
	}
}

// multipliers counts the multipliers of a circuit.
func multipliers(m *circuit.Module) (n int) {
	for _, node := range m.Nodes {
		if node.Op == circuit.OpMultiply {
			n++
		}
	}
	for _, c := range m.Calls {
		n += multipliers(c.Function)
	}
	return n
}
