package cells

import (
	"math/bits"

	"hlsgen/hlslib/cost"
)

// What a FIFO of SystemVerilog (templates/rtl/lib/hlsgen_stream.sv) takes in lookup tables: counters of places, and the
// addresses of a ring, by bits: on AMD's devices. On others they are mapped gate by gate.
const (
	counterLUT = 2   // of the counters of places and of words
	flagLUT    = 3   // of room and valid
	ringLUT    = 3.5 // of the places where words are written and read
	aheadLUT   = 5.5 // of those where words are read a clock ahead
)

// A FIFO has so many places for words of so many bits. In is shift registers where it is cost.Shift.
type FIFO struct {
	Places, Width int
	In            cost.Memory
}

// Of is what it takes on a fabric.
func (q FIFO) Of(f cost.Fabric) []cost.Part {
	d := DeviceOf(f)
	count, place := bits.Len(uint(q.Places)), max(1, bits.Len(uint(q.Places-1)))
	if q.In == cost.Distributed && f == cost.ICE40 {
		q.In = cost.Shift
	}
	control := cost.Resources{FF: 2*count + 2}
	luts := float64(counterLUT*count + flagLUT)
	var memory cost.Resources
	switch q.In {
	case cost.Shift:
		control.FF += place
		memory = d.line(1<<place, q.Width)
	case cost.Distributed:
		luts += ringLUT * float64(place)
		control.FF += 3 * place
		memory = f.RAM(q.Width, q.Places, q.In)
		memory.FF = 0
	default:
		luts += aheadLUT * float64(place)
		control.FF += 2*place + 1
		if d.Around {
			control.FF += q.Width + place + 2
		}
		memory = f.RAM(q.Width, q.Places, q.In)
		memory.LUT, memory.FF = q.Width, q.Width
	}
	if control.LUT = round(luts); d.Maps {
		control.LUT, memory.LUT = round(q.logic(d)), memory.LUTRAM
	}
	return []cost.Part{control.As("stream control"), memory.As("FIFO memory")}
}

// line is words that move on by a place with each that is written, of which any can be read. Two are no shift register.
func (d *Device) line(places, width int) cost.Resources {
	if d.Shifts && places > 2 {
		n := width * ((places + 31) / 32)
		return cost.Resources{LUT: n, LUTRAM: n}
	}
	return cost.Resources{LUT: round(max(1, d.chosen(places)) * float64(width)), FF: places * width}
}

// Reset is what resets a network.
func Reset() cost.Part { return ends(8) }

// End is the counter of an output whose frames have so many words.
func End(words int) cost.Part { return ends(bits.Len(uint(words - 1))) }

func ends(n int) cost.Part { return cost.Resources{LUT: n, FF: n}.As("reset and ends of frames") }

// Registers is an AXI4-Lite slave of a design with so many streams, and the pair of counters of the design, as
// templates/rtl/registers has them.
func Registers(streams int) cost.Part {
	const width = 32
	// The slave: an address, a word that is read, and what both wait for.
	address := 2 + bits.Len(uint(2*streams+1))
	r := cost.Resources{LUT: width + 2*address + 10, FF: width + address + 10}
	return r.Plus(Counters(1).Resources).As("counters")
}

// Counters is the pair of counters of a stream whose frames have so many words.
func Counters(words int) cost.Part {
	const width = 32
	// A counter is a carry chain that stops at ones, a register, and one that shows it; a link of the chain takes one
	// of three words. Two more count the words of frames.
	count := 2 * bits.Len(uint(words-1))
	return cost.Resources{LUT: 2*(width/5+1) + width + 2 + count, FF: 5*width + count}.As("counters")
}
