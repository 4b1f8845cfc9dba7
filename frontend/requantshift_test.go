package frontend_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/tier"
)

// plane is an image of channels, rows and columns.
type plane struct {
	c, h, w int
	v       []float64
}

// conv is a convolution of 3x3 or 1x1 windows in steps of 1, padded to its own size; group is 1 or the channels.
func (p plane) conv(weights []float64, out, size, group int) plane {
	y := plane{out, p.h, p.w, make([]float64, out*p.h*p.w)}
	in := p.c / group
	for i := range y.v {
		o, r, c := i/(p.h*p.w), i/p.w%p.h, i%p.w
		for k := range in * size * size {
			ch, dr, dc := k/(size*size), k/size%size-size/2, k%size-size/2
			if r+dr < 0 || r+dr >= p.h || c+dc < 0 || c+dc >= p.w {
				continue
			}
			from := o*group/out*in + ch
			y.v[i] += weights[o*in*size*size+k] * p.v[(from*p.h+r+dr)*p.w+c+dc]
		}
	}
	return y
}

// shift is PULP's requantisation, with mul and add per channel or for all.
func (p plane) shift(mul, add []float64, div, lo, hi float64) plane {
	y := plane{p.c, p.h, p.w, make([]float64, len(p.v))}
	for i, v := range p.v {
		c := i / (p.h * p.w)
		y.v[i] = clip(math.Floor((v*mul[c%len(mul)]+add[c%len(add)])/div+0.5), lo, hi)
	}
	return y
}

func whole(r *rand.Rand, n, lo, hi int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(lo + r.IntN(hi-lo+1))
	}
	return v
}

// TestRequantShiftNetworks builds networks as PULP's tools write them: integers in float tensors, requantised by
// shifts, with a branch, depthwise windows and means. It compares them to plain arithmetic, for inputs that the host
// quantises and for integers that arrive.
func TestRequantShiftNetworks(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 9))
		c := 2 + r.IntN(3)
		w1, w2 := onnxtest.ZeroRandomRowsAndColumns(r, whole(r, c*2*9, -5, 5), 2*9),
			onnxtest.ZeroRandomRowsAndColumns(r, whole(r, c*9, -6, 6), 9)
		w3 := onnxtest.ZeroRandomRowsAndColumns(r, whole(r, c*c, -5, 5), c)
		mul1, add1 := whole(r, c, 200, 600), whole(r, c, -9000, 9000)
		mul2, add2 := whole(r, 1, 300, 300), whole(r, c, -5000, 5000)
		dense, bias := onnxtest.ZeroRandomRowsAndColumns(r, whole(r, c*3, -9, 9), 3), whole(r, 3, -99, 99)
		signed, levels := seed%2 == 0, []float64{256, 16, 255}[seed%3]
		lo, hi := 0.0, levels-1
		if signed {
			lo = -math.Floor(levels / 2)
			hi += lo
		}
		flag := map[bool]int64{true: 1}[signed]
		n := newNet(11).Input("x", graph.DTypeFloat32, 1, 2, 4, 4)
		shift := func(x, y string, mul, add []float64) {
			per := func(v []float64) string {
				if len(v) == 1 {
					return n.s(v[0])
				}
				return n.c([][]int{{len(v), 1, 1}, {1, len(v), 1, 1}}[seed%2], v...)
			}
			n.op("RequantShift", y, x, per(mul), per(add)).Int("signed", flag).last.
				Tensor("div", graph.DTypeFloat32, nil, 4096)
			n.last.Tensor([]string{"n_levels", "n_levels_out"}[seed%2], graph.DTypeFloat32, []int{1}, levels)
		}
		n.op("Conv", "a", "x", n.c([]int{c, 2, 3, 3}, w1...)).Ints("pads", 1, 1, 1, 1)
		shift("a", "b", mul1, add1)
		n.op("Conv", "d", "b", n.c([]int{c, 1, 3, 3}, w2...)).Ints("pads", 1, 1, 1, 1).Int("group", int64(c))
		shift("d", "e", mul2, add2)
		n.op("Conv", "f", "b", n.c([]int{c, c, 1, 1}, w3...))
		shift("f", "g", mul1, add2)
		n.op("Add", "s", "e", "g")
		shift("s", "u", []float64{2500}, []float64{-77})
		n.op("AveragePool", "m", "u").Ints("kernel_shape", 4, 4)
		shift("m", "o", []float64{4096 * 2}, []float64{0})
		n.op("Flatten", "flat", "o").op("Gemm", "k", "flat", n.c([]int{c, 3}, dense...), n.c([]int{3}, bias...))
		n.op("RequantShift", "y", "k", n.s(900), n.s(100)).Int("signed", 1).Int("n_levels", 256).Int("div", 4096)
		n.output(1, 3)
		want := func(x [][]float64) []float64 {
			b := plane{2, 4, 4, x[0]}.conv(w1, c, 3, 1).shift(mul1, add1, 4096, lo, hi)
			e := b.conv(w2, c, 3, c).shift(mul2, add2, 4096, lo, hi)
			s := b.conv(w3, c, 1, 1).shift(mul1, add2, 4096, lo, hi)
			for i, v := range e.v {
				s.v[i] += v
			}
			u := s.shift([]float64{2500}, []float64{-77}, 4096, lo, hi)
			m := plane{c, 1, 1, make([]float64, c)}
			for i, v := range u.v {
				m.v[i/16] += v / 16
			}
			k := product(m.shift([]float64{8192}, []float64{0}, 4096, lo, hi).v, dense)
			for i := range k {
				k[i] += bias[i]
			}
			return plane{3, 1, 1, k}.shift([]float64{900}, []float64{100}, 4096, -128, 127).v
		}
		bytes8 := &frontend.IntegerInputType{Type: num.Type{Kind: num.KindInt, Width: 8}, Scale: big.NewRat(1, 1)}
		for _, in := range []*frontend.IntegerInputType{nil, bytes8} {
			im, found := imported(t, n, frontend.Options{InputType: in})
			if im.Model == nil {
				t.Fatal(found)
			}
			bytes := rand.New(rand.NewPCG(seed, 10))
			followsOn(t, im.Model, want, func(n int) []float64 { return whole(bytes, n, -128, 127) })
		}
	}
}
