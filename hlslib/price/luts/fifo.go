package luts

import (
	"math/bits"

	"hlsgen/hlslib/price/cost"
)

// The lookup tables of a FIFO of SystemVerilog (templates/rtl/shared/hlsgen_stream.sv) on AMD's devices, by bits of
// its counters of places and of the addresses of its ring. On other devices FIFOs are mapped gate by gate.
const (
	counterLUT = 2   // lookup tables per bit of the counters of places and of words
	flagLUT    = 3   // lookup tables for room and valid
	ringLUT    = 3.5 // lookup tables per bit of the addresses where words are written and read
	aheadLUT   = 5.5 // lookup tables per bit of the addresses where words are read a clock ahead
)

// A FIFOSize is a FIFO with Places places for words of Width bits, in the memory In. With cost.StyleShiftRegister, it
// is of shift registers.
type FIFOSize struct {
	Places, Width int
	In            cost.MemoryStyle
}

// CostOnFabric returns the cost of the FIFO on a fabric, by part.
func (q FIFOSize) CostOnFabric(f cost.Fabric) []cost.CostPart {
	d := SynthesisRulesOf(f)
	count, place := bits.Len(uint(q.Places)), max(1, bits.Len(uint(q.Places-1)))
	if q.In == cost.StyleDistributedRAM && !cost.CanStoreInLUTs(f) {
		q.In = cost.StyleShiftRegister
	}
	control := cost.Resources{FF: 2*count + 2}
	luts := float64(counterLUT*count + flagLUT)
	var memory cost.Resources
	alone := 0 // registers of words behind the first, and of the block RAM's word and address
	switch q.In {
	case cost.StyleShiftRegister:
		control.FF += place
		memory = d.line(1<<place, q.Width)
		alone = memory.FF - q.Width
	case cost.StyleDistributedRAM:
		luts += ringLUT * float64(place)
		control.FF += 3 * place
		memory = f.ReadWriteMemoryCost(q.Width, q.Places, q.In)
		memory.FF = 0
	default:
		luts += aheadLUT * float64(place)
		control.FF += 2*place + 1
		if d.Around {
			control.FF += q.Width + place + 2
			alone = q.Width + place
		}
		memory = f.ReadWriteMemoryCost(q.Width, q.Places, q.In)
		memory.LUT, memory.FF = q.Width, q.Width
	}
	if control.LUT = round(luts); d.Maps {
		control.LUT, memory.LUT = round(q.logic(d)), memory.LUTRAM+cost.WritePortLUTs(memory.LUTRAM)
	}
	return append([]cost.CostPart{control.AsPart("stream control"), memory.AsPart("FIFO memory")},
		d.alone(float64(alone))...)
}

// line returns the cost of a FIFO whose words move by one place with each write; any of them can be read. Two words are
// no shift register.
func (d *SynthesisRules) line(places, width int) cost.Resources {
	if d.Shifts && places > 2 {
		n := width * ((places + 31) / 32)
		return cost.Resources{LUT: n, LUTRAM: n}
	}
	return cost.Resources{LUT: round(max(1, d.chosen(places)) * float64(width)), FF: places * width}
}

// ResetCost returns the cost of a network's reset.
func ResetCost() cost.CostPart { return ends(8) }

// OutputWordCounterCost returns the cost of the counter of words at an output whose frames have the given number of
// words.
func OutputWordCounterCost(words int) cost.CostPart { return ends(bits.Len(uint(words - 1))) }

func ends(n int) cost.CostPart {
	return cost.Resources{LUT: n, FF: n}.AsPart("reset and ends of frames")
}

// AXILiteSlaveCost returns the cost of the AXI4-Lite slave of a design with the given number of streams. It includes
// the design's own two counters, as in templates/rtl/registers.
func AXILiteSlaveCost(streams int) cost.CostPart {
	const width = 32
	// The slave has an address, a word that is read, and the state of both channels.
	address := 2 + bits.Len(uint(2*streams+1))
	r := cost.Resources{LUT: width + 2*address + 10, FF: width + address + 10}
	return r.Plus(StreamStallCountersCost(1).Resources).AsPart("counters")
}

// StreamStallCountersCost returns the cost of the two counters of a stream whose frames have the given words.
func StreamStallCountersCost(words int) cost.CostPart {
	const width = 32
	// A counter is a carry chain that stops at ones, a register, and a register that shows it; a link of the chain
	// takes one of three words. Two more counters count the words of frames.
	count := 2 * bits.Len(uint(words-1))
	return cost.Resources{LUT: 2*(width/5+1) + width + 2 + count, FF: 5*width + count}.AsPart("counters")
}
