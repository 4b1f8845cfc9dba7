package lower

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/scaled"
	"hlsgen/hlslib/concat"
	"hlsgen/hlslib/crop"
	"hlsgen/hlslib/pad"
	"hlsgen/hlslib/reorder"
	"hlsgen/hlslib/upsample"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// arrange makes layers that move integers: the wire they end in carries a frame of the shape, whose positions come from
// where the operand says. fill is the code of its constants. Where nothing has to move it is the wire that is there.
func (s *state) arrange(o *operand, shape dataflow.Shape, fill int64) (int, *unmapped.Reason) {
	if len(o.wires) == 1 && o.value == nil {
		s.hostSends(o.wires[0], o, shape)
	}
	wires := make([]int, len(o.wires))
	for i, tensor := range o.wires {
		wires[i] = s.take(tensor)
	}
	return s.moved(wires, o.nodes, fill, shape, o)
}

// hostSends lets the host send a tensor in the shape that its first layer wants, and, where nothing else reads it, in the order.
func (s *state) hostSends(tensor string, o *operand, shape dataflow.Shape) {
	p := s.places[tensor]
	n := p.typ.Shape.Size()
	if !p.onHost() || p.wire >= 0 || len(o.at) != n {
		return
	}
	if !scaled.InOrder(o.at, n) {
		readers := 0
		for _, r := range s.prog.Readers(tensor) {
			if s.used[r] {
				readers++
			}
		}
		seen := make([]bool, n)
		for _, i := range o.at {
			if readers > 1 || seen[i] {
				return
			}
			seen[i] = true
		}
		to := inverse(o.at, n) // the new position of what was at each
		at := make([]int32, n)
		for e := range at {
			at[e] = to[p.position(int32(e))]
		}
		p.at, o.at = at, scaled.All(n)
	}
	p.typ.Shape = slices.Clone(shape)
}

// moved is arrange for wires at hand.
func (s *state) moved(wires []int, nodes []*graph.Node, fill int64, shape dataflow.Shape, o *operand) (int, *unmapped.Reason) {
	m := &mover{s: s, wires: wires, nodes: nodes, fill: fill}
	w, reject := m.frame(shape, o.from, o.at)
	if reject != nil && reject.Msg == "" {
		reject.Code, reject.Msg = diag.NotMapped, "its input's elements are put together in a way that no layer does"
		reject.Hint = "concatenate along channels; pad, crop and repeat along rows and columns"
	}
	return w, reject
}

type mover struct {
	s     *state
	wires []int
	nodes []*graph.Node
	fill  int64
}

// layer adds a layer that moves elements, without a name of its own.
func (m *mover) layer(op dataflow.Op, in ...int) (int, *unmapped.Reason) {
	out, err := m.s.net.add(op, in, "", m.nodes)
	if err != nil {
		return 0, unmapped.Because("moving its elements: "+err.Error(), "keep the layout of the tensor simpler")
	}
	m.s.net.layers[len(m.s.net.layers)-1].moves = true
	return out[0], nil
}

// frame is the wire of positions that come from wires, or are constant.
func (m *mover) frame(shape dataflow.Shape, from []int16, at []int32) (int, *unmapped.Reason) {
	if slices.Contains(from, isConstant) {
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

// padded puts constants around a frame.
func (m *mover) padded(shape dataflow.Shape, from []int16, at []int32) (int, *unmapped.Reason) {
	h, w, c := pixels(shape)
	box, ok := inside(h, w, c, from)
	if !ok {
		return 0, &unmapped.Reason{}
	}
	innerFrom, innerAt := box.cut(w, c, from, at)
	inner, reject := m.frame(dataflow.Shape{box.rows(), box.cols(), c}, innerFrom, innerAt)
	if reject != nil {
		return 0, reject
	}
	p := pad.Params{Before: [2]int{box.y0, box.x0}, After: [2]int{h - 1 - box.y1, w - 1 - box.x1}, Between: [2]int{box.dy - 1, box.dx - 1}, Code: m.fill}
	return m.layer(pad.New(p), inner)
}

// A box is the pixels of a frame that are no constants: rows y0, y0+dy ... y1, and columns likewise.
type box struct{ y0, y1, dy, x0, x1, dx int }

func (b box) rows() int { return (b.y1-b.y0)/b.dy + 1 }
func (b box) cols() int { return (b.x1-b.x0)/b.dx + 1 }

// inside finds the box of the pixels that are no constants. ok is false where they are no box, or a pixel is partly constant.
func inside(h, w, c int, from []int16) (b box, ok bool) {
	var ys, xs []int
	data := func(y, x int) bool { return from[(y*w+x)*c] != isConstant }
	for y := range h {
		for x := range w {
			if data(y, x) {
				ys = append(ys, y)
				break
			}
		}
	}
	if len(ys) == 0 {
		return b, false
	}
	for x := range w {
		if data(ys[0], x) {
			xs = append(xs, x)
		}
	}
	step := func(v []int) int {
		if len(v) == 1 {
			return 1
		}
		return v[1] - v[0]
	}
	b = box{ys[0], ys[len(ys)-1], step(ys), xs[0], xs[len(xs)-1], step(xs)}
	if (b.y1-b.y0)%b.dy != 0 || (b.x1-b.x0)%b.dx != 0 {
		return b, false
	}
	for y := range h {
		for x := range w {
			in := y >= b.y0 && y <= b.y1 && (y-b.y0)%b.dy == 0 && x >= b.x0 && x <= b.x1 && (x-b.x0)%b.dx == 0
			for _, f := range from[(y*w+x)*c : (y*w+x+1)*c] {
				if f != isConstant != in {
					return b, false
				}
			}
		}
	}
	return b, true
}

// cut takes the positions of a box out of a frame of rows of w pixels.
func (b box) cut(w, c int, from []int16, at []int32) ([]int16, []int32) {
	n := b.rows() * b.cols() * c
	f, a := make([]int16, 0, n), make([]int32, 0, n)
	for y := b.y0; y <= b.y1; y += b.dy {
		for x := b.x0; x <= b.x1; x += b.dx {
			i := (y*w + x) * c
			f, a = append(f, from[i:i+c]...), append(a, at[i:i+c]...)
		}
	}
	return f, a
}

// parts puts frames together whose channels come from different wires.
func (m *mover) parts(shape dataflow.Shape, from []int16, at []int32) (int, *unmapped.Reason) {
	c := shape.Channels()
	for i, f := range from {
		if f != from[i%c] {
			return 0, &unmapped.Reason{}
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
		if reject == nil && !slices.Equal(m.s.net.wires[w].typ.Shape, part) { // the same elements, seen as other vectors
			w, reject = m.layer(reorder.New(reorder.Params{Block: 1, Chunk: hi - lo, Order: []int{0}, Shape: part}), w)
		}
		if reject != nil {
			return 0, reject
		}
		ins, lo = append(ins, w), hi
	}
	return m.layer(concat.New(concat.Params{Inputs: len(ins)}), ins...)
}

// gather moves elements of one wire.
func (m *mover) gather(w int, shape dataflow.Shape, at []int32) (int, *unmapped.Reason) {
	t := m.s.net.wires[w].typ
	if scaled.InOrder(at, t.Shape.Size()) && fits(t, shape) {
		return w, nil
	}
	h0, w0, c0 := pixels(t.Shape)
	h, wd, c := pixels(shape)
	if c == c0 && len(t.Shape) >= 3 && len(shape) >= 3 {
		if v, ok := scale(h0, w0, h, wd, c, at); ok {
			return m.layer(upsample.New(upsample.Params{Scale: v}), w)
		}
		if p, ok := cropping(h0, w0, h, wd, c, at); ok {
			return m.layer(crop.New(p), w)
		}
	}
	p, ok := blocks(t.Shape, shape, at)
	if !ok {
		return 0, &unmapped.Reason{}
	}
	return m.layer(reorder.New(p), w)
}

// fits reports whether a frame of a type is one of a shape, as layers see it: vectors of as many channels, which are
// pixels of as many rows where the shape has rows.
func fits(t dataflow.Type, shape dataflow.Shape) bool {
	if len(shape) < 3 {
		_, ok := t.Vectors(shape.Channels())
		return ok
	}
	h0, w0, c0 := pixels(t.Shape)
	h, w, c := pixels(shape)
	return len(t.Shape) == 3 && h0 == h && w0 == w && c0 == c
}

// scale is the factors of a repetition of pixels.
func scale(h0, w0, h, w, c int, at []int32) (v [2]int, ok bool) {
	if h%h0 != 0 || w%w0 != 0 || h*w <= h0*w0 {
		return v, false
	}
	v = [2]int{h / h0, w / w0}
	return v, follows(h, w, c, at, func(y, x int) int { return y/v[0]*w0 + x/v[1] })
}

// cropping is a rectangle of every so many pixels.
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

// follows reports whether each pixel's channels come, in order, from the pixel that of says.
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

// blocks finds the smallest blocks of a frame within which elements move, all alike, in chunks as large as can be.
func blocks(from, to dataflow.Shape, at []int32) (reorder.Params, bool) {
	n, m := from.Size(), len(at)
	chunk := gcd(gcd(n, m), gcd(from.Channels(), to.Channels()))
	for i := 0; i < m; { // chunks are whole in every run of neighbours
		j := i + 1
		for j < m && at[j] == at[j-1]+1 {
			j++
		}
		chunk = gcd(chunk, gcd(j-i, int(at[i])))
		i = j
	}
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

// alike reports whether each block of a size is made of the one of the same number, as the first is.
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
