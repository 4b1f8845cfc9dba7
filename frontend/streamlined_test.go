package frontend_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
)

// A lowering is a convolution, or a row of elements, on an image with channels last, as FINN writes it.
type lowering struct {
	h, w, c, out          int
	kernel, stride, dilat [2]int
	pads                  [4]int // above, left, below, right
	fill                  float64
}

func (l *lowering) size() (oh, ow int) {
	oh = (l.h+l.pads[0]+l.pads[2]-(l.kernel[0]-1)*l.dilat[0]-1)/l.stride[0] + 1
	ow = (l.w+l.pads[1]+l.pads[3]-(l.kernel[1]-1)*l.dilat[1]-1)/l.stride[1] + 1
	return oh, ow
}

// rows are the elements of each window.
func (l *lowering) rows(x []float64) (all [][]float64) {
	oh, ow := l.size()
	for at := range oh * ow {
		var row []float64
		for k := range l.kernel[0] * l.kernel[1] {
			r := at/ow*l.stride[0] + k/l.kernel[1]*l.dilat[0] - l.pads[0]
			c := at%ow*l.stride[1] + k%l.kernel[1]*l.dilat[1] - l.pads[1]
			for ch := range l.c {
				v := l.fill
				if r >= 0 && r < l.h && c >= 0 && c < l.w {
					v = x[(r*l.w+c)*l.c+ch]
				}
				row = append(row, v)
			}
		}
		all = append(all, row)
	}
	return all
}

// im2col writes the node.
func (n *net) im2col(x, y string, l *lowering) {
	node := n.Node("Im2Col", x).Domain(qonnx).Name(y).Out(y)
	pair := func(v [2]int) []int64 { return []int64{int64(v[0]), int64(v[1])} }
	node.Ints("kernel_size", pair(l.kernel)...).Ints("stride", pair(l.stride)...).
		Ints("dilations", pair(l.dilat)...).Int("pad_value", int64(l.fill))
	node.Ints("pad_amount", int64(l.pads[0]), int64(l.pads[1]), int64(l.pads[2]), int64(l.pads[3]))
}

// TestStreamlined has networks of FINN's form after streamlining give what their nodes say, drawn at random: windows
// side by side, products with them, which become convolutions, and maxima, all with channels last.
func TestStreamlined(t *testing.T) {
	t.Parallel()
	for seed := range uint64(24) {
		r := rand.New(rand.NewPCG(seed, 3))
		one := func(n int) int { return 1 + r.IntN(n) }
		l := &lowering{h: 4 + r.IntN(4), w: 4 + r.IntN(4), c: one(3), out: one(4), kernel: [2]int{one(3), one(3)},
			stride: [2]int{one(2), one(2)}, dilat: [2]int{1, 1}}
		if seed%3 == 0 {
			l.dilat = [2]int{1, 2}
			l.kernel[1] = 1 + r.IntN(2)
		}
		if seed%2 == 0 {
			l.pads = [4]int{1, r.IntN(2), r.IntN(2), 1}
		}
		filled := seed%4 == 3
		if filled {
			l.fill = float64(r.IntN(2) * 2)
		}
		oh, ow := l.size()
		width := l.kernel[0] * l.kernel[1] * l.c
		w := whole(r, width*l.out, -3, 3)
		n := newNet(13).Input("x", graph.Float32, 1, l.h, l.w, l.c).quant("x", "q", "unit", 0, 4, 1)
		n.Init("unit", graph.Float32, nil, 1).im2col("q", "rows", l)
		n.op("MatMul", "sums", "rows", n.c([]int{width, l.out}, w...))
		at := []float64{-9.5, -2.5, 0.5, 6.5}
		n.Node("MultiThreshold", "sums", n.c([]int{1, 4}, at...)).Domain(qonnx).Str("data_layout", "NHWC").
			Str("out_dtype", "UINT3").Out("codes")
		last := "codes"
		if pools := oh > 1 && ow > 1; pools {
			n.Node("MaxPoolNHWC", "codes").Domain(qonnx).Ints("kernel_shape", 2, 2).Ints("strides", 1, 1).
				Ints("pads", 0, 0, 0, 0).Out("pooled")
			last = "pooled"
			oh, ow = oh-1, ow-1
		}
		n.op("MatMul", "y", last, n.c([]int{l.out, 1}, whole(r, l.out, 1, 1)...)).output(1, oh, ow, 1)
		im, d := imported(t, n, frontend.Options{})
		if im.Model == nil {
			t.Errorf("seed %d: %v", seed, d)
			continue
		}
		if k := kinds(im); width > l.c && l.fill == 0 && !strings.Contains(k, "ConvolutionInputGenerator") {
			t.Errorf("seed %d: layers %s", seed, k)
		}
		x := whole(r, l.h*l.w*l.c, -8, 7)
		var sums [][]float64
		for _, row := range l.rows(x) {
			codes := make([]float64, l.out)
			for o := range codes {
				v := 0.0
				for k, e := range row {
					v += e * w[k*l.out+o]
				}
				for _, limit := range at {
					if v >= limit {
						codes[o]++
					}
				}
			}
			sums = append(sums, codes)
		}
		var want []float64
		rows, columns := l.size()
		for i := range oh * ow {
			total := 0.0
			for o := range l.out {
				most := math.Inf(-1)
				for dr := range rows - oh + 1 {
					for dc := range columns - ow + 1 {
						most = max(most, sums[(i/ow+dr)*columns+i%ow+dc][o])
					}
				}
				total += most
			}
			want = append(want, total)
		}
		if got := outcome(t, im, x, 1, l.h, l.w, l.c); !slices.Equal(got, want) {
			t.Errorf("seed %d, %+v: %v, want %v", seed, l, got, want)
		}
	}
}

// TestCountedBits has products of bits count where these are the same, and means of codes drop low bits.
func TestCountedBits(t *testing.T) {
	t.Parallel()
	n := newNet(13).Input("x", graph.Float32, 1, 4)
	n.Node("MultiThreshold", "x", n.c([]int{1, 1}, 0)).Domain(qonnx).Str("out_dtype", "BINARY").Out("bits")
	n.Node("XnorPopcountMatMul", "bits", n.c([]int{4, 2}, 1, 0, 0, 0, 1, 1, 1, 0)).Domain(qonnx).Out("y")
	im, d := imported(t, n.output(1, 2), frontend.Options{})
	if im.Model == nil {
		t.Fatal(d)
	}
	if got := outcome(t, im, []float64{1, -1, 2, -3}, 1, 4); !slices.Equal(got, []float64{3, 3}) {
		t.Errorf("counts %v", got)
	}
	n = newNet(13).Init("unit", graph.Float32, nil, 1).Input("x", graph.Float32, 1, 2, 2, 1).
		quant("x", "q", "unit", 0, 4, 0)
	n.Node("QuantAvgPool2d", "q").Domain(qonnx).Int("kernel", 2).Int("stride", 2).Int("ibits", 4).Int("obits", 4).
		Int("signed", 0).Str("data_layout", "NHWC").Out("m")
	n.op("MatMul", "y", "m", n.c([]int{1, 1}, 3)).output(1, 1, 1, 1)
	im, d = imported(t, n, frontend.Options{})
	if im.Model == nil {
		t.Fatal(d)
	}
	if got := outcome(t, im, []float64{15, 2, 3, 3}, 1, 2, 2, 1); !slices.Equal(got, []float64{15}) { // 23 >> 2 is 5
		t.Errorf("a mean of %v", got)
	}
}
