package frontend_test

import (
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
)

// picture quantises an image of 2 channels to q in steps of 1/2.
func (n *net) picture(h, w int) *net { return n.input(1, 2, h, w) }

// pixel is a convolution of single pixels, of 2 channels to 2.
func (n *net) pixel(x, y string, weights ...float64) *net {
	return n.op("Conv", y, x, n.c([]int{2, 2, 1, 1}, weights...))
}

// each multiplies channels by a factor each.
func (n *net) each(x, y string, factors ...float64) *net {
	return n.op("Mul", y, x, n.c([]int{1, len(factors), 1, 1}, factors...))
}

// flat flattens, and multiplies with a matrix of two outputs.
func (n *net) flat(x string, size int) *net {
	w := make([]float64, 2*size)
	for i := range w {
		w[i] = float64(i%5 - 2)
	}
	return n.op("Flatten", "flat", x).op("MatMul", "y", "flat", n.c([]int{size, 2}, w...)).output(1, 2)
}

func (n *net) larger(x, y string) *net {
	n.Init("none", graph.DTypeFloat32, []int{0})
	n.Node("Resize", x, "none", n.c([]int{4}, 1, 1, 2, 2)).Str("mode", "nearest").
		Str("coordinate_transformation_mode", "asymmetric").Str("nearest_mode", "floor").Out(y)
	return n
}

// twice is the sum of two inputs, quantised in steps of 1/2 and 1/4.
func (n *net) twice(dims ...any) *net {
	n.input(dims...).Input("x2", graph.DTypeFloat32, dims...).quant("x2", "q2", n.s(0.25), 0, 4, 1)
	return n.op("Add", "sum", "q", "q2")
}

var pruned = []struct {
	name   string
	build  func(n *net)
	layers string
}{
	{"a maximum of sums that fall: the weights turn round", func(n *net) {
		n.picture(4, 4).pixel("q", "h", 1, -2, 3, 1).each("h", "m", -0.3, 0.5).op("MaxPool", "y", "m").
			Ints("kernel_shape", 2, 2).output(1, 2, 3, 3)
	}, "MVAU ConvolutionInputGenerator Pool"},
	{"a maximum of codes that fall", func(n *net) {
		n.picture(4, 4).each("q", "m", -1, 1).op("GlobalMaxPool", "p", "m").flat("p", 2)
	}, "Thresholding GlobalPool MVAU"},
	{"a maximum whose quantiser falls, of no scaled integers", func(n *net) {
		n.picture(4, 4).pixel("q", "h", 1, -2, 3, 1).op("Relu", "r", "h").each("r", "m", -0.3, 0.5).
			op("GlobalMaxPool", "p", "m").quant("p", "y", n.s(-0.5), 0, 3, 1).output(1, 2, 1, 1)
	}, "MVAU GlobalPool Thresholding"},
	{"a mean of what falls", func(n *net) {
		n.picture(4, 4).each("q", "m", -1, 1).op("GlobalAveragePool", "y", "m").output(1, 2, 1, 1)
	}, "GlobalPool"},
	{"steps of both signs", func(n *net) {
		n.picture(2, 2).pixel("q", "h", 1, -2, 3, 1).quant("h", "q3", n.c([]int{1, 2, 1, 1}, -0.5, 0.75), 0, 3, 1).
			flat("q3", 8)
	}, "MVAU MVAU"},
	{"a dead channel with a scale of its own, in a sum", func(n *net) {
		n.picture(2, 2).pixel("q", "h", 0, 0, 3, 1).each("h", "m", 1e30, 0.5).
			quant("m", "a", n.c([]int{1, 2, 1, 1}, 1e-30, 0.5), 0, 4, 1).op("Add", "sum", "a", "q").
			quant("sum", "y", n.s(0.5), 0, 4, 1).output(1, 2, 2, 2)
	}, "DuplicateStreams MVAU AddStreams"},
	{"a dead channel with a scale of its own, in a product, among padding", func(n *net) {
		n.picture(2, 2).pixel("q", "h", 0, 0, 3, 1).quant("h", "a", n.c([]int{1, 2, 1, 1}, -1e-30, 0.5), 0, 4, 1).
			op("Conv", "y", "a", n.c([]int{1, 2, 2, 2}, 1, 2, 3, 4, -1, 2, -3, 4)).Ints("pads", 1, 1, 0, 0).
			output(1, 1, 2, 2)
	}, "MVAU ConvolutionInputGenerator MVAU"},
	{"a dead channel that is always 3", func(n *net) {
		n.picture(2, 2).pixel("q", "h", 0, 0, 3, 1).op("Add", "b", "h", n.c([]int{1, 2, 1, 1}, 3, 0)).
			quant("b", "a", n.c([]int{1, 2, 1, 1}, 0.3, 0.5), 0, 4, 1).flat("a", 8)
	}, "MVAU MVAU"},
	{"a layer without weights", func(n *net) {
		n.picture(2, 2).pixel("q", "h", 0, 0, 0, 0).quant("h", "a", n.s(0.5), 0, 4, 1).flat("a", 8)
	}, "MVAU MVAU"},
	{"a norm that kills a channel", func(n *net) {
		n.picture(2, 2).pixel("q", "h", 1, 2, 3, 1).norm("h", "b", v{0, -1}, v{0.5, 1}, v{7, 2}, v{1, 4}).
			quant("b", "a", n.s(0.5), 0, 4, 1).flat("a", 8)
	}, "MVAU MVAU"},
	{"weights of scale 0", func(n *net) {
		n.input(1, 3).Init("codes", graph.DTypeInt8, []int{3, 2}, 1, 0, -2, 0, 3, 0)
		n.op("DequantizeLinear", "w", "codes", n.c([]int{2}, -0.5, 0)).Int("axis", 1).
			op("MatMul", "y", "q", "w").output(1, 2)
	}, "MVAU"},
	// A product reads elements twice, or not at all, by its weights.
	{"two inputs, enlarged", func(n *net) {
		n.twice(1, 2, 2, 3).larger("sum", "e").flat("e", 48)
	}, "AddStreams MVAU"},
	{"two inputs, padded", func(n *net) {
		n.twice(1, 2, 2, 3).op("Pad", "e", "sum", n.i(0, 0, 1, 0, 0, 0, 0, 2)).flat("e", 30)
	}, "AddStreams MVAU"},
	{"two inputs, quantised per channel and enlarged", func(n *net) {
		n.twice(1, 2, 2, 3).quant("sum", "a", n.c([]int{1, 2, 1, 1}, 0.5, -0.25), 0, 4, 1).larger("a", "e").
			flat("e", 48)
	}, "AddStreams MVAU"},
	{"one input, enlarged", func(n *net) {
		n.picture(2, 3).larger("q", "e").flat("e", 48)
	}, "MVAU"},
}

// TestPruned checks that channels that never change carry no scale, and that signs go into weights and thresholds.
func TestPruned(t *testing.T) {
	t.Parallel()
	for _, c := range pruned {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := newNet(13)
			c.build(n)
			im, found := imported(t, n, frontend.Options{})
			if im.Model == nil {
				t.Fatal(found)
			}
			if got := kinds(im); got != c.layers {
				t.Errorf("layers %s, want %s", got, c.layers)
			}
			agree(t, im.Model, 60)
		})
	}
}
