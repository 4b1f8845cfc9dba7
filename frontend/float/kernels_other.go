//go:build !amd64

package float

const wide = false

func sumWide(_, _ []float64, _ []int, _ []float64, _, _ int) int { panic("there are no vectors") }
