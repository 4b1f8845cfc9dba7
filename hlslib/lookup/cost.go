package lookup

import (
	"math/bits"

	"hlsgen/internal/cost"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/estimate"
)

// Cost is the table, what counts, and, where a row takes several clocks, the index kept and the adder that makes an
// address of it. FINN has a formula for a Lookup in block RAM alone, and no LUTs.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	m, folds := estimate.Model(t), o.depth/f.PE
	var address cost.Resources
	if folds > 1 {
		address = cost.Adder(bits.Len(uint(o.rows(f.PE) - 1))).Plus(m.Buffer(o.in.Elem.Width, 1))
	}
	width := f.PE * o.out.Elem.Width
	return estimate.Parts(
		m.Table(width, o.rows(f.PE), estimate.Memory(f.Memory)).As("table"),
		m.Control(cost.Counter(o.indices).Plus(cost.Counter(folds))),
		address.As("address"),
		m.Registers(width),
	)
}
