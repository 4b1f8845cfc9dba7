// Package estimate applies the formulas of internal/cost to layers and designs: what a layer's figures mean to a formula
// is the layer's to say, which formula and fabric count is the target's, and what a design takes beside its layers
// (FIFOs, the host's port) is counted here.
package estimate

import (
	"hlsgen/internal/cost"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/mac"
)

// Model is the formula and the fabric of a target.
func Model(t dataflow.Target) cost.Model {
	m := cost.Model{Formula: cost.Fitted, Fabric: cost.FabricOf(t.Board)}
	if t.Formula == dataflow.FINN {
		m.Formula = cost.FINN
	}
	return m
}

// Memory is where a table lies, in the terms of formulas.
func Memory(m dataflow.Memory) cost.Memory {
	return [...]cost.Memory{dataflow.LUTRAM: cost.Distributed, dataflow.BRAM: cost.Block, dataflow.URAM: cost.Ultra}[m]
}

// Parts are those of a sum that are something.
func Parts(parts ...cost.Part) dataflow.Cost {
	c := make(dataflow.Cost, 0, len(parts))
	for _, p := range parts {
		if p.Resources != (cost.Resources{}) {
			c = append(c, dataflow.Part{Name: p.Name, Resources: dataflow.Resources(p.Resources)})
		}
	}
	return c
}

// Of is the cost of something that has formulas of its own.
func Of(t dataflow.Target, x cost.Costly) dataflow.Cost { return Parts(Model(t).Formula.Parts(x)...) }

// Thresholds is where the thresholds of a unit lie for pe channels side by side: kernels leave it to the tool, and one row
// lies nowhere.
func Thresholds(u *mac.Unit, pe int) cost.Memory {
	rows := u.ThresholdRows(pe)
	if rows <= 1 {
		return 0
	}
	return cost.Unbound(pe*u.Thresholds()*u.Acc.Width, rows)
}
