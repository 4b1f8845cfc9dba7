package dup

import (
	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/estimate"
	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
)

// Cost counts words, and a LUT per copy that waits for room in all the others. The copies of a word are wiring. FINN
// estimates nothing.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	m, word := estimate.Model(t), o.In[0].Port(f.PE)
	return estimate.Parts(
		m.Control(cost.Counter(word.Words)),
		layer.Handshakes(o.P.Copies),
		m.Registers(word.Width()),
	)
}
