package frontend_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
)

// A blockNet is a product whose weights are quantised in blocks along the sum, as ONNX has it from opset 21 on.
type blockNet struct {
	sum, out, kernel int // kernel 0 is a MatMul
	size             int // of a block
	group            int // of channels of a convolution; 0 is one
	transposed       bool
	tap              bool // each position of the kernel has scales of its own
	axis             int  // that blocks are of, where that is none of the sum's
	bits             graph.DType
	zero, behind     bool
}

// blockScale draws a float32 that is no small multiple of others.
func blockScale(r *rand.Rand) float64 { return float64(float32(0.01 + r.Float64()/8)) }

func (b blockNet) write(r *rand.Rand) *net {
	n := newNet(21)
	lo, hi := -8, 7
	if b.bits == graph.DTypeInt8 {
		lo, hi = -128, 127
	}
	codes := func(n int) []float64 { return whole(r, n, lo, hi) }
	shape, axis := []int{b.sum, b.out}, 0
	group := max(1, b.group)
	switch {
	case b.transposed:
		shape = []int{group * b.sum, b.out / group, b.kernel, b.kernel}
	case b.kernel > 0:
		shape, axis = []int{b.out, b.sum, b.kernel, b.kernel}, 1
	}
	if b.axis > 0 {
		axis = b.axis
	}
	scales := slices.Clone(shape)
	scales[axis] = (shape[axis] + b.size - 1) / b.size
	n.Init("w", b.bits, shape, codes(graph.ElementCount(shape))...)
	s := make([]float64, graph.ElementCount(scales))
	for i := range s {
		if s[i] = blockScale(r); !b.tap && b.kernel > 1 && i%(b.kernel*b.kernel) > 0 {
			s[i] = s[i-1]
		}
	}
	n.Init("s", graph.DTypeFloat32, scales, s...)
	in := []string{"w", "s"}
	if b.zero {
		z := whole(r, len(s), -2, 2)
		n.Init("z", b.bits, scales, z...)
		in = append(in, "z")
	}
	n.Node("DequantizeLinear", in...).Int("axis", int64(axis)).Int("block_size", int64(b.size)).Out("wd")
	if b.kernel > 0 {
		n.Input("x", graph.DTypeFloat32, 1, group*b.sum, 3, 3).quant("x", "q", n.s(blockScale(r)), 0, 4, 1)
		op, pad := "Conv", int64(b.kernel/2)
		if b.transposed {
			op = "ConvTranspose"
		}
		n.op(op, "p", "q", "wd", n.c([]int{b.out}, count(b.out)...)).Ints("pads", pad, pad, pad, pad).
			Int("group", int64(group))
	} else {
		n.Input("x", graph.DTypeFloat32, 1, b.sum).quant("x", "q", n.s(blockScale(r)), 0, 4, 1)
		n.op("MatMul", "p", "q", "wd")
	}
	if b.behind {
		n.op("Relu", "r", "p").quant("r", "y", n.s(blockScale(r)), 0, 4, 0)
	} else {
		n.op("Identity", "y", "p")
	}
	return n.Output("y", graph.DTypeFloat32)
}

// TestBlocks has products whose weights have a scale per block of the sum computed as sums of products, up to eight.
func TestBlocks(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 37))
		b := blockNet{sum: 6 + r.IntN(11), out: 1 + r.IntN(4), kernel: []int{0, 0, 1, 3}[seed%4], zero: seed%3 == 0,
			bits: []graph.DType{graph.DTypeInt4, graph.DTypeInt8}[seed/4%2], behind: seed%5 > 0}
		b.size = max(2, (b.sum+1)/(1+r.IntN(7)))
		b.write(r).mapped(t, fmt.Sprintf("%d: %+v", seed, b), 4)
	}
}

// TestBlocksOfChannels has convolutions of groups, and transposed ones, whose weights have a scale per block of
// channels. Where positions of the kernel have scales of their own, the refusal says so.
func TestBlocksOfChannels(t *testing.T) {
	t.Parallel()
	for seed := range uint64(36) {
		r := rand.New(rand.NewPCG(seed, 38))
		b := blockNet{sum: 4 + 2*r.IntN(4), group: 1 + int(seed/2%2), kernel: 1 + int(seed/4%3), transposed: seed%2 > 0,
			zero: seed%3 == 0, bits: graph.DTypeInt8, behind: seed%5 > 0, size: 2}
		b.out = 2 * b.group
		for _, b.tap = range []bool{false, true} {
			name, n := fmt.Sprintf("%d: %+v", seed, b), b.write(r)
			if !b.tap || b.kernel == 1 {
				n.mapped(t, name, 3)
			} else if _, d := imported(t, n, frontend.Options{}); len(d) == 0 ||
				!strings.Contains(d[0].Msg, "one position of the kernel") {
				t.Errorf("%s: %v", name, d)
			}
		}
	}
	for axis := 2; axis < 4; axis++ {
		b := blockNet{sum: 4, out: 2, kernel: 3, size: 3, axis: axis, tap: true, bits: graph.DTypeInt8}
		if _, d := imported(t, b.write(rand.New(rand.NewPCG(1, 2))), frontend.Options{}); len(d) == 0 ||
			!strings.Contains(d[0].Msg, "one position of the kernel") {
			t.Errorf("axis %d: %v", axis, d)
		}
	}
}

// TestBlocksRefused has more blocks than that refused for their number, and weights of no quantiser for being real.
func TestBlocksRefused(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 37))
	for _, kernel := range []int{0, 1, 3} {
		b := blockNet{sum: 20, out: 2, kernel: kernel, size: 2, bits: graph.DTypeInt4, behind: true}
		_, d := imported(t, b.write(r), frontend.Options{})
		if len(d) == 0 || d[0].Code != diag.WeightsNotInteger || !strings.Contains(d[0].Msg, "they have 10 scales") {
			t.Errorf("kernel %d: %v", kernel, d)
		}
	}
	for _, k := range []int{3, 8, 20} {
		n := newNet(21).Input("x", graph.DTypeFloat32, 1, k).quant("x", "q", "s", 0, 4, 1).Init("s",
			graph.DTypeFloat32, nil, 0.5)
		w := make([]float64, 2*k)
		for i := range w {
			w[i] = blockScale(r)
		}
		n.op("MatMul", "p", "q", n.c([]int{k, 2}, w...)).quant("p", "y", "s", 0, 4, 1)
		_, d := imported(t, n.Output("y", graph.DTypeFloat32), frontend.Options{})
		if len(d) == 0 || !strings.Contains(d[0].Msg, "the weights are not quantised") {
			t.Errorf("%d real weights: %v", k, d)
		}
	}
}

// TestBranchesTransposed has transposed convolutions of branches of unequal scales.
func TestBranchesTransposed(t *testing.T) {
	t.Parallel()
	for _, kernel := range []int{1, 2, 3} {
		for _, group := range []int{1, 2} {
			n := newNet(21).Input("x", graph.DTypeFloat32, 1, 2, 3, 3)
			n.quant("x", "a", n.s(0.3), 0, 4, 1).quant("x", "b", n.s(0.7), 0, 3, 1)
			n.op("Concat", "c", "a", "b").Int("axis", 1)
			w := whole(rand.New(rand.NewPCG(uint64(kernel), 3)), 4*2/group*kernel*kernel, -4, 4)
			n.op("ConvTranspose", "y", "c", n.c([]int{4, 2 / group, kernel, kernel}, w...), n.c([]int{2}, 1, -2)).
				Ints("strides", 2, 2).Int("group", int64(group))
			im, d := imported(t, n.Output("y", graph.DTypeFloat32), frontend.Options{})
			if im.Model == nil {
				t.Errorf("kernel %d, group %d: %v", kernel, group, d)
				continue
			}
			agree(t, im.Model, 6)
		}
	}
}
