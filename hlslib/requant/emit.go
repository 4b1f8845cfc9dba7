package requant

import (
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	limits := o.out.Union()
	return dataflow.Instance{
		Header: "requant.hpp",
		Func:   "requant",
		Config: []dataflow.Field{
			{Name: "vectors", Doc: "vectors in a frame", Value: o.vectors},
			{Name: "folds", Doc: "words of a vector", Value: o.channels / f.PE},
			{Name: "pe", Doc: "channels computed side by side", Value: f.PE},
			{Name: "sum_t", Doc: "multiplier times input, plus bias", Value: o.sum},
			{Name: "one_multiplier", Doc: "one serves all channels", Value: common(o.p.Multiplier)},
			{Name: "one_bias", Doc: "one serves all channels", Value: common(o.p.Bias)},
			{Name: "shift", Doc: "what the sum is shifted right by", Value: o.p.Shift},
			{Name: "mode", Doc: "how it rounds: a requant_mode", Value: o.p.mode().Code()},
			{Name: "clip_lo", Doc: "some code lies below the limits", Value: o.code.Lo < limits.Lo},
			{Name: "clip_hi", Doc: "some code lies above the limits", Value: o.code.Hi > limits.Hi},
			{Name: "use_dsp", Doc: "multiply in DSP slices", Value: f.Compute == dataflow.DSP},
		},
		Tables: []dataflow.Table{
			table("multipliers", "by fold: element pe; one for all", o.multiplier, rows(o.p.Multiplier, f.PE), f.Memory),
			table("biases", "by fold: element pe; one for all", o.bias, rows(o.p.Bias, f.PE), f.Memory),
			table("limits", "the lowest and the highest output", o.out.Elem, [][]int64{{limits.Lo, limits.Hi}}, dataflow.NoMemory),
		},
	}
}

// table lies in m where it has more than one row.
func table(name, doc string, elem num.Type, rows [][]int64, m dataflow.Memory) dataflow.Table {
	if len(rows) == 1 {
		m = dataflow.NoMemory
	}
	return dataflow.Table{Name: name, Doc: doc, Elem: elem, Rows: rows, Memory: m}
}

// rows is a parameter as a table: a row per fold, or one element where all channels have the same.
func rows(values []int64, pe int) [][]int64 {
	if common(values) {
		return [][]int64{values[:1]}
	}
	return slices.Collect(slices.Chunk(values, pe))
}
