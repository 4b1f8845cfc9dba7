package place

import (
	"errors"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/scaled"
	"hlsgen/hlslib/concat"
	"hlsgen/hlslib/crop"
	"hlsgen/hlslib/firstlast"
	"hlsgen/hlslib/pad"
	"hlsgen/hlslib/reorder"
	"hlsgen/hlslib/upsample"
	"hlsgen/internal/dataflow"
)

// Move adds layers that move integers as m says, and returns a wire with a frame of the given shape; constants get the
// code fill. If nothing has to move, it returns an existing wire. Unless another layer computes nodes, these layers
// count as doing so.
func (n *Netlist) Move(wires []int, m Movement, shape dataflow.Shape, fill int64, nodes []*graph.Node) (int, error) {
	by := &mover{n, wires, nodes, fill}
	if w, ok := by.still(shape, &m); ok {
		return w, nil
	}
	w, reject := by.frame(shape, m.froms(), m.places())
	if reject == errScattered {
		return 0, unmapped.NewReason("its input's elements are put together in a way that no layer does",
			"concatenate along channels; pad, crop and repeat along rows and columns")
	}
	return w, reject
}

// Pad adds a layer that adds pixels around those of wire w, and returns its output's wire. It counts as a mover of
// nodes.
func (n *Netlist) Pad(w int, p pad.Params, nodes []*graph.Node) (int, error) {
	return (&mover{net: n, nodes: nodes}).layer(pad.New(p), w)
}

// Crop adds a layer that removes pixels of wire w, and returns its output's wire. It counts as a mover of nodes.
func (n *Netlist) Crop(w int, p crop.Params, nodes []*graph.Node) (int, error) {
	return (&mover{net: n, nodes: nodes}).layer(crop.New(p), w)
}

// errScattered states that no layer moves elements in this way.
var errScattered = errors.New("place: scattered elements")

type mover struct {
	net   *Netlist
	wires []int
	nodes []*graph.Node
	fill  int64
}

// layer adds a layer that moves elements of the wires in, and returns its output's wire. The error is the reason why it
// does not accept them.
func (m *mover) layer(op dataflow.Op, in ...int) (int, error) {
	w, err := m.net.AddMover(op, in, m.nodes)
	if err != nil {
		return 0, unmapped.NewReason("moving its elements: "+err.Error(), "keep the layout of the tensor simpler")
	}
	return w, nil
}

// still returns a wire that already carries the elements of a movement, in order and in a fitting shape. ok is false if
// there is none.
func (m *mover) still(shape dataflow.Shape, of *Movement) (w int, ok bool) {
	from, ok := of.whole()
	if !ok || from == ConstantWire {
		return 0, false
	}
	w = m.wires[from]
	t := m.net.Type(w)
	return w, t.Shape.Size() == of.Len() && fits(t, shape)
}

// frame returns a wire with a frame of the given shape. Element i comes from position at[i] of wire from[i], or is a
// constant.
func (m *mover) frame(shape dataflow.Shape, from []int16, at []int32) (int, error) {
	if slices.Contains(from, ConstantWire) {
		return m.padded(shape, from, at)
	}
	first := from[0]
	for _, f := range from {
		if f != first {
			return m.parts(shape, from, at)
		}
	}
	return m.gather(m.wires[first], shape, at)
}

// padded returns the wire of a frame in which constants surround elements that come from wires. It is like frame.
func (m *mover) padded(shape dataflow.Shape, from []int16, at []int32) (int, error) {
	h, w, c := Pixels(shape)
	box, ok := inside(h, w, c, from)
	if !ok {
		return 0, errScattered
	}
	innerFrom, innerAt := box.cut(w, c, from, at)
	inner, reject := m.frame(dataflow.Shape{box.Rows(), box.Cols(), c}, innerFrom, innerAt)
	if reject != nil {
		return 0, reject
	}
	p := pad.Params{Before: [2]int{box.Y0, box.X0}, After: [2]int{h - 1 - box.Y1, w - 1 - box.X1},
		Between: [2]int{box.DY - 1, box.DX - 1}, Code: m.fill}
	return m.layer(pad.New(p), inner)
}

// parts returns the wire of a frame whose channels come from several wires, by concatenation. It is like frame without
// constants.
func (m *mover) parts(shape dataflow.Shape, from []int16, at []int32) (int, error) {
	c := shape.Channels()
	for i, f := range from {
		if f != from[i%c] {
			return 0, errScattered
		}
	}
	var ins []int
	for lo := 0; lo < c; {
		hi := lo + 1
		for hi < c && from[hi] == from[lo] {
			hi++
		}
		part := append(slices.Clone(shape[:len(shape)-1]), hi-lo)
		places := make([]int32, 0, part.Size())
		for i := lo; i < len(at); i += c {
			places = append(places, at[i:i+hi-lo]...)
		}
		w, reject := m.gather(m.wires[from[lo]], part, places)
		if reject == nil && !slices.Equal(m.net.Type(w).Shape, part) { // vectors of another length
			w, reject = m.layer(reorder.New(reorder.Params{Block: 1, Chunk: hi - lo, Order: []int{0}, Shape: part}), w)
		}
		if reject != nil {
			return 0, reject
		}
		ins, lo = append(ins, w), hi
	}
	return m.layer(concat.New(concat.Params{Inputs: len(ins)}), ins...)
}

// gather returns the wire of a frame whose element i is at position at[i] of wire w.
func (m *mover) gather(w int, shape dataflow.Shape, at []int32) (int, error) {
	t := m.net.Type(w)
	if scaled.InOrder(at, t.Shape.Size()) && fits(t, shape) {
		return w, nil
	}
	h0, w0, c0 := Pixels(t.Shape)
	h, wd, c := Pixels(shape)
	if c == c0 && len(t.Shape) >= 3 && len(shape) >= 3 {
		if v, ok := scale(h0, w0, h, wd, c, at); ok {
			return m.layer(upsample.New(upsample.Params{Scale: v}), w)
		}
		if p, ok := cropping(h0, w0, h, wd, c, at); ok {
			return m.layer(crop.New(p), w)
		}
	}
	if p, ok := FirstLast(t.Shape, shape, at); ok {
		return m.layer(firstlast.New(p), w)
	}
	p, ok := FindReorderBlocks(t.Shape, shape, at)
	if !ok {
		return 0, errScattered
	}
	return m.layer(reorder.New(p), w)
}

// fits reports whether layers can read a frame of type t as one of the given shape. It needs vectors with as many
// channels and, if the shape has rows, as many rows of pixels.
func fits(t dataflow.StreamType, shape dataflow.Shape) bool {
	if len(shape) < 3 {
		_, ok := t.Vectors(shape.Channels())
		return ok
	}
	h0, w0, c0 := Pixels(t.Shape)
	h, w, c := Pixels(shape)
	return len(t.Shape) == 3 && h0 == h && w0 == w && c0 == c
}

// scale returns the factors by which a layer repeats rows and columns of h0 x w0 pixels. Element i of the resulting h x
// w pixels must be element at[i]. ok is false if there are no such factors.
func scale(h0, w0, h, w, c int, at []int32) (v [2]int, ok bool) {
	if h%h0 != 0 || w%w0 != 0 || h*w <= h0*w0 {
		return v, false
	}
	v = [2]int{h / h0, w / w0}
	return v, follows(h, w, c, at, func(y, x int) int { return y/v[0]*w0 + x/v[1] })
}

// cropping returns the crop of h0 x w0 pixels that gives h x w pixels in which element i is element at[i]. The pixels
// may lie at regular distances. ok is false if there is none.
func cropping(h0, w0, h, w, c int, at []int32) (p crop.Params, ok bool) {
	first := int(at[0]) / c
	y0, x0, dy, dx := first/w0, first%w0, 1, 1
	if w > 1 {
		dx = int(at[c])/c - first
	}
	if h > 1 {
		dy = (int(at[w*c])/c - first) / w0
	}
	if dx < 1 || dy < 1 || y0+(h-1)*dy >= h0 || x0+(w-1)*dx >= w0 {
		return p, false
	}
	p = crop.Params{Start: [2]int{y0, x0}, Stop: [2]int{y0 + (h-1)*dy + 1, x0 + (w-1)*dx + 1}, Step: [2]int{dy, dx}}
	return p, follows(h, w, c, at, func(y, x int) int { return (y0+y*dy)*w0 + x0 + x*dx })
}

// follows reports whether each pixel's channels come, in order, from the pixel that of returns.
func follows(h, w, c int, at []int32, of func(y, x int) int) bool {
	i := 0
	for y := range h {
		for x := range w {
			base := of(y, x) * c
			for k := range c {
				if int(at[i]) != base+k {
					return false
				}
				i++
			}
		}
	}
	return true
}

// FindReorderBlocks returns a reordering in which element i of the new shape is element at[i] of the old one. Blocks,
// within which all elements move alike, are as small as possible, and chunks as large. ok is false if there is none.
func FindReorderBlocks(from, to dataflow.Shape, at []int32) (reorder.Params, bool) {
	n, m := from.Size(), len(at)
	chunk := together(gcd(gcd(n, m), gcd(from.Channels(), to.Channels())), at)
	var order []int
	for i := 0; i < m; i += chunk {
		order = append(order, int(at[i])/chunk)
	}
	n, m = n/chunk, m/chunk
	for _, size := range dataflow.Divisors(n) {
		if count := n / size; m%count == 0 && alike(order, size, m/count) {
			return reorder.Params{Block: size, Chunk: chunk, Order: order[:m/count], Shape: slices.Clone(to)}, true
		}
	}
	return reorder.Params{}, false
}

// together returns how many elements stay adjacent everywhere and begin at a multiple of that number. The result
// divides most.
func together(most int, at []int32) int {
	for i := 0; i < len(at); { // chunks must divide every run of adjacent elements
		j := i + 1
		for j < len(at) && at[j] == at[j-1]+1 {
			j++
		}
		most = gcd(most, gcd(j-i, int(at[i])))
		i = j
	}
	return most
}

// FirstLast returns a layer that makes one vector of elements at[i] of the first and the last vector of a frame. ok is
// false if elements come from others, or are more than half of the frame.
func FirstLast(from, to dataflow.Shape, at []int32) (p firstlast.Params, ok bool) {
	vectors, c := from.Vectors(), from.Channels()
	if vectors < 2 || to.Vectors() != 1 || 2*len(at) > from.Size() {
		return p, false
	}
	p = firstlast.Params{Step: c, Chunk: together(gcd(c, len(at)), at), Shape: slices.Clone(to)}
	for i := 0; i < len(at); i += p.Chunk {
		row, chunk := int(at[i])/c, int(at[i])%c/p.Chunk
		if row > 0 && row < vectors-1 {
			return p, false
		}
		p.Order = append(p.Order, firstlast.ChunkSource{Last: row > 0, Chunk: chunk})
	}
	return p, true
}

// alike reports whether order repeats from block to block. The entries of each block, out of them, must refer to its
// own size chunks as those of the first block do.
func alike(order []int, size, out int) bool {
	for i, v := range order {
		if b := i / out; v-b*size != order[i%out] || order[i%out] >= size || order[i%out] < 0 {
			return false
		}
	}
	return true
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
