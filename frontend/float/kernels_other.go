//go:build !amd64

package float

const wide = false

func sumWide(_, _ []float64, _ []int32, _ []float64, _ int) int { panic("there are no vectors") }

func rowWide[E float32 | float64](_ []float64, _ []E, _ walk, _ []float64) {
	panic("there are no vectors")
}
