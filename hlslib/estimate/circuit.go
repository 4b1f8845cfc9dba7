package estimate

import (
	"hlsgen/internal/dataflow"
)

// Circuits reports whether what is priced is circuits: the target's back end is RTL, and FINN's formulas are not asked
// for.
func Circuits(t dataflow.Target) bool {
	return t.Stalls == dataflow.Credit && t.Formula != dataflow.FINN
}
