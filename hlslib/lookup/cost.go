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
	m := estimate.Model(t)
	var address cost.Resources
	if o.words(f) > 1 {
		address = cost.Adder(bits.Len(uint(o.rows(f) - 1))).Plus(cost.Resources{FF: o.in.Elem.Width})
	}
	return estimate.Layer(m, o.storage(f),
		m.Control(cost.Counter(o.indices).Plus(cost.Counter(o.words(f)))),
		address.As("address"),
		m.Registers(f.PE*o.out.Elem.Width),
	)
}

// storage is the layer's memories: its table.
func (o *op) storage(f dataflow.Fold) []dataflow.Storage {
	return []dataflow.Storage{dataflow.ROM("table", "table", o.rows(f), f.PE*o.out.Elem.Width).At(f.Memory)}
}
