package execution

import (
	"math"
	"math/bits"
	"slices"
	"sync"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
)

// Sums of products take most of a run's time. This file lays out their elements for speed. Outputs that read the same
// elements of A are computed one after the other. The elements of B that one output reads are stored as a row.

// A dotPlan says in which order the outputs of a Dot are computed, and how its second factor B is laid out. All copies
// of a part share it.
type dotPlan struct {
	once  sync.Once
	order *program.IndexList // the outputs in ascending order of ABase; nil if they are in that order already
	step  int32              // a common divisor of all BBase
	row   []int32            // by BBase/step: the index of the row that begins there
	first []int32            // the BBase of each row

	packing sync.Once
	weights []grid // the rows of B, if it is constant
}

// prepare chooses the rows of the second factor and the order in which the outputs are computed.
func (p *dotPlan) prepare(d *program.Dot) {
	p.once.Do(func() {
		if d.ABase.Len() == 0 {
			return
		}
		p.step = max(1, d.BBase.GreatestCommonDivisor())
		_, most := d.BBase.LeastAndGreatest()
		p.row = slices.Repeat([]int32{-1}, int(most/p.step)+1)
		last := int32(-1)
		for _, b := range d.BBase.All {
			if b != last && p.row[b/p.step] < 0 {
				p.row[b/p.step] = int32(len(p.first))
				p.first = append(p.first, b)
			}
			last = b
		}
		p.order = d.ABase.ArgSortOrNilIfSorted()
	})
}

// walk calls visit for every output i with the index of its row of B. Before an output that reads other elements of A
// than the one before, it calls gather with the first of them.
func (p *dotPlan) walk(d *program.Dot, gather func(base int32), visit func(i int, row int32)) {
	last := int32(-1)
	at := func(i int) {
		if base := d.ABase.At(i); base != last {
			gather(base)
			last = base
		}
		visit(i, p.row[d.BBase.At(i)/p.step])
	}
	if p.order == nil {
		for i := range d.ABase.Len() {
			at(i)
		}
		return
	}
	for _, i := range p.order.All {
		at(int(i))
	}
}

// pack returns the elements b of the second factor in the order of the plan's rows.
func (p *dotPlan) pack(d *program.Dot, b []float64) []float64 {
	out := make([]float64, 0, len(p.first)*d.K)
	for _, base := range p.first {
		for _, o := range d.BOffset {
			out = append(out, b[base+o])
		}
	}
	return out
}

// packed returns the rows of a constant factor as grids. Equal long rows, such as those of a mean, share one grid.
func (p *dotPlan) packed(d *program.Dot, at func(i int) float64) []grid {
	const long = 1 << 12
	rows := make([]grid, 0, len(p.first))
	var small []float32
	var room []float64
	row := make([]float64, d.K)
	for i, base := range p.first {
		for k, o := range d.BOffset {
			row[k] = at(int(base + o))
		}
		if i > 0 && d.K >= long && rows[i-1].is(row) {
			rows = append(rows, rows[i-1])
			continue
		}
		g := gridOrNumbers(row)
		most := max(d.K, min(long, (len(p.first)-i)*d.K)) // the size of a new allocation
		if g.unit != 0 && g.most <= 1<<24 {
			g.small, small = carve(small, d.K, most)
			for k, v := range row {
				g.small[k] = float32(v)
			}
			g.whole = nil
		} else {
			g.whole, room = carve(room, d.K, most)
			copy(g.whole, row)
		}
		rows = append(rows, g)
	}
	return rows
}

// carve returns the first n elements of room, and the rest. If room has fewer, it allocates a new one of `most`
// elements.
func carve[E any](room []E, n, most int) (taken, rest []E) {
	if len(room) < n {
		room = make([]E, most)
	}
	return room[:n:n], room[n:]
}

// gridOrNumbers returns the grid of a row, stored in the row's memory. If the row has no grid, the result has unit 0
// and holds the numbers themselves.
func gridOrNumbers(row []float64) grid {
	if g, ok := gridOf(row, row); ok {
		return g
	}
	return grid{whole: row}
}

// is reports whether the grid represents exactly the given numbers.
func (g *grid) is(numbers []float64) bool {
	unit := g.unit
	if unit == 0 {
		unit = 1
	}
	for i, w := range g.small {
		if float64(w)*unit != numbers[i] {
			return false
		}
	}
	for i, w := range g.whole {
		if w*unit != numbers[i] {
			return false
		}
	}
	return true
}

// pickRow copies those elements of a, the first factor, that the sum with the given base reads.
func pickRow(d *program.Dot, to, a []float64, base int32) {
	at := a[base:]
	for k, o := range d.AOffset {
		to[k] = at[o]
	}
}

// A grid represents float64s exactly as integers times a unit.
type grid struct {
	unit  float64
	whole []float64
	small []float32 // replaces whole if that is nil
	most  float64   // the largest magnitude of the integers
}

// gridOf returns v as a grid with the largest unit: the greatest common divisor, which for scaled codes is the scale.
// ok is false if the integers would reach 2^53. The integers are stored in to, which has the length of v and may be v.
// If ok is false, to is unchanged.
func gridOf(v, to []float64) (g grid, ok bool) {
	unit, last, most := divisor{}, 0.0, 0.0
	for _, x := range v {
		if x == last { // neighbours are often equal
			continue
		}
		if last = x; !unit.add(x) {
			return g, false
		}
		most = max(most, math.Abs(x))
	}
	g.unit = unit.value()
	if g.unit == 0 {
		return g, false
	}
	// A quotient below 2^53 is exact, and the rounding of a quotient never moves it below 2^53.
	if g.most = most / g.unit; g.most >= 1<<53 {
		return g, false
	}
	g.whole = to
	for i, x := range v {
		g.whole[i] = x / g.unit
	}
	return g, true
}

// A divisor is the greatest common divisor odd * 2^exp of float64s.
type divisor struct {
	odd uint64
	exp int
}

// add includes another number in those that the divisor divides. It returns false if x is not finite or is subnormal.
func (d *divisor) add(x float64) bool {
	if x == 0 {
		return true
	}
	pattern := math.Float64bits(x)
	e := int(pattern>>52) & 0x7ff
	if e == 0 || e == 0x7ff {
		return false
	}
	m := pattern&(1<<52-1) | 1<<52
	shift := bits.TrailingZeros64(m)
	m, e = m>>shift, e-1075+shift
	if d.odd == 0 {
		d.odd, d.exp = m, e
		return true
	}
	d.exp = min(d.exp, e)
	if m%d.odd == 0 { // true of most codes after the first few
		return true
	}
	a, b := d.odd, m
	for b != 0 {
		a, b = b, a%b
	}
	d.odd = a
	return true
}

// value returns the divisor. It is 1 if all numbers were zero, and 0 if no normal float64 holds it.
func (d *divisor) value() float64 {
	if d.odd == 0 {
		return 1
	}
	v := math.Ldexp(float64(d.odd), d.exp)
	if v < 0x1p-1000 || v > 0x1p1000 {
		return 0
	}
	return v
}

// numbers returns the numbers that the grid represents. Unless the grid holds them, it writes them to `to`, which must
// have room.
func (g *grid) numbers(to []float64) []float64 {
	if g.unit == 0 {
		return g.whole
	}
	for i, w := range g.small {
		to[i] = float64(w) * g.unit // exact, because it was one of the numbers
	}
	for i, w := range g.whole {
		to[i] = w * g.unit
	}
	return to
}

// dot computes the step's sums of products into out: exactly, or as intervals if float64 or the inputs do not allow
// that.
func (r *runner) dot(in []*program.Reals, out *program.Reals, t *scratch) {
	d := r.product.Dot
	r.plan.prepare(d)
	a, b := in[d.A], in[d.B]
	packs := r.packs(d.B)
	if !a.IsExactInFloat64() || !packs && !b.IsExactInFloat64() {
		if packs {
			b = r.prog.CachedRealsOfConstant(r.factor)
		}
		r.dotIntervals(a, b, out, nil)
		return
	}
	rows := r.rows(b)
	g, ok := gridOf(a.Lo, t.whole(len(a.Lo)))
	scale, whole, all := make([]real.Interval, len(rows)), make([]bool, len(rows)), true
	for i, w := range rows {
		// Integers whose products and sums stay below 2^53 cause no rounding error.
		whole[i] = ok && w.unit != 0 && g.most*w.most*float64(d.K) <= 1<<53
		if whole[i] {
			scale[i] = real.NewPointInterval(g.unit).Mul(real.NewPointInterval(w.unit))
		}
		all = all && whole[i]
	}
	x, n, w := make([]float64, d.K), make([]float64, d.K), make([]float64, d.K)
	r.plan.walk(d, func(base int32) {
		if !all {
			pickRow(d, x, a.Lo, base)
		}
		if ok {
			pickRow(d, n, g.whole, base)
		}
	}, func(i int, row int32) {
		var y real.Interval
		switch b := &rows[row]; {
		case !whole[row]:
			y = sumPoints(x, b.numbers(w))
		case b.small != nil:
			y = scale[row].Mul(real.NewPointInterval(sumSmall(n, b.small)))
		default:
			y = scale[row].Mul(real.NewPointInterval(sumWhole(n, b.whole)))
		}
		out.Lo[i], out.Hi[i] = y.Lo, y.Hi
	})
}

// rows returns the rows of B. If B is constant, they are laid out once for all runs.
func (r *runner) rows(b *program.Reals) []grid {
	d := r.product.Dot
	if r.factor == nil {
		return r.plan.packed(d, func(i int) float64 { return b.Lo[i] })
	}
	r.plan.packing.Do(func() {
		at := r.factor.FloatAt
		if !r.packs(d.B) {
			at = func(i int) float64 { return b.Lo[i] }
		}
		r.plan.weights = r.plan.packed(d, at)
	})
	return r.plan.weights
}

// sumWhole returns the sum of the products of integers a and b. The sum of their magnitudes must be below 2^53, so the
// result is exact in any order.
func sumWhole(a, b []float64) float64 {
	var s0, s1, s2, s3 float64
	b = b[:len(a)]
	k := 0
	for ; k+4 <= len(a); k += 4 {
		s0 += a[k] * b[k]
		s1 += a[k+1] * b[k+1]
		s2 += a[k+2] * b[k+2]
		s3 += a[k+3] * b[k+3]
	}
	for ; k < len(a); k++ {
		s0 += a[k] * b[k]
	}
	return (s0 + s1) + (s2 + s3)
}

// sumSmall is like sumWhole for a second factor in float32.
func sumSmall(a []float64, b []float32) float64 {
	var s0, s1, s2, s3 float64
	b = b[:len(a)]
	k := 0
	for ; k+4 <= len(a); k += 4 {
		s0 += a[k] * float64(b[k])
		s1 += a[k+1] * float64(b[k+1])
		s2 += a[k+2] * float64(b[k+2])
		s3 += a[k+3] * float64(b[k+3])
	}
	for ; k < len(a); k++ {
		s0 += a[k] * float64(b[k])
	}
	return (s0 + s1) + (s2 + s3)
}

// sumPoints returns an interval that holds the sum of the products of a and b. It adds up the magnitudes of all
// rounding errors; if there are none, the sum is exact.
func sumPoints(a, b []float64) real.Interval {
	var sum, rest float64
	for k, x := range a {
		y := b[k]
		if x == 0 || y == 0 {
			continue
		}
		t := x * y
		s := sum + t
		z := s - sum
		rest += math.Abs(math.FMA(x, y, -t)) + math.Abs((sum-(s-z))+(t-z))
		if math.Abs(t) < 0x1p-960 {
			rest += 0x1p-1060
		}
		sum = s
	}
	if rest == 0 {
		return real.NewPointInterval(sum)
	}
	rest *= 1 + 0x1p-20 // covers the rounding errors of rest itself
	return real.NewPointInterval(sum).Add(real.Interval{Lo: -rest, Hi: rest})
}

// A ball holds intervals as their middles and radii.
type ball struct{ mid, rad []float64 }

// ballOf returns the intervals of v as middles and radii, which may enclose them loosely. ok is false if one is
// unbounded.
func ballOf(v *program.Reals) (b ball, ok bool) {
	b = ball{make([]float64, len(v.Lo)), make([]float64, len(v.Lo))}
	for i, lo := range v.Lo {
		if b.mid[i], b.rad[i] = middle(lo, v.Hi[i]); !(math.Abs(b.mid[i])+b.rad[i] < 0x1p1000) {
			return b, false
		}
	}
	return b, true
}

// middle returns the middle and the radius of an interval.
func middle(lo, hi float64) (mid, rad float64) {
	if lo == hi {
		return lo, 0
	}
	mid = lo/2 + hi/2
	return mid, max(hi-mid, mid-lo) * (1 + 0x1p-50)
}

// bounded reports whether all intervals of v have finite ends. ballOf can hold only such intervals.
func bounded(v *program.Reals) bool {
	for i, lo := range v.Lo {
		if !(max(math.Abs(lo), math.Abs(v.Hi[i])) < 0x1p998) {
			return false
		}
	}
	return true
}

// sumBalls returns an interval that holds the sum of products of two lists of balls. all is an upper bound of the sum
// of the products' magnitudes.
func sumBalls(mid, rad, m, e []float64) (sum real.Interval, all float64) {
	sum = sumPoints(mid, m)
	var off float64
	for k, v := range mid {
		v, w := math.Abs(v), math.Abs(m[k])
		off += v*e[k] + rad[k]*(w+e[k])
		all += (v + rad[k]) * (w + e[k])
	}
	if off > 0 {
		off = off*(1+0x1p-20) + 0x1p-1000 // covers its own rounding errors, for at most 2^26 terms, and underflow
		sum = sum.Add(real.Interval{Lo: -off, Hi: off})
	}
	return sum, all * (1 + 0x1p-20)
}

// dotIntervals computes sums of products of intervals: those of the middles, widened by an error from the radii. size,
// if not nil, receives the sums of the products' magnitudes.
func (r *runner) dotIntervals(a, b, out *program.Reals, size []float64) {
	d := r.product.Dot
	x, okA := ballOf(a)
	y, okB := ballOf(b)
	if !okA || !okB {
		r.dotUnbounded(a, b, out, size)
		return
	}
	mids, rads := r.plan.pack(d, y.mid), r.plan.pack(d, y.rad)
	mid, rad := make([]float64, d.K), make([]float64, d.K)
	r.plan.walk(d, func(base int32) {
		pickRow(d, mid, x.mid, base)
		pickRow(d, rad, x.rad, base)
	}, func(i int, row int32) {
		sum, all := sumBalls(mid, rad, mids[int(row)*d.K:][:d.K], rads[int(row)*d.K:][:d.K])
		out.Lo[i], out.Hi[i] = sum.Lo, sum.Hi
		if size != nil {
			size[i] = all
		}
	})
}

// dotUnbounded is dotIntervals for factors in which some interval is unbounded.
func (r *runner) dotUnbounded(a, b, out *program.Reals, size []float64) {
	d := r.product.Dot
	for i := range out.Lo {
		ai, bi := int(d.ABase.At(i)), int(d.BBase.At(i))
		var y real.Interval
		all := 0.0
		for k, o := range d.AOffset {
			x, w := a.IntervalAt(ai+int(o)), b.IntervalAt(bi+int(d.BOffset[k]))
			y = y.Add(x.Mul(w))
			all += max(math.Abs(x.Lo), math.Abs(x.Hi)) * max(math.Abs(w.Lo), math.Abs(w.Hi))
		}
		out.Lo[i], out.Hi[i] = y.Lo, y.Hi
		if size != nil {
			size[i] = all * (1 + 0x1p-20)
		}
	}
}

// A scratch is memory that the steps of a run reuse for intermediate results.
type scratch struct{ lo, hi, numbers []float64 }

// sums returns a tensor in scratch memory, with undefined elements.
func (t *scratch) sums(shape []int) *program.Reals {
	n := graph.ElementCount(shape)
	t.lo, t.hi = atLeast(t.lo, n), atLeast(t.hi, n)
	return &program.Reals{Shape: shape, Lo: t.lo[:n], Hi: t.hi[:n]}
}

// whole returns scratch memory for n integers.
func (t *scratch) whole(n int) []float64 {
	t.numbers = atLeast(t.numbers, n)
	return t.numbers[:n]
}

// atLeast returns room, or a new slice if room has a capacity below n.
func atLeast(room []float64, n int) []float64 {
	if n <= cap(room) {
		return room
	}
	return make([]float64, n)
}
