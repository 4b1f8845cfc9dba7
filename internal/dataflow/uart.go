package dataflow

// HasUARTTop reports whether, on the target, a top with a UART is written around the network. The pins of the board are
// known, and all frames have one length. There are one input, one output and no registers.
func (m *Model) HasUARTTop(t Target) bool {
	return t.Backend.Rate == RateFromCircuit && len(t.Board.Pins) > 0 && len(m.Graph.In) == 1 &&
		len(m.Graph.Out) == 1 && len(m.Graph.ExternalWeightNodeIndices()) == 0 && m.Lengths == nil && !t.Counters &&
		!m.Graph.HasRunTimeLoadedTables()
}
