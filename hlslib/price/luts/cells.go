// Package luts predicts which cells synthesis makes of a circuit. It walks over the circuit bit by bit, and counts
// lookup tables, registers, block RAM and multipliers by their purpose.
//
// It knows the rules of synthesis. Wires, constants and unread bits take nothing. With lookup tables of six inputs,
// rules cover the logic: a lookup table absorbs logic that only it reads, as far as its inputs suffice. With lookup
// tables of four inputs, and in small circuits of constants, logic becomes gates, which are mapped as Yosys' ABC maps
// them. An adder takes a lookup table per bit. Registers that never change are dropped; registers in a row are shift
// registers if the device has these. A table of constants in lookup tables is counted by its contents. A function that
// one or many circuits call several times is walked over once. The rest is in the numbers of a SynthesisRules, fitted
// to what Yosys made of layers (docs/estimator.md).
//
// In come circuits and a fabric; out come resources by named part.
//
//	cells.go     EstimateCircuitCost: the parts of a circuit
//	device.go    the numbers of families
//	bits.go      the bits of a circuit: which are wires, which are read
//	cover.go     logic in lookup tables of six inputs, by rules
//	contents.go  tables of constants in such lookup tables
//	gates.go     gates of two inputs
//	inline.go    a circuit with functions in place of their calls
//	netlist.go   a circuit as gates and carry chains, for lookup tables of four inputs
//	arithmetic.go  its sums, comparisons and products
//	rows.go      its tables and memories
//	outside.go   its outputs: registers, streams, other modules
//	balance.go   chains of gates as trees
//	mapping.go   gates in lookup tables
//	meeting.go   the cuts of a gate, as sets
//	small.go     circuits of constants alone, in lookup tables of six inputs
//	pack.go      superfluous lookup tables
//	parts.go     gates in parts that are mapped one by one, and once if they are alike
//	registers.go registers, shift registers, memories
//	fifo.go      FIFOs, and other parts of a network
//	ring.go      FIFOs as gates
//	uart.go      the UART top around a network
package luts

import (
	"math"
	"slices"

	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/circuit"
)

// A CellPurpose is what cells of a circuit serve for, such as sums or memories.
type CellPurpose uint8

// The purposes of cells.
const (
	purposeCompressor       CellPurpose = iota // counts of bits
	purposeAdder                               // sums and differences
	purposeComparator                          // comparisons of two numbers
	purposeSelector                            // selections of one of several
	purposeGate                                // logic of conditions
	purposeConstantTable                       // tables of constants
	purposeMemory                              // memories that iterations write
	purposeStateRegister                       // registers that iterations write
	purposePipelineRegister                    // registers between stages
	purposeMultiplier                          // multipliers of the device
	purposeInverter                            // inverters after logic
	CellPurposeCount
)

var names = [CellPurposeCount]string{"compressors", "adders", "comparators", "multiplexers", "gates", "tables",
	"memories",
	"states", "pipeline registers", "multipliers", "inverters"}

// A CellCount is the number of cells of one purpose, before a device's numbers are applied.
type CellCount struct {
	LUT, FF         float64
	Shift           float64 // further lookup tables that are shift registers
	RAM             float64 // further lookup tables that are memory
	Flat            float64 // further lookup tables, which no number multiplies: chains, small circuits, counts by ABC9
	Alone           float64 // cells with a register or a carry, but without a lookup table
	BRAM, URAM, DSP int
}

// CellCountsByPurpose holds the number of cells of each purpose.
type CellCountsByPurpose [CellPurposeCount]CellCount

// plus adds the counts o to c, multiplied by n.
func (c *CellCountsByPurpose) plus(o CellCountsByPurpose, n float64) {
	for k := range c {
		c[k].LUT += n * o[k].LUT
		c[k].FF += n * o[k].FF
		c[k].Shift += n * o[k].Shift
		c[k].RAM += n * o[k].RAM
		c[k].Flat += n * o[k].Flat
		c[k].Alone += n * o[k].Alone
		c[k].BRAM += int(n) * o[k].BRAM
		c[k].URAM += int(n) * o[k].URAM
		c[k].DSP += int(n) * o[k].DSP
	}
}

// EstimateCircuitCost returns the resources of a circuit on a fabric, by part. The parts are rounded so that their sum
// is the nearest whole number of lookup tables.
func EstimateCircuitCost(m *circuit.Module, f cost.Fabric) []cost.CostPart {
	return new(KnownParts).EstimateCircuitCost(m, f)
}

// EstimateCircuitCost does what the function of this name does. It maps no part again that it knows of other circuits.
func (k *KnownParts) EstimateCircuitCost(m *circuit.Module, f cost.Fabric) []cost.CostPart {
	parts, _ := k.EstimateCostWithin(m, f, math.MaxInt)
	return parts
}

// EstimateCostWithin returns what EstimateCircuitCost does, for a circuit that takes at most the given number of DSP
// slices. For others it returns these slices alone, and all is false: to count the lookup tables of large circuits
// takes long.
func (k *KnownParts) EstimateCostWithin(m *circuit.Module, f cost.Fabric, dsps int) (parts []cost.CostPart, all bool) {
	d := SynthesisRulesOf(f)
	d.known = k
	var counts CellCountsByPurpose
	if dsps < math.MaxInt {
		counts[purposeMultiplier].DSP = d.multipliers(m)
	}
	if all = counts[purposeMultiplier].DSP <= dsps; all {
		counts = d.CountCells(m)
	}
	sum, whole, alone := 0., 0, 0.
	for k, c := range counts {
		n := d.Numbers[k]
		sum += n.LUT*c.LUT + c.Flat + c.Shift + c.RAM
		alone += c.Alone
		luts := int(math.Round(sum)) - whole
		whole += luts
		r := cost.Resources{LUT: luts, LUTRAM: round(c.Shift + c.RAM), FF: round(n.FF * c.FF), BRAM: c.BRAM,
			URAM: c.URAM, DSP: c.DSP}
		if r != (cost.Resources{}) {
			parts = append(parts, r.AsPart(names[k]))
		}
	}
	return append(parts, d.alone(alone)...), all
}

// AloneName names the part of a cost that is cells without a lookup table.
const AloneName = "cells without a LUT"

// alone returns the part of a cost that is n cells with a register or a carry, but without a lookup table. There is
// none where registers are counted by themselves.
func (d *SynthesisRules) alone(n float64) []cost.CostPart {
	if !d.Shares || n <= 0 {
		return nil
	}
	return []cost.CostPart{cost.Resources{LUT: round(n)}.AsPart(AloneName)}
}

func round(x float64) int { return int(math.Ceil(x - 1e-9)) }

// CountCells returns the numbers of cells of a circuit, by purpose.
func (d *SynthesisRules) CountCells(m *circuit.Module) CellCountsByPurpose {
	longest := int16(0)
	if d.Maps && !d.ABC9 {
		for _, c := range m.Calls {
			longest = max(longest, d.longest(c.Function))
		}
	}
	return d.count(m, longest)
}

// multipliers returns the number of DSP slices of a circuit.
func (d *SynthesisRules) multipliers(m *circuit.Module) (n int) {
	if m.Known != nil {
		if known, ok := m.Known.Load(multipliersKey{d.Fabric}); ok {
			return known.(int)
		}
	}
	if slices.ContainsFunc(m.Nodes, func(n circuit.Node) bool { return n.Op == circuit.OpMultiply }) {
		w := d.walked(m)
		for i := range m.Nodes {
			if w.met[i] && m.Nodes[i].Op == circuit.OpMultiply {
				multiplier(w, circuit.NodeID(i))
			}
		}
		n = w.counts[purposeMultiplier].DSP
		leaveWalk(w)
	}
	for _, c := range m.Calls {
		n += d.multipliers(c.Function)
	}
	if m.Known != nil {
		m.Known.Store(multipliersKey{d.Fabric}, n)
	}
	return n
}

// walked returns the walk over a circuit, with all bits examined.
func (d *SynthesisRules) walked(m *circuit.Module) *walk {
	w := newWalk(m, d)
	w.find()
	w.read()
	return w
}

// count returns the numbers of cells of a circuit, by purpose. Where that saves LUTs, paths may have up to longest LUTs
// in a row.
func (d *SynthesisRules) count(m *circuit.Module, longest int16) CellCountsByPurpose {
	var w *walk
	share := slices.Repeat([]float64{1}, len(m.Calls))
	if d.Maps {
		n := d.netlist(m)
		longest, w = n.count(longest), n.w
		share = remainders(w, n.plain)
	} else if w = d.walked(m); !flat(w) {
		w.cover()
	}
	defer leaveWalk(w)
	registers(w)
	memories(w)
	for i, c := range m.Calls {
		key := countKey{d.Fabric, longest}
		f, ok := c.Function.Known.Load(key)
		if !ok {
			f = d.count(c.Function, longest)
			c.Function.Known.Store(key, f)
		} else if d.Maps {
			c.Function.Known.Delete(netlistKey{d.Fabric}) // another goroutine may have left one
		}
		counts := f.(CellCountsByPurpose)
		for k := range counts {
			counts[k].LUT *= share[i]
			counts[k].Flat *= share[i]
		}
		w.counts.plus(counts, 1)
	}
	for k := range w.counts {
		if !d.Shares {
			w.counts[k].Alone = 0
		}
	}
	return w.counts
}

// A countKey is the key of a function's cells, where paths may have up to longest LUTs in a row.
type countKey struct {
	of      cost.Fabric
	longest int16
}

// A gatesKey is the key of the number of a function's gates.
type gatesKey struct{ of cost.Fabric }

// A multipliersKey is the key of a function's DSP slices.
type multipliersKey struct{ of cost.Fabric }

// KeepOutlines makes libraries keep only outlines of the functions that a circuit calls, if the costs on a fabric of
// all circuits with these functions follow from what is known about them now.
func KeepOutlines(m *circuit.Module, f cost.Fabric) {
	if d := SynthesisRulesOf(f); !d.Maps { // else the cells of a function depend on the longest path of the circuit
		d.multipliers(m)
		circuit.KeepOutlines(m)
	}
}

// KnowsOutlines reports whether the cells of all functions of a circuit that are outlines are known for a fabric.
func KnowsOutlines(m *circuit.Module, f cost.Fabric) bool {
	return !slices.ContainsFunc(m.Calls, func(c circuit.FunctionCall) bool {
		_, cells := c.Function.Known.Load(countKey{of: f})
		_, slices := c.Function.Known.Load(multipliersKey{f})
		return c.Function.IsOutline && !(cells && slices)
	})
}
