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
	functions *steps.StepFunctions // nil if there are too many steps
	compare   num.ThresholdTable
	mutex     sync.Mutex
	chosen    map[dataflow.Fold]steps.StepFunctionHardware
}

// form returns the form of step functions of which a fold is built, or nil for a fold that multiplies. A fold
// multiplies if it uses DSP slices, if a multiplier is at least as cheap, or if there are too many steps.
func (o *op) form(f dataflow.Fold) steps.StepFunctionHardware {
	if f.Compute == dataflow.MultiplierInDSPs {
		return nil
	}
	b := o.forms
	b.once.Do(func() {
		o.bindForms()
		b.chosen = map[dataflow.Fold]steps.StepFunctionHardware{}
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

// chooseForm returns the cheapest form of step functions for a fold. It returns nil if the multiplier is at least as
// cheap, if there are too many steps, or if a table's row is too wide.
func (o *op) chooseForm(f dataflow.Fold) steps.StepFunctionHardware {
	if o.forms.functions == nil {
		return nil
	}
	form := o.forms.functions.CheapestFormAt(steps.FormSite{PE: f.PE, Alike: o.forms.compare.HasSharedRow(),
		Memory: f.Memory})
	if form == nil {
		return nil
	}
	for _, s := range form.Storage() {
		if s.Width > dataflow.MaxTableRowBits {
			return nil
		}
	}
	m := cost.CostModel{Formula: cost.FormulaFitted}
	if steps.FormPriceInLUTs(form) < steps.PriceOfCostPartsInLUTs(append(o.logic(f, m), estimate.MemoryCostParts(m,
		o.Storage(f))...)) {
		return form
	}
	return nil
}

// bindForms sets the layer's step functions: o.forms.compare and o.forms.functions. It leaves o.forms.functions nil if
// they have too many steps.
func (o *op) bindForms() {
	if len(o.P.Low) > 0 {
		return // the breakpoints of a step function are found from one multiplier
	}
	v := layer.MergeTrailingAxes(max(len(o.P.Multiplier), len(o.P.Bias)), o.In[0])
	n := max(len(o.P.Multiplier), len(o.P.Bias))
	list, in, most := make([]num.StepFunction, n), make([]num.Range, n), 0
	for c := range n {
		if in[c] = v.ChannelRange(c); n == 1 {
			in[c] = v.UnionOfRanges()
		}
		ends := num.SingleValueRange(o.P.apply(c, in[c].Lo)).Union(num.SingleValueRange(o.P.apply(c, in[c].Hi)))
		if jumps := uint64(ends.Hi) - uint64(ends.Lo); jumps > layer.MaxThresholdsPerChannel ||
			jumps*uint64(n) > mostSteps {
			return
		}
		list[c] = o.P.step(c, in[c])
		most = max(most, len(list[c].At))
	}
	b := o.forms
	b.compare = num.NewThresholdTable(list, in, o.In[0].Elem, 2*most).WithSharedRow()
	if n := b.compare.ThresholdsPerChannel(); n > 0 && n <= layer.MaxThresholdsPerChannel {
		b.functions = steps.New(b.compare, in, o.In[0].Elem, o.Out[0].Elem)
	}
}

// step returns channel c of the layer as a step function for inputs in x.
func (p Params) step(c int, x num.Range) num.StepFunction {
	m, b := layer.ElementForChannel(p.Multiplier, c), layer.ElementForChannel(p.Bias, c)
	if m < 0 {
		p.Multiplier, p.Bias = []int64{-m}, []int64{b}
		return p.step(0, x.Negated()).WithNegatedInput()
	}
	first, last := p.apply(c, x.Lo), p.apply(c, x.Hi)
	s := num.StepFunction{At: make([]int64, 0, last-first), Value: append(make([]int64, 0, last-first+1), first)}
	for v := first + 1; v <= last; v++ {
		// The code is at least v from the least sum on that rounds to v.
		rise := p.mode().LeastDividendReaching(v, p.Shift) - b
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
