package mvau

import (
	"math"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	base, unit := o.affine()
	i := dataflow.Instance{
		Header: "mvau.hpp",
		Func:   "mvau",
		Config: []dataflow.Field{
			{Name: "vectors", Doc: "input vectors in a frame", Value: o.vectors},
			{Name: "nf", Doc: "output words of a vector", Value: o.mh / f.PE},
			{Name: "sf", Doc: "input words of a vector", Value: o.mw / f.SIMD},
			{Name: "pe", Doc: "outputs computed side by side", Value: f.PE},
			{Name: "simd", Doc: "inputs of each consumed a clock", Value: f.SIMD},
			{Name: "acc_t", Doc: "accumulator", Value: o.acc},
			{Name: "dot_t", Doc: "sum of one clock's products", Value: o.dotType(f.SIMD)},
			{Name: "use_dsp", Doc: "multiply in DSP slices", Value: f.Compute == dataflow.DSP},
			{Name: "steps", Doc: "thresholds of a channel", Value: o.steps()},
			{Name: "unit", Doc: "what each exceeded threshold, or each count of the accumulator, adds", Value: int(unit)},
			{Name: "base", Doc: "where the output starts", Value: int(base)},
		},
		Tables: []dataflow.Table{{Name: "weights", Doc: "by nf and sf: element pe*simd + i", Elem: o.weight, Rows: o.weightRows(f), Memory: f.Memory}},
	}
	if o.compare.Over == nil {
		return i
	}
	i.Tables = append(i.Tables, dataflow.Table{Name: "thresholds", Doc: "by nf: element pe*steps + i", Elem: o.acc, Rows: o.thresholdRows(f.PE)})
	if o.baseTable() {
		rows := o.baseRows(f.PE)
		i.Tables = append(i.Tables, dataflow.Table{Name: "base", Doc: "by nf: element pe", Elem: num.Narrowest(rows...), Rows: rows})
	}
	return i
}

func (o *op) steps() int {
	if o.compare.Over == nil {
		return 0
	}
	return len(o.compare.Over[0])
}

// affine gives the output as base + unit*n, n being exceeded thresholds or, without activation, the accumulator. base
// is 0 where a table has it.
func (o *op) affine() (base, unit int64) {
	switch {
	case o.compare.Over == nil && o.xnor:
		return -int64(o.mw), 2
	case o.compare.Over == nil:
		return 0, 1
	case o.baseTable():
		return 0, o.compare.Unit
	}
	return o.compare.Base[0], o.compare.Unit
}

// baseTable reports whether the base differs between channels, or is too wide for an int of C++.
func (o *op) baseTable() bool {
	b := o.compare.Base
	return len(b) > 1 || b[0] < math.MinInt32 || b[0] > math.MaxInt32
}

func (o *op) weightRows(f dataflow.Fold) [][]int64 {
	rows := make([][]int64, 0, o.mh*o.mw/(f.PE*f.SIMD))
	for c := 0; c < o.mh; c += f.PE {
		for k := 0; k < o.mw; k += f.SIMD {
			row := make([]int64, 0, f.PE*f.SIMD)
			for _, channel := range o.p.Weights[c : c+f.PE] {
				row = append(row, channel[k:k+f.SIMD]...)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func (o *op) thresholdRows(pe int) [][]int64 {
	var rows [][]int64
	for side := range slices.Chunk(o.compare.Over, pe) {
		rows = append(rows, slices.Concat(side...))
	}
	return rows
}

func (o *op) baseRows(pe int) [][]int64 {
	var rows [][]int64
	for c := 0; c < o.mh; c += pe {
		row := make([]int64, pe)
		for i := range row {
			row[i] = o.compare.Base[min(c+i, len(o.compare.Base)-1)]
		}
		rows = append(rows, row)
	}
	return rows
}
