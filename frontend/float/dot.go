package float

import (
	"slices"

	"hlsgen/frontend/graph"
)

// Sums of products take most of a run's time. Each is ((0 + a0*b0) + a1*b1) + ..., in the order of the model, whatever
// is computed beside it: outputs that read the same elements of one factor are lanes of a vector, a few that differ in
// the other factor are its rows. Lanes read a panel: what each term needs, lane beside lane.

// A dot is how the outputs of a sum of products are walked through.
type dot struct {
	of   *graph.Dot
	a, b factor
	// The factor that lanes differ in, and that of rows: A and B or, where that has too few lanes, the other way round.
	lane, row *factor
	lanes     axes // of outputs that differ in the lanes' factor alone
	rows      axes
	both      axes // of those that differ in both
	plain     bool // nothing is known of the order: outputs are computed one by one
}

// A factor is one of the two.
type factor struct {
	slot  int
	terms []int32       // of a sum, from its first element on
	fixed *graph.Tensor // where it is constant
}

// axes hold the axes along which outputs lie. Each has a size, and strides in the two factors and in the output.
type axes []axis

type axis struct{ n, lane, row, out int }

func (a axes) size() int {
	n := 1
	for _, p := range a {
		n *= p.n
	}
	return n
}

// at returns the offsets of number i along the axes: in the lanes' factor, in the rows' factor and in the output.
func (a axes) at(i int) (lane, row, out int) {
	for k := len(a) - 1; k >= 0; k-- {
		c := i % a[k].n
		i /= a[k].n
		lane, row, out = lane+c*a[k].lane, row+c*a[k].row, out+c*a[k].out
	}
	return lane, row, out
}

// fewLanes are too few where the other factor has more.
const fewLanes = 8

func newDot(of *graph.Dot, a, b *graph.Tensor) *dot {
	d := &dot{of: of, a: factor{of.A, of.AOffset, a}, b: factor{of.B, of.BOffset, b}}
	d.lane, d.row = &d.a, &d.b
	list, ok := graph.Axes(of.ABase, of.BBase)
	if !ok {
		d.plain = true
		return d
	}
	out := of.ABase.Len()
	for _, x := range list {
		out /= x.Extent
		p := axis{x.Extent, x.A, x.B, out}
		switch {
		case x.B == 0:
			d.lanes = append(d.lanes, p)
		case x.A == 0:
			d.rows = append(d.rows, p)
		default:
			d.both = append(d.both, p)
		}
	}
	if n := d.lanes.size(); n < fewLanes && d.rows.size() > n {
		d.lane, d.row, d.lanes, d.rows = &d.b, &d.a, d.rows, d.lanes
		for _, list := range []axes{d.lanes, d.rows, d.both} {
			for i, p := range list {
				list[i].lane, list[i].row = p.row, p.lane
			}
		}
	}
	return d
}

// at reads the elements of a factor.
func (f *factor) at(in []*buffer) func(i int) float64 {
	switch {
	case f.fixed == nil || in[f.slot] != nil:
		data := in[f.slot].data
		return func(i int) float64 { return data[i] }
	case f.fixed.F != nil:
		return func(i int) float64 { return f.fixed.F[i] }
	case f.fixed.Singles != nil:
		return func(i int) float64 { return float64(f.fixed.Singles[i]) }
	}
	return f.fixed.At
}

// elements returns the elements of a factor as float64s.
func (f *factor) elements(in []*buffer) []float64 {
	if f.fixed != nil && in[f.slot] == nil {
		return f.fixed.Floats()
	}
	return in[f.slot].data
}

const (
	rowsAtOnce = 4
	// panelSize bounds the elements of a panel, where that leaves lanesAtLeast.
	panelSize    = 1 << 15
	lanesAtLeast = 24
	lanesAtMost  = 1 << 10
)

// sums computes the sums of products.
func (x *Part) sums(d *dot, in []*buffer, out []float64) {
	if d.plain {
		x.oneByOne(d, in, out)
		return
	}
	k := d.of.K
	if k == 0 {
		clear(out)
		return
	}
	lanes, rows, both := d.lanes.size(), d.rows.size(), d.both.size()
	packed := x.room.take((rows + rowsAtOnce - 1) / rowsAtOnce * rowsAtOnce * k * both)
	defer x.room.drop(packed)
	x.pack(d, in, packed.data)
	var data []float64
	if f := d.lane; in[f.slot] != nil || f.fixed.F != nil {
		data = f.elements(in)
	}
	width := max(lanesAtLeast, min(lanesAtMost, panelSize/max(k, 1), (lanes+3)/4*4))
	chunks := (lanes + width - 1) / width
	work := max(1, k*rows*min(width, lanes)) // of a task
	x.team.share(both*chunks, max(1, 1<<16/work), func(w *worker, from, to int) {
		for task := from; task < to; task++ {
			group, first := task/chunks, task%chunks*width
			t := tile{dot: d, w: w, data: data, out: out, first: first, n: min(width, lanes-first)}
			t.base, _, t.at = d.both.at(group)
			t.weights = packed.data[group*len(packed.data)/both : (group+1)*len(packed.data)/both]
			t.compute(rows)
		}
	})
}

// pack lays out the rows' factor: of four rows at a time, term by term. Rows that are not there are 0.
func (x *Part) pack(d *dot, in []*buffer, to []float64) {
	k, rows, both := d.of.K, d.rows.size(), d.both.size()
	blocks := (rows + rowsAtOnce - 1) / rowsAtOnce
	at := d.row.at(in)
	x.team.share(blocks*both, max(1, 1<<12/max(k, 1)), func(_ *worker, from, until int) {
		for i := from; i < until; i++ {
			_, base, _ := d.both.at(i / blocks)
			block := to[i*rowsAtOnce*k : (i+1)*rowsAtOnce*k]
			for r := range rowsAtOnce {
				n := i%blocks*rowsAtOnce + r
				if n >= rows {
					for t := range k {
						block[t*rowsAtOnce+r] = 0
					}
					continue
				}
				_, row, _ := d.rows.at(n)
				for t, o := range d.row.terms {
					block[t*rowsAtOnce+r] = at(base + row + int(o))
				}
			}
		}
	})
}

// A tile is some lanes of all rows.
type tile struct {
	*dot
	w         *worker
	data      []float64 // the lanes' factor; nil of constants that are no float64s
	weights   []float64
	out       []float64
	base, at  int // of the group in data and out
	first, n  int // lanes
	x         []float64
	terms     []int // where each term begins in x
	places    []int // of lanes in out
	following bool  // places follow each other
}

// compute computes all rows.
func (t *tile) compute(rows int) {
	t.look(rows)
	k := len(t.terms)
	acc := sized(&t.w.sums, rowsAtOnce*mostLanes)
	for r := 0; r < rows; r += rowsAtOnce {
		weights, some := t.weights[r*k:(r+rowsAtOnce)*k], min(rowsAtOnce, rows-r)
		for l := 0; l < t.n; {
			n := sum(acc, t.x[l:], t.terms, weights, some, (t.n-l+3)/4*4)
			for i := range some {
				_, _, row := t.rows.at(r + i)
				t.put(t.at+row, l, acc[i*n:][:min(n, t.n-l)])
			}
			l += n
		}
	}
}

// put puts the sums of lanes from l on where they belong.
func (t *tile) put(at, l int, sums []float64) {
	if t.following {
		copy(t.out[at+t.places[l]:], sums)
		return
	}
	for i, v := range sums {
		t.out[at+t.places[l+i]] = v
	}
}

// find finds where the lanes are in their factor and in the output.
func (t *tile) find() (bases []int) {
	w := t.w
	t.places, bases = sized(&w.places, t.n), sized(&w.bases, t.n)
	runs, inner := w.runs[:0], axis{n: 1}
	if n := len(t.lanes); n > 0 {
		inner = t.lanes[n-1]
	}
	t.following = true
	for i := 0; i < t.n; {
		lane, _, out := t.lanes.at(t.first + i)
		n := min(inner.n-(t.first+i)%inner.n, t.n-i)
		t.following = t.following && (inner.out == 1 || n == 1) && (i == 0 || out == t.places[i-1]+1)
		if i == 0 || t.base+lane != bases[i-1]+1 {
			runs = append(runs, i)
		}
		for k := range n {
			bases[i+k], t.places[i+k] = t.base+lane+k*inner.lane, out+k*inner.out
			if k > 0 && inner.lane != 1 {
				runs = append(runs, i+k)
			}
		}
		i += n
	}
	w.runs = append(runs, t.n)
	return bases
}

// look lays out what the terms of the lanes need where it does not lie in a row.
func (t *tile) look(rows int) {
	w, f := t.w, t.lane
	bases := t.find()
	t.terms = sized(&w.terms, len(f.terms))
	stride := (t.n + 3) / 4 * 4
	if t.data != nil && len(w.runs) == 2 && rows <= rowsAtOnce &&
		bases[0]+int(slices.Max(f.terms))+stride <= len(t.data) {
		t.x = t.data[bases[0]:]
		for k, o := range f.terms {
			t.terms[k] = int(o)
		}
		return
	}
	t.x = sized(&w.panel, len(t.terms)*stride)
	for k := range t.terms {
		t.terms[k] = k * stride
		clear(t.x[k*stride+t.n:][:stride-t.n])
	}
	switch {
	case t.data != nil:
		layOut(w, t.x, t.data, f.terms, bases, stride)
	case f.fixed.Singles != nil:
		layOut(w, t.x, f.fixed.Singles, f.terms, bases, stride)
	default:
		for l, b := range bases {
			for k, o := range f.terms {
				t.x[k*stride+l] = f.fixed.At(b + int(o))
			}
		}
	}
}

// longRun is the lanes in a row, on an average, from which they are taken together.
const longRun = 6

// layOut lays out a panel of what the terms of lanes need.
func layOut[E float32 | float64](w *worker, panel []float64, from []E, terms []int32, bases []int, stride int) {
	if len(bases) < longRun*(len(w.runs)-1) {
		for l, b := range bases {
			of := from[b:]
			for k, o := range terms {
				panel[k*stride+l] = float64(of[o])
			}
		}
		return
	}
	for k, o := range terms {
		to, of := panel[k*stride:], from[o:]
		for i, l := range w.runs[:len(w.runs)-1] {
			some := of[bases[l]:]
			for j := range w.runs[i+1] - l {
				to[l+j] = float64(some[j])
			}
		}
	}
}

// oneByOne computes sums in whose outputs there is no order.
func (x *Part) oneByOne(d *dot, in []*buffer, out []float64) {
	a, b := d.a.elements(in), d.b.elements(in)
	x.team.share(len(out), max(1, 1<<14/max(1, d.of.K)), func(_ *worker, from, to int) {
		for i := from; i < to; i++ {
			x, y, sum := a[d.of.ABase.At(i):], b[d.of.BBase.At(i):], 0.0
			for k, o := range d.of.AOffset {
				sum += float64(x[o] * y[d.of.BOffset[k]])
			}
			out[i] = sum
		}
	})
}
