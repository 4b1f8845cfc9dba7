package fast

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestKernels holds the kernels of this processor against those in Go, at the largest products that they are for.
func TestKernels(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	bytes := func(n, top int) []uint8 {
		x := make([]uint8, n)
		for i := range x {
			if x[i] = uint8(r.IntN(top + 1)); r.IntN(3) == 0 {
				x[i] = uint8(top)
			}
		}
		return x
	}
	for _, c := range []struct{ steps, top, weight int }{
		{1, 255, 64}, {3, 15, 8}, {200, 15, 8}, {37, 255, 1}, {100, 127, 127}, {9, 15, 128}, {513, 3, 2},
	} {
		t.Run(fmt.Sprint("dot ", c), func(t *testing.T) {
			x := bytes(c.steps*deep+100, c.top)
			at := [rows]int{0, 99, 7, 7}
			w := make([]int8, c.steps*lanes*deep)
			for i := range w {
				if w[i] = int8(r.IntN(2*c.weight) - c.weight); r.IntN(3) == 0 {
					w[i] = int8(-c.weight)
				}
			}
			var got, want [rows * lanes]int32
			got[3] = 7 // is not added to
			dot(&got, x, &at, w, c.steps, math.MaxInt16/(2*c.weight*c.top))
			dotGo(&want, x, &at, w, c.steps)
			if got != want {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
	for _, n := range []int{0, 1, 3, 24, 255} {
		t.Run(fmt.Sprint("count ", n), func(t *testing.T) {
			var acc [rows * lanes]int32
			var base [lanes]uint8
			thresholds := make([]int32, n*lanes)
			for i := range acc {
				acc[i] = int32(r.IntN(200) - 100)
			}
			for i := range thresholds {
				if thresholds[i] = int32(r.IntN(200) - 100); r.IntN(4) == 0 {
					thresholds[i] = math.MaxInt32
				}
			}
			for i := range base {
				base[i] = uint8(i)
			}
			var got, want [rows * lanes]uint8
			count(&got, &acc, thresholds, &base)
			countGo(&want, &acc, thresholds, &base)
			if got != want {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
	for _, c := range []struct{ steps, stride int }{{1, 16}, {9, 16}, {9, 24}, {25, 1}} {
		t.Run(fmt.Sprint("each ", c), func(t *testing.T) {
			x := bytes(c.steps*c.stride+lanes, 15)
			w := make([]int16, c.steps*lanes)
			for i := range w {
				w[i] = int16(r.IntN(16) - 8)
			}
			var got, want [lanes]int32
			each(&got, x, c.stride, w)
			eachGo(&want, x, c.stride, w)
			if got != want {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
	for _, n := range []int{1, 31, 32, 33, 100, 128} {
		t.Run(fmt.Sprint("greatest, reached ", n), func(t *testing.T) {
			got, x := bytes(n, 255), bytes(n, 255)
			want := append([]uint8{}, got...)
			greatest(got, x)
			greatestGo(want, x)
			if string(got) != string(want) {
				t.Errorf("greatest: %v, want %v", got, want)
			}
			f := make([]float32, n)
			for i := range f {
				if f[i] = float32(r.NormFloat64()); r.IntN(4) == 0 {
					f[i] = 0.5
				}
			}
			for _, thresholds := range [][]float32{{}, {0.5}, {-1, 0, 0.5, 1}, make([]float32, 255)} {
				reached(got, f, thresholds)
				reachedGo(want, f, thresholds)
				if string(got) != string(want) {
					t.Errorf("reached %v: %v, want %v", thresholds, got, want)
				}
			}
		})
	}
}
