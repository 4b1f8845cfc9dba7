package fast

import (
	"slices"

	"hlsgen/internal/dataflow"
)

// tableEntries is the most entries that a table of a layer's functions has.
const tableEntries = 1 << 22

// elements adds a stage for the node n, which computes functions of one element or of two byte elements. It returns
// false if there is no such stage for the layer.
func (p *Executable) elements(n *dataflow.Node, c dataflow.ElementwiseComputation) bool {
	out := &p.streams[n.Out[0]]
	if len(n.In) > 2 || out.width == wide {
		return false
	}
	e := &elementwise{ElementwiseComputation: c, out: out, tables: make([][]int32, c.Channels)}
	entries := int64(1)
	for _, s := range n.In {
		if v := p.viewOf(s); p.streams[s].size == p.streams[v.root].size && v.identity(p.streams[s].size) {
			s = v.root
		} else {
			p.keep(s)
		}
		e.in = append(e.in, &p.streams[s])
		entries *= min(p.streams[s].reach.ValueCount(), tableEntries+1)
	}
	for _, s := range e.in {
		if len(e.in) == 2 && s.width != narrow {
			return false
		}
	}
	e.inner = 1
	if len(e.in) == 2 {
		e.inner = int(e.in[1].reach.ValueCount())
	}
	if entries <= tableEntries/int64(c.Channels) {
		e.tabulate(int(entries))
	} else if len(e.in) == 2 {
		return false
	}
	p.stages = append(p.stages, stage{p.roots(n.In), []int{n.Out[0]}, e.run})
	return true
}

// An elementwise is a stage that computes functions of single elements.
type elementwise struct {
	dataflow.ElementwiseComputation
	in     []*stream
	out    *stream
	inner  int       // entries of a table for one value of the first input
	tables [][]int32 // by channel: stored values of the output; nil if the functions are called
	bytes  []uint8   // the only table, from bytes to bytes; nil if there are other tables
}

// tabulate makes tables of the functions with the given number of entries. Channels with equal tables share one.
func (e *elementwise) tabulate(entries int) {
	x := make([]int64, len(e.in))
	for c := range e.tables {
		t := make([]int32, entries)
		for i := range t {
			x[0] = int64(i/e.inner) + e.in[0].lo()
			if len(x) == 2 {
				x[1] = int64(i%e.inner) + e.in[1].lo()
			}
			t[i] = e.kept(c, x)
		}
		if c > 0 && slices.Equal(t, e.tables[0]) {
			t = e.tables[0]
		}
		e.tables[c] = t
	}
	one := !slices.ContainsFunc(e.tables, func(t []int32) bool { return &t[0] != &e.tables[0][0] })
	if one && len(e.in) == 1 && e.in[0].width == narrow && e.out.width == narrow {
		e.bytes = make([]uint8, 256)
		for i, y := range e.tables[0] {
			e.bytes[i] = uint8(y)
		}
	}
}

// kept returns the stored form of the output of channel c for inputs x. For inputs that do not occur, it is arbitrary.
func (e *elementwise) kept(c int, x []int64) int32 {
	y := min(max(e.Of(c, x), e.out.reach.Lo), e.out.reach.Hi)
	if e.out.width == narrow {
		y -= e.out.lo()
	}
	return int32(y)
}

// run computes the outputs for the given number of frames.
func (e *elementwise) run(w *Worker, frames int) {
	n := frames * e.out.size
	if e.bytes != nil {
		t, y := (*[256]uint8)(e.bytes), w.bytes(e.out, 0)[:n]
		for i, v := range w.bytes(e.in[0], 0)[:n] {
			y[i] = t[v]
		}
		return
	}
	var bytes []uint8
	var ints []int32
	if e.out.width == narrow {
		bytes = w.bytes(e.out, 0)[:n]
	} else {
		ints = w.ints(e.out, 0)[:n]
	}
	put := func(i int, y int32) {
		if bytes != nil {
			bytes[i] = uint8(y)
		} else {
			ints[i] = y
		}
	}
	switch a := e.in[0]; {
	case e.tables[0] == nil:
		x := w.numbers(1)
		for i := range n {
			x[0] = w.at(a, 0, i)
			put(i, e.kept(i%e.Channels, x))
		}
	case a.width != narrow:
		lo := a.lo()
		for i := range n {
			put(i, e.tables[i%e.Channels][w.at(a, 0, i)-lo])
		}
	case len(e.in) == 1:
		for first, x := 0, w.bytes(a, 0)[:n]; first < n; first += e.Channels {
			for c, t := range e.tables {
				put(first+c, t[x[first+c]])
			}
		}
	default:
		x, z := w.bytes(a, 0)[:n], w.bytes(e.in[1], 0)[:n]
		for first := 0; first < n; first += e.Channels {
			for c, t := range e.tables {
				put(first+c, t[int(x[first+c])*e.inner+int(z[first+c])])
			}
		}
	}
}

// roots returns the streams whose buffers hold the elements of the given streams.
func (p *Executable) roots(streams []int) (list []int) {
	for _, s := range streams {
		list = append(list, p.viewOf(s).root)
	}
	return list
}

// A pool is a stage that computes the maximum, or the sum, of the vectors in each window.
type pool struct {
	dataflow.PoolingComputation
	in, out *stream
	windows int
	begins  []int32     // by window: its position; 0 if the window is assembled from segments
	offs    []int32     // by position: offset of its vector from the window's beginning
	segs    [][]segment // by window: segments from which it is assembled; nil if all windows have the same layout
	fill    piece
}

// pools adds a stage for the node n, which computes maxima or sums of bytes. It returns false if there is none for the
// layer's ranges.
func (p *Executable) pools(n *dataflow.Node, c dataflow.PoolingComputation) bool {
	v := p.viewOf(n.In[0])
	in, out := &p.streams[v.root], &p.streams[n.Out[0]]
	if in.width != narrow || out.width == wide || !c.Sum && out.width != narrow {
		return false
	}
	k := &pool{PoolingComputation: c, in: in, out: out, fill: pieceOf(uint8(v.fill - in.lo()))}
	size := c.Positions * c.Channels
	alike := true
	for window := range out.size / c.Channels {
		list := v.segments(nil, window*size, size)
		k.segs, k.begins = append(k.segs, list), append(k.begins, list[0].at)
		alike = alike && alikeSegments(list, k.segs[0]) &&
			!slices.ContainsFunc(list, func(s segment) bool { return int(s.n)%c.Channels != 0 })
	}
	parts := []segment{{0, int32(size)}}
	k.windows = len(k.begins)
	if alike {
		parts, k.segs = k.segs[0], nil
		k.begins = p.shared(k.begins)
	} else {
		k.begins = []int32{0}
		p.scratch = max(p.scratch, size)
	}
	for _, s := range parts {
		for at := int32(0); at < s.n; at += int32(c.Channels) {
			k.offs = append(k.offs, s.at-parts[0].at+at)
		}
	}
	p.stages = append(p.stages, stage{[]int{v.root}, []int{n.Out[0]}, k.run})
	return true
}

// run computes the outputs of all windows for the given number of frames.
func (k *pool) run(w *Worker, frames int) {
	sums := w.numbers(k.Channels)
	for f := range frames {
		x := w.bytes(k.in, f)
		if k.segs == nil && !k.Sum {
			k.highest(w, w.bytes(k.out, f), x, k.begins)
			continue
		}
		for window := range k.windows {
			part := w.scratch
			if k.segs == nil {
				part = x[k.begins[window]:]
			} else {
				copyBytes(part, x, k.segs[window], &k.fill)
			}
			at := window * k.Channels
			if k.Sum {
				k.add(sums, part)
				k.put(w, f, at, sums)
			} else {
				k.highest(w, w.bytes(k.out, f)[at:], part, k.begins)
			}
		}
	}
}

// highest computes the maxima y of windows that begin at the elements at of x.
func (k *pool) highest(w *Worker, y, x []uint8, at []int32) {
	w.p.kernels.highest(y, x, k.Channels, at, k.offs)
	if shift := uint8(k.in.lo() - k.out.lo()); shift != 0 {
		for i := range y[:len(at)*k.Channels] {
			y[i] += shift
		}
	}
}

// add sets sums to the sums of the bytes x of a window, by channel.
func (k *pool) add(sums []int64, x []uint8) {
	clear(sums)
	for _, off := range k.offs {
		for i, v := range x[off:][:k.Channels] {
			sums[i] += int64(v)
		}
	}
}

// put stores the outputs for sums from element at of frame f on.
func (k *pool) put(w *Worker, f, at int, sums []int64) {
	for i, sum := range sums {
		v := sum + int64(k.Positions)*k.in.lo()
		if k.out.width == narrow {
			w.bytes(k.out, f)[at+i] = uint8(v - k.out.lo())
		} else {
			w.ints(k.out, f)[at+i] = int32(v)
		}
	}
}
