package estimate

import (
	"hlsgen/internal/dataflow"
)

// PricesCircuits reports whether estimates for the target price circuits: its back end is RTL, and the formulas are not
// FINN's.
func PricesCircuits(t dataflow.Target) bool {
	return t.Stalls == dataflow.StallByCredit && t.Formula != dataflow.FINNFormula
}
