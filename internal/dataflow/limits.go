package dataflow

import "slices"

// The limits of Vitis HLS. Layers do not offer folds beyond them.
const (
	MaxWordBits = 4096 // bits of a stream word (UG1399)
	// bits of a table's row, which is one element of a reshaped array (message XFORM 203-133)
	MaxTableRowBits       = 1 << 16
	MaxIterationsPerFrame = 1<<31 - 1 // iterations of a frame, which kernels count in an int
)

// Divisors returns the divisors of n in increasing order; n is at least 1.
func Divisors(n int) []int {
	var low, high []int
	for d := 1; d*d <= n; d++ {
		if n%d == 0 {
			low = append(low, d)
			if d*d != n {
				high = append(high, n/d)
			}
		}
	}
	slices.Reverse(high)
	return append(low, high...)
}

// GCD returns the greatest common divisor; that of 0 and n is n.
func GCD(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
