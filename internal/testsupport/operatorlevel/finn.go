package operatorlevel

import (
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A FINNShape describes FINN's MVAU_hls (finn-hlslib, mvau.hpp): one flattened loop, an input buffer in registers, and
// thresholds in tables.
type FINNShape struct {
	SF, NF, SIMD           int
	Weight, In, Acc        int // bits
	Thresholds             int // of a channel; 0 for none
	DSP, Table, SignedCode bool
}

// Graph returns the graph of the layer for one output. Weights lie in a table, or arrive with the inputs. Words take no
// time to be read and written.
func (s FINNShape) Graph() *Graph {
	g := &Graph{Trips: []int{s.NF, s.SF}, Bare: true}
	in, weight := num.Type{Kind: num.KindUInt, Width: s.In}, num.Type{Kind: num.KindInt, Width: s.Weight}
	if s.Weight == 1 {
		weight.Kind = num.KindBipolar
	}
	acc := num.Type{Kind: num.KindInt, Width: s.Acc}
	g.Read, g.Write = g.condition(First, 0, 0), g.condition(Last, 1, 1)
	x := g.add(Operator{Kind: Word, Args: []ID{g.Read}, Cols: s.SIMD, Range: in.Range()})
	if s.NF > 1 {
		x = g.add(Operator{Kind: Keep, Args: []ID{x, g.Read, g.index(1, 1)}, Cols: s.SIMD, Range: in.Range(),
			Storage: dataflow.Storage{Rows: s.SF, Width: s.SIMD * s.In, In: dataflow.MemoryRegisters}})
	}
	w := g.add(Operator{Kind: Word, Args: []ID{g.always()}, Cols: s.SIMD, Range: weight.Range()})
	if s.Table {
		w = g.add(Operator{Kind: Row, Args: []ID{g.index(0, 1)}, Cols: s.SIMD, Range: weight.Range(),
			Storage: dataflow.Storage{Rows: s.NF * s.SF, Width: s.SIMD * s.Weight, In: dataflow.MemoryLUTRAM}})
	}
	o := Operator{Kind: Product, Args: []ID{w, x}, Cols: s.SIMD, Range: times(weight.Range(), in.Range()),
		Factors: [2]num.Type{weight, in}, DSP: s.DSP}
	if s.Weight == 1 && s.In == 1 {
		o.Kind, o.Range = Match, num.Range{Hi: 1}
	}
	y := g.add(o)
	y = g.add(Operator{Kind: Sum, Args: []ID{y}, Range: sums(o.Range, s.SIMD)})
	if s.SF > 1 {
		y = g.add(Operator{Kind: RunningSum, Args: []ID{y, g.condition(First, 1, 1)}, Range: acc.Range()})
	}
	if s.Thresholds > 0 {
		base := 0
		if s.SignedCode {
			base = -(s.Thresholds + 1) / 2
		}
		y = g.add(Operator{Kind: Steps, Args: []ID{y, g.index(0, 0)}, Bits: s.Acc,
			Range: num.Range{Lo: int64(base), Hi: int64(base + s.Thresholds)},
			Steps: dataflow.KernelInstance{Config: []dataflow.ConfigField{{Name: "form", Value: formComparators},
				{Name: "steps", Value: s.Thresholds}, {Name: "unit", Value: 1}, {Name: "base", Value: base}}}})
	}
	g.Result = y
	return g
}
