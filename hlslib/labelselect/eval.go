package labelselect

import (
	"slices"

	"hlsgen/internal/dataflow"
)

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := dataflow.Tensor{Shape: o.out.Shape}
	for x := range slices.Chunk(in[0].Data, o.p.Labels) {
		order := make([]int, len(x))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(i, j int) int {
			switch {
			case i == j:
				return 0
			case o.before(x[i], i, x[j], j):
				return -1
			}
			return 1
		})
		for _, i := range order[:o.p.K] {
			y.Data = append(y.Data, int64(i))
		}
	}
	return []dataflow.Tensor{y}
}
