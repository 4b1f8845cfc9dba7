package dup

import (
	"hlsgen/internal/cost"
	"hlsgen/internal/dataflow"
)

// Cost counts words, and a LUT per copy that waits for room in all the others. The copies of a word are wiring. FINN
// estimates nothing.
func (o *op) Cost(f dataflow.Fold, _ dataflow.Target) dataflow.Cost {
	control := cost.Counter(o.words(f.PE)).Plus(cost.Resources{LUT: o.p.Copies})
	return dataflow.Cost{{Name: "stream control", Resources: dataflow.Resources(control)}}
}
