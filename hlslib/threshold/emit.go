package threshold

import (
	"math"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	base := int64(0)
	if !o.baseTable() {
		base = o.compare.Base[0]
	}
	memory := dataflow.NoMemory
	if o.rows(f.PE) > 1 {
		memory = f.Memory
	}
	i := dataflow.Instance{
		Header: "threshold.hpp",
		Func:   "threshold",
		Config: []dataflow.Field{
			{Name: "vectors", Doc: "vectors in a frame", Value: o.vectors},
			{Name: "folds", Doc: "words of a vector", Value: o.channels / f.PE},
			{Name: "pe", Doc: "channels computed side by side", Value: f.PE},
			{Name: "steps", Doc: "thresholds of a channel", Value: o.steps()},
			{Name: "unit", Doc: "what each exceeded threshold adds, where there are no deltas", Value: int(o.compare.Unit)},
			{Name: "base", Doc: "where the output starts, where there is no table of it", Value: int(base)},
			{Name: "shared", Doc: "one row serves all channels", Value: o.shared()},
		},
		Tables: []dataflow.Table{{Name: "thresholds", Doc: "by fold: element pe*steps + i", Elem: o.in.Elem, Rows: o.table(f.PE, o.compare.Over), Memory: memory}},
	}
	if !o.baseTable() {
		return i
	}
	bases := make([][]int64, len(o.compare.Over))
	for c := range bases {
		bases[c] = []int64{o.compare.Base[min(c, len(o.compare.Base)-1)]}
	}
	rows := o.table(f.PE, bases)
	i.Tables = append(i.Tables, dataflow.Table{Name: "base", Doc: "by fold: element pe", Elem: num.Narrowest(rows...), Rows: rows})
	if o.compare.Delta != nil {
		rows := o.table(f.PE, o.compare.Delta)
		i.Tables = append(i.Tables, dataflow.Table{Name: "deltas", Doc: "what each threshold adds", Elem: num.Narrowest(rows...), Rows: rows, Memory: memory})
	}
	return i
}

// baseTable reports whether the base is a table: it differs between channels, is too wide for an int of C++, or there
// are deltas.
func (o *op) baseTable() bool {
	b := o.compare.Base
	return len(b) > 1 || o.compare.Delta != nil || b[0] < math.MinInt32 || b[0] > math.MaxInt32
}

// table joins the rows of channels that are computed side by side; the one row of all channels stays as it is.
func (o *op) table(pe int, channels [][]int64) [][]int64 {
	var rows [][]int64
	for side := range slices.Chunk(channels, pe) {
		rows = append(rows, slices.Concat(side...))
	}
	return rows
}
