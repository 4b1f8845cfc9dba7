package estimate

import (
	"hlsgen/internal/dataflow"
)

// UsesCircuitEstimates reports whether estimates for the target are those of circuits: its back end spells them, and
// its cost formula is not FINN's.
func UsesCircuitEstimates(t dataflow.Target) bool {
	return t.Backend.Rate == dataflow.RateFromCircuit && t.Formula != dataflow.FINNCostFormula
}
