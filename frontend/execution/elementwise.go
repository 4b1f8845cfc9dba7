package execution

import (
	"fmt"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
)

// apply computes the runner's function of elements. first, if not nil, is its variable 0. d decides roundings that
// intervals leave open.
func (r *runner) apply(in []*program.Reals, first *program.Reals, d *decider) (out *program.Reals, err error) {
	out = program.NewExactReals(r.step.Shape, make([]float64, graph.ElementCount(r.step.Shape)))
	switch {
	case r.stairs != nil:
		err = r.applyStairs(in, first, out, d)
	case r.memo.variable >= 0:
		err = r.applyCached(in, first, out, d)
	default:
		for i := range out.Lo {
			y, _, err := r.element(in, first, i, d)
			if err != nil {
				return out, err
			}
			out.SetInterval(i, y)
		}
	}
	return out, err
}

// applyStairs implements apply for a function that rounds a single variable.
func (r *runner) applyStairs(in []*program.Reals, first, out *program.Reals, d *decider) error {
	v, along := r.stairs.variable, r.stairs.along
	x, at := r.variable(v, in, first)
	for from := 0; from < len(out.Lo); from += along.Run {
		steps := &r.stairs.of[from/along.Run%along.Count]
		for i := from; i < from+along.Run; i++ {
			y, known := steps.CachedValueAt(x.IntervalAt(at.ArgumentIndex(i)))
			if !known {
				var err error
				if y, known, err = r.element(in, first, i, d); err != nil {
					return err
				}
				if known {
					steps.AddValue(r.f, v, y)
				}
			}
			out.SetInterval(i, y)
		}
	}
	return nil
}

// applyCached implements apply for a function of a single variable.
func (r *runner) applyCached(in []*program.Reals, first, out *program.Reals, d *decider) error {
	v := r.memo.variable
	x, _ := r.variable(v, in, first)
	for i := range out.Lo {
		at := i
		if v > 0 || first == nil {
			at = r.elem.ArgumentIndex(v, i)
		}
		known := &remembered{}
		if lo := x.Lo[at]; lo == x.Hi[at] {
			if known = r.memo.at(lo); known.ok && known.x == lo {
				out.SetInterval(i, known.y)
				continue
			}
			*known = remembered{x: lo}
		}
		y, sure, err := r.element(in, first, i, d)
		if err != nil {
			return err
		}
		known.y, known.ok = y, sure
		out.SetInterval(i, y)
	}
	return nil
}

// variable returns the tensor that variable v reads, and the map from output elements to its elements. first, if not
// nil, is the tensor of variable 0.
func (r *runner) variable(v int, in []*program.Reals, first *program.Reals) (*program.Reals, graph.ElementIndexMap) {
	if v == 0 && first != nil {
		return first, graph.ElementIndexMap{}
	}
	return in[r.elem.Args[v]], r.elem.Index[v]
}

// element returns output element i. sure is false if intervals left a rounding undecided; d has then decided it
// exactly.
func (r *runner) element(in []*program.Reals, first *program.Reals, i int, d *decider) (y real.Interval, sure bool,
	err error) {
	if y, sure = r.f.EvaluateInterval(r.gather(in, first, i)); sure {
		return y, true, nil
	}
	err = d.decide(func(prec uint) error {
		n, err := d.compute(r.step, i, prec)
		if err == nil {
			y = n.FloatInterval()
		}
		return err
	})
	if err != nil {
		return y, false, fmt.Errorf("element %d: %w", i, err)
	}
	return y, false, nil
}

// gather returns the values of all variables for element i, in memory that the next call reuses. first, if not nil, is
// variable 0.
func (r *runner) gather(in []*program.Reals, first *program.Reals, i int) []real.Interval {
	for v, slot := range r.elem.Args {
		if v == 0 && first != nil {
			r.vars[0] = first.IntervalAt(i)
			continue
		}
		r.vars[v] = in[slot].IntervalAt(r.elem.ArgumentIndex(v, i))
	}
	return r.vars
}
