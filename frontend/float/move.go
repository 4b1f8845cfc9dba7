package float

import (
	"hlsgen/frontend/program"
)

// move copies elements of the inputs to out, as m says.
func (x *Evaluator) move(m *program.Move, in []*buffer, out []float64) {
	if m.Places != nil {
		x.place(m.Places, in, out)
		return
	}
	x.team.share(len(out), 1<<14, func(_ *worker, from, to int) {
		if m.Input == nil {
			data := in[0].data
			for i, k := range m.Index[from:to] {
				out[from+i] = data[k]
			}
			return
		}
		for i := from; i < to; i++ {
			slot, k := m.SourceOf(i)
			out[i] = in[slot].data[k]
		}
	})
}

// A stretch is a number of neighbouring places along an axis. They take consecutive elements of input 0, the first at
// offset from. If from is negative, all of them take the single value of input 1.
type stretch struct{ n, from int }

// stretches returns the stretches of which an axis of a PaddedSources consists, in order.
func stretches(axis []int32) (list []stretch) {
	for i, k := range axis {
		last := len(list) - 1
		if i > 0 && (k < 0 && axis[i-1] < 0 || k > 0 && k == axis[i-1]+1) {
			list[last].n++
			continue
		}
		list = append(list, stretch{1, int(k)})
	}
	return list
}

// place fills out row by row with the elements that p names. Elements that come from input 1 get its value, or 0 if
// there is no input 1.
func (x *Evaluator) place(p *program.PaddedSources, in []*buffer, out []float64) {
	if len(out) == 0 {
		return
	}
	around := 0.0
	if len(in) > 1 && in[1] != nil && len(in[1].data) > 0 {
		around = in[1].data[0]
	}
	_, axis := p.RowSources(0)
	list, n := stretches(axis), len(axis)
	x.team.share(len(out)/n, max(1, 1<<14/n), func(_ *worker, from, to int) {
		for i := from; i < to; i++ {
			base, _ := p.RowSources(i * n)
			row := out[i*n : (i+1)*n]
			for _, s := range list {
				some := row[:s.n]
				if row = row[s.n:]; base >= 0 && s.from >= 0 {
					copyShort(some, in[0].data[base+s.from:])
					continue
				}
				for k := range some {
					some[k] = around
				}
			}
		}
	})
}

// copyShort copies len(to) elements. It is faster than copy for a few elements.
func copyShort(to, from []float64) {
	if len(to) > 16 {
		copy(to, from)
		return
	}
	for i, v := range from[:len(to)] {
		to[i] = v
	}
}

// order sorts the rows of in, and writes to out the elements that have the ranks in o, or the indices of these
// elements.
func order(o *program.Order, in, out []float64) {
	sorted := map[int32][]int{} // the order of each row's elements, by the row's offset
	row := make([]float64, o.N)
	for i, base := range o.Base {
		places := sorted[base]
		if places == nil {
			for k := range row {
				row[k] = in[int(base)+k*o.Stride]
			}
			places = o.SortedIndices(row)
			sorted[base] = places
		}
		k := places[o.Rank[i]]
		if out[i] = float64(k); !o.Index {
			out[i] = in[int(base)+k*o.Stride]
		}
	}
}
