package mul

import (
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	second := o.factor[1]
	if o.factor[0].Kind == num.Bipolar && second.Kind == num.Bipolar {
		second = num.Smallest(second.Range()) // core/mac.hpp gives the match of two signs, not their product
	}
	i := dataflow.Instance{
		Header: "mul.hpp",
		Func:   "mul",
		Config: []dataflow.Field{
			{Name: "vectors", Doc: "vectors in a frame", Value: o.vectors},
			{Name: "folds", Doc: "words of a vector", Value: o.channels / f.PE},
			{Name: "pe", Doc: "channels computed side by side", Value: f.PE},
			{Name: "gate", Doc: "input 1 is one vector, for all of input 0", Value: o.gate},
			{Name: "factor0_t", Doc: "input 0 plus its offset", Value: o.factor[0]},
			{Name: "factor1_t", Doc: "input 1 plus its offset", Value: second},
			{Name: "offset0", Value: int(o.p.Offset[0])},
			{Name: "offset1", Value: int(o.p.Offset[1])},
			{Name: "product_t", Doc: "product", Value: o.product},
			{Name: "use_dsp", Doc: "multiply in DSP slices", Value: f.Compute == dataflow.DSP && o.multiplies()},
		},
		Storage: o.storage(f),
	}
	if o.p.Requant != nil {
		i.Func = "mul_requant"
		i.Config = append(i.Config,
			dataflow.RequantField("requant", "every product's requantiser", o.products, *o.p.Requant),
			dataflow.Field{Name: "requant_dsp", Doc: "it multiplies in DSP slices", Value: f.Compute == dataflow.DSP && o.rescales()},
			dataflow.Field{Name: "shared", Doc: "one serves all channels", Value: true})
		return i
	}
	if o.compare.Over == nil {
		i.Config = append(i.Config,
			dataflow.Field{Name: "unit", Doc: "what each count of the product adds", Value: 1},
			dataflow.Field{Name: "base", Doc: "where the output starts", Value: 0},
			dataflow.Field{Name: "shared", Doc: "one row serves all channels", Value: true})
		return i
	}
	config, tables := dataflow.StepTables(o.compare, f.PE, o.product)
	i.Config, i.Tables = append(i.Config, config...), tables
	return i
}
