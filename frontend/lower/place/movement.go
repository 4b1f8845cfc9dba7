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

// AddMovement adds layers that move integers of the given wires as m says. It returns a wire with a frame of the given
// shape, in which constants have the code fill. If nothing has to move, it returns an existing wire. The new layers
// count as computing the ONNX nodes unless another layer computes these.
func (n *Netlist) AddMovement(wires []int, m Movement, shape dataflow.Shape, fill int64, nodes []*graph.Node) (int,
	error) {
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

// AddPadding adds a layer that puts pixels around those of wire w, and returns its output's wire. The layer counts as a
// mover of the given ONNX nodes.
func (n *Netlist) AddPadding(w int, p pad.Params, nodes []*graph.Node) (int, error) {
	return (&mover{net: n, nodes: nodes}).layer(pad.New(p), w)
}

// AddCropping adds a layer that removes pixels of wire w, and returns its output's wire. The layer counts as a mover of
// the given ONNX nodes.
func (n *Netlist) AddCropping(w int, p crop.Params, nodes []*graph.Node) (int, error) {
	return (&mover{net: n, nodes: nodes}).layer(crop.New(p), w)
}

// errScattered states that no layer moves elements in the requested way.
var errScattered = errors.New("place: scattered elements")

type mover struct {
	net   *Netlist
	wires []int
	nodes []*graph.Node
	fill  int64
}

// layer adds a layer that moves elements of the wires in, and returns its output's wire. The error is the layer's
// reason for not accepting these wires.
func (m *mover) layer(op dataflow.Op, in ...int) (int, error) {
	w, err := m.net.AddMoverLayer(op, in, m.nodes)
	if err != nil {
		return 0, unmapped.NewReason("moving its elements: "+err.Error(), "keep the layout of the tensor simpler")
	}
	return w, nil
}

// still returns a wire that already carries the elements of a movement in order, in a shape that readers accept as the
// given one. ok is false if there is none.
func (m *mover) still(shape dataflow.Shape, of *Movement) (w int, ok bool) {
	from, ok := of.whole()
	if !ok || from == ConstantWireIndex {
		return 0, false
	}
	w = m.wires[from]
	t := m.net.WireType(w)
	return w, t.Shape.ElementCount() == of.Len() && fits(t, shape)
}

// frame adds layers that write a frame of the given shape, and returns their output's wire. Element i comes from
// position at[i] of wire from[i], or is a constant. The error is errScattered if no layers do so, or that of a layer.
func (m *mover) frame(shape dataflow.Shape, from []int16, at []int32) (int, error) {
	if slices.Contains(from, ConstantWireIndex) {
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

// padded is like frame for a frame in which constants surround the elements that come from wires, or lie between them
// at regular distances.
func (m *mover) padded(shape dataflow.Shape, from []int16, at []int32) (int, error) {
	h, w, c := HeightWidthChannelsOf(shape)
	box, ok := inside(h, w, c, from)
	if !ok {
		return 0, errScattered
	}
	innerFrom, innerAt := box.cut(w, c, from, at)
	inner, reject := m.frame(dataflow.Shape{box.RowCount(), box.ColumnCount(), c}, innerFrom, innerAt)
	if reject != nil {
		return 0, reject
	}
	p := pad.Params{Before: [2]int{box.Y0, box.X0}, After: [2]int{h - 1 - box.Y1, w - 1 - box.X1},
		Between: [2]int{box.DY - 1, box.DX - 1}, Code: m.fill}
	return m.layer(pad.New(p), inner)
}

// parts is like frame for a frame without constants whose channels come from several wires. It concatenates their
// channels.
func (m *mover) parts(shape dataflow.Shape, from []int16, at []int32) (int, error) {
	c := shape.ChannelCount()
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
		places := make([]int32, 0, part.ElementCount())
		for i := lo; i < len(at); i += c {
			places = append(places, at[i:i+hi-lo]...)
		}
		w, reject := m.gather(m.wires[from[lo]], part, places)
		if reject == nil && !slices.Equal(m.net.WireType(w).Shape, part) { // vectors of another length
			w, reject = m.layer(reorder.New(reorder.Params{Block: 1, Chunk: hi - lo, Order: []int{0}, Shape: part}), w)
		}
		if reject != nil {
			return 0, reject
		}
		ins, lo = append(ins, w), hi
	}
	return m.layer(concat.New(concat.Params{Inputs: len(ins)}), ins...)
}

// gather returns a wire with a frame of the given shape, whose element i comes from position at[i] of wire w. It adds a
// layer that writes the frame, or returns w if nothing has to move. The error is errScattered if there is no such
// layer.
func (m *mover) gather(w int, shape dataflow.Shape, at []int32) (int, error) {
	t := m.net.WireType(w)
	if scaled.IsCountingList(at, t.Shape.ElementCount()) && fits(t, shape) {
		return w, nil
	}
	h0, w0, c0 := HeightWidthChannelsOf(t.Shape)
	h, wd, c := HeightWidthChannelsOf(shape)
	if c == c0 && len(t.Shape) >= 3 && len(shape) >= 3 {
		if v, ok := scale(h0, w0, h, wd, c, at); ok {
			return m.layer(upsample.New(upsample.Params{Scale: v}), w)
		}
		if p, ok := cropping(h0, w0, h, wd, c, at); ok {
			return m.layer(crop.New(p), w)
		}
	}
	if p, ok := FindFirstLastParams(t.Shape, shape, at); ok {
		return m.layer(firstlast.New(p), w)
	}
	p, ok := FindReorderParams(t.Shape, shape, at)
	if !ok {
		return 0, errScattered
	}
	return m.layer(reorder.New(p), w)
}

// fits reports whether layers can read a frame of type t as one of the given shape. The frame needs vectors with as
// many channels and, if the shape has rows, as many rows of pixels.
func fits(t dataflow.StreamType, shape dataflow.Shape) bool {
	if len(shape) < 3 {
		_, ok := t.AsVectors(shape.ChannelCount())
		return ok
	}
	h0, w0, c0 := HeightWidthChannelsOf(t.Shape)
	h, w, c := HeightWidthChannelsOf(shape)
	return len(t.Shape) == 3 && h0 == h && w0 == w && c0 == c
}

// scale returns the factors by which a layer repeats the rows and the columns of h0 x w0 pixels to get h x w pixels.
// Element i of the result must be element at[i] of the given pixels, each of c channels. ok is false if there are no
// such factors.
func scale(h0, w0, h, w, c int, at []int32) (v [2]int, ok bool) {
	if h%h0 != 0 || w%w0 != 0 || h*w <= h0*w0 {
		return v, false
	}
	v = [2]int{h / h0, w / w0}
	return v, follows(h, w, c, at, func(y, x int) int { return y/v[0]*w0 + x/v[1] })
}

// cropping returns the parameters of a layer that takes h x w of h0 x w0 pixels, possibly at regular distances. Element
// i of the result must be element at[i] of the given pixels, each of c channels. ok is false if there are none.
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

// follows reports whether the channels of each of h x w pixels come, in order, from the pixel whose index of returns.
// Element i, of c channels per pixel, comes from element at[i].
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

// FindReorderParams returns a reordering in which element i of the new shape is element at[i] of the old one. Blocks,
// within which all elements move alike, are as small as possible, and chunks as large. ok is false if there is none.
func FindReorderParams(from, to dataflow.Shape, at []int32) (reorder.Params, bool) {
	n, m := from.ElementCount(), len(at)
	chunk := together(gcd(gcd(n, m), gcd(from.ChannelCount(), to.ChannelCount())), at)
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

// together returns the largest divisor of most such that runs of as many elements stay adjacent. Each run begins at a
// multiple of the number, before and after. Element i comes from element at[i].
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

// FindFirstLastParams returns the parameters of a layer that makes one vector of elements of the first and the last
// vector of a frame. Element i is element at[i] of the frame. ok is false if an element comes from another vector. So
// it is if the frame is one vector, to is several, or at has more than half of the frame.
func FindFirstLastParams(from, to dataflow.Shape, at []int32) (p firstlast.Params, ok bool) {
	vectors, c := from.VectorCount(), from.ChannelCount()
	if vectors < 2 || to.VectorCount() != 1 || 2*len(at) > from.ElementCount() {
		return p, false
	}
	p = firstlast.Params{Step: c, Chunk: together(gcd(c, len(at)), at), Shape: slices.Clone(to)}
	for i := 0; i < len(at); i += p.Chunk {
		row, chunk := int(at[i])/c, int(at[i])%c/p.Chunk
		if row > 0 && row < vectors-1 {
			return p, false
		}
		p.Order = append(p.Order, firstlast.ChunkOfFirstOrLastStep{Last: row > 0, Chunk: chunk})
	}
	return p, true
}

// alike reports whether order repeats from block to block. Each block has out entries. They must refer to the block's
// own size chunks as those of the first block refer to its chunks.
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
