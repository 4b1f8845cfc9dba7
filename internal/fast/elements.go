package fast

import (
	"slices"

	"hlsgen/internal/dataflow"
)

// tableEntries is what the table of a layer's functions has at most.
const tableEntries = 1 << 22

// elements adds a stage for functions of one element, or of two bytes; false where there is none.
func (p *Program) elements(n *dataflow.Node, c dataflow.Elements) bool {
	out := &p.streams[n.Out[0]]
	if len(n.In) > 2 || out.width == wide {
		return false
	}
	e := &elementwise{Elements: c, out: out, tables: make([][]int32, c.Channels)}
	entries := int64(1)
	for _, s := range n.In {
		if v := p.viewOf(s); p.streams[s].size == p.streams[v.root].size && v.identity(p.streams[s].size) {
			s = v.root
		} else {
			p.keep(s)
		}
		e.in = append(e.in, &p.streams[s])
		entries *= min(p.streams[s].reach.Count(), tableEntries+1)
	}
	for _, s := range e.in {
		if len(e.in) == 2 && s.width != narrow {
			return false
		}
	}
	e.inner = 1
	if len(e.in) == 2 {
		e.inner = int(e.in[1].reach.Count())
	}
	if entries <= tableEntries/int64(c.Channels) {
		e.tabulate(int(entries))
	} else if len(e.in) == 2 {
		return false
	}
	p.stages = append(p.stages, stage{p.roots(n.In), []int{n.Out[0]}, e.run})
	return true
}

// elementwise is functions of elements at work.
type elementwise struct {
	dataflow.Elements
	in     []*stream
	out    *stream
	inner  int       // entries of a table for one value of the first input
	tables [][]int32 // by channel: what is kept of the output; nil where the functions are called
}

// tabulate makes tables of so many entries, one for all channels that are alike.
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
}

// kept is what is kept of the output: of what does not occur, anything.
func (e *elementwise) kept(c int, x []int64) int32 {
	y := min(max(e.Of(c, x), e.out.reach.Lo), e.out.reach.Hi)
	if e.out.width == narrow {
		y -= e.out.lo()
	}
	return int32(y)
}

func (e *elementwise) run(w *Worker, frames int) {
	n := frames * e.out.size
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

// roots is the streams in whose buffers those are.
func (p *Program) roots(streams []int) (list []int) {
	for _, s := range streams {
		list = append(list, p.viewOf(s).root)
	}
	return list
}

// pools adds a stage for the maxima of bytes, or their sums; false where there is none.
func (p *Program) pools(n *dataflow.Node, c dataflow.Pools) bool {
	v := p.viewOf(n.In[0])
	in, out := &p.streams[v.root], &p.streams[n.Out[0]]
	size := c.Positions * c.Channels
	if in.width != narrow || out.width == wide || !c.Sum && out.width != narrow {
		return false
	}
	windows := out.size / c.Channels
	segs := make([][]segment, windows)
	for k := range segs {
		segs[k] = v.segments(nil, k*size, size)
	}
	fill := pieceOf(uint8(v.fill - in.lo()))
	shift := uint8(in.lo() - out.lo()) // of a maximum
	add := int64(c.Positions) * in.lo()
	p.scratch = max(p.scratch, size)
	p.stages = append(p.stages, stage{[]int{v.root}, []int{n.Out[0]}, func(w *Worker, frames int) {
		sums := w.numbers(c.Channels)
		for f := range frames {
			x := w.bytes(in, f)
			for k, list := range segs {
				window := w.scratch[:size]
				if len(list) == 1 && list[0].at >= 0 {
					window = x[list[0].at:][:size]
				} else {
					copyBytes(w.scratch, x, list, &fill)
				}
				if !c.Sum {
					y := w.bytes(out, f)[k*c.Channels:][:c.Channels]
					w.p.kernels.highest(y, window)
					if shift != 0 {
						for i := range y {
							y[i] += shift
						}
					}
					continue
				}
				clear(sums)
				for at := 0; at < size; at += c.Channels {
					for i, v := range window[at:][:c.Channels] {
						sums[i] += int64(v)
					}
				}
				for i, sum := range sums {
					if out.width == narrow {
						w.bytes(out, f)[k*c.Channels+i] = uint8(sum + add - out.lo())
					} else {
						w.ints(out, f)[k*c.Channels+i] = int32(sum + add)
					}
				}
			}
		}
	}})
	return true
}
