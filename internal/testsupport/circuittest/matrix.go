package circuittest

import (
	"math/rand/v2"

	"hlsgen/internal/num"
)

// DrawMatrix returns a random matrix, and the ranges of its inputs. Weights have 1 to 12 bits, and up to 95 % of them
// are zero. Some rows equal others, are their negatives or multiples, or are empty.
func DrawMatrix(r *rand.Rand) (matrix [][]int64, inputs []num.Range) {
	rows, columns, width, zeros := 1+r.IntN(12), 1+r.IntN(12), 1+r.IntN(12), r.Float64()*.95
	for range columns {
		lo := r.Int64N(512) - 256
		inputs = append(inputs, num.Range{Lo: lo, Hi: lo + r.Int64N(1<<r.IntN(9))})
	}
	for i := range rows {
		row := make([]int64, columns)
		by := []int64{0, 1, -1, 2, -4}[r.IntN(5)]
		for k := range row {
			switch {
			case i > 0 && i%3 == 0:
				row[k] = by * matrix[r.IntN(i)][k]
			case r.Float64() >= zeros:
				row[k] = r.Int64N(1<<width) - 1<<(width-1)
			}
		}
		matrix = append(matrix, row)
	}
	return matrix, inputs
}
