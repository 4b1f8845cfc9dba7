package lookup

import (
	"math/bits"

	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/estimate"
	"hlsgen/internal/dataflow"
)

// Cost is the table, what counts, and, where a row takes several clocks, the index kept and the adder that makes an
// address of it. FINN has a formula for a Lookup in block RAM alone, and no LUTs.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	m, folds := estimate.Model(t), o.depth/f.PE
	var address cost.Resources
	if folds > 1 {
		address = cost.Adder(bits.Len(uint(o.rows(f.PE) - 1))).Plus(cost.Resources{FF: o.in.Elem.Width})
	}
	return estimate.Layer(m, o.storage(f),
		m.Control(cost.Counter(o.indices).Plus(cost.Counter(folds))),
		address.As("address"),
		m.Registers(f.PE*o.out.Elem.Width),
	)
}

// storage is the layer's memories: its table.
func (o *op) storage(f dataflow.Fold) []dataflow.Storage {
	return []dataflow.Storage{dataflow.ROM("table", "table", o.rows(f.PE), f.PE*o.out.Elem.Width).At(f.Memory)}
}
