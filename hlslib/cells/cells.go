// Package cells says what cells synthesis makes of a circuit: it walks over the circuit bit by bit, and counts lookup
// tables, registers, block RAM and multipliers by what they are for.
//
// It knows the rules that synthesis follows. Wires, constants and what nobody reads take nothing. Of tables of six
// inputs, logic is covered by rules: one takes in what only it reads, as far as its inputs go. Of tables of four, and
// in small circuits of constants, it is made of gates, which are mapped as Yosys' ABC does. An adder takes a table
// for each bit. Registers that never change are none; those one behind the other are shift registers, where a device
// has these. A table of constants that lies in lookup tables is counted by its contents. A function that is called
// several times, of one or of many circuits, is walked over once. What the rules leave open is in the numbers of a
// Device, fitted to what Yosys made of layers (docs/estimator.md).
//
// In come circuits and a fabric; out come resources by named part. It sees circuit and cost.
//
//	cells.go     Of: the parts of a circuit
//	device.go    numbers of families
//	bits.go      the bits of a circuit: which are wires, which are read
//	cover.go     logic in lookup tables of six inputs, by rules
//	contents.go  tables of constants in these
//	netlist.go   a circuit as gates and carry chains, for tables of four inputs
//	arithmetic.go  its sums, comparisons and products
//	rows.go      its tables and memories
//	outside.go   what it is for: registers, streams, other modules
//	gates.go     gates of two inputs
//	balance.go   chains of gates as trees
//	mapping.go   gates in lookup tables
//	small.go     logic of constants alone, in those of six inputs
//	pack.go      lookup tables that are one too many
//	registers.go registers, shift registers, memories
//	fifo.go      FIFOs, and what a network has besides
//	ring.go      FIFOs as gates
package cells

import (
	"math"

	"hlsgen/hlslib/cost"
	"hlsgen/internal/circuit"
)

// A Kind is what cells are for.
type Kind uint8

// The kinds.
const (
	Compressors Kind = iota // that count bits
	Adders                  // sums and differences
	Comparators             // of two numbers
	Choices                 // one of several
	Gates                   // of conditions
	Tables                  // of constants
	Memories                // that iterations write
	States                  // registers that iterations write
	Pipeline                // registers between stages
	Multipliers             // of the device
	Inverters               // of what leaves logic
	Kinds
)

var names = [Kinds]string{"compressors", "adders", "comparators", "multiplexers", "gates", "tables", "memories",
	"states", "pipeline registers", "multipliers", "inverters"}

// A Count is cells of one kind, before the numbers of a device.
type Count struct {
	LUT, FF         float64
	Shift           float64 // lookup tables that are shift registers, besides
	RAM             float64 // lookup tables that are a memory, besides
	Flat            float64 // lookup tables of logic that is mapped as it stands, besides
	BRAM, URAM, DSP int
}

// Counts is cells by kind.
type Counts [Kinds]Count

// plus adds n times o.
func (c *Counts) plus(o Counts, n float64) {
	for k := range c {
		c[k].LUT += n * o[k].LUT
		c[k].FF += n * o[k].FF
		c[k].Shift += n * o[k].Shift
		c[k].RAM += n * o[k].RAM
		c[k].Flat += n * o[k].Flat
		c[k].BRAM += int(n) * o[k].BRAM
		c[k].URAM += int(n) * o[k].URAM
		c[k].DSP += int(n) * o[k].DSP
	}
}

// Of returns the resources of a circuit on a fabric, by part. Each part is rounded so that the sum of all is the
// nearest whole number of lookup tables.
func Of(m *circuit.Module, f cost.Fabric) []cost.Part {
	d := DeviceOf(f)
	counts := d.Count(m)
	var parts []cost.Part
	sum, whole := 0., 0
	for k, c := range counts {
		n := d.Numbers[k]
		sum += n.LUT*c.LUT + c.Flat + c.Shift + c.RAM
		luts := int(math.Round(sum)) - whole
		whole += luts
		r := cost.Resources{LUT: luts, LUTRAM: round(c.Shift + c.RAM), FF: round(n.FF * c.FF), BRAM: c.BRAM,
			URAM: c.URAM, DSP: c.DSP}
		if r != (cost.Resources{}) {
			parts = append(parts, r.As(names[k]))
		}
	}
	return parts
}

func round(x float64) int { return int(math.Ceil(x - 1e-9)) }

// Count is the cells of a circuit.
func (d *Device) Count(m *circuit.Module) Counts {
	longest := int16(0)
	if d.Maps {
		for _, c := range m.Calls {
			longest = max(longest, d.longest(c.Function))
		}
	}
	return d.count(m, longest)
}

// walked is a walk over a circuit whose bits are known.
func (d *Device) walked(m *circuit.Module) *walk {
	w := newWalk(m, d)
	w.find()
	w.read()
	return w
}

// count is the cells of a circuit whose ways may be so long, in lookup tables.
func (d *Device) count(m *circuit.Module, longest int16) Counts {
	w := d.walked(m)
	if d.Maps {
		longest = mapped(w, longest)
	} else if !flat(w) {
		w.cover()
	}
	registers(w)
	memories(w)
	type key struct {
		of      cost.Fabric
		longest int16
	}
	for _, c := range m.Calls {
		f, ok := c.Function.Known.Load(key{d.Fabric, longest})
		if !ok {
			f = d.count(c.Function, longest)
			c.Function.Known.Store(key{d.Fabric, longest}, f)
		}
		w.counts.plus(f.(Counts), 1)
	}
	return w.counts
}
