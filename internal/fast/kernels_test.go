package fast

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestKernels holds the kernels of this processor against those in Go, at the largest products that they are for.
func TestKernels(t *testing.T) {
	t.Parallel()
	for _, k := range machines() {
		t.Run(k.name, func(t *testing.T) { testKernels(t, k) })
	}
}

func testKernels(t *testing.T, k *kernels) {
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
		{2, 255, 64}, {4, 15, 8}, {200, 15, 8}, {38, 255, 1}, {100, 127, 127}, {10, 15, 128}, {514, 3, 2},
		{8, 255, 128}, // of bytes alone
	} {
		if 2*c.top*c.weight > math.MaxInt16 && !k.bytes {
			continue
		}
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
			k.dot(&got, x, &at, w, c.steps, math.MaxInt16/(2*c.weight*c.top))
			dotGo(&want, x, &at, w, c.steps, 0)
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
			k.count(&got, &acc, thresholds, &base)
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
			k.each(&got, x, c.stride, w)
			eachGo(&want, x, c.stride, w)
			if got != want {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
	for _, n := range []int{1, 8, 31, 32, 33, 64, 100, 128, 200} {
		for _, positions := range []int{1, 4, 9} {
			t.Run(fmt.Sprint("highest ", n, positions), func(t *testing.T) {
				got, want, x := bytes(n+9, 255), make([]uint8, n), bytes(n*positions, 255)
				behind := slices.Clone(got[n:])
				k.highest(got[:n], x)
				highestGo(want, x)
				if !slices.Equal(got, append(want, behind...)) {
					t.Errorf("%v, want %v", got, want)
				}
			})
		}
		t.Run(fmt.Sprint("reached, sought ", n), func(t *testing.T) {
			got, want := make([]uint8, n), make([]uint8, n)
			f := make([]float32, n)
			for i := range f {
				if f[i] = float32(r.NormFloat64()); r.IntN(4) == 0 {
					f[i] = 0.5
				}
			}
			f[n-1] = math.MaxFloat32
			f[0] = -math.MaxFloat32
			for _, thresholds := range [][]float32{{}, {0.5}, {-1, 0, 0.5, 1}, make([]float32, 255)} {
				k.reached(got, f, thresholds)
				reachedGo(want, f, thresholds)
				if !slices.Equal(got, want) {
					t.Errorf("reached %v: %v, want %v", thresholds, got, want)
				}
			}
			for _, scale := range []float32{1.0 / 64, 0.01, 1e-30, 1e30} {
				var thresholds []float32
				for i := range 255 {
					thresholds = append(thresholds, (float32(i)-127.5)*scale)
				}
				at := slices.Concat(thresholds, f)[:n]
				for i, v := range at { // those that thresholds hit, and their neighbours
					at[i] = math.Nextafter32(v, v+float32(i%3-1))
				}
				l := lookupOf(thresholds)
				if l == nil {
					t.Fatal("no lookup of ", scale)
				}
				k.sought(got, at, l)
				reachedGo(want, at, thresholds)
				if !slices.Equal(got, want) {
					t.Errorf("sought by %g: %v, want %v", scale, got, want)
				}
			}
		})
	}
}

// TestLookup refuses thresholds that share a bucket, or that float32 cannot tell.
func TestLookup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		at []float32
		ok bool
	}{
		{[]float32{-1, 0, 1}, true},
		{[]float32{0, 1e-9, 1}, false},
		{[]float32{-math.MaxFloat32, math.MaxFloat32}, false},
		{[]float32{1, 1}, false},
		{[]float32{3}, false},
		{[]float32{0, 1, 2, 3, 4.5}, true},
	} {
		if l := lookupOf(c.at); (l != nil) != c.ok {
			t.Errorf("%v: %v", c.at, l)
		}
	}
}
