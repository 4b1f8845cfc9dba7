package choose

import (
	"errors"

	"hlsgen/frontend/lower/integers"
	"hlsgen/frontend/real"
	"hlsgen/hlslib/requant"
	"hlsgen/hlslib/threshold"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Activate turns one function per channel into an Activation of at most limit steps. If more are needed and host is
// false, the widest layers count: Scaled may be set instead of Steps. behind becomes Activation.Behind. The error is
// the reason why a function has no such steps.
func (k *StepFunctionCache) Activate(functions []*real.Expr, in dataflow.StreamType, behind *FusibleProduct, limit int,
	host bool) (Activation,
	error) {
	steps, err := k.StepsOver(functions, in, limit)
	if errors.Is(err, real.ErrTooManySteps) && !host {
		if p, ok := scaled(functions, in); ok {
			return Activation{In: in, Scaled: &p, Behind: behind}, nil
		}
		if limit = maxWideSteps; in.Elem.Width <= threshold.MaxAddress {
			limit = 1 << threshold.MaxAddress
		}
		steps, err = k.StepsOver(functions, in, limit)
	}
	if err != nil {
		return Activation{}, integers.NoStepFunction(err, limit)
	}
	return Activation{Steps: steps, In: in, Behind: behind}, nil
}

// scaled reads one function per channel as quantisers of any number of codes, for a layer that multiplies and shifts.
// ok is false if a function is no quantiser or no such layer computes them.
func scaled(functions []*real.Expr, in dataflow.StreamType) (requant.Params, bool) {
	list, x := make([]num.ExactQuantiser, len(functions)), make([]num.Range, len(functions))
	for c, f := range functions {
		x[c] = in.Channel(c)
		if c > 0 && f == functions[c-1] {
			list[c] = list[c-1]
			continue
		}
		var ok bool
		if list[c], ok = f.Quantiser(); !ok {
			return requant.Params{}, false
		}
	}
	return requant.FitQuantisers(list, x)
}

// A StepFunctionCache remembers step functions of functions of integers. A model that is lowered a second time in
// another form has most of them again. The zero value is empty and ready to use.
type StepFunctionCache struct{ of map[searched][]found }

type searched struct {
	over  num.Range
	limit int
	hash  uint64 // hash of the function
}

type found struct {
	of   *real.Expr
	step num.StepFunction
	err  error
}

// stepOver returns f.StepOver(over, limit), from the cache if it was asked before. e is the expression of f.
func (k *StepFunctionCache) stepOver(f *real.Func, e *real.Expr, over num.Range, limit int) (num.StepFunction, error) {
	if k.of == nil {
		k.of = map[searched][]found{}
	}
	key := searched{over, limit, f.Hash()}
	for _, known := range k.of[key] {
		if known.of.Equal(e) {
			return known.step, known.err
		}
	}
	step, err := f.StepOver(over, limit)
	k.of[key] = append(k.of[key], found{e, step, err})
	return step, err
}

// StepsOver returns each channel's step function over the values of t that occur, with at most limit steps each. It
// returns the error of the first function without one. It searches adjacent channels with the same function together.
func (k *StepFunctionCache) StepsOver(functions []*real.Expr, t dataflow.StreamType, limit int) ([]num.StepFunction,
	error) {
	out := make([]num.StepFunction, 0, len(functions))
	for first := 0; first < len(functions); first = len(out) {
		e, next, all := functions[first], first, t.Channel(first)
		for ; next < len(functions) && (functions[next] == e || functions[next].Equal(e)); next++ {
			all = all.Union(t.Channel(next))
		}
		f := real.Compile(e)
		common, reject := k.stepOver(f, e, all, limit)
		for c := first; c < next; c++ {
			r := t.Channel(c)
			switch {
			case c > first && r == t.Channel(c-1):
				out = append(out, out[c-1])
				continue
			case reject == nil:
				out = append(out, common.Restricted(r))
				continue
			}
			own, err := k.stepOver(f, e, r, limit) // there may be fewer steps
			if err != nil {
				return nil, err
			}
			out = append(out, own)
		}
	}
	num.ShareValues(out)
	return out, nil
}

func wire(a Activation) (FunctionChoice, error) {
	same := a.Scaled != nil && a.Scaled.IsIdentity(a.In) || a.Scaled == nil && identical(a.Steps, a.In)
	if !same {
		return FunctionChoice{}, errOther
	}
	return FunctionChoice{}, nil
}

// identical reports whether every channel's step function maps each integer of t's range to itself.
func identical(steps []num.StepFunction, t dataflow.StreamType) bool {
	for c, f := range steps {
		r := t.Channel(c)
		f = f.Restricted(r)
		if int64(len(f.At)) != r.Hi-r.Lo || f.Value[0] != r.Lo {
			return false
		}
		for i, at := range f.At {
			if f.Value[i+1] != at {
				return false
			}
		}
	}
	return true
}

// manySteps is the number of steps from which a separate layer takes less hardware than thresholds of the product. The
// product has thresholds for each of its PE, however rarely it completes a sum.
const manySteps = 63

func most(steps []num.StepFunction) (n int) {
	for _, f := range steps {
		n = max(n, len(f.At))
	}
	return n
}

func requantization(a Activation) (dataflow.Op, bool) {
	if a.Scaled != nil {
		return requant.New(*a.Scaled), true
	}
	if most(a.Steps) < manySteps {
		return nil, false
	}
	ranges := make([]num.Range, len(a.Steps))
	for c := range ranges {
		ranges[c] = a.In.Channel(c)
	}
	params, ok := requant.Fit(a.Steps, ranges)
	if !ok {
		return nil, false
	}
	return requant.New(params), true
}

func thresholding(a Activation) (dataflow.Op, bool) {
	if a.wide() && (a.Scaled != nil || a.In.Elem.Width > threshold.MaxAddress) {
		return nil, false
	}
	return threshold.New(threshold.Params{Steps: integers.MergeEqualSteps(a.Steps)}), true
}

// fused puts the steps, as thresholds, into the layer of the product behind which the activation stands. It returns
// errOther if that is not possible.
func fused(a Activation) (FunctionChoice, error) {
	p := a.Behind
	if p == nil || p.Plain || a.wide() {
		return FunctionChoice{}, errOther
	}
	weights, rising, ok := rise(p.Weights, a.Steps, a.In)
	if !ok {
		return FunctionChoice{}, errOther
	}
	c := one(p.op(weights, rising))
	_, _, err := c.Ops[0].Bind([]dataflow.StreamType{p.In}) // it may have too many thresholds for one layer
	return c, err
}

// rise makes the step functions of falling channels rise, by negating their weights. It returns new weights and steps;
// ok is false if a channel neither rises nor falls throughout.
func rise(weights [][]int64, steps []num.StepFunction, t dataflow.StreamType) ([][]int64, []num.StepFunction, bool) {
	w, up := append([][]int64(nil), weights...), append([]num.StepFunction(nil), steps...)
	for c, f := range steps {
		r := t.Channel(c)
		switch {
		case f.Restricted(r).NonDecreasing():
		case f.Mirror().Restricted(r.Neg()).NonDecreasing():
			up[c], w[c] = f.Mirror(), negative(weights[c])
		default:
			return nil, nil, false
		}
	}
	return w, up, true
}
