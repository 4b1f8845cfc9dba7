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
	m := cost.CostModel{Formula: cost.FormulaFitted, Fabric: cost.FabricOf(t.Board)}
	if t.Formula == dataflow.FINNCostFormula {
		m.Formula = cost.FormulaFINN
	}
	return m
}

var memories = [...]cost.MemoryStyle{
	dataflow.MemoryLUTRAM: cost.StyleDistributedRAM, dataflow.MemoryBRAM: cost.StyleBlockRAM,
	dataflow.MemoryURAM: cost.StyleUltraRAM,
	dataflow.MemorySRL:  cost.StyleShiftRegister, dataflow.MemoryRegisters: cost.StyleRegisters,
}

// MemoryStyleOf returns the cost formulas' name for a memory, or 0 for NoMemory.
func MemoryStyleOf(m dataflow.Memory) cost.MemoryStyle { return memories[m] }

// CostOfParts returns the parts as a cost, without those that are zero.
func CostOfParts(parts ...cost.CostPart) dataflow.Cost {
	c := make(dataflow.Cost, 0, len(parts))
	for _, p := range parts {
		if p.Resources != (cost.Resources{}) {
			c = append(c, dataflow.CostContribution{Name: p.Name, Resources: dataflow.Resources(p.Resources)})
		}
	}
	return c
}

// CostByTargetFormula returns the cost of x by the formula that the target selects: FINN's or the fitted one. It never
// prices a circuit.
func CostByTargetFormula(t dataflow.Target, x cost.HasFormulaCosts) dataflow.Cost {
	return CostOfParts(CostModelOf(t).Formula.CostPartsOf(x)...)
}

// StoringLayerCost returns the cost of a layer x that has formulas of its own. FINN's formula covers the whole layer;
// otherwise the costs of its memories and of further logic are added.
func StoringLayerCost(t dataflow.Target, x cost.HasFittedLogicCost, storage []dataflow.Storage,
	logic ...cost.CostPart) dataflow.Cost {
	m := CostModelOf(t)
	if m.Formula == cost.FormulaFINN {
		return CostOfParts(x.FINNCost()...)
	}
	return MemoryAndLogicCost(m, storage, append(x.FittedLogicCost(), logic...)...)
}

// MemoryAndLogicCost returns the cost of a layer that consists of memories and logic.
func MemoryAndLogicCost(m cost.CostModel, storage []dataflow.Storage, logic ...cost.CostPart) dataflow.Cost {
	return CostOfParts(append(MemoryCostParts(m, storage), logic...)...)
}

// MemoryCost returns the cost of all arrays of the memory s.
func MemoryCost(m cost.CostModel, s dataflow.Storage) cost.Resources {
	rows := s.Rows
	if s.In == dataflow.MemoryLUTRAM && s.Same > 0 {
		rows = max(2, rows-s.Same)
	}
	r := m.MemoryCost(cost.MemoryShape{Width: s.Width, Rows: rows, Written: s.Written, In: MemoryStyleOf(s.In)})
	return r.Times(s.ArrayCount())
}

// MemoryCostParts returns the cost of memories. Memories with the same Storage.Part become one part, with that name.
func MemoryCostParts(m cost.CostModel, storage []dataflow.Storage) []cost.CostPart {
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
