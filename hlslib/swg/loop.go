package swg

import (
	"hlsgen/hlslib/layer"
	"slices"

	"hlsgen/internal/dataflow"
)

// Folds yields the folds with one kernel position per clock, for every SIMD that divides the channels of a tile. Then
// it yields those with all positions per clock, whose SIMD is a tile. Each comes with the possible memories for
// buffered rows.
func (o *op) Folds() dataflow.Folds {
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

// legal checks a fold against the order of words and the limits of Vitis HLS.
func (o *op) legal(f dataflow.Fold) bool {
	s := o.schedule(f)
	width := f.SIMD * max(o.in.Elem.Width, o.out.Elem.Width)
	if o.all(f) {
		if s.slots == 0 || f.SIMD != o.tile(f) {
			return false
		}
		width *= o.positions()
	}
	return width <= dataflow.MaxWord && s.slots <= dataflow.MaxIterations/o.parts(f)
}

// memories returns the possible memories of the buffered rows: a shallow ring lies in LUTs, shallow line delays in
// shift registers.
func (o *op) memories(f dataflow.Fold) []dataflow.Memory {
	if o.depth(f) > dataflow.ShiftRegister {
		return []dataflow.Memory{dataflow.LUTRAM, dataflow.BRAM, dataflow.URAM}
	}
	if o.all(f) {
		return []dataflow.Memory{dataflow.NoMemory}
	}
	return []dataflow.Memory{dataflow.LUTRAM}
}

// all reports whether a word holds all of several kernel positions.
func (o *op) all(f dataflow.Fold) bool { return f.PE > 1 }

func (o *op) schedule(f dataflow.Fold) schedule {
	if o.all(f) {
		return o.parallel
	}
	return o.serial
}

// tile returns the number of channels that are written together, at all kernel positions, before the next channels.
func (o *op) tile(f dataflow.Fold) int {
	if o.depthwise() {
		return f.SIMD
	}
	return o.channels / o.P.Groups
}

// parts returns CF, the words per pixel.
func (o *op) parts(f dataflow.Fold) int { return o.channels / f.SIMD }

// depth returns the words of the ring, or of the delay of a line: 0 if a window lies in one line.
func (o *op) depth(f dataflow.Fold) int {
	switch {
	case !o.all(f):
		return o.serial.ring * o.parts(f)
	case o.g.kernel[0] == 1:
		return 0
	}
	return o.g.dilation[0] * o.g.frame[1] * o.parts(f)
}

// spacing returns the words between neighbouring taps of a line.
func (o *op) spacing(f dataflow.Fold) int { return o.g.dilation[1] * o.parts(f) }

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	n := o.out.Shape.Size()
	return []dataflow.Port{{Elem: o.in.Elem, PerWord: f.SIMD, Words: o.in.Shape.Size() / f.SIMD}},
		[]dataflow.Port{{Elem: o.out.Elem, PerWord: f.PE * f.SIMD, Words: n / (f.PE * f.SIMD),
			Tile: o.out.Shape.TileOf(o.tile(f))}}
}

// buffered is the number of rows for which latencies of memories are computed. The real number depends on the length
// of the frames, and all lengths must have the same latency.
const buffered = 2

// Loop returns the loop. Its latency is that of a word from the memory, or padding in its place. With all positions
// per clock the newest word goes into the window directly.
func (o *op) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	c := layer.NewIterationChain(t)
	c.DoCounterCompare()
	word := f.SIMD * o.in.Elem.Width
	if o.all(f) {
		c.Read()
		if f.Memory != dataflow.NoMemory {
			c.DoCounterLookup(buffered, word, f.Memory)
		}
	} else {
		c.Lookup(buffered, word, f.Memory)
	}
	c.Choose(1)
	return layer.WithLatency(o, f, t, dataflow.Loop{Body: iterations(o.schedule(f).body, o.parts(f)),
		Latency: c.Write()})
}
