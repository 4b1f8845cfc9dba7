package estimate

import (
	"hlsgen/internal/dataflow"
)

// UsesCircuitEstimates reports whether estimates for the target are those of RTL circuits: its back end is RTL, and its
// cost formula is not FINN's.
func UsesCircuitEstimates(t dataflow.Target) bool {
	return t.Stalls == dataflow.StallByCredit && t.Formula != dataflow.FINNCostFormula
}
