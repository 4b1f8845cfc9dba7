package fast

import (
	"slices"

	"hlsgen/internal/dataflow"
)

// tableEntries is what the table of a layer's functions has at most.
const tableEntries = 1 << 22

// elements adds a stage for functions of one byte, or of two; false where there is none.
func (p *Program) elements(n *dataflow.Node, c dataflow.Elements) bool {
	out := &p.streams[n.Out[0]]
	if len(n.In) > 2 {
		return false
	}
	entries, in := 1, []*stream{}
	for _, s := range n.In {
		if v := p.viewOf(s); !v.identity(p.streams[v.root].size) || p.streams[s].size != p.streams[v.root].size {
			p.keep(s)
		} else {
			s = v.root
		}
		in = append(in, &p.streams[s])
	}
	for _, s := range in {
		if s.width != narrow {
			return false
		}
		entries *= int(s.reach.Count())
	}
	if entries > tableEntries/c.Channels || out.width == wide {
		return false
	}
	inner := 1 // entries for one value of the first input
	if len(in) == 2 {
		inner = int(in[1].reach.Count())
	}
	tables := make([][]int32, c.Channels)
	x := make([]int64, len(in))
	for ch := range tables {
		t := make([]int32, entries)
		for i := range t {
			x[0] = int64(i/inner) + in[0].lo()
			if len(in) == 2 {
				x[1] = int64(i%inner) + in[1].lo()
			}
			if t[i] = int32(min(max(c.Of(ch, x), out.reach.Lo), out.reach.Hi)); out.width == narrow {
				t[i] -= int32(out.lo())
			}
		}
		if ch > 0 && slices.Equal(t, tables[0]) {
			t = tables[0]
		}
		tables[ch] = t
	}
	p.stages = append(p.stages, stage{p.roots(n.In), []int{n.Out[0]}, func(w *Worker, frames int) {
		a, b := w.bytes(in[0], 0)[:frames*out.size], []uint8(nil)
		if len(in) == 2 {
			b = w.bytes(in[1], 0)[:frames*out.size]
		}
		for first := 0; first < len(a); first += c.Channels {
			for ch, t := range tables {
				i := int(a[first+ch]) * inner
				if b != nil {
					i += int(b[first+ch])
				}
				if out.width == narrow {
					w.slots[out.slot][first+ch] = uint8(t[i])
				} else {
					w.ints(out, 0)[first+ch] = t[i]
				}
			}
		}
	}})
	return true
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
	fill := uint8(v.fill - in.lo())
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
					copyBytes(window, x, list, 0, fill)
				}
				if !c.Sum {
					y := w.bytes(out, f)[k*c.Channels:][:c.Channels]
					copy(y, window)
					for at := c.Channels; at < size; at += c.Channels {
						greatest(y, window[at:])
					}
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
