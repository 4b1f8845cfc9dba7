package execution

import (
	"maps"
	"math"
	"slices"

	"hlsgen/frontend/program"
)

// A CodeChooser returns the code, from lo to hi, that it chooses for element i of quantiser name. float32 may round the
// element to each of these, given the codes chosen before. near is the code of the exact value, or one of two at a tie.
// In the first run near is NaN.
type CodeChooser func(name string, i int, lo, hi, near float64) float64

// A ChosenCodesRun is a run of BoundFloat32Values in which a CodeChooser chose the codes. RerunWithCodes repeats it
// with other codes, and computes only what depends on them.
type ChosenCodesRun struct {
	All  map[string]*program.Reals
	Work int // an estimate of the products and elements computed

	part   *ProgramPart
	in     []*program.Reals
	codes  []string                  // the quantisers, in the order of the run
	spans  map[string]*program.Reals // by quantiser: the codes to which float32 may round
	open   map[string][]int32        // by quantiser: the elements with several such codes
	factor map[*runner]*factor       // by runner of a product
}

// A factor is the second factor of a product, laid out row by row. unbounded says that an element has no finite bounds.
type factor struct {
	ball
	unbounded bool
}

// RunFloat32BoundsChoosingCodes runs the part on values of its inputs, in bounds that hold every float32 result. choose
// decides each code that these bounds leave open.
func (p *ProgramPart) RunFloat32BoundsChoosingCodes(in []*program.Reals, choose CodeChooser) *ChosenCodesRun {
	d := &ChosenCodesRun{Work: p.EstimatedProducts(), part: p, in: in, spans: map[string]*program.Reals{},
		open:   map[string][]int32{},
		factor: map[*runner]*factor{}}
	d.All = p.bounds32(in, func(name string, out *program.Reals, _ []bool) {
		d.codes, d.spans[name] = append(d.codes, name), out.CloneBoundsOnly()
		for i, lo := range out.Lo {
			if hi := out.Hi[i]; lo != hi {
				out.Lo[i] = choose(name, i, lo, hi, math.NaN())
				d.open[name] = append(d.open[name], int32(i))
			}
		}
		out.Hi = out.Lo
	})
	return d
}

// VisitAmbiguousElements calls call for each element of a quantiser that float32 may round to several codes, lo to hi.
// It visits them in the order of the run.
func (d *ChosenCodesRun) VisitAmbiguousElements(call func(name string, i int, lo, hi float64)) {
	for _, name := range d.codes {
		for _, i := range d.open[name] {
			call(name, int(i), d.spans[name].Lo[i], d.spans[name].Hi[i])
		}
	}
}

// RerunWithCodes returns a repetition of the run, in which choose chooses again for the elements of quantiser name
// whose indices are in of. It returns nil if an earlier run had the same state after some step, and so the same result.
// It adds this run's states to met, which may be nil. A part with loops is run as a whole, without met.
func (d *ChosenCodesRun) RerunWithCodes(name string, of []int, choose CodeChooser,
	met *VisitedRunStates) *ChosenCodesRun {
	if len(d.part.loops()) > 0 {
		return d.part.RunFloat32BoundsChoosingCodes(d.in, choose)
	}
	met.start(d.part)
	out := *d
	out.All, out.spans, out.open, out.Work = maps.Clone(d.All), maps.Clone(d.spans), maps.Clone(d.open), 0
	changed := map[string][]bool{}
	for k, r := range d.part.runners {
		a := &again{ChosenCodesRun: &out, r: r, old: out.All[r.step.Output]}
		for _, in := range r.reads {
			a.vals, a.changed = append(a.vals, out.All[in]), append(a.changed, changed[in])
		}
		to := r.step.Output
		if !slices.ContainsFunc(a.changed, func(c []bool) bool { return c != nil }) {
			if to != name {
				continue
			}
			a.out, a.affected = a.old, nil
		} else {
			a.run()
		}
		if r.step.Codes {
			if to == name {
				for _, i := range of {
					a.affected = append(a.affected, int32(i))
				}
			}
			a.decide(choose)
		}
		out.Work += len(a.old.Lo)/4 + len(a.affected)*(a.terms()+function)
		if now := a.differs(); now != nil {
			out.All[to], changed[to] = a.out, now
			if met.before(k, to, a.out, now) {
				return nil
			}
		}
	}
	return &out
}

// An again recomputes the output of a step after some of the step's inputs have changed.
type again struct {
	*ChosenCodesRun
	r        *runner
	vals     []*program.Reals
	changed  [][]bool // by input: which elements have changed; nil if none
	old, out *program.Reals
	affected []int32        // the elements that were computed again
	sums     *program.Reals // the sums that functions read; nil if there are none
}

// terms returns the number of terms of an element's sum, 1 without a sum.
func (a *again) terms() int {
	if a.r.product != nil {
		return a.r.product.Dot.K
	}
	return 1
}

func (a *again) run() {
	a.out = a.old.CloneBoundsOnly()
	switch r := a.r; {
	case r.step.Move != nil:
		a.out = r.move(a.vals)
		a.all()
	case r.step.Order != nil:
		orderBounds(r.step.Order, a.vals[0], a.out)
		a.all()
	case r.product != nil:
		sums := a.out
		hit := a.products(sums)
		if r.elem == nil {
			return
		}
		a.out, a.sums = sums.CloneBoundsOnly(), sums
		a.functions(sums, hit)
	default:
		a.functions(nil, nil)
	}
}

func (a *again) all() {
	for i := range a.out.Lo {
		a.affected = append(a.affected, int32(i))
	}
}

// products recomputes the sums of products that read a changed element, and returns which sums these are. For a product
// followed by a function it recomputes all sums, because they were not kept.
func (a *again) products(out *program.Reals) (hit []bool) {
	dot := a.r.product.Dot
	hit = make([]bool, len(out.Lo))
	data, f := a.vals[dot.A], a.factorOf()
	if a.changed[dot.B] != nil || f.unbounded || a.r.elem != nil || !bounded(data) {
		a.r.dotBounds(a.vals, out)
		a.all()
		for i := range hit {
			hit[i] = true
		}
		return hit
	}
	mid, rad := make([]float64, dot.K), make([]float64, dot.K)
	reads := false
	a.r.plan.walk(dot, func(base int32) {
		changed := a.changed[dot.A][base:]
		if reads = slices.ContainsFunc(dot.AOffset, func(o int32) bool { return changed[o] }); reads {
			for k, o := range dot.AOffset {
				mid[k], rad[k] = middle(data.Lo[base+o], data.Hi[base+o])
			}
		}
	}, func(i int, row int32) {
		if !reads {
			return
		}
		sum, all := sumBalls(mid, rad, f.mid[int(row)*dot.K:][:dot.K], f.rad[int(row)*dot.K:][:dot.K])
		e := error32(dot, all)
		out.Lo[i], out.Hi[i] = sum.Lo-e, sum.Hi+e
		hit[i], a.affected = true, append(a.affected, int32(i))
	})
	return hit
}

// factorOf returns the second factor of the step's product. If it is constant, it is laid out once for all runs.
func (a *again) factorOf() *factor {
	f := a.factor[a.r]
	if f == nil {
		d := a.r.product.Dot
		a.r.plan.prepare(d)
		all, ok := ballOf(a.vals[d.B])
		if f = (&factor{unbounded: !ok}); ok {
			f.ball = ball{a.r.plan.pack(d, all.mid), a.r.plan.pack(d, all.rad)}
		}
		if a.r.factor != nil {
			a.factor[a.r] = f
		}
	}
	return f
}

// functions recomputes the functions of elements for which a sum (hit) or another argument has changed.
func (a *again) functions(sums *program.Reals, hit []bool) {
	a.affected = a.affected[:0]
	for i := range a.out.Lo {
		is := hit != nil && hit[i]
		for v, slot := range a.r.elem.Args {
			if c := a.changed[slot]; c != nil && !is && !(v == 0 && sums != nil) {
				is = c[a.r.elem.ArgumentIndex(v, i)]
			}
		}
		if is {
			y, _ := a.r.f.EvaluateFloat32Bounds(a.r.gather(a.vals, sums, i))
			a.out.Lo[i], a.out.Hi[i] = y.Lo, y.Hi
			a.affected = append(a.affected, int32(i))
		}
	}
}

// decide replaces the output by codes, and lets choose decide those of the affected elements that float32 leaves open.
func (a *again) decide(choose CodeChooser) {
	name := a.r.step.Output
	slices.Sort(a.affected)
	a.affected = slices.Compact(a.affected)
	span, codes := a.spans[name].CloneBoundsOnly(), slices.Clone(a.old.Lo)
	open := slices.DeleteFunc(slices.Clone(a.open[name]), func(i int32) bool {
		_, is := slices.BinarySearch(a.affected, i)
		return is
	})
	for _, i := range a.affected {
		if a.out != a.old {
			one := &program.Reals{Lo: a.out.Lo[i : i+1], Hi: a.out.Hi[i : i+1]}
			integersOf(one)
			span.Lo[i], span.Hi[i] = one.Lo[0], one.Hi[0]
		}
		if codes[i] = span.Lo[i]; span.Lo[i] != span.Hi[i] {
			near := math.NaN()
			if a.out != a.old && a.r.f != nil {
				near = a.r.f.IntegerAtMiddle(a.r.gather(a.vals, a.sums, int(i)))
			}
			codes[i] = choose(name, int(i), span.Lo[i], span.Hi[i], near)
			open = append(open, i)
		}
	}
	slices.Sort(open)
	a.out = program.NewExactReals(a.old.Shape, codes)
	a.spans[name], a.open[name] = span, open
}

// differs returns, for each element, whether the output has changed. It returns nil if none has.
func (a *again) differs() (changed []bool) {
	for _, i := range a.affected {
		if a.out.Lo[i] != a.old.Lo[i] || a.out.Hi[i] != a.old.Hi[i] {
			if changed == nil {
				changed = make([]bool, len(a.old.Lo))
			}
			changed[i] = true
		}
	}
	return changed
}
