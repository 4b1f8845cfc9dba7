package estimate

import (
	"hlsgen/internal/dataflow"
)

// Circuits reports whether estimates for the target price circuits: its back end is RTL, and the formulas are not
// FINN's.
func Circuits(t dataflow.Target) bool {
	return t.Stalls == dataflow.Credit && t.Formula != dataflow.FINN
}
