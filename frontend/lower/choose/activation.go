package choose

import (
	"errors"
	"slices"

	"hlsgen/frontend/lower/integers"
	"hlsgen/frontend/real"
	"hlsgen/hlslib/requant"
	"hlsgen/hlslib/threshold"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// StepActivationOf turns one function per channel of a stream of type in into a StepActivation of at most limit steps.
// For more it tries wider layers, unless host says that the host takes such functions; then Scaled may be set, not
// Steps. behind becomes StepActivation.Behind. The error is the reason why a function has no such steps.
func (k *StepFunctionCache) StepActivationOf(functions []*real.Expr, in dataflow.StreamType,
	behind *ProductBeforeActivation,
	limit int,
	host bool) (StepActivation,
	error) {
	steps, err := k.findStepFunctions(functions, in, limit)
	if errors.Is(err, real.ErrTooManySteps) && !host {
		if p, ok := scaled(functions, in); ok {
			return StepActivation{In: in, Scaled: &p, Behind: behind}, nil
		}
		if limit = maxWideSteps; in.Elem.Width <= threshold.MaxTableInputBits {
			limit = 1 << threshold.MaxTableInputBits
		}
		steps, err = k.findStepFunctions(functions, in, limit)
		if errors.Is(err, real.ErrTooManySteps) {
			if p, ok := longLines(functions, in); ok {
				return StepActivation{In: in, Scaled: &p, Behind: behind}, nil
			}
		}
	}
	if err != nil {
		return StepActivation{}, integers.NoStepFunctionReason(err, limit)
	}
	return StepActivation{Steps: steps, In: in, Behind: behind, functions: functions}, nil
}

// scaled returns the parameters of a layer that multiplies and shifts. The layer computes the given functions, one per
// channel of a stream of type in. ok is false if a function is no quantiser, or if no such layer computes them.
func scaled(functions []*real.Expr, in dataflow.StreamType) (requant.Params, bool) {
	list := quantisersOf(functions)
	toOdd := func(q num.ExactQuantiser) bool { return q.Mode == num.RoundingHalfOdd }
	if list == nil || slices.ContainsFunc(list, toOdd) {
		return requant.Params{}, false
	}
	return requant.FindParamsForQuantisers(list, channelRanges(in, len(list)))
}

// A StepFunctionCache holds the step functions found so far for functions of integers. Lowering a model a second time,
// in another form, needs most of them again. The zero value is empty and ready to use.
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

// stepOver returns f.StepFunctionOver(over, limit), from the cache if it was computed before. e is the expression from
// which f was compiled.
func (k *StepFunctionCache) stepOver(f *real.Func, e *real.Expr, over num.Range, limit int) (num.StepFunction, error) {
	if k.of == nil {
		k.of = map[searched][]found{}
	}
	key := searched{over, limit, f.InstructionHash()}
	for _, known := range k.of[key] {
		if known.of.HasSameForm(e) {
			return known.step, known.err
		}
	}
	step, err := f.StepFunctionOver(over, limit)
	k.of[key] = append(k.of[key], found{e, step, err})
	return step, err
}

// findStepFunctions returns each channel's step function over the integers that occur in that channel of a stream of
// type t. Each has at most limit steps. The error is that of the first function without such steps. Adjacent channels
// with the same function share one search.
func (k *StepFunctionCache) findStepFunctions(functions []*real.Expr, t dataflow.StreamType,
	limit int) ([]num.StepFunction,
	error) {
	out := make([]num.StepFunction, 0, len(functions))
	for first := 0; first < len(functions); first = len(out) {
		e, next, all := functions[first], first, t.ChannelRange(first)
		for ; next < len(functions) && (functions[next] == e || functions[next].HasSameForm(e)); next++ {
			all = all.Union(t.ChannelRange(next))
		}
		f := real.Compile(e)
		common, reject := k.stepOver(f, e, all, limit)
		for c := first; c < next; c++ {
			r := t.ChannelRange(c)
			switch {
			case c > first && r == t.ChannelRange(c-1):
				out = append(out, out[c-1])
				continue
			case reject == nil:
				out = append(out, common.RestrictedTo(r))
				continue
			}
			own, err := k.stepOver(f, e, r, limit) // there may be fewer steps
			if err != nil {
				return nil, err
			}
			out = append(out, own)
		}
	}
	num.ShareStepValues(out)
	return out, nil
}

func wire(a StepActivation) (LayerChoice, error) {
	same := a.Scaled != nil && a.Scaled.IsIdentityForStreamType(a.In) || a.Scaled == nil && identical(a.Steps, a.In)
	if !same {
		return LayerChoice{}, errOther
	}
	return LayerChoice{}, nil
}

// identical reports whether every channel's step function maps each integer of t's range to itself.
func identical(steps []num.StepFunction, t dataflow.StreamType) bool {
	for c, f := range steps {
		r := t.ChannelRange(c)
		f = f.RestrictedTo(r)
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

// manySteps is the number of steps from which a separate layer takes less hardware than thresholds in the layer of the
// product. That layer has thresholds for each of its PEs, however rarely a PE completes a sum.
const manySteps = 63

func most(steps []num.StepFunction) (n int) {
	for _, f := range steps {
		n = max(n, len(f.At))
	}
	return n
}

func requantization(a StepActivation) (dataflow.Op, bool) {
	if a.Scaled != nil {
		return requant.New(*a.Scaled), true
	}
	if most(a.Steps) < manySteps {
		return nil, false
	}
	ranges := channelRanges(a.In, len(a.Steps))
	params, ok := requant.FindParamsForStepFunctions(a.Steps, ranges)
	if !ok && a.functions != nil && a.wide() && a.In.Elem.Width > threshold.MaxTableInputBits {
		params, ok = longLines(a.functions, a.In)
	}
	if !ok {
		return nil, false
	}
	return requant.New(params), true
}

func thresholding(a StepActivation) (dataflow.Op, bool) {
	if a.wide() && (a.Scaled != nil || a.In.Elem.Width > threshold.MaxTableInputBits) {
		return nil, false
	}
	return threshold.New(threshold.Params{Steps: integers.MergeEqualStepFunctions(a.Steps)}), true
}

// fused returns the layer that computes both the steps, as thresholds, and the product behind which the activation
// stands. It returns errOther if there is no such layer, and the layer's own error if that refuses its input.
func fused(a StepActivation) (LayerChoice, error) {
	p := a.Behind
	if p == nil || p.Plain || a.wide() {
		return LayerChoice{}, errOther
	}
	weights, rising, ok := rise(p.Weights, a.Steps, a.In)
	if !ok {
		return LayerChoice{}, errOther
	}
	c := one(p.op(weights, rising))
	_, _, err := c.Ops[0].Bind([]dataflow.StreamType{p.In}) // it may have too many thresholds for one layer
	return c, err
}

// rise returns weights and step functions that give the same results as the given ones and whose step functions all
// rise. For each channel whose function falls, it negates the weights. t is the type of the products. ok is false if a
// channel neither rises nor falls throughout.
func rise(weights [][]int64, steps []num.StepFunction, t dataflow.StreamType) ([][]int64, []num.StepFunction, bool) {
	w, up := append([][]int64(nil), weights...), append([]num.StepFunction(nil), steps...)
	for c, f := range steps {
		r := t.ChannelRange(c)
		switch {
		case f.RestrictedTo(r).IsNonDecreasing():
		case f.WithNegatedInput().RestrictedTo(r.Negated()).IsNonDecreasing():
			up[c], w[c] = f.WithNegatedInput(), negative(weights[c])
		default:
			return nil, nil, false
		}
	}
	return w, up, true
}
