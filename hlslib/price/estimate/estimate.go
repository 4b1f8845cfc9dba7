// Package estimate applies the formulas of hlslib/price/cost to layers and designs. A layer says what its figures mean
// to a formula. The target selects the formula and the fabric. What a design takes in addition to its layers (FIFOs,
// the host's port) is counted here.
//
// If the target's back end is RTL, the price is that of a layer's circuit (hlslib/price/luts).
//
// In come bound layers' figures and designs; out come costs by named part, and their sums.
package estimate

import (
	"slices"

	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/dataflow"
)

// CostModelOf returns the formula and the family of devices by which a target's costs are estimated.
func CostModelOf(t dataflow.Target) cost.CostModel {
	m := cost.CostModel{Formula: cost.FittedFormula, Fabric: cost.FabricOf(t.Board)}
	if t.Formula == dataflow.FINNFormula {
		m.Formula = cost.FINNFormula
	}
	return m
}

var memories = [...]cost.MemoryStyle{
	dataflow.LUTRAM: cost.StyleDistributedRAM, dataflow.BRAM: cost.StyleBlockRAM, dataflow.URAM: cost.StyleUltraRAM,
	dataflow.SRL: cost.StyleShiftRegister, dataflow.Registers: cost.StyleRegisters,
}

// MemoryStyleOf returns the name that the formulas have for a memory; 0 for NoMemory.
func MemoryStyleOf(m dataflow.Memory) cost.MemoryStyle { return memories[m] }

// CostOfParts returns the parts as a cost, without those that are zero.
func CostOfParts(parts ...cost.CostPart) dataflow.Cost {
	c := make(dataflow.Cost, 0, len(parts))
	for _, p := range parts {
		if p.Resources != (cost.Resources{}) {
			c = append(c, dataflow.ResourcePart{Name: p.Name, Resources: dataflow.Resources(p.Resources)})
		}
	}
	return c
}

// CostOf returns the cost of x, which has a formula of FINN's and a fitted one, by the target's formula.
func CostOf(t dataflow.Target, x cost.Estimator) dataflow.Cost {
	return CostOfParts(CostModelOf(t).Formula.Parts(x)...)
}

// StoringLayerCost returns the cost of a layer with formulas of its own. By FINN's formula that is all; otherwise the
// cost of its memories and of further logic is added.
func StoringLayerCost(t dataflow.Target, x cost.StoringLayer, storage []dataflow.Storage,
	logic ...cost.CostPart) dataflow.Cost {
	m := CostModelOf(t)
	if m.Formula == cost.FINNFormula {
		return CostOfParts(x.FINN()...)
	}
	return LayerCost(m, storage, append(x.Logic(), logic...)...)
}

// LayerCost returns the cost of a layer that consists of memories and logic.
func LayerCost(m cost.CostModel, storage []dataflow.Storage, logic ...cost.CostPart) dataflow.Cost {
	return CostOfParts(append(MemoryParts(m, storage), logic...)...)
}

// MemoryCost returns the cost of the memory s, with all its arrays.
func MemoryCost(m cost.CostModel, s dataflow.Storage) cost.Resources {
	rows := s.Rows
	if s.In == dataflow.LUTRAM && s.Same > 0 {
		rows = max(2, rows-s.Same)
	}
	r := m.Memory(cost.MemoryShape{Width: s.Width, Rows: rows, Written: s.Written, In: MemoryStyleOf(s.In)})
	return r.Times(s.Arrays())
}

// MemoryParts returns the cost of memories. Memories with the same Storage.Part become one part, with that name.
func MemoryParts(m cost.CostModel, storage []dataflow.Storage) []cost.CostPart {
	list := make([]cost.CostPart, 0, len(storage)+8)
	for _, s := range storage {
		r := MemoryCost(m, s)
		at := slices.IndexFunc(list, func(p cost.CostPart) bool { return p.Name == s.Part })
		if at < 0 {
			list = append(list, r.AsPart(s.Part))
			continue
		}
		list[at].Resources = list[at].Plus(r)
	}
	return list
}
