// Package estimate applies the formulas of hlslib/cost to layers and designs. A layer says what its figures mean to a
// formula. The target selects the formula and the fabric. What a design takes in addition to its layers (FIFOs, the
// host's port) is counted here.
//
// If the target's back end is RTL, the price is that of a layer's circuit (hlslib/cells).
//
// In come bound layers' figures and designs; out come costs by named part, and their sums. It sees cells, cost and
// dataflow.
package estimate

import (
	"slices"

	"hlsgen/hlslib/cost"
	"hlsgen/internal/dataflow"
)

// Model returns the formula and the fabric of a target.
func Model(t dataflow.Target) cost.Model {
	m := cost.Model{Formula: cost.Fitted, Fabric: cost.FabricOf(t.Board)}
	if t.Formula == dataflow.FINN {
		m.Formula = cost.FINN
	}
	return m
}

var memories = [...]cost.Memory{
	dataflow.LUTRAM: cost.Distributed, dataflow.BRAM: cost.Block, dataflow.URAM: cost.Ultra,
	dataflow.SRL: cost.Shift, dataflow.Registers: cost.Registers,
}

// Memory returns a memory in the terms of the formulas.
func Memory(m dataflow.Memory) cost.Memory { return memories[m] }

// Parts returns the parts that are not zero as a cost.
func Parts(parts ...cost.Part) dataflow.Cost {
	c := make(dataflow.Cost, 0, len(parts))
	for _, p := range parts {
		if p.Resources != (cost.Resources{}) {
			c = append(c, dataflow.Part{Name: p.Name, Resources: dataflow.Resources(p.Resources)})
		}
	}
	return c
}

// Of returns the cost of something with formulas of its own.
func Of(t dataflow.Target, x cost.Costly) dataflow.Cost { return Parts(Model(t).Formula.Parts(x)...) }

// Storing returns the cost of a layer that has a formula of its own, memories, and further logic. FINN's formula
// includes all of these.
func Storing(t dataflow.Target, x cost.Storing, storage []dataflow.Storage, logic ...cost.Part) dataflow.Cost {
	m := Model(t)
	if m.Formula == cost.FINN {
		return Parts(x.FINN()...)
	}
	return Layer(m, storage, append(x.Logic(), logic...)...)
}

// Layer returns the cost of a layer's memories and logic.
func Layer(m cost.Model, storage []dataflow.Storage, logic ...cost.Part) dataflow.Cost {
	return Parts(append(Storage(m, storage), logic...)...)
}

// Stored returns the cost of a memory.
func Stored(m cost.Model, s dataflow.Storage) cost.Resources {
	rows := s.Rows
	if s.In == dataflow.LUTRAM && s.Same > 0 {
		rows = max(2, rows-s.Same)
	}
	r := m.Memory(cost.Store{Width: s.Width, Rows: rows, Written: s.Written, In: Memory(s.In)})
	return r.Times(s.Arrays())
}

// Storage returns the cost of memories, by part.
func Storage(m cost.Model, storage []dataflow.Storage) []cost.Part {
	list := make([]cost.Part, 0, len(storage)+8)
	for _, s := range storage {
		r := Stored(m, s)
		at := slices.IndexFunc(list, func(p cost.Part) bool { return p.Name == s.Part })
		if at < 0 {
			list = append(list, r.As(s.Part))
			continue
		}
		list[at].Resources = list[at].Plus(r)
	}
	return list
}
