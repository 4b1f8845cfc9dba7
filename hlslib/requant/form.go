package requant

import (
	"sync"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/hlslib/steps"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// mostSteps is the most steps of all channels with which a layer may be built of step functions: with more, no table is
// small.
const mostSteps = 1 << 16

// forms holds the layer as step functions, and the form that was chosen for each fold. They are computed at the first
// request, because a check of a model needs none.
type forms struct {
	once      sync.Once
	functions *steps.Functions // nil if there are too many steps
	compare   num.ThresholdTable
	mutex     sync.Mutex
	chosen    map[dataflow.Fold]steps.BuiltSteps
}

// form returns the form of step functions of which a fold is built. It is nil if multipliers are cheaper, or are in DSP
// slices.
func (o *op) form(f dataflow.Fold) steps.BuiltSteps {
	if f.Compute == dataflow.ComputeInDSPs {
		return nil
	}
	b := o.forms
	b.once.Do(func() {
		o.bindForms()
		b.chosen = map[dataflow.Fold]steps.BuiltSteps{}
	})
	b.mutex.Lock()
	defer b.mutex.Unlock()
	form, known := b.chosen[f]
	if !known {
		form = o.chooseForm(f)
		b.chosen[f] = form
	}
	return form
}

// chooseForm returns the cheapest form of a fold if it is cheaper than the multiplier, else nil.
func (o *op) chooseForm(f dataflow.Fold) steps.BuiltSteps {
	if o.forms.functions == nil {
		return nil
	}
	form := o.forms.functions.FormAt(steps.Site{PE: f.PE, Alike: o.forms.compare.Shared(), Memory: f.Memory})
	if form == nil {
		return nil
	}
	for _, s := range form.Storage() {
		if s.Width > dataflow.MaxTableRowBits {
			return nil
		}
	}
	m := cost.CostModel{Formula: cost.FittedFormula}
	if steps.PriceOf(form) < steps.Price(append(o.logic(f, m), estimate.MemoryParts(m, o.Storage(f))...)) {
		return form
	}
	return nil
}

// bindForms sets the layer's step functions, o.forms.compare and o.forms.functions. It leaves functions nil if they
// have too many steps.
func (o *op) bindForms() {
	v := layer.MergeAxes(max(len(o.P.Multiplier), len(o.P.Bias)), o.In[0])
	n := max(len(o.P.Multiplier), len(o.P.Bias))
	list, in, most := make([]num.StepFunction, n), make([]num.Range, n), 0
	for c := range n {
		if in[c] = v.Channel(c); n == 1 {
			in[c] = v.Union()
		}
		ends := num.SingleValue(o.P.apply(c, in[c].Lo)).Union(num.SingleValue(o.P.apply(c, in[c].Hi)))
		if jumps := uint64(ends.Hi) - uint64(ends.Lo); jumps > layer.MaxThresholds || jumps*uint64(n) > mostSteps {
			return
		}
		list[c] = o.P.step(c, in[c])
		most = max(most, len(list[c].At))
	}
	b := o.forms
	b.compare = num.NewThresholdTable(list, in, o.In[0].Elem, 2*most).Merged()
	if n := b.compare.Steps(); n > 0 && n <= layer.MaxThresholds {
		b.functions = steps.New(b.compare, in, o.In[0].Elem, o.Out[0].Elem)
	}
}

// step returns channel c of the layer as a step function for inputs in x.
func (p Params) step(c int, x num.Range) num.StepFunction {
	m, b := layer.ForChannel(p.Multiplier, c), layer.ForChannel(p.Bias, c)
	if m < 0 {
		p.Multiplier, p.Bias = []int64{-m}, []int64{b}
		return p.step(0, x.Neg()).Mirror()
	}
	first, last := p.apply(c, x.Lo), p.apply(c, x.Hi)
	s := num.StepFunction{At: make([]int64, 0, last-first), Value: append(make([]int64, 0, last-first+1), first)}
	for v := first + 1; v <= last; v++ {
		// The code is at least v from the least sum on that rounds to v.
		rise := p.mode().LeastWithQuotient(v, p.Shift) - b
		at := rise / m
		if rise%m > 0 {
			at++
		}
		if n := len(s.At); n > 0 && s.At[n-1] == at {
			s.Value[n] = v
			continue
		}
		s.At, s.Value = append(s.At, at), append(s.Value, v)
	}
	return s
}
