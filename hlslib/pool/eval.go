package pool

import "hlsgen/internal/dataflow"

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := dataflow.Tensor{Shape: o.out.Shape, Data: make([]int64, o.windows*o.channels)}
	for v := range o.windows {
		for c := range o.channels {
			at := func(k int) int64 { return in[0].Data[(v*o.positions+k)*o.channels+c] }
			result := at(0)
			for k := 1; k < o.positions; k++ {
				if o.p.Op == Sum {
					result += at(k)
				} else {
					result = max(result, at(k))
				}
			}
			y.Data[v*o.channels+c] = result
		}
	}
	return []dataflow.Tensor{y}
}
