package requant

import (
	"slices"

	"hlsgen/internal/dataflow"
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
			{Name: "multipliers", Doc: "by fold: element pe; one for all", Elem: o.multiplier, Rows: rows(o.p.Multiplier, f.PE)},
			{Name: "biases", Doc: "by fold: element pe; one for all", Elem: o.bias, Rows: rows(o.p.Bias, f.PE)},
			{Name: "limits", Doc: "the lowest and the highest output", Elem: o.out.Elem, Rows: [][]int64{{limits.Lo, limits.Hi}}},
		},
		Storage: o.storage(f),
	}
}

// rows is a parameter as a table: a row per fold, or one element where all channels have the same.
func rows(values []int64, pe int) [][]int64 {
	if common(values) {
		return [][]int64{values[:1]}
	}
	return slices.Collect(slices.Chunk(values, pe))
}
