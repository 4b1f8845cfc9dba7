package fast

import (
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A view is a stream whose frames consist of elements of another stream's frames. Run r has run elements and begins
// at element at[r] of root's frame, or consists of fill if at[r] is negative.
type view struct {
	root int
	run  int
	at   []int32
	fill int64
}

// whole returns the view of a whole stream that has a buffer.
func (p *Executable) whole(s int) *view {
	return &view{root: s, run: p.streams[s].size, at: []int32{0}}
}

// viewOf returns stream s as a view of a stream that has a buffer.
func (p *Executable) viewOf(s int) *view {
	if v := p.streams[s].view; v != nil {
		return v
	}
	return p.whole(s)
}

// see makes the outputs of the node n, which only moves elements of its single input, views of that input.
func (p *Executable) see(n *dataflow.Node, g dataflow.GatherComputation) {
	if b := g.Border; b != nil && b.Runs*g.Run <= p.streams[n.Out[0]].size {
		frame := p.border(n.In[0], g)
		p.look(frame, n.Out, dataflow.GatherComputation{Run: g.Run, At: func(_, r int) (input, at int) {
			return 0,
				b.Of(r)
		}})
		p.borders[n.Out[0]] = frame
		return
	}
	p.look(n.In[0], n.Out, g)
}

// border adds a stream that is a copy of stream s with the border of g around it, and returns its number.
func (p *Executable) border(s int, g dataflow.GatherComputation) int {
	frame := len(p.streams)
	reach := p.streams[s].reach.Union(num.SingleValueRange(g.Fill))
	p.streams = append(p.streams, stream{size: g.Border.Runs * g.Run, reach: reach})
	p.look(s, []int{frame}, dataflow.GatherComputation{Run: g.Run, Fill: g.Fill, At: func(_, r int) (input, at int) {
		if at = g.Border.In(r); at < 0 {
			return -1, 0
		}
		return 0, at
	}})
	p.streams[frame].copy, p.streams[frame].view = p.streams[frame].view, nil
	return frame
}

// look makes the streams out views of the stream in. g gives, for each run of their elements, its place in that stream.
func (p *Executable) look(in int, out []int, g dataflow.GatherComputation) {
	from := p.viewOf(in)
	for k, s := range out {
		run := dataflow.GCD(g.Run, from.run)
		v := &view{root: from.root, run: run, fill: from.fill}
		fills := false
		for r := range p.streams[s].size / g.Run {
			input, at := g.At(k, r)
			for e := 0; e < g.Run; e += run {
				if input < 0 {
					v.at, fills = append(v.at, -1), true
					continue
				}
				element := at*g.Run + e
				if of := from.at[element/from.run]; of < 0 {
					v.at = append(v.at, -1)
				} else {
					v.at = append(v.at, of+int32(element%from.run))
				}
			}
		}
		if fills {
			if v.fill = g.Fill; from.filled() && from.fill != g.Fill {
				from := &p.streams[in] // a view has only one fill
				from.copy, from.view = from.view, nil
				p.look(in, out, g)
				return
			}
		}
		p.streams[s].view = v
		root := &p.streams[v.root]
		root.reach = root.reach.Union(p.streams[s].reach)
		if v.filled() {
			root.reach = root.reach.Union(num.SingleValueRange(v.fill))
		}
	}
}

// filled reports whether any run consists of fill.
func (v *view) filled() bool {
	for _, at := range v.at {
		if at < 0 {
			return true
		}
	}
	return false
}

// shared returns an equal list that another layer uses already, or else list itself.
func (p *Executable) shared(list []int32) []int32 {
	for _, other := range p.lists {
		if slices.Equal(other, list) {
			return other
		}
	}
	list = slices.Clip(list)
	p.lists = append(p.lists, list)
	return list
}

// A segment is n contiguous elements of root's frame, or n times fill if at is negative.
type segment struct{ at, n int32 }

// goesOn reports whether an element, or fill if at is negative, continues the segment.
func (s segment) goesOn(at int32) bool {
	if s.at < 0 || at < 0 {
		return s.at < 0 && at < 0
	}
	return s.at+s.n == at
}

// segments appends the segments of n elements of the view, from the given element on.
func (v *view) segments(list []segment, element, n int) []segment {
	for n > 0 {
		within := element % v.run
		take := min(n, v.run-within)
		at := v.at[element/v.run]
		if at >= 0 {
			at += int32(within)
		}
		if last := len(list) - 1; last >= 0 && list[last].goesOn(at) {
			list[last].n += int32(take)
		} else {
			list = append(list, segment{at, int32(take)})
		}
		element, n = element+take, n-take
	}
	return list
}

// identity reports whether the view is the whole frame of its root, of that size, in its order.
func (v *view) identity(size int) bool {
	list := v.segments(nil, 0, len(v.at)*v.run)
	return len(list) == 1 && list[0] == segment{0, int32(size)}
}

// keep gives the stream s, a view, a buffer, and adds a stage that copies its elements there.
func (p *Executable) keep(s int) {
	if v := p.streams[s].view; v != nil {
		p.streams[s].view = nil
		p.copies(s, v)
	}
}

// copies adds a stage that copies the elements of a view into the buffer of stream to.
func (p *Executable) copies(to int, v *view) {
	dst, src := &p.streams[to], &p.streams[v.root]
	list, value := slices.Clip(v.segments(nil, 0, dst.size)), v.fill
	p.stages = append(p.stages, stage{[]int{v.root}, []int{to}, func(w *Worker, frames int) {
		if dst.width == narrow && src.width == narrow {
			shift, fill := uint8(src.lo()-dst.lo()), pieceOf(uint8(value-src.lo()))
			for f := range frames {
				y := w.bytes(dst, f)
				copyBytes(y, w.bytes(src, f), list, &fill)
				if shift != 0 {
					for i := range y[:dst.size] {
						y[i] += shift
					}
				}
			}
			return
		}
		x, y := w.numbers(src.size), w.numbers(dst.size)
		for f := range frames {
			w.load(src, f, x)
			to := y
			for _, s := range list {
				if s.at >= 0 {
					copy(to[:s.n], x[s.at:])
				} else {
					for i := range to[:s.n] {
						to[i] = value
					}
				}
				to = to[s.n:]
			}
			w.store(dst, f, y)
		}
	}})
}

// A piece is the amount that a processor copies at once.
type piece = [16]uint8

// pieceOf returns a piece with the same byte everywhere.
func pieceOf(v uint8) (p piece) {
	for i := range p {
		p[i] = v
	}
	return p
}

// copyBytes copies segments of x, or fill, to y. It may read and write up to a piece beyond the end.
func copyBytes(y, x []uint8, list []segment, fill *piece) {
	to := 0
	for _, s := range list {
		end := to + int(s.n)
		switch {
		case s.at < 0:
			for i := to; i < end; i += len(piece{}) {
				*(*piece)(y[i:]) = *fill
			}
		case s.n > 256:
			copy(y[to:end], x[s.at:])
		default:
			from := int(s.at) - to
			for i := to; i < end; i += len(piece{}) {
				*(*piece)(y[i:]) = piece(x[from+i:])
			}
		}
		to = end
	}
}

// gather adds a stage for the node n, which moves elements of several inputs.
func (p *Executable) gather(n *dataflow.Node, g dataflow.GatherComputation) {
	for _, s := range n.In {
		p.keep(s)
	}
	for k, id := range n.Out {
		dst := &p.streams[id]
		type from struct {
			s  *stream // nil means fill
			at int
		}
		runs := make([]from, dst.size/g.Run)
		bytes := dst.width == narrow
		for r := range runs {
			if input, at := g.At(k, r); input >= 0 {
				runs[r] = from{&p.streams[n.In[input]], at * g.Run}
				bytes = bytes && runs[r].s.width == narrow
			}
		}
		p.stages = append(p.stages, stage{n.In, []int{id}, func(w *Worker, frames int) {
			for f := range frames {
				if bytes {
					y := w.bytes(dst, f)
					for r, from := range runs {
						part := y[r*g.Run : (r+1)*g.Run]
						if from.s == nil {
							for i := range part {
								part[i] = uint8(g.Fill - dst.lo())
							}
							continue
						}
						shift := uint8(from.s.lo() - dst.lo())
						for i, v := range w.bytes(from.s, f)[from.at : from.at+g.Run] {
							part[i] = v + shift
						}
					}
					continue
				}
				y := w.numbers(dst.size)
				for r, from := range runs {
					for i := range g.Run {
						y[r*g.Run+i] = g.Fill
						if from.s != nil {
							y[r*g.Run+i] = w.at(from.s, f, from.at+i)
						}
					}
				}
				w.store(dst, f, y)
			}
		}})
	}
}
