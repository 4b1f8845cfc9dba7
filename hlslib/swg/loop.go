package swg

import (
	"hlsgen/hlslib/layer"
	"slices"

	"hlsgen/internal/dataflow"
)

// Folds yields one kernel position a clock with every SIMD that divides the channels of a tile, then all positions
// with every SIMD that is a tile; each with the memories that the buffered rows may lie in.
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

// legal holds a fold against the order of words and what Vitis HLS accepts.
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

// memories is where the buffered rows may lie: a shallow ring in LUTs, shallow line delays in shift registers.
func (o *op) memories(f dataflow.Fold) []dataflow.Memory {
	if o.depth(f) > dataflow.ShiftRegister {
		return []dataflow.Memory{dataflow.LUTRAM, dataflow.BRAM, dataflow.URAM}
	}
	if o.all(f) {
		return []dataflow.Memory{dataflow.NoMemory}
	}
	return []dataflow.Memory{dataflow.LUTRAM}
}

// all reports whether a word holds all kernel positions, though one might do.
func (o *op) all(f dataflow.Fold) bool { return f.PE > 1 }

func (o *op) schedule(f dataflow.Fold) schedule {
	if o.all(f) {
		return o.parallel
	}
	return o.serial
}

// tile is the channels that are written before the next ones.
func (o *op) tile(f dataflow.Fold) int {
	if o.depthwise() {
		return f.SIMD
	}
	return o.channels / o.P.Groups
}

// parts is CF, the words of a pixel.
func (o *op) parts(f dataflow.Fold) int { return o.channels / f.SIMD }

// depth is the words of the ring, or of the delay of a line: 0 where a window is in one line.
func (o *op) depth(f dataflow.Fold) int {
	switch {
	case !o.all(f):
		return o.serial.ring * o.parts(f)
	case o.g.kernel[0] == 1:
		return 0
	}
	return o.g.dilation[0] * o.g.frame[1] * o.parts(f)
}

// spacing is the words between neighbouring taps of a line.
func (o *op) spacing(f dataflow.Fold) int { return o.g.dilation[1] * o.parts(f) }

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	n := o.out.Shape.Size()
	return []dataflow.Port{{Elem: o.in.Elem, PerWord: f.SIMD, Words: o.in.Shape.Size() / f.SIMD}},
		[]dataflow.Port{{Elem: o.out.Elem, PerWord: f.PE * f.SIMD, Words: n / (f.PE * f.SIMD),
			Tile: o.out.Shape.Tiled(o.tile(f))}}
}

// buffered is fewer words than there are, and as many as a latency depends on: frames of all lengths are to have one.
const buffered = 2

// Loop has the latency of a word that is read out of the memory, where a window has it, and else is padding. With all
// positions a clock the newest word is one of them.
func (o *op) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	c := layer.Begin(t)
	c.Decide()
	word := f.SIMD * o.in.Elem.Width
	if o.all(f) {
		c.Read()
		if f.Memory != dataflow.NoMemory {
			c.Fetch(buffered, word, f.Memory)
		}
	} else {
		c.Look(buffered, word, f.Memory)
	}
	c.Choose(1)
	return layer.Timed(o, f, t, dataflow.Loop{Body: iterations(o.schedule(f).body, o.parts(f)), Latency: c.Write()})
}
