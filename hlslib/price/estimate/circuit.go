package estimate

import (
	"hlsgen/internal/dataflow"
)

// PricesCircuits reports whether estimates for the target are those of RTL circuits: its back end is RTL, and its cost
// formula is not FINN's.
func PricesCircuits(t dataflow.Target) bool {
	return t.Stalls == dataflow.StallByCredit && t.Formula != dataflow.FINNFormula
}
