package fast

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// testForms compares the kernels of forms that not every processor has with those in Go. It uses the largest bytes
// and weights, sums that are as large as possible before they are moved to wider ones, and numbers of rows that do
// not fill a block.
func testForms(t *testing.T, k *kernels, r *rand.Rand, bytes func(n, top int) []uint8) {
	type of = func(acc []int32)
	hold := func(name string, steps int, make func(offs []int32, at []int) (made, wanted of)) {
		offs := slices.Repeat([]int32{-3}, steps) // of a row that goes back
		for i := 1; i < steps; i++ {
			offs[i] = int32(i*deep + i/9*7)
		}
		for n := rows; n <= band; n += 3 * rows {
			at := slices.Repeat([]int{0}, n)
			for i := range at {
				at[i] = 3 + r.IntN(100)
			}
			made, wanted := make(offs, at)
			t.Run(fmt.Sprint(name, " ", steps, " ", n), func(t *testing.T) {
				got := sums(r, 4*band, 100) // the kernel must overwrite it
				want := slices.Clone(got)
				made(got)
				wanted(want)
				if !slices.Equal(got, want) {
					t.Errorf("%v, want %v", got, want)
				}
			})
		}
	}
	weights := func(n, least, most int) []int16 {
		w := make([]int16, n)
		for i := range w {
			if w[i] = int16(least + r.IntN(most-least+1)); r.IntN(3) == 0 {
				w[i] = int16(least)
			}
		}
		return w
	}
	for _, steps := range []int{2, 8, 72} {
		if k.words == nil {
			break
		}
		x := bytes(steps*2*deep+1000, math.MaxUint8)
		hold("words", steps, func(offs []int32, at []int) (made, wanted of) {
			w := weights(steps*lanes*deep, math.MinInt8, math.MaxInt8)
			return func(acc []int32) { k.words(acc, x, at, offs, w) },
				func(acc []int32) { wordsGo(acc, x, at, offs, w) }
		})
		hold("along", steps, func(offs []int32, at []int) (made, wanted of) {
			w := weights(steps*along.lanes()*along.deep(), math.MinInt8, math.MaxInt8)
			return func(acc []int32) { k.along(acc, x, at, offs, w) },
				func(acc []int32) { alongGo(acc, x, at, offs, w) }
		})
	}
	for _, c := range []struct{ top, least, most int }{{1, -1, 1}, {2, -1, 1}, {2, -2, 1}, {3, -3, 0}, {3, 0, 3}} {
		for _, steps := range []int{2, 6, 30, 32, 150} {
			x := bytes(steps*2*deep+1001, c.top)
			codes := make([]uint8, len(x)-1)
			encodeGo(codes, x)
			table := pairTableOf(int64(c.least))
			chunk := looked.chunk(int64(max(c.most, -c.least)), int64(c.top))
			hold(fmt.Sprint("looked ", c), steps, func(offs []int32, at []int) (made, wanted of) {
				w := make([]uint8, steps*2*looked.lanes())
				for i, v := range weights(2*len(w), c.least, c.most) {
					w[i/2] += uint8(int(v)-c.least) << (2 * (i % 2))
				}
				return func(acc []int32) { k.looked(acc, codes, at, offs, w, table, chunk) },
					func(acc []int32) { lookedGo(acc, codes, at, offs, w, table, 0) }
			})
		}
	}
	for _, n := range []int{0, 1, 31, 32, 33, 100} {
		t.Run(fmt.Sprint("encode ", n), func(t *testing.T) {
			x, got := bytes(n+1, math.MaxUint8), bytes(n+9, math.MaxUint8)
			want := slices.Clone(got)
			k.encode(got[:n], x)
			encodeGo(want[:n], x)
			if !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}

// TestPairs compares a table of pairs of products with products.
func TestPairs(t *testing.T) {
	t.Parallel()
	for least := int64(-3); least <= 0; least++ {
		table, codes := pairTableOf(least), make([]uint8, 1)
		for i := range 256 {
			x := []uint8{uint8(i % 4), uint8(i / 4 % 4)}
			v, w := least+int64(i/16%4), least+int64(i/64)
			encodeGo(codes, x)
			want := int64(x[0])*v + int64(x[1])*w
			if got := table.sums[int(codes[0])*8+int(table.index(v, w))]; int64(got) != want {
				t.Errorf("%v by %d, %d: %d, want %d", x, v, w, got, want)
			}
		}
	}
}
