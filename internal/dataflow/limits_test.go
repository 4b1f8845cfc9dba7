package dataflow

import (
	"slices"
	"testing"
)

func TestDivisors(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 200; n++ {
		var want []int
		for d := 1; d <= n; d++ {
			if n%d == 0 {
				want = append(want, d)
			}
		}
		if got := Divisors(n); !slices.Equal(got, want) {
			t.Errorf("Divisors(%d) = %v, want %v", n, got, want)
		}
	}
}
