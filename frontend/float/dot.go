package float

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
)

// Sums of products take most of a run's time. Each sum is ((0 + a0*b0) + a1*b1) + ..., in the order of the model,
// whatever other sums are computed beside it. A kernel computes several outputs at once. Outputs that read the same
// elements of one factor are the lanes of a vector. A few outputs that read the same elements of the other factor are
// rows. Usually the elements of the lanes are copied to a panel first: for each term, the elements of all lanes side
// by side. With one or two rows, as in a depthwise convolution or a dense layer, a copy costs more than it saves. Then
// lanes are read in place.

// A dot is a sum of products prepared for float64. Its outputs are grouped into lanes, which kernels compute side by
// side, and rows of weights.
type dot struct {
	of   *program.Dot
	a, b factor
	// lane is the factor whose elements differ from lane to lane, and row is the other factor. They are A and B, or B
	// and A if A gives too few lanes.
	lane, row *factor
	lanes     axes // axes of the output along which only the lane factor moves
	rows      axes
	both      axes   // axes of the output along which both factors move
	plain     bool   // the outputs have no regular axes: each is computed alone
	lying     *lying // nil unless lanes are read in place
}

// A factor is one of the two operands of a sum of products, with its elements if they are constant.
type factor struct {
	slot    int
	terms   []int32 // offset of each term from the first element of a sum
	singles []float32
	doubles []float64 // elements of a constant: in singles if float32 holds each exactly, else here
}

// factorOf returns the factor that a step reads at an input slot. fixed is the tensor if it is constant, and nil
// otherwise. terms holds the offset of each element of a sum from the sum's first element.
func factorOf(slot int, terms []int32, fixed *graph.ConstantTensor) factor {
	f := factor{slot: slot, terms: terms}
	switch {
	case fixed == nil:
	case fixed.Singles != nil:
		f.singles = fixed.Singles
	case fixed.F != nil:
		f.doubles = fixed.F
	default:
		f.narrow(fixed.Len(), fixed.FloatAt)
		if f.singles == nil {
			f.doubles = fixed.Floats()
		}
	}
	return f
}

// narrow stores n constant elements as float32s if that changes none of them. Otherwise it does nothing.
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

// in returns the elements of a factor as float32s or as float64s; the other slice is nil.
func (f *factor) in(in []*buffer) (singles []float32, doubles []float64) {
	if b := in[f.slot]; b != nil {
		return nil, b.data
	}
	return f.singles, f.doubles
}

// An axes is a list of axes of the output, the outermost first. Each has a size, and a stride in the lane factor, in
// the row factor and in the output.
type axes []axis

type axis struct{ n, lane, row, out int }

func (a axes) size() int {
	n := 1
	for _, p := range a {
		n *= p.n
	}
	return n
}

// at returns the offsets of element i of these axes: in the lane factor, in the row factor and in the output.
func (a axes) at(i int) (lane, row, out int) {
	for k := len(a) - 1; k >= 0; k-- {
		c := i % a[k].n
		i /= a[k].n
		lane, row, out = lane+c*a[k].lane, row+c*a[k].row, out+c*a[k].out
	}
	return lane, row, out
}

// fewLanes is the number of lanes below which the two factors change roles, if that gives more lanes.
const fewLanes = 8

// fewRows is the largest number of rows of weights for which lanes are read in place.
const fewRows = 2

func newDot(of *program.Dot, a, b *graph.ConstantTensor) *dot {
	d := &dot{of: of, a: factorOf(of.A, of.AOffset, a), b: factorOf(of.B, of.BOffset, b)}
	d.lane, d.row = &d.a, &d.b
	list, ok := program.CommonStrideAxes(of.ABase, of.BBase)
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
	// each is read once, from memory, and a float32 is half as long
	if all := d.lane.doubles; d.lying != nil && all != nil {
		d.lane.narrow(len(all), func(i int) float64 { return all[i] })
	}
	return d
}

const (
	rowsAtOnce = 4
	// panelSize limits the elements of a panel, unless that leaves fewer than lanesAtLeast lanes.
	panelSize    = 1 << 15
	lanesAtLeast = 24
	lanesAtMost  = 1 << 10
)

// sums computes all outputs of a sum of products into out.
func (x *Evaluator) sums(d *dot, in []*buffer, out []float64) {
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
	case d.lying != nil && d.lying.frame != nil:
		x.alongFrames(d, in, packed.data, out)
		return
	case d.lying != nil && doubles != nil:
		alongFactor(x, d, doubles, packed.data, out)
		return
	case d.lying != nil:
		alongFactor(x, d, singles, packed.data, out)
		return
	}
	width := max(lanesAtLeast, min(lanesAtMost, panelSize/max(k, 1), (lanes+3)/4*4))
	chunks := (lanes + width - 1) / width
	work := max(1, k*rows*min(width, lanes)) // the products of a task
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

// pack copies the row factor to the order in which kernels read it. A block holds four rows: for each term, the
// elements of the four rows side by side. Missing rows of the last block are 0.
func pack[E float32 | float64](x *Evaluator, d *dot, of []E, to []float64) {
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

// A tile is a group of lanes for which one task computes all rows of weights.
type tile struct {
	*dot
	w         *worker
	singles   []float32 // elements of the lane factor: singles or doubles is nil
	doubles   []float64
	weights   []float64
	out       []float64
	base, at  int // offset of the group in the lane factor and in out
	first, n  int // the first lane, and the number of lanes
	x         []float64
	terms     []int32 // offset of each term in x
	places    []int   // offset of each lane in out
	following bool    // the places are consecutive
}

// compute computes the sums of the tile's lanes for the given number of rows, and writes them to the output.
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

// put copies the sums of the lanes from number l on to the output. at is the row's offset in the output.
func (t *tile) put(at, l int, sums []float64) {
	if t.following {
		copy(t.out[at+t.places[l]:], sums)
		return
	}
	for i, v := range sums {
		t.out[at+t.places[l+i]] = v
	}
}

// find returns the offset of each lane in the lane factor, and sets t.places to the lanes' offsets in the output. It
// also sets w.runs: the first lane of each run of adjacent elements, and then the number of lanes.
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

// look sets t.x and t.terms, from which kernels read the lanes. It copies the elements to a panel, unless they are
// float64s in a single run that one block of rows reads.
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

// longRun is the average number of lanes in a run from which on whole runs are copied instead of single elements.
const longRun = 6

// layOut copies the elements of the lanes to a panel. The elements of term k begin at k*stride, lane beside lane.
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

// elements returns the elements of a factor as float64s, in a new list if they are stored as float32s.
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

// oneByOne computes each output by itself into out, for outputs that no regular axes describe.
func (x *Evaluator) oneByOne(d *dot, in []*buffer, out []float64) {
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
