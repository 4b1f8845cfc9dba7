//go:build !amd64

package fast

func dot(acc *[rows * lanes]int32, x []uint8, at *[rows]int, weights []int8, steps, _ int) {
	dotGo(acc, x, at, weights, steps)
}

func count(y *[rows * lanes]uint8, acc *[rows * lanes]int32, thresholds []int32, base *[lanes]uint8) {
	countGo(y, acc, thresholds, base)
}

func each(acc *[lanes]int32, x []uint8, stride int, weights []int16) { eachGo(acc, x, stride, weights) }

func greatest(y, x []uint8) { greatestGo(y, x) }

func reached(y []uint8, x, thresholds []float32) { reachedGo(y, x, thresholds) }
