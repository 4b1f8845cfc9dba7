package requant

import (
	"sync"
	"weak"

	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/estimate"
	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/steps"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// mostSteps is the most of all channels for which forms are looked for: beyond that, no table is small.
const mostSteps = 1 << 16

// forms are how folds are built where that takes less than the layer's multiplier. They are found when they are asked
// for: a check of a model asks for none.
type forms struct {
	mutex  sync.Mutex
	of     weak.Pointer[functions] // of large layers they take more memory than all else
	none   bool                    // there are too many steps
	chosen map[dataflow.Fold]choice
}

// functions are the layer's functions as step functions.
type functions struct {
	*steps.Functions
	compare num.Comparators
}

// A choice is the form of a fold, and the functions that it gives; the form is nil where there is none.
type choice struct {
	form steps.Form
	of   *functions
}

// form is how a fold without DSP slices is built where that takes less than the layer's own multiplier, and of which
// functions; nil where it does not.
func (o *op) form(f dataflow.Fold) (steps.Form, *functions) {
	if f.Compute == dataflow.DSP {
		return nil, nil
	}
	b := o.forms
	b.mutex.Lock()
	defer b.mutex.Unlock()
	c, known := b.chosen[f]
	if !known {
		if of := o.functions(); of != nil {
			if form := o.chooseForm(f, of); form != nil {
				c = choice{form, of}
			}
		}
		b.chosen[f] = c
	}
	return c.form, c.of
}

// functions is the layer's step functions; nil where they are too many. They are made again where nobody has them any
// more.
func (o *op) functions() *functions {
	b := o.forms
	if of := b.of.Value(); of != nil || b.none {
		return of
	}
	of := o.bindForms()
	b.of, b.none = weak.Make(of), of == nil
	return of
}

// chooseForm holds the least form of a fold against the multiplier.
func (o *op) chooseForm(f dataflow.Fold, of *functions) steps.Form {
	form := of.At(steps.Site{PE: f.PE, Alike: of.compare.Shared(), Memory: f.Memory})
	if form == nil {
		return nil
	}
	for _, s := range form.Storage() {
		if s.Width > dataflow.MaxRow {
			return nil
		}
	}
	m := cost.Model{Formula: cost.Fitted}
	if steps.PriceOf(form) < steps.Price(append(o.logic(f, m), estimate.Storage(m, o.storage(f))...)) {
		return form
	}
	return nil
}

// bindForms makes the layer's step functions; nil where there are too many steps.
func (o *op) bindForms() *functions {
	v := layer.View(max(len(o.P.Multiplier), len(o.P.Bias)), o.In[0])
	n := max(len(o.P.Multiplier), len(o.P.Bias))
	list, in, most := make([]num.Step, n), make([]num.Range, n), 0
	for c := range n {
		if in[c] = v.Channel(c); n == 1 {
			in[c] = v.Union()
		}
		ends := num.Point(o.P.apply(c, in[c].Lo)).Union(num.Point(o.P.apply(c, in[c].Hi)))
		if jumps := uint64(ends.Hi) - uint64(ends.Lo); jumps > layer.MaxThresholds || jumps*uint64(n) > mostSteps {
			return nil
		}
		list[c] = o.P.step(c, in[c])
		most = max(most, len(list[c].At))
	}
	k := num.Compare(list, in, o.In[0].Elem, 2*most).Merged()
	if n := k.Steps(); n == 0 || n > layer.MaxThresholds {
		return nil
	}
	return &functions{steps.New(k, in, o.In[0].Elem, o.Out[0].Elem), k}
}

// step is channel c as a step function over x.
func (p Params) step(c int, x num.Range) num.Step {
	m, b := layer.Of(p.Multiplier, c), layer.Of(p.Bias, c)
	if m < 0 {
		p.Multiplier, p.Bias = []int64{-m}, []int64{b}
		return p.step(0, x.Neg()).Mirror()
	}
	first, last := p.apply(c, x.Lo), p.apply(c, x.Hi)
	s := num.Step{Value: []int64{first}}
	for v := first + 1; v <= last; v++ {
		// The code is v or more from the least sum on that comes to v.
		rise := p.mode().Least(v, p.Shift) - b
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
