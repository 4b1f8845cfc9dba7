package mac

import "hlsgen/internal/dataflow"

// Outputs makes, in a fold, the outputs of the channels from first on of their sums, which may have wrapped around at
// 64 bits. It is what hardware does at the end of a sum: the accumulator holds as many bits as it has, the step
// functions are those of the accumulator as they are built. The word is good until the next call.
func (u *Unit) Outputs(f dataflow.Fold) func(first int, sums []int64) dataflow.Word {
	form, functions := u.form(f), len(u.compare.At)
	y := make(dataflow.Word, f.PE)
	return func(first int, sums []int64) dataflow.Word {
		for i, sum := range sums {
			if u.XNOR {
				sum = (sum + u.length) / 2
			}
			acc := u.Acc.Decode(uint64(sum))
			switch {
			case form != nil:
				y[i] = form.Apply(min(first+i, functions-1), acc)
			case u.XNOR:
				y[i] = 2*acc - u.length
			default:
				y[i] = acc
			}
		}
		return y
	}
}

// Sums is the unit without step functions. ok is false where these cannot be a layer of their own behind it: there are
// none of several steps, the accumulator is not the sum, or the thresholds are loaded.
func Sums(u *Unit) (sums *Unit, ok bool) {
	if u.Thresholds() <= 1 || u.XNOR || u.room != nil {
		return nil, false
	}
	s := *u
	s.steps, s.tail = nil, tail{}
	return &s, bind(&s) == nil
}
