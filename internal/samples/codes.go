package samples

import (
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A grid maps the real numbers of an input to codes of 8 bits.
type grid struct {
	least    int64   // smallest code
	channels []uint8 // channel of each element of a run; nil if there is one channel
	lines    []line  // by channel
}

// A line maps the evenly spaced numbers of one channel to codes. values[i] belongs to the i-th code; first is
// values[0], per the codes per unit, within the tolerance.
type line struct {
	values             []float64
	first, per, within float64
}

// gridOf returns the grid of an input. It returns nil unless the input is float32 and arrives as integers of at most 8
// bits, with at most 256 channels. It also returns nil if values are too close to tell them apart.
func gridOf(in dataflow.RealTensorInfo) *grid {
	a := in.Arrives
	if a == nil || in.DType != "float32" || a.Type.Width > 8 || a.Channels > 1<<8 ||
		a.Type.Kind != num.KindInt && a.Type.Kind != num.KindUInt {
		return nil
	}
	r := a.Type.Range()
	g := &grid{least: r.Lo}
	for c := range a.Channels {
		l := line{within: a.Within[c]}
		for k := r.Lo; k <= r.Hi; k++ {
			l.values = append(l.values, a.Value(c, k))
		}
		n := len(l.values) - 1
		l.first, l.per = l.values[0], float64(n)/(l.values[n]-l.values[0])
		for k, v := range l.values[1:] {
			if v-l.values[k] < 3*l.within || !(v > l.values[k]) {
				return nil // a number must determine its code
			}
		}
		g.lines = append(g.lines, l)
	}
	if a.Channels > 1 {
		g.channels = make([]uint8, dataflow.Shape(in.Shape).ElementCount())
		for i := range g.channels {
			g.channels[i] = uint8(a.Of(in.Shape, i))
		}
	}
	return g
}

// code returns the code of a number, counted from the least code. ok is false if no value is near enough.
func (l *line) code(x float32) (code int, ok bool) {
	v := float64(x)
	i := int((v-l.first)*l.per + 0.5)
	if uint(i) >= uint(len(l.values)) {
		return 0, false
	}
	off := l.values[i] - v
	return i, off <= l.within && -off <= l.within
}

// codes stores in y, which must be as long as x, the codes of the numbers x; negative codes as two's complement. It
// returns false if a number has no code; y is then of no use.
func (g *grid) codes(y []uint8, x []float32) bool {
	least, all := int(g.least), true
	if g.channels == nil {
		l := &g.lines[0]
		for i, v := range x {
			code, ok := l.code(v)
			y[i], all = uint8(code+least), all && ok
		}
		return all
	}
	for ; len(x) > 0; x, y = x[len(g.channels):], y[len(g.channels):] {
		for i, c := range g.channels {
			code, ok := g.lines[c].code(x[i])
			y[i], all = uint8(code+least), all && ok
		}
	}
	return all
}

// HasInputCodes reports whether StoredPart.InputCodes can return codes: file and model store contiguous float32, and
// these stand for codes of 8 bits.
func (s *SampleSource) HasInputCodes() bool {
	return s.inTurn() && !slices.ContainsFunc(s.inputs, func(in input) bool { return in.grid == nil || !in.floats() })
}

// InputCodes returns the codes of input k, negative ones as two's complement. SampleSource.HasInputCodes must return
// true. ok is false if a number has no code. The next call for k reuses the slice.
func (p *StoredPart) InputCodes(k int) (codes []uint8, ok bool) {
	if p.codes == nil {
		p.codes = make([][]uint8, len(p.raw))
	}
	x := p.InputFloats(k)
	y := slices.Grow(p.codes[k][:0], len(x))[:len(x)]
	p.codes[k] = y
	return y, p.s.inputs[k].grid.codes(y, x)
}
