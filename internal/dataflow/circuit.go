package dataflow

import (
	"errors"
	"fmt"

	"hlsgen/boards"
	"hlsgen/hlslib/price/delay"
	"hlsgen/internal/circuit"
	"hlsgen/internal/num"
)

// HasCircuit is implemented by bound layers that have a circuit for RTL. Loop of the same fold and target says which
// words an iteration moves. With RateFromCircuit, Loop's latency is that of the circuit.
type HasCircuit interface {
	Circuit(Fold, Target) *circuit.Module
}

// CircuitOfNode returns the circuit of the node with this number. one is the design for sequences of one step, or nil
// if frames have one length: a layer that reads steps and needs no ends of sequences handles a step as a frame, and has
// the circuit of that. The error says that the layer has no circuit.
func (d *Design) CircuitOfNode(node int, one *Design) (*circuit.Module, error) {
	g := d.Model.Graph
	n := g.Nodes[node]
	op := n.Op
	if one != nil && g.reads(one.Model.Graph, n) && !NeedsSequenceEnds(op, d.Model.Lengths.Max) {
		op = one.Model.Graph.Nodes[node].Op
	}
	c, ok := op.(HasCircuit)
	if !ok {
		return nil, errors.New("has no circuit")
	}
	return c.Circuit(d.Folds[node], d.Target), nil
}

// CircuitTiming returns the delays and the stage length by which circuits are divided into pipeline stages for the
// target. The delays are guesses: a LUT with wires of the usual length.
func (t Target) CircuitTiming() circuit.TimingModel {
	rate := circuit.TimingModel{LUT: 600, Carry: 15, Inputs: 6, ThreeCarry: 8}
	family := t.Board.Family.Row()
	switch {
	case family != nil:
		l := &family.Logic
		rate = circuit.TimingModel{LUT: l.LUTDelayPS, Carry: l.CarryDelayPS, Chain: l.ChainDelayPS, Inputs: l.Inputs}
	case t.Board.DSPType == string(delay.FamilySeries7):
		rate.LUT, rate.Carry, rate.ThreeCarry = 900, 30, 4
	case t.Board.DSPType == string(delay.FamilyVersal):
		rate.LUT, rate.ThreeCarry = 500, 0 // its carry is another one
	}
	if !t.Board.CanStoreInLUTs() {
		rate.BlockBits = boards.MinArrayBitsForBlockRAM
	}
	if rate.Outlines = t.Outlines; t.Functions != nil {
		rate.Room = &t.Functions.Room
	}
	rate.Stage = max(2*rate.LUT, int(1000*t.OperationDelays().StageBudgetNS()))
	return rate
}

// CircuitStyleOf returns the circuit style of the memory called name in the list. It returns
// circuit.DistributedRAMStyle if there is none.
func CircuitStyleOf(list []Storage, name string) circuit.StorageStyle {
	return KernelInstance{Storage: list}.StorageOf(name).CircuitStyle()
}

// CircuitStyle returns the circuit style of the memory, which is circuit.DistributedRAMStyle for all but block RAM,
// UltraRAM and registers.
func (s Storage) CircuitStyle() circuit.StorageStyle {
	switch s.In {
	case MemoryBRAM:
		return circuit.BlockRAMStyle
	case MemoryURAM:
		return circuit.UltraRAMStyle
	case MemoryRegisters:
		return circuit.RegisterArrayStyle
	}
	return circuit.DistributedRAMStyle
}

// AddTableToCircuit adds the table to a circuit, in the memory s, and returns it as one table per bank. It calls table
// only when the table is written out, or if it has one row.
func (s Storage) AddTableToCircuit(b *circuit.Builder, table func() Table) []circuit.ConstantTable {
	list := make([]circuit.ConstantTable, s.ArrayCount())
	for k := range list {
		name := s.Name
		if len(list) > 1 {
			name = fmt.Sprintf("%s_%03d", s.Name, k)
		}
		list[k] = b.AddTableOfWidth(name, s.CircuitStyle(), s.Width, s.Rows, func() (num.Type, [][]int64) {
			t := table()
			return t.Elem, t.Rows[k*s.Rows : (k+1)*s.Rows]
		})
	}
	return list
}

// AddToCircuit adds the table to a circuit, in the memory s, and returns it as one table per bank.
func (t Table) AddToCircuit(b *circuit.Builder, s Storage) []circuit.ConstantTable {
	return s.AddTableToCircuit(b, func() Table { return t })
}
