package swg

import (
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
)

// Folds yields the folds with one kernel position per clock, for every SIMD that divides the channels of a tile. Then
// it yields those with all positions per clock, whose SIMD is a tile. Each comes with the possible memories for
// buffered rows.
func (o *op) Folds() dataflow.FoldIterator {
	return func(yield func(dataflow.Fold) bool) {
		for _, pe := range slices.Compact([]int{1, o.positions()}) {
			for _, simd := range o.simd {
				f := dataflow.Fold{PE: pe, SIMD: simd}
				if !o.legal(f) {
					continue
				}
				for _, f.Memory = range o.memories(f) {
					if !yield(f) {
						return
					}
				}
			}
		}
	}
}

// legal reports whether a fold suits the order of words and stays within the limits of Vitis HLS.
func (o *op) legal(f dataflow.Fold) bool {
	s := o.schedule(f)
	width := f.SIMD * max(o.in.Elem.Width, o.out.Elem.Width)
	if o.all(f) {
		if s.slots == 0 || f.SIMD != o.tile(f) {
			return false
		}
		width *= o.positions()
	}
	return width <= dataflow.MaxWordBits && s.slots <= dataflow.MaxIterationsPerFrame/o.parts(f)
}

// memories returns the memories to choose from for the buffered rows. A shallow ring lies in LUTs, shallow line delays
// in shift registers.
func (o *op) memories(f dataflow.Fold) []dataflow.Memory {
	if o.depth(f) > dataflow.MaxShiftRegisterWords {
		return []dataflow.Memory{dataflow.MemoryLUTRAM, dataflow.MemoryBRAM, dataflow.MemoryURAM}
	}
	if o.all(f) {
		return []dataflow.Memory{dataflow.NoMemory}
	}
	return []dataflow.Memory{dataflow.MemoryLUTRAM}
}

// all reports whether a word of the fold holds all kernel positions, of which there are several.
func (o *op) all(f dataflow.Fold) bool { return f.PE > 1 }

func (o *op) schedule(f dataflow.Fold) schedule {
	if o.all(f) {
		return o.parallel
	}
	return o.serial
}

// tile returns the number of channels that are written together, at all kernel positions, before the next ones.
func (o *op) tile(f dataflow.Fold) int {
	if o.depthwise() {
		return f.SIMD
	}
	return o.channels / o.P.Groups
}

// parts returns the number of words in which a pixel's channels travel.
func (o *op) parts(f dataflow.Fold) int { return o.channels / f.SIMD }

// depth returns the number of words of the ring or, with all positions per clock, of the delay of a line. A delay has 0
// if a window lies in one line.
func (o *op) depth(f dataflow.Fold) int {
	switch {
	case !o.all(f):
		return o.serial.ring * o.parts(f)
	case o.g.kernel[0] == 1:
		return 0
	}
	return o.g.dilation[0] * o.g.frame[1] * o.parts(f)
}

// spacing returns the distance in words between neighbouring taps of a line.
func (o *op) spacing(f dataflow.Fold) int { return o.g.dilation[1] * o.parts(f) }

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	n := o.out.Shape.ElementCount()
	return []dataflow.Port{{Elem: o.in.Elem, PerWord: f.SIMD, Words: o.in.Shape.ElementCount() / f.SIMD}},
		[]dataflow.Port{{Elem: o.out.Elem, PerWord: f.PE * f.SIMD, Words: n / (f.PE * f.SIMD),
			Tile: o.out.Shape.PortTileFor(o.tile(f))}}
}

// buffered is the number of rows for which latencies of memories are computed. The real number depends on the length
// of the frames, and all lengths must have the same latency.
const buffered = 2

// Loop returns the loop over words read and written. For C++ its latency is that of a word from the memory, or padding
// in its place. With all positions per clock the newest word goes into the window directly. For SystemVerilog it is the
// circuit's latency.
func (o *op) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	c := layer.NewIterationChain(t)
	c.DoCounterCompare()
	word := f.SIMD * o.in.Elem.Width
	if o.all(f) {
		c.DoStreamRead()
		if f.Memory != dataflow.NoMemory {
			c.DoCounterLookup(buffered, word, f.Memory)
		}
	} else {
		c.DoMemoryRead(buffered, word, f.Memory)
	}
	c.DoSelect(1)
	return layer.LoopWithBackEndLatency(o, f, t, dataflow.Loop{Body: iterations(o.schedule(f).body, o.parts(f)),
		Latency: c.DoStreamWrite()})
}
