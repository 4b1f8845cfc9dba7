package mac

import "hlsgen/internal/dataflow"

// Outputs makes, in a fold, the outputs of the channels from first on of their sums, which may have wrapped around at
// 64 bits. It is what hardware does at the end of a sum: the accumulator holds as many bits as it has, the step
// functions are those of the accumulator as they are built.
func (u *Unit) Outputs(f dataflow.Fold) func(first int, sums []int64) dataflow.Word {
	form, functions := u.form(f), len(u.compare.Over)
	return func(first int, sums []int64) dataflow.Word {
		y := make(dataflow.Word, len(sums))
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

// Apart reports whether step functions may be a layer of their own behind that of the sums: there are some of several
// steps, and the accumulator is the sum.
func (u *Unit) Apart() bool { return u.Thresholds() > 1 && !u.XNOR }

// Sums is the unit without step functions.
func Sums(u *Unit) (*Unit, error) {
	s := *u
	s.steps, s.tail = nil, tail{}
	return &s, bind(&s)
}
