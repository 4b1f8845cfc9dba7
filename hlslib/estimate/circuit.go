package estimate

import (
	"hlsgen/hlslib/cells"
	"hlsgen/internal/dataflow"
)

// circuits reports whether what is priced is circuits: the target's back end is RTL, and FINN's formulas are not asked
// for.
func circuits(t dataflow.Target) bool {
	return t.Stalls == dataflow.Credit && t.Formula != dataflow.FINN
}

// Circuit is what a layer's circuit takes; ok is false where circuits are not what is priced.
func Circuit(o dataflow.Circuited, f dataflow.Fold, t dataflow.Target) (c dataflow.Cost, ok bool) {
	if !circuits(t) {
		return nil, false
	}
	return Parts(cells.Of(o.Circuit(f, t), Model(t).Fabric)...), true
}
