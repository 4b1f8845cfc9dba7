package mac

import "hlsgen/internal/dataflow"

// NewHardwareOutputFunc returns a function that computes a fold's outputs from sums, for the channels from first on. It
// does what the hardware does: the accumulator keeps its width of each sum, and the step functions have the fold's
// form. The sums may have wrapped around at 64 bits. The returned word is valid until the next call.
func (u *Unit) NewHardwareOutputFunc(f dataflow.Fold) func(first int, sums []int64) dataflow.Word {
	form, functions := u.form(f), len(u.compare.At)
	y := make(dataflow.Word, f.PE)
	return func(first int, sums []int64) dataflow.Word {
		for i, sum := range sums {
			if u.XNOR {
				sum = (sum + u.length) / 2
			}
			acc := u.Acc.DecodeBits(uint64(sum))
			switch {
			case form != nil:
				y[i] = form.ComputeCode(min(first+i, functions-1), acc)
			case u.XNOR:
				y[i] = 2*acc - u.length
			default:
				y[i] = acc
			}
		}
		return y
	}
}

// WithoutStepFunctions returns a copy of the unit without its step functions. ok is false if these cannot become a
// layer of their own. That is so if there is at most one threshold, if the accumulator counts matches, or if the
// thresholds are loaded.
func WithoutStepFunctions(u *Unit) (sums *Unit, ok bool) {
	if u.Thresholds() <= 1 || u.XNOR || u.room != nil {
		return nil, false
	}
	s := *u
	s.steps, s.tail = nil, tail{}
	return &s, bind(&s) == nil
}
