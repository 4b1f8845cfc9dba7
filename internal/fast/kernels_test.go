package fast

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestKernels compares the kernels of this processor with those in Go, at the largest products that they support.
func TestKernels(t *testing.T) {
	t.Parallel()
	for _, k := range machines() {
		t.Run(k.name, func(t *testing.T) { testKernels(t, k) })
	}
}

// sums returns random sums for the given number of rows, up to a limit.
func sums(r *rand.Rand, rows, limit int) []int32 {
	list := make([]int32, rows*lanes)
	for i := range list {
		list[i] = int32(r.IntN(2*limit) - limit)
	}
	return list
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
		{2, 255, 32}, {4, 15, 8}, {200, 15, 8}, {38, 255, 1}, {100, 127, 127}, {10, 15, 128}, {514, 3, 2},
		{8, 255, 128}, // with bytes only
	} {
		if 4*c.top*c.weight > math.MaxInt16 && !k.bytes {
			continue
		}
		t.Run(fmt.Sprint("dot ", c), func(t *testing.T) {
			x := bytes(c.steps*deep+1000, c.top)
			w := make([]int8, c.steps*lanes*deep)
			for i := range w {
				if w[i] = int8(r.IntN(2*c.weight) - c.weight); r.IntN(3) == 0 {
					w[i] = int8(-c.weight)
				}
			}
			offs := make([]int32, c.steps)
			for i := range offs {
				offs[i] = int32(i*deep + i/9*7)
			}
			offs[0] = -3 // of a row that goes back
			for n := rows; n <= band; n += 3 * rows {
				at := make([]int, n)
				for i := range at {
					at[i] = 3 + r.IntN(100)
				}
				got, want := sums(r, n+1, 100), make([]int32, (n+1)*lanes) // the kernel must overwrite got
				copy(want[n*lanes:], got[n*lanes:])
				k.dot(got, x, at, offs, w, four.chunk(int64(c.weight), int64(c.top)))
				dotGo(want, x, at, offs, w, 0)
				for i := range want[:n*lanes] {
					for s := range offs {
						for _, v := range w[(s*lanes+i%lanes)*deep:][:deep] {
							want[i] -= int32(k.less) * int32(v)
						}
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("%v, want %v", got, want)
				}
			}
		})
	}
	if k.looked != nil {
		t.Run("forms", func(t *testing.T) { testForms(t, k, r, bytes) })
	}
	for _, c := range []struct{ steps, stride int }{{1, 16}, {9, 16}, {9, 24}, {25, 1}} {
		t.Run(fmt.Sprint("each ", c), func(t *testing.T) {
			x := bytes(c.steps*c.stride+200, 15)
			w := make([]int16, c.steps*lanes)
			for i := range w {
				w[i] = int16(r.IntN(16) - 8)
			}
			offs := make([]int32, c.steps)
			for i := range offs {
				offs[i] = int32(i*c.stride - c.stride)
			}
			for n := rows; n <= band; n += 3 * rows {
				at := make([]int, n)
				for i := range at {
					at[i] = c.stride + r.IntN(100)
				}
				got, want := sums(r, n+1, 100), make([]int32, (n+1)*lanes)
				copy(want[n*lanes:], got[n*lanes:])
				k.each(got, x, at, offs, w)
				eachGo(want, x, at, offs, w)
				if !slices.Equal(got, want) {
					t.Errorf("%v, want %v", got, want)
				}
			}
		})
	}
	for _, c := range []struct{ rows, n, stride int }{
		{1, 16, 16}, {4, 16, 16}, {7, 5, 5}, {32, 16, 40}, {30, 1, 16}, {32, 8, 8},
	} {
		// Outputs must equal Go's, and nothing may be written between rows or behind the last one.
		check := func(name string, made, wanted func(y []uint8)) {
			t.Run(fmt.Sprint(name, c), func(t *testing.T) {
				got := bytes(c.rows*c.stride+99, 255)
				want := slices.Clone(got)
				made(got)
				wanted(want)
				if !slices.Equal(got, want) {
					t.Errorf("%v, want %v", got, want)
				}
			})
		}
		var base, top [lanes]uint8
		for i := range base {
			base[i], top[i] = uint8(i), uint8(255-17*i)
		}
		room := band * lanes // elements behind the end that kernels may read
		for _, n := range []int{0, 1, 3, 24, 255} {
			acc := sums(r, band, 100)[: c.rows*lanes : room]
			thresholds := sums(r, n, 100)
			for i := range thresholds {
				if r.IntN(4) == 0 {
					thresholds[i] = math.MaxInt32
				}
			}
			check(fmt.Sprint("count ", n), func(y []uint8) { k.count(y, c.stride, c.n, acc, thresholds, &base) },
				func(y []uint8) { countGo(y, c.stride, c.n, acc, thresholds, &base) })
		}
		for _, limit := range []int{100, 5_000, 1 << 24, math.MaxInt32} {
			acc := sums(r, band, limit)[: c.rows*lanes : room]
			l, s := line{top: top, base: base}, steep{top: top, base: base}
			for i := range base {
				l.scale[i] = float32(r.NormFloat64()) * 200 / float32(limit)
				s.scale[i] = r.NormFloat64() * 200 / float64(limit)
				l.bias[i] = float32(r.NormFloat64()) * 100
				s.bias[i] = r.NormFloat64() * 100
			}
			l.scale[3], s.scale[4] = 1e4/float32(limit), -1e4/float64(limit) // outside 16 bits
			check(fmt.Sprint("line ", limit), func(y []uint8) { k.line(y, c.stride, c.n, acc, &l) },
				func(y []uint8) { lineGo(y, c.stride, c.n, acc, &l) })
			check(fmt.Sprint("steep ", limit), func(y []uint8) { k.steep(y, c.stride, c.n, acc, &s) },
				func(y []uint8) { steepGo(y, c.stride, c.n, acc, &s) })
		}
	}
	for _, n := range []int{1, 8, 31, 32, 33, 64, 100, 128, 200} {
		for _, positions := range []int{1, 4, 9} {
			t.Run(fmt.Sprint("highest ", n, positions), func(t *testing.T) {
				at := []int32{0, 3, 1}
				got, want := bytes(3*n+9, 255), make([]uint8, 3*n)
				x, behind := bytes(n*positions+3, 255), slices.Clone(got[3*n:])
				var offs []int32
				for i := range positions {
					offs = append(offs, int32((i*7)%positions*n))
				}
				k.highest(got[:3*n], x, n, at, offs)
				highestGo(want, x, n, at, offs)
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
				for _, c := range []struct{ first, step uint8 }{{0, 1}, {7, 2}, {1, 255}} {
					k.reached(got, f, thresholds, c.first, c.step)
					reachedGo(want, f, thresholds, c.first, c.step)
					if !slices.Equal(got, want) {
						t.Errorf("reached %v, %v: %v, want %v", thresholds, c, got, want)
					}
				}
			}
			for _, scale := range []float32{1.0 / 64, 0.01, 1e-30, 1e30} {
				var thresholds []float32
				for i := range 255 {
					thresholds = append(thresholds, (float32(i)-127.5)*scale)
				}
				at := slices.Concat(thresholds, f)[:n]
				for i, v := range at { // thresholds at some numbers, and beside them
					at[i] = math.Nextafter32(v, v+float32(i%3-1))
				}
				l := lookupOf(thresholds)
				if l == nil {
					t.Fatal("no lookup of ", scale)
				}
				k.sought(got, at, l)
				reachedGo(want, at, thresholds, 0, 1)
				if !slices.Equal(got, want) {
					t.Errorf("sought by %g: %v, want %v", scale, got, want)
				}
			}
		})
	}
}

// TestLookup checks that thresholds are refused if they are unevenly spaced, or if float32 cannot tell them apart.
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
