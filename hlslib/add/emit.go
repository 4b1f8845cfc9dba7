package add

import (
	"math"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	i := dataflow.Instance{
		Header: "add.hpp",
		Func:   "add",
		Config: []dataflow.Field{
			{Name: "vectors", Doc: "vectors in a frame", Value: o.vectors},
			{Name: "folds", Doc: "words of a vector", Value: o.channels / f.PE},
			{Name: "pe", Doc: "channels computed side by side", Value: f.PE},
			{Name: "sum_t", Doc: "sum", Value: o.sum},
			{Name: "use_dsp", Doc: "multiply in DSP slices", Value: f.Compute == dataflow.DSP},
		},
		Storage: o.storage(f),
	}
	if o.table() {
		i.Func = "add_per_channel"
		i.Tables = []dataflow.Table{{Name: "factors", Doc: "by fold: element 2*pe + input", Elem: o.tableElem(), Rows: o.factorRows(f.PE)}}
	} else {
		i.Config = append(i.Config,
			dataflow.Field{Name: "factor0_t", Doc: "factor of input 0", Value: o.factor[0]},
			dataflow.Field{Name: "factor0", Value: int(o.p.factor(0, 0))},
			dataflow.Field{Name: "factor1_t", Doc: "factor of input 1", Value: o.factor[1]},
			dataflow.Field{Name: "factor1", Value: int(o.p.factor(1, 0))})
	}
	if o.compare.Over == nil {
		i.Config = append(i.Config,
			dataflow.Field{Name: "unit", Doc: "what each count of the sum adds", Value: 1},
			dataflow.Field{Name: "base", Doc: "where the output starts", Value: 0},
			dataflow.Field{Name: "shared", Doc: "one row serves all channels", Value: true})
		return i
	}
	config, tables := dataflow.StepTables(o.compare, f.PE, o.sum)
	i.Config, i.Tables = append(i.Config, config...), append(i.Tables, tables...)
	return i
}

// table reports whether the factors take a table: they differ between channels, or one is too wide for an int of C++.
func (o *op) table() bool {
	for _, f := range o.p.Factors {
		for _, v := range f {
			if v != f[0] || v < math.MinInt32 || v > math.MaxInt32 {
				return true
			}
		}
	}
	return false
}

// tableElem is the type of the table of factors.
func (o *op) tableElem() num.Type {
	return num.Smallest(o.factor[0].Range().Union(o.factor[1].Range()))
}

func (o *op) factorRows(pe int) [][]int64 {
	rows := make([][]int64, o.channels/pe)
	for c := range o.channels {
		rows[c/pe] = append(rows[c/pe], o.p.factor(0, c), o.p.factor(1, c))
	}
	return rows
}

// multiplies reports whether a factor of the input needs a multiplier.
func (o *op) multiplies(input int) bool {
	for _, v := range o.p.Factors[input] {
		if v < -1 || v > 1 {
			return true
		}
	}
	return false
}
