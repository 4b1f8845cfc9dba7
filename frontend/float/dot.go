package float

import (
	"slices"

	"hlsgen/frontend/graph"
)

// Sums of products take most of a run's time. Each sum is ((0 + a0*b0) + a1*b1) + ..., in the order of the model.
// Outputs that read different elements of one factor and the same ones of the other are the lanes of a vector. A few
// outputs that differ in the other factor are its rows. Lanes read a panel, which holds the elements for each term side
// by side. If only a row or two would read the panel, as in a depthwise convolution or a dense layer, lanes are read
// directly from the tensor.

// A dot says in which order the outputs of a sum of products are computed.
type dot struct {
	of   *graph.Dot
	a, b factor
	// lane is the factor in which lanes differ, row the factor in which rows differ. They are A and B or, if A has too
	// few lanes, B and A.
	lane, row *factor
	lanes     axes // axes of outputs that differ in the lane factor alone
	rows      axes
	both      axes   // axes of outputs that differ in both factors
	plain     bool   // no axes are known: outputs are computed one by one
	lying     *lying // not nil if lanes are read directly from the tensor
}

// A factor is one of the two factors of the products.
type factor struct {
	slot    int
	terms   []int32 // offsets of a sum's terms from its first element
	singles []float32
	doubles []float64 // elements of a constant that singles cannot hold; otherwise they are in singles
}

// factorOf returns a factor. fixed is its value if it is constant, or nil.
func factorOf(slot int, terms []int32, fixed *graph.Tensor) factor {
	f := factor{slot: slot, terms: terms}
	switch {
	case fixed == nil:
	case fixed.Singles != nil:
		f.singles = fixed.Singles
	case fixed.F != nil:
		f.doubles = fixed.F
	default:
		f.narrow(fixed.Len(), fixed.At)
		if f.singles == nil {
			f.doubles = fixed.Floats()
		}
	}
	return f
}

// narrow stores the elements as float32s, if that is exact.
func (f *factor) narrow(n int, at func(i int) float64) {
	singles := make([]float32, n)
	for i := range singles {
		v := at(i)
		if singles[i] = float32(v); float64(singles[i]) != v {
			return
		}
	}
	f.singles, f.doubles = singles, nil
}

// in returns the elements of a factor. One of the two results is nil.
func (f *factor) in(in []*buffer) (singles []float32, doubles []float64) {
	if b := in[f.slot]; b != nil {
		return nil, b.data
	}
	return f.singles, f.doubles
}

// An axes lists the axes along which outputs lie. Each axis has a size n, and strides in the two factors and in the
// output.
type axes []axis

type axis struct{ n, lane, row, out int }

func (a axes) size() int {
	n := 1
	for _, p := range a {
		n *= p.n
	}
	return n
}

// at returns the offsets of the i-th position along the axes: in the lane factor, in the row factor and in the output.
func (a axes) at(i int) (lane, row, out int) {
	for k := len(a) - 1; k >= 0; k-- {
		c := i % a[k].n
		i /= a[k].n
		lane, row, out = lane+c*a[k].lane, row+c*a[k].row, out+c*a[k].out
	}
	return lane, row, out
}

// fewLanes is a number of lanes that is too small if the other factor has more.
const fewLanes = 8

// fewRows is a number of rows for which a panel does not pay.
const fewRows = 2

func newDot(of *graph.Dot, a, b *graph.Tensor) *dot {
	d := &dot{of: of, a: factorOf(of.A, of.AOffset, a), b: factorOf(of.B, of.BOffset, b)}
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
	if d.rows.size() <= fewRows {
		d.lying = lyingOf(d.lanes, d.lane.terms)
	}
	if all := d.lane.doubles; d.lying != nil && all != nil { // each is read once, from memory
		d.lane.narrow(len(all), func(i int) float64 { return all[i] })
	}
	return d
}

const (
	rowsAtOnce = 4
	// panelSize bounds the elements of a panel, unless that leaves fewer than lanesAtLeast lanes.
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
	if singles, doubles := d.row.in(in); doubles != nil {
		pack(x, d, doubles, packed.data)
	} else {
		pack(x, d, singles, packed.data)
	}
	singles, doubles := d.lane.in(in)
	switch {
	case d.lying != nil && doubles != nil:
		alongRuns(x, d, doubles, packed.data, out)
		return
	case d.lying != nil:
		alongRuns(x, d, singles, packed.data, out)
		return
	}
	width := max(lanesAtLeast, min(lanesAtMost, panelSize/max(k, 1), (lanes+3)/4*4))
	chunks := (lanes + width - 1) / width
	work := max(1, k*rows*min(width, lanes)) // products per task
	x.team.share(both*chunks, max(1, 1<<16/work), func(w *worker, from, to int) {
		for task := from; task < to; task++ {
			group, first := task/chunks, task%chunks*width
			t := tile{dot: d, w: w, singles: singles, doubles: doubles, out: out, first: first,
				n: min(width, lanes-first)}
			t.base, _, t.at = d.both.at(group)
			t.weights = packed.data[group*len(packed.data)/both : (group+1)*len(packed.data)/both]
			t.compute(rows)
		}
	})
}

// pack copies the row factor: four rows at a time, term by term. Missing rows become 0.
func pack[E float32 | float64](x *Part, d *dot, of []E, to []float64) {
	k, rows, both := d.of.K, d.rows.size(), d.both.size()
	blocks := (rows + rowsAtOnce - 1) / rowsAtOnce
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
				of := of[base+row:]
				for t, o := range d.row.terms {
					block[t*rowsAtOnce+r] = float64(of[o])
				}
			}
		}
	})
}

// A tile consists of some lanes of all rows.
type tile struct {
	*dot
	w         *worker
	singles   []float32 // the lane factor; one of singles and doubles is nil
	doubles   []float64
	weights   []float64
	out       []float64
	base, at  int // the start of the group in the lane factor and in out
	first, n  int // the lanes of the tile
	x         []float64
	terms     []int32 // the index in x of each term's first lane
	places    []int   // the position of each lane in out
	following bool    // the places are adjacent
}

// compute computes all rows of the tile.
func (t *tile) compute(rows int) {
	t.look(rows)
	k := len(t.terms)
	acc := sized(&t.w.sums, max(rowsAtOnce*mostLanes, t.n))
	for r := 0; r < rows; r += rowsAtOnce {
		weights, some := t.weights[r*k:(r+rowsAtOnce)*k], min(rowsAtOnce, rows-r)
		if some == 1 {
			row(acc[:t.n], t.x, walk{terms: t.terms, step: 1}, weights)
			_, _, row := t.rows.at(r)
			t.put(t.at+row, 0, acc[:t.n])
			continue
		}
		for l := 0; l < t.n; {
			n := sum(acc, t.x[l:], t.terms, weights, (t.n-l+3)/4*4)
			for i := range some {
				_, _, row := t.rows.at(r + i)
				t.put(t.at+row, l, acc[i*n:][:min(n, t.n-l)])
			}
			l += n
		}
	}
}

// put stores the sums of the lanes from l on in the output.
func (t *tile) put(at, l int, sums []float64) {
	if t.following {
		copy(t.out[at+t.places[l]:], sums)
		return
	}
	for i, v := range sums {
		t.out[at+t.places[l+i]] = v
	}
}

// find determines the positions of the lanes in their factor and in the output.
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

// look copies the elements that the lanes read to the panel, unless they are adjacent in the factor.
func (t *tile) look(rows int) {
	w, f := t.w, t.lane
	bases := t.find()
	stride := (t.n + 3) / 4 * 4
	if t.doubles != nil && len(w.runs) == 2 && rows <= rowsAtOnce &&
		bases[0]+int(slices.Max(f.terms))+stride <= len(t.doubles) {
		t.x, t.terms = t.doubles[bases[0]:], f.terms
		return
	}
	t.terms = sized(&w.terms, len(f.terms))
	t.x = sized(&w.panel, len(t.terms)*stride)
	for k := range t.terms {
		t.terms[k] = int32(k * stride)
		clear(t.x[k*stride+t.n:][:stride-t.n])
	}
	if t.doubles != nil {
		layOut(w, t.x, t.doubles, f.terms, bases, stride)
	} else {
		layOut(w, t.x, t.singles, f.terms, bases, stride)
	}
}

// longRun is the average number of adjacent lanes from which they are copied together.
const longRun = 6

// layOut fills a panel with the elements that the lanes read.
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

// elements returns the elements of a factor as float64s.
func (f *factor) elements(in []*buffer) []float64 {
	singles, doubles := f.in(in)
	if doubles != nil {
		return doubles
	}
	doubles = make([]float64, len(singles))
	for i, v := range singles {
		doubles[i] = float64(v)
	}
	return doubles
}

// oneByOne computes sums for outputs without known axes.
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
