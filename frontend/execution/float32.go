package execution

import (
	"math"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
)

// Float32 executors round at every step, so near a rounding boundary their results may differ from the exact semantics.
// This file distinguishes such a near tie from an error. It emulates float32 executors, and bounds the results of any
// such executor.

// A Float32Variant is one way in which programs execute a model in float32.
type Float32Variant struct {
	Each bool // round after every primitive, not only after every operator
	Sum  SummationOrder
}

// A SummationOrder is an order of summation in a sum of products.
type SummationOrder uint8

// These are the orders of summation.
const (
	summationOrderSequential SummationOrder = iota
	summationOrderInLanes                   // eight partial sums, as in vector units
	summationOrderInFloat64                 // in float64, rounded once at the end
	summationOrderWithFMA                   // in order, with a single rounding per product and addition
)

// Float32Variants lists the kinds of float32 programs that RunFloat32 emulates.
var Float32Variants = []Float32Variant{{false, summationOrderSequential}, {true, summationOrderSequential}, {false,
	summationOrderInLanes}, {true, summationOrderInLanes},
	{false, summationOrderInFloat64},
	{true, summationOrderInFloat64}, {false, summationOrderWithFMA}, {true, summationOrderWithFMA}}

// QuantiserTensorNames returns the names of the tensors of codes that the part computes, in order. Inside a loop, each
// run has names of its own.
func (p *ProgramPart) QuantiserTensorNames() (tensors []string) {
	seen := map[*loop]bool{}
	for _, r := range p.runners {
		if r.step.Codes {
			tensors = append(tensors, r.step.Output)
		}
		if l := r.loop; l != nil && !seen[l] {
			seen[l] = true
			codes := l.body.QuantiserTensorNames()
			for t := range l.Length {
				for _, name := range codes {
					tensors = append(tensors, l.inside(t, name))
				}
			}
		}
	}
	return tensors
}

// RunFloat32 executes the part on values of its inputs as the given kind of float32 program does. It returns all
// tensors by name.
func (p *ProgramPart) RunFloat32(in []*program.Reals, v Float32Variant) map[string]*program.Reals {
	return p.walk(in, map[string]*program.Reals{}, func(c *program.Reals) *program.Reals {
		out := slices.Clone(c.Lo)
		for i, f := range out {
			out[i] = float64(float32(f))
		}
		return program.NewExactReals(c.Shape, out)
	}, func(name string, r *runner, vals []*program.Reals, out *program.Reals) {
		out.Hi = out.Lo
		if o := r.step.Order; o != nil {
			must(runOrder(o, r.step.Node.Inputs[0], vals[0], out, nil)) // points need no exact decision
			return
		}
		var sums *program.Reals
		if r.product != nil {
			d := r.product.Dot
			for i := range out.Lo {
				out.Lo[i] = dot32(vals[d.A].Lo[d.ABase.At(i):], vals[d.B].Lo[d.BBase.At(i):], d, v.Sum)
			}
			if r.elem == nil {
				return
			}
			sums = program.NewExactReals(out.Shape, slices.Clone(out.Lo))
		}
		for i := range out.Lo {
			out.Lo[i] = r.f.EvaluateFloat32(r.gather(vals, sums, i), v.Each)
		}
	})
}

// BoundFloat32Values returns, for every tensor, bounds on the values of any float32 executor that computes the given
// codes at every quantiser. It allows an error of gamma_K * sum |a b| in dot products, and of one unit in the last
// place in every other operation. open holds, by quantiser, the elements that may be rounded to several codes within
// these bounds.
func (p *ProgramPart) BoundFloat32Values(in []*program.Reals,
	codes map[string]*program.Reals) (all map[string]*program.Reals,
	open map[string][]bool) {
	open = map[string][]bool{}
	all = p.bounds32(in, func(name string, out *program.Reals, sure []bool) {
		doubts := make([]bool, len(sure))
		for i, s := range sure {
			doubts[i] = !s
		}
		open[name] = doubts
		if c := codes[name]; c != nil {
			out.Lo, out.Hi = c.Lo, c.Hi
		}
	})
	return all, open
}

// function is the work of computing a function of one element, apart from its sum, as the number of products that take
// equally long.
const function = 16

// EstimatedProducts returns an estimate of the work of a run of the part, as the number of products that take equally
// long.
func (p *ProgramPart) EstimatedProducts() (n int) {
	for _, r := range p.runners {
		n += graph.ElementCount(r.step.Shape) * (function + 1)
		if d := r.step.Dot; d != nil {
			n += graph.ElementCount(r.step.Shape) * d.K
		}
		if r.loop != nil {
			n += r.loop.body.EstimatedProducts() * r.loop.Length
		}
	}
	return n
}

// bounds32 returns bounds on the values of any float32 executor. code may narrow the codes of a quantiser; sure holds
// the elements that have a single possible code.
func (p *ProgramPart) bounds32(in []*program.Reals, code func(name string, out *program.Reals,
	sure []bool)) map[string]*program.Reals {
	held := slices.Clone(in)
	for i, name := range p.from {
		held[i], _ = p.arriving(name, in[i], encodedBounds) // bounds returns no error
	}
	return p.walk(held, map[string]*program.Reals{}, func(c *program.Reals) *program.Reals {
		out := program.NewZeroReals(c.Shape)
		for i := range c.Lo {
			x := real.Interval{Lo: c.Lo[i], Hi: c.Hi[i]}
			if float64(float32(x.Lo)) != x.Lo || !x.IsPoint() {
				x = x.WidenToFloat32()
			}
			out.Lo[i], out.Hi[i] = x.Lo, x.Hi
		}
		return out
	}, func(name string, r *runner, vals []*program.Reals, out *program.Reals) {
		if o := r.step.Order; o != nil {
			orderBounds(o, vals[0], out)
			return
		}
		var sums *program.Reals
		if r.product != nil {
			r.dotBounds(vals, out)
			if r.elem == nil {
				return
			}
			sums = out.CloneBoundsOnly()
		}
		sure := make([]bool, len(out.Lo))
		for i := range out.Lo {
			var y real.Interval
			y, sure[i] = r.f.EvaluateFloat32Bounds(r.gather(vals, sums, i))
			out.Lo[i], out.Hi[i] = y.Lo, y.Hi
		}
		if r.step.Codes {
			integersOf(out)
			code(name, out, sure)
		}
	})
}

// integersOf narrows each interval of v to the integers in it. It may do so because adding zero points to codes and
// limiting codes make no error.
func integersOf(v *program.Reals) {
	for i, lo := range v.Lo {
		if lo, hi := math.Ceil(lo), math.Floor(v.Hi[i]); lo <= hi {
			v.Lo[i], v.Hi[i] = lo, hi
		}
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// orderBounds sets out to bounds on the results of an executor that sorts values within the intervals in. The value at
// a place lies between the lower and the upper ends sorted to that place. The index there may be that of any interval
// that overlaps this range.
func orderBounds(o *program.Order, in, out *program.Reals) {
	for i, base := range o.Base {
		lo, hi := make([]float64, o.N), make([]float64, o.N)
		for k := range o.N {
			at := int(base) + k*o.Stride
			lo[k], hi[k] = in.Lo[at], in.Hi[at]
		}
		slices.Sort(lo)
		slices.Sort(hi)
		rank := int(o.Rank[i])
		if o.Largest {
			rank = o.N - 1 - rank
		}
		a, b := lo[rank], hi[rank]
		if !o.Index {
			out.Lo[i], out.Hi[i] = a, b
			continue
		}
		out.Lo[i], out.Hi[i] = math.Inf(1), math.Inf(-1)
		for k := range o.N {
			if at := int(base) + k*o.Stride; in.Hi[at] >= a && in.Lo[at] <= b {
				out.Lo[i], out.Hi[i] = min(out.Lo[i], float64(k)), max(out.Hi[i], float64(k))
			}
		}
	}
}

// A computation computes the values of a step into out. name is the name of the step's tensor; inside a loop it
// includes the number of the run.
type computation func(name string, r *runner, vals []*program.Reals, out *program.Reals)

// walk executes the part with another arithmetic: fix converts constants, and compute computes steps. fixed caches the
// converted constants.
func (p *ProgramPart) walk(in []*program.Reals, fixed map[string]*program.Reals,
	fix func(*program.Reals) *program.Reals,
	compute computation) map[string]*program.Reals {
	all, loops := map[string]*program.Reals{}, map[*loop][]*program.Reals{}
	for i, name := range p.from {
		all[name] = in[i]
	}
	value := func(name string) *program.Reals {
		if v := all[name]; v != nil || name == "" {
			return v
		}
		if fixed[name] == nil {
			fixed[name] = fix(program.RealsOfConstant(p.prog.Known[name].Const))
		}
		all[name] = fixed[name]
		return all[name]
	}
	for _, r := range p.runners {
		vals := make([]*program.Reals, len(r.reads))
		for i, name := range r.reads {
			vals[i] = value(name)
		}
		out := program.NewZeroReals(r.step.Shape)
		switch {
		case r.step.Move != nil:
			out = r.move(vals)
		case r.loop != nil:
			if loops[r.loop] == nil {
				loops[r.loop] = r.loop.walk(vals, all, fix, compute)
			}
			out = loops[r.loop][r.step.Result]
		default:
			compute(r.step.Output, r, vals, out)
		}
		all[r.step.Output] = out
	}
	for _, name := range p.to {
		value(name)
	}
	return all
}

func (r *runner) dotBounds(in []*program.Reals, out *program.Reals) {
	d := r.product.Dot
	size := make([]float64, len(out.Lo))
	r.plan.prepare(d)
	r.dotIntervals(in[d.A], in[d.B], out, size)
	for i, s := range size {
		e := error32(d, s)
		out.Lo[i], out.Hi[i] = out.Lo[i]-e, out.Hi[i]+e
	}
}

// error32 returns a bound on the error of a sum of d's products in float32, in any order. all is the sum of the terms'
// magnitudes.
func error32(d *program.Dot, all float64) float64 {
	return all * (float64(d.K) * 0x1p-24 / (1 - float64(d.K)*0x1p-24)) * (1 + 0x1p-20)
}

// FusedMultiplyAdd32 returns x*y + z, rounded once.
func FusedMultiplyAdd32(x, y, z float32) float32 {
	product := float64(x) * float64(y) // exact
	sum := product + float64(z)
	part := sum - product
	if rest := (product - (sum - part)) + (float64(z) - part); rest != 0 { // the rest goes into the last bit of sum
		if bits := math.Float64bits(sum); bits&1 == 0 && (rest > 0) == (sum > 0) {
			sum = math.Float64frombits(bits + 1)
		} else if bits&1 == 0 {
			sum = math.Float64frombits(bits - 1)
		}
	}
	return float32(sum)
}

// dot32 returns the sum of the products of a and b as float32 programs with the given order compute it.
func dot32(a, b []float64, d *program.Dot, order SummationOrder) float64 {
	var one float32
	switch order {
	case summationOrderSequential:
		for k, o := range d.AOffset {
			one += float32(float32(a[o]) * float32(b[d.BOffset[k]]))
		}
	case summationOrderWithFMA:
		for k, o := range d.AOffset {
			one = FusedMultiplyAdd32(float32(a[o]), float32(b[d.BOffset[k]]), one)
		}
	case summationOrderInLanes:
		var lanes [8]float32
		for k, o := range d.AOffset {
			lanes[k%8] += float32(float32(a[o]) * float32(b[d.BOffset[k]]))
		}
		one = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]))
	case summationOrderInFloat64:
		var wide float64
		for k, o := range d.AOffset {
			wide += a[o] * b[d.BOffset[k]]
		}
		one = float32(wide)
	}
	return float64(one)
}
