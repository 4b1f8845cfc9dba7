package dup

import (
	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/estimate"
	"hlsgen/internal/dataflow"
)

// Cost counts words, and a LUT per copy that waits for room in all the others. The copies of a word are wiring. FINN
// estimates nothing.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	m := estimate.Model(t)
	return estimate.Parts(
		m.Control(cost.Counter(o.words(f.PE))),
		cost.Resources{LUT: o.p.Copies}.As("handshakes"),
		m.Registers(f.PE*o.typ.Elem.Width),
	)
}
