package float

import "hlsgen/frontend/graph"

// move moves elements.
func (x *Part) move(m *graph.Move, in []*buffer, out []float64) {
	x.team.share(len(out), 1<<14, func(_ *worker, from, to int) {
		switch {
		case m.Places != nil:
			place(m.Places, in, out, from, to)
		case m.Input == nil:
			data := in[0].data
			for i, k := range m.Index[from:to] {
				out[from+i] = data[k]
			}
		default:
			for i := from; i < to; i++ {
				slot, k := m.From(i)
				out[i] = in[slot].data[k]
			}
		}
	})
}

// place moves elements row by row.
func place(p *graph.Places, in []*buffer, out []float64, from, to int) {
	around := 0.0
	if len(in) > 1 && in[1] != nil && len(in[1].data) > 0 {
		around = in[1].data[0]
	}
	for from < to {
		base, axis := p.Row(from)
		axis = axis[:min(len(axis), to-from)]
		row := out[from : from+len(axis)]
		if from += len(axis); base < 0 {
			for i := range row {
				row[i] = around
			}
			continue
		}
		data := in[0].data
		for i, k := range axis {
			if row[i] = around; k >= 0 {
				row[i] = data[base+int(k)]
			}
		}
	}
}

// order puts rows in order.
func order(o *graph.Order, in, out []float64) {
	sorted := map[int32][]int{} // by base
	row := make([]float64, o.N)
	for i, base := range o.Base {
		places := sorted[base]
		if places == nil {
			for k := range row {
				row[k] = in[int(base)+k*o.Stride]
			}
			places = o.Sorted(row)
			sorted[base] = places
		}
		k := places[o.Rank[i]]
		if out[i] = float64(k); !o.Index {
			out[i] = in[int(base)+k*o.Stride]
		}
	}
}
