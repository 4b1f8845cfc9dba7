package mac

import "hlsgen/internal/dataflow"

// Outputs makes the outputs of the channels from first on of their sums, which may have wrapped around at 64 bits. It
// is what hardware does at the end of a sum: the accumulator holds as many bits as it has, thresholds are compared with
// it.
func (u *Unit) Outputs(first int, sums []int64) dataflow.Word {
	y := make(dataflow.Word, len(sums))
	for i, sum := range sums {
		if u.XNOR {
			sum = (sum + u.length) / 2
		}
		acc := u.Acc.Decode(uint64(sum))
		switch {
		case u.compare.Shared():
			y[i] = u.compare.Apply(0, acc)
		case u.Thresholds() > 0:
			y[i] = u.compare.Apply(first+i, acc)
		case u.XNOR:
			y[i] = 2*acc - u.length
		default:
			y[i] = acc
		}
	}
	return y
}
