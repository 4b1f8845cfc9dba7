package operatorlevel

import (
	"hlsgen/hlslib/price/delay"
	"hlsgen/internal/circuit"
)

// CircuitClocks returns the clocks of an iteration of a circuit, by the delays and the stages of synthesis from C++. It
// takes the operations of the circuit as they are: gates, adders, choices and memories. Registers between them take no
// clock, since synthesis places its own. If bare is set, reading and writing words takes no time.
func CircuitClocks(m *circuit.Module, clock delay.StageDelayModel, bare bool) int {
	r := gateReader{bare: bare, start: clock.NewCursorAfterLoopControl()}
	at := r.module(m, nil)
	end := r.start
	for _, o := range m.Out {
		if p := at[o.Word]; p != nil {
			end.WaitForCursor(*p)
		}
	}
	if !bare {
		end.DoOp(delay.OpStreamWrite, 1)
	}
	return end.LatencyClocks()
}

// A gateReader finds the points of the values in circuits.
type gateReader struct {
	bare  bool
	start delay.PipelineCursor
}

// module returns the point of every node of a layer's circuit or of a function's, whose arguments are there at pins.
func (r *gateReader) module(m *circuit.Module, pins []point) []point {
	at := make([]point, len(m.Nodes))
	calls := map[uint64][]point{}
	for i := range m.Nodes {
		n := &m.Nodes[i]
		p := r.start
		known := true
		for _, a := range n.Args {
			if at[a] != nil {
				p.WaitForCursor(*at[a])
				known = false
			}
		}
		switch n.Op {
		case circuit.OpConstant:
			continue
		case circuit.OpFunctionArgument:
			at[i] = pins[n.K]
			continue
		case circuit.OpCallResult:
			c := m.Calls[n.Table]
			if calls[n.Table] == nil {
				var arguments []point
				for _, a := range c.Args {
					arguments = append(arguments, at[a])
				}
				inner := r.module(c.Function, arguments)
				for _, result := range c.Function.Results {
					calls[n.Table] = append(calls[n.Table], inner[result])
				}
			}
			at[i] = calls[n.Table][n.K]
			continue
		case circuit.OpReadStateAfter:
			s := m.States[n.K]
			for _, a := range []circuit.NodeID{s.Node, s.Next, s.When} {
				if at[a] != nil {
					p.WaitForCursor(*at[a])
				}
			}
			at[i] = &p
			continue
		case circuit.OpReadStateBefore, circuit.OpIterationStart, circuit.OpReadInputStream:
			known = false
		}
		if known {
			continue
		}
		r.gate(m, n, &p)
		at[i] = &p
	}
	return at
}

// gate adds the operation of a node behind its operands.
func (r *gateReader) gate(m *circuit.Module, n *circuit.Node, p point) {
	width := n.Width
	for _, a := range n.Args {
		width = max(width, m.Nodes[a].Width)
	}
	switch n.Op {
	case circuit.OpReadInputStream:
		if !r.bare {
			p.DoOp(delay.OpStreamRead, 1)
		}
	case circuit.OpAdd, circuit.OpSubtract:
		p.DoOp(delay.OpAdd, n.Width)
	case circuit.OpSumOfThree:
		p.DoOp(delay.OpLogicGate, 1)
		p.DoOp(delay.OpAdd, n.Width)
	case circuit.OpMultiply:
		p.DoUnit(delay.UnitDSP)
	case circuit.OpAnd, circuit.OpOr, circuit.OpXor, circuit.OpLogicTable:
		p.DoOp(delay.OpLogicGate, 1)
	case circuit.OpMuxByCondition, circuit.OpMuxByIndex:
		p.DoOp(delay.OpSelect, n.Width)
	case circuit.OpLess, circuit.OpEqual:
		p.DoOp(delay.OpCompare, width)
	case circuit.OpReadMemoryClocked, circuit.OpReadMemoryUnclocked:
		switch m.Memories[n.K].Style {
		case circuit.BlockRAMStyle:
			p.DoUnit(delay.UnitBlockRAM)
		case circuit.UltraRAMStyle:
			p.DoUnit(delay.UnitUltraRAM)
		default:
			p.DoUnit(delay.UnitLUTMemory)
		}
	}
}
