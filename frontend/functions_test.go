package frontend_test

import (
	"fmt"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/tier"
)

// A part writes nodes from one tensor to another. All tensors are images of two channels of 5 by 5 pixels.
type part struct {
	name  string
	write func(n *net, x, y string)
}

// codes write tensors of scaled integers from real numbers.
var codes = []part{
	{"Quant", func(n *net, x, y string) { n.quant(x, y, n.s(0.5), 0, 4, 1) }},
	{"Quant per channel", func(n *net, x, y string) { n.quant(x, y, n.c([]int{1, 2, 1, 1}, 0.5, 0.25), 0, 4, 1) }},
	{"Quant with a zero point", func(n *net, x, y string) { n.quant(x, y, n.s(0.25), 3, 4, 0) }},
	{"QuantizeLinear", func(n *net, x, y string) {
		zero := n.name()
		n.Init(zero, graph.DTypeInt8, nil, -5)
		scale := n.s(0.25)
		n.op("QuantizeLinear", y+".q", x, scale, zero).op("DequantizeLinear", y, y+".q", scale, zero)
	}},
	{"a sum of codes", func(n *net, x, y string) {
		n.quant(x, y+".a", n.s(0.5), 0, 4, 1)
		n.op("Mul", y+".n", x, n.s(-0.75)).quant(y+".n", y+".b", n.s(0.5), 1, 3, 0)
		n.op("Add", y, y+".a", y+".b")
	}},
	{"a sum of codes of unequal scales", func(n *net, x, y string) {
		n.quant(x, y+".a", n.s(0.5), 0, 4, 1)
		n.op("Mul", y+".n", x, n.s(3)).quant(y+".n", y+".b", n.s(0.125), 0, 3, 1)
		n.op("Sub", y, y+".a", y+".b")
	}},
	{"a convolution", func(n *net, x, y string) {
		n.quant(x, y+".q", n.s(0.5), 0, 3, 1)
		n.op("Conv", y, y+".q", n.c([]int{2, 2, 1, 1}, 1, -2, 3, 1), n.c([]int{2}, 0.5, -1))
	}},
	{"codes of a convolution", func(n *net, x, y string) {
		n.quant(x, y+".q", n.s(0.5), 0, 3, 1)
		n.op("Conv", y+".p", y+".q", n.c([]int{2, 2, 1, 1}, 1, -2, 3, 1), n.c([]int{2}, 0.5, -1))
		n.quant(y+".p", y, n.c([]int{1, 2, 1, 1}, 0.5, 0.25), 0, 4, 1)
	}},
}

// functions write functions of each element.
var functions = []part{
	{"Relu", func(n *net, x, y string) { n.op("Relu", y, x) }},
	{"Clip", func(n *net, x, y string) { n.op("Clip", y, x, n.s(-1.25), n.s(1.5)) }},
	{"Abs", func(n *net, x, y string) { n.op("Abs", y, x) }},
	{"LeakyRelu", func(n *net, x, y string) { n.op("LeakyRelu", y, x).Float("alpha", 0.25) }},
	{"LeakyRelu by a tenth", func(n *net, x, y string) { n.op("LeakyRelu", y, x).Float("alpha", 0.1) }},
	{"PRelu", func(n *net, x, y string) { n.op("PRelu", y, x, n.c([]int{2, 1, 1}, 0.5, -1)) }},
	{"Max and Min", func(n *net, x, y string) { n.chain(x, y, list{"Max", n.s(-1)}, list{"Min", n.s(1.25)}) }},
	{"Cast and back", func(n *net, x, y string) {
		n.chain(x, y, list{"Cast"}, list{"Cast"})
		n.to(graph.DTypeInt8, y+".0")
		n.to(graph.DTypeFloat32, y)
	}},
	{"Relu that falls, scaled and moved", func(n *net, x, y string) {
		n.chain(x, y, list{"Neg"}, list{"Relu"}, list{"Mul", n.s(3)}, list{"Add", n.s(0.5)})
	}},
	{"two functions", func(n *net, x, y string) {
		n.chain(x, y, list{"Clip", n.s(-2), n.s(3)}, list{"Sub", n.s(0.5)}, list{"Abs"})
	}},
	{"Where", func(n *net, x, y string) {
		n.op("Greater", y+".0", x, n.s(0.25)).op("Where", y, y+".0", x, n.s(-0.5))
	}},
	{"a square", func(n *net, x, y string) { n.op("Mul", y, x, x) }},
	{"HardSigmoid", func(n *net, x, y string) { n.op("HardSigmoid", y, x).Float("alpha", 0.25).Float("beta", 0.5) }},
	{"nothing that changes", func(n *net, x, y string) { n.op("Clip", y, x, n.s(-500), n.s(500)) }},
	{"one value", func(n *net, x, y string) {
		n.chain(x, y, list{"Clip", n.s(500), n.s(600)}, list{"Sub", n.s(499.5)})
	}},
	{"a bend per channel", func(n *net, x, y string) {
		n.chain(x, y, list{"Max", n.c([]int{2, 1, 1}, -1, 0.5)}, list{"Mul", n.c([]int{2, 1, 1}, 1, -0.5)})
	}},
}

// readers write layers that read a tensor.
var readers = []part{
	{"Conv", func(n *net, x, y string) {
		n.op("Conv", y, x, n.c([]int{2, 2, 1, 1}, 1, 2, -1, 3))
	}},
	{"Conv with padding", func(n *net, x, y string) {
		w := make([]float64, 36)
		for i := range w {
			w[i] = float64(i%5 - 2)
		}
		n.op("Conv", y, x, n.c([]int{2, 2, 3, 3}, w...)).Ints("pads", 1, 1, 1, 1)
	}},
	{"MatMul", func(n *net, x, y string) {
		w := make([]float64, 50*50)
		for i := range w {
			w[i] = float64(i*i%7 - 3)
		}
		n.op("Reshape", y+".f", x, n.i(1, 50)).op("MatMul", y+".m", y+".f", n.c([]int{50, 50}, w...))
		n.op("Reshape", y, y+".m", n.i(1, 2, 5, 5))
	}},
	{"MaxPool and Conv", func(n *net, x, y string) {
		n.op("MaxPool", y+".m", x).Ints("kernel_shape", 3, 3).Ints("pads", 1, 1, 1, 1)
		n.op("Conv", y, y+".m", n.c([]int{2, 2, 1, 1}, 1, 2, -1, 3))
	}},
	{"Concat and Conv", func(n *net, x, y string) {
		n.quant("x", y+".q", n.s(0.5), 0, 3, 1)
		n.op("Concat", y+".c", x, y+".q").Int("axis", 1)
		n.op("Conv", y, y+".c", n.c([]int{2, 4, 1, 1}, 1, 2, -1, 3, 2, 0, -1, 1))
	}},
	{"AveragePool and Quant", func(n *net, x, y string) {
		n.op("AveragePool", y+".m", x).Ints("kernel_shape", 2, 2).Ints("pads", 0, 0, 1, 1).Int("count_include_pad", 1)
		n.quant(y+".m", y, n.s(0.25), 0, 5, 1)
	}},
	{"a sum, and Quant", func(n *net, x, y string) {
		n.quant("x", y+".q", n.s(0.5), 0, 3, 1)
		n.op("Add", y+".s", y+".q", x).quant(y+".s", y+".t", n.s(0.5), 0, 4, 1)
		n.op("Conv", y, y+".t", n.c([]int{2, 2, 1, 1}, 1, 2, -1, 3))
	}},
	{"a sum, and Conv", func(n *net, x, y string) {
		n.quant("x", y+".q", n.s(0.5), 0, 3, 1)
		n.op("Add", y+".s", y+".q", x)
		n.op("Conv", y, y+".s", n.c([]int{2, 2, 1, 1}, 1, 2, -1, 3))
	}},
	{"a Conv and a sum of it", func(n *net, x, y string) {
		n.op("Conv", y+".c", x, n.c([]int{2, 2, 1, 1}, 1, 2, -1, 3))
		n.op("Add", y+".s", y+".c", x).quant(y+".s", y+".t", n.s(0.5), 0, 4, 1)
		n.op("Conv", y, y+".t", n.c([]int{2, 2, 1, 1}, 1, 2, -1, 3))
	}},
	{"Relu, Pad and Conv", func(n *net, x, y string) {
		n.op("Relu", y+".r", x).op("Pad", y+".p", y+".r", n.i(0, 0, 1, 0, 0, 0, 0, 1))
		n.op("Conv", y, y+".p", n.c([]int{2, 2, 2, 2}, 1, 2, -1, 3, 0, 1, 1, -2, 1, 1, 2, 0, -1, 1, 3, -2))
	}},
}

// TestFunctionsOfCodes checks that every function of one element of codes gives codes, wherever the codes come from and
// whatever reads the values, with and without padding.
func TestFunctionsOfCodes(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for i, c := range codes {
		for k, f := range functions {
			for l, r := range readers {
				if tier.Quick() && (i+k+l)%3 > 0 {
					continue // each pair stays
				}
				name := fmt.Sprintf("%s, %s, %s", c.name, f.name, r.name)
				n := newNet(13)
				n.Input("x", graph.DTypeFloat32, 1, 2, 5, 5)
				c.write(n, "x", "c")
				f.write(n, "c", "f")
				r.write(n, "f", "y")
				n.output(1, 2, 5, 5).mapped(t, name, 4)
			}
		}
	}
}

// TestWideFunctions checks that a warning tells of codes that are wider than anybody quantises to.
func TestWideFunctions(t *testing.T) {
	t.Parallel()
	for alpha, wide := range map[float32]bool{0.1: true, 0.125: false} {
		n := newNet(13)
		n.Input("x", graph.DTypeFloat32, 1, 3).quant("x", "q", n.s(0.5), 0, 8, 1)
		n.op("LeakyRelu", "f", "q").Float("alpha", alpha)
		n.op("MatMul", "y", "f", n.c([]int{3, 4}, weights...)).output(1, 4)
		im, found := imported(t, n, frontend.Options{})
		told := len(found) == 1 && found[0].Severity == diag.SeverityWarning &&
			found[0].Code == diag.ActivationRangeTooWide
		if im.Model == nil || told != wide {
			t.Errorf("a slope of %v: %v", alpha, found)
		}
	}
}

// TestFunctionsOfLongRanges checks that a function of long ranges in many channels is refused at once. It is not
// evaluated at every integer.
func TestFunctionsOfLongRanges(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	const inputs, outputs = 16, 256
	w := make(v, inputs*outputs)
	for i := range w {
		w[i] = float64(i*i%9973%23 - 11)
	}
	n := newNet(13)
	n.Input("x", graph.DTypeFloat32, 1, inputs).quant("x", "q", n.s(0.5), 0, 8, 1)
	n.op("MatMul", "h", "q", n.c([]int{inputs, outputs}, w...)).op("Relu", "f", "h")
	n.op("MatMul", "y", "f", n.c([]int{outputs, 1}, w[:outputs]...)).output(1, 1)
	_, found := imported(t, n, frontend.Options{})
	if len(found) == 0 || !strings.Contains(found[0].Msg, `Relu "f" stands between it and the last quantiser`) {
		t.Errorf("%v", found)
	}
}

// TestFunctionsRefused checks that values without a common unit, or with too small a unit, are refused with the name of
// their function.
func TestFunctionsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ function, msg string }{
		{"Sigmoid", `its input is no scaled integer: Sigmoid "f" makes irrational numbers of integers`},
		{"Softplus", `its input is no scaled integer: Softplus "f" makes irrational numbers of integers`},
		{"Reciprocal", `its input is no scaled integer of up to 40 bits`},
	} {
		n := newNet(13)
		n.Input("x", graph.DTypeFloat32, 1, 3).quant("x", "q", n.s(0.5), 0.5, 8, 0).op(c.function, "f", "q")
		n.op("MatMul", "y", "f", n.c([]int{3, 4}, weights...)).output(1, 4)
		_, found := imported(t, n, frontend.Options{})
		if len(found) == 0 || !strings.HasPrefix(found[0].Msg, c.msg) {
			t.Errorf("%s: %v, want %q", c.function, found, c.msg)
		}
	}
}

// TestBranches concatenates branches of unequal scales in front of a product. There must be one product per scale, and
// a sum.
func TestBranches(t *testing.T) {
	t.Parallel()
	behind := []part{
		{"nothing", func(n *net, x, y string) { n.op("Identity", y, x) }},
		{"Relu and Quant", func(n *net, x, y string) { n.op("Relu", y+".r", x).quant(y+".r", y, n.s(0.7), 0, 4, 0) }},
		{"Quant and Conv", func(n *net, x, y string) {
			n.quant(x, y+".q", n.s(0.9), 0, 4, 1)
			n.op("Conv", y, y+".q", n.c([]int{2, 2, 1, 1}, 1, 2, -1, 3))
		}},
	}
	between := []part{
		{"nothing", func(n *net, x, y string) { n.op("Identity", y, x) }},
		{"MaxPool", func(n *net, x, y string) {
			n.op("MaxPool", y, x).Ints("kernel_shape", 3, 3).Ints("pads", 1, 1, 1, 1)
		}},
		{"Relu", func(n *net, x, y string) { n.op("Relu", y, x) }},
	}
	for _, scales := range []v{{0.2, 0.3}, {0.2, 0.3, 0.47}, {0.1, 0.3, 0.1}, {0.11, 0.13, 0.17, 0.19}} {
		for _, kernel := range []int{0, 1, 3} { // 0 is a MatMul
			for _, m := range between {
				for _, b := range behind {
					name := fmt.Sprintf("%v, %s, kernel %d, %s", scales, m.name, kernel, b.name)
					n := newNet(13)
					n.Input("x", graph.DTypeFloat32, 1, 2, 5, 5)
					branches := make([]string, len(scales))
					for i, s := range scales {
						branches[i] = fmt.Sprintf("b%d", i)
						n.quant("x", branches[i], n.s(s), 0, 3+i%2, 1)
					}
					n.op("Concat", "c", branches...).Int("axis", 1)
					m.write(n, "c", "m")
					channels := 2 * len(scales)
					w := make([]float64, max(2*channels*kernel*kernel, 50))
					for i := range w {
						w[i] = float64(i*i%7 - 3)
					}
					if kernel > 0 {
						w := n.c([]int{2, channels, kernel, kernel}, w[:2*channels*kernel*kernel]...)
						n.op("Conv", "p", "m", w, n.c([]int{2}, 0.5, -0.25)).
							Ints("pads", int64(kernel/2), int64(kernel/2), int64(kernel/2), int64(kernel/2))
					} else {
						n.op("Transpose", "t", "m").Ints("perm", 0, 2, 3, 1)
						n.op("MatMul", "l", "t", n.c([]int{channels, 2}, w[:2*channels]...))
						n.op("Transpose", "p", "l").Ints("perm", 0, 3, 1, 2)
					}
					b.write(n, "p", "y")
					n.output(1, 2, 5, 5).mapped(t, name, 4)
				}
			}
		}
	}
}

// TestFunctionsMerge puts a function right behind a quantiser. The two must become one step function if the codes go by
// single steps and nothing else reads the quantiser's codes. The layers must agree with the model in any case.
func TestFunctionsMerge(t *testing.T) {
	t.Parallel()
	conv := func(n *net, x, y string) {
		n.op("Conv", y, x, n.c([]int{2, 2, 1, 1}, 1, 2, -1, 3))
	}
	for _, c := range []struct {
		name  string
		front func(n *net) // from "x" to "c", codes of a layer
		of    string       // a function by its name
		also  bool         // something else reads the codes
		want  string
	}{
		{"a product's activation", func(n *net) {
			n.quant("x", "q", n.s(0.5), 0, 3, 1)
			conv(n, "q", "p")
			n.quant("p", "c", n.s(0.75), 0, 4, 1)
		}, "Relu", false, "MVAU MVAU"},
		{"that falls", func(n *net) {
			n.quant("x", "q", n.s(0.5), 0, 3, 1)
			conv(n, "q", "p")
			n.quant("p", "c", n.s(0.75), 0, 4, 1)
		}, "Relu that falls, scaled and moved", false, "MVAU MVAU"},
		{"a sum", func(n *net) {
			n.quant("x", "a", n.s(0.5), 0, 3, 1).quant("x", "b", n.s(0.25), 0, 3, 1)
			n.op("Add", "s", "a", "b").quant("s", "c", n.s(0.25), 0, 4, 1)
		}, "Clip", false, "AddStreams MVAU"},
		{"a quantiser that stands alone", func(n *net) {
			n.quant("x", "q", n.s(0.1), 0, 4, 1).quant("q", "c", n.s(0.25), 0, 5, 1)
		}, "Max and Min", false, "Thresholding MVAU"},
		{"a bend per channel", func(n *net) {
			n.quant("x", "q", n.s(0.5), 0, 3, 1)
			conv(n, "q", "p")
			n.quant("p", "c", n.s(0.5), 0, 4, 1)
		}, "a bend per channel", false, "MVAU MVAU"},
		{"codes that are read besides", func(n *net) {
			n.quant("x", "q", n.s(0.5), 0, 3, 1)
			conv(n, "q", "p")
			n.quant("p", "c", n.s(0.75), 0, 4, 1)
		}, "Relu", true, "MVAU DuplicateStreams Thresholding MVAU MVAU"},
		{"wide steps", func(n *net) {
			n.quant("x", "q", n.s(0.5), 0, 3, 1)
			conv(n, "q", "p")
			n.quant("p", "c", n.s(0.75), 0, 4, 1)
		}, "LeakyRelu", false, "MVAU Thresholding MVAU"},
	} {
		n := newNet(13).Input("x", graph.DTypeFloat32, 1, 2, 5, 5)
		c.front(n)
		for _, f := range functions {
			if f.name == c.of {
				f.write(n, "c", "f")
			}
		}
		if conv(n, "f", "y"); c.also {
			conv(n, "c", "y2")
			n.op("Add", "y3", "y", "y2")
			n.Output("y3", graph.DTypeFloat32)
		} else {
			n.output(1, 2, 5, 5)
		}
		im, found := imported(t, n, frontend.Options{})
		if im.Model == nil {
			t.Errorf("%s: %v", c.name, found)
			continue
		}
		if got := kinds(im); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		agree(t, im.Model, 20)
	}
}

// TestHostFunctions checks that the host sends the codes of functions and quantisers behind a quantiser of its own. It
// does so if nothing else reads that quantiser's codes, and the new ones are no wider and no more.
func TestHostFunctions(t *testing.T) {
	t.Parallel()
	conv := func(n *net, x, y string) { n.op("Conv", y, x, n.c([]int{2, 2, 1, 1}, 1, 2, -1, 3)) }
	padded := func(n *net, x, y string) {
		n.op("Conv", y, x, n.c([]int{2, 2, 1, 2}, 1, 2, -1, 3, 2, 0, 1, -2)).Ints("pads", 0, 1, 0, 0)
	}
	for _, c := range []struct {
		name  string
		front func(n *net) // from "x" to "f"
		read  func(n *net, x, y string)
		want  string
		in    string // what is sent
	}{
		{"a function", func(n *net) { n.quant("x", "q", n.s(0.5), 0, 4, 1).op("Relu", "f", "q") }, conv, "MVAU",
			"UINT3"},
		{"of no greater unit", func(n *net) {
			n.quant("x", "q", n.s(0.5), 0, 4, 1).op("LeakyRelu", "f", "q").Float("alpha", 0.1)
		}, conv, "Thresholding MVAU", "INT4"},
		{"that jumps", func(n *net) {
			n.quant("x", "q", n.s(0.5), 0, 4, 1).op("Greater", "g", "q", n.s(0.75)).
				op("Where", "f", "g", "q", n.s(-0.5))
		}, conv, "MVAU", "INT4"},
		{"with a bias", func(n *net) {
			n.quant("x", "q", n.c([]int{2, 1, 1}, 0.5, 0.25), 0, 4, 1).op("Relu", "r", "q").
				op("Add", "f", "r", n.c([]int{2, 1, 1}, 0.3, -7))
		}, conv, "MVAU", "UINT4"},
		{"per channel", func(n *net) {
			n.quant("x", "q", n.s(0.5), 0, 4, 1).op("Max", "f", "q", n.c([]int{2, 1, 1}, -1, 0.5))
		}, conv, "MVAU", "INT4"},
		{"of a unit of its own", func(n *net) {
			n.quant("x", "q", n.s(0.5), 0, 4, 1).op("Max", "f", "q", n.c([]int{2, 1, 1}, -1.25, 0.5))
		}, conv, "Thresholding MVAU", "INT4"},
		{"with padding of no code", func(n *net) {
			n.quant("x", "q", n.s(0.5), 0, 4, 1).op("Clip", "f", "q", n.s(0.5), n.s(2))
		}, padded, "ConvolutionInputGenerator MVAU", "UINT3"},
		{"behind a product", func(n *net) {
			conv(n, "x", "p")
			n.quant("p", "q", n.s(0.5), 0, 4, 1).op("Relu", "f", "q")
		}, conv, "MVAU", "UINT3"},
		{"two of them", func(n *net) {
			n.quant("x", "q", n.s(0.5), 0, 4, 1).op("Relu", "r", "q").op("Sub", "s", "r", n.s(1)).op("Abs", "f", "s")
		}, conv, "MVAU", "UINT3"},
		{"of codes that are read besides", func(n *net) {
			n.quant("x", "q", n.s(0.5), 0, 4, 1).op("Relu", "r", "q")
			conv(n, "q", "p")
			n.op("Add", "f", "r", "p")
		}, conv, "", ""},
		{"moved, then read twice", func(n *net) {
			n.quant("x", "q", n.s(0.5), 0, 4, 1).op("Relu", "r", "q").op("Transpose", "t", "r").Ints("perm", 0, 1, 3, 2)
			padded(n, "t", "p")
			conv(n, "r", "o")
			n.op("Add", "f", "p", "o").quant("f", "g", n.s(0.5), 0, 4, 1)
		}, func(n *net, _, y string) { conv(n, "g", y) }, "", "UINT3"},
		{"a quantiser", func(n *net) { n.quant("x", "q", n.s(0.1), 0, 8, 1).quant("q", "f", n.s(0.25), 0, 5, 1) }, conv,
			"MVAU", "INT5"},
		{"a function and a quantiser", func(n *net) {
			n.quant("x", "q", n.s(0.1), 0, 8, 1).op("Relu", "r", "q").quant("r", "f", n.s(0.25), 0, 5, 0)
		}, conv, "MVAU", "UINT5"},
		{"three quantisers", func(n *net) {
			n.quant("x", "q", n.s(0.1), 0, 8, 1).quant("q", "r", n.s(0.25), 0, 5, 1).quant("r", "f", n.s(1), 0, 3, 1)
		}, conv, "MVAU", "INT3"},
		{"a quantiser of more bits", func(n *net) {
			n.quant("x", "q", n.s(0.5), 0, 3, 1).quant("q", "f", n.s(0.2), 0, 5, 1)
		}, conv, "Thresholding MVAU", "INT3"},
		{"a quantiser of a sum", func(n *net) {
			n.quant("x", "q", n.s(0.5), 0, 5, 1).quant("x", "p", n.s(0.25), 0, 5, 1)
			n.op("Add", "a", "p", "q").quant("a", "f", n.s(0.5), 0, 4, 1)
		}, conv, "AddStreams MVAU", "INT5"},
		{"a quantiser of more elements", func(n *net) {
			n.quant("x", "q", n.s(0.1), 0, 8, 1).op("Concat", "c", "q", "q").Int("axis", 1).
				quant("c", "f", n.s(0.25), 0, 5, 1)
		}, func(n *net, x, y string) { n.op("Conv", y, x, n.c([]int{2, 4, 1, 1}, 1, 2, -1, 3, 2, 0, -1, 1)) },
			"", "INT8"},
	} {
		n := newNet(13).Input("x", graph.DTypeFloat32, 1, 2, 5, 5)
		c.front(n)
		c.read(n, "f", "y")
		n.output(1, 2, 5, 5)
		im, found := imported(t, n, frontend.Options{})
		if im.Model == nil {
			t.Errorf("%s: %v", c.name, found)
			continue
		}
		if got := kinds(im); c.want != "" && got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		g := im.Model.Graph
		if got := g.Streams[g.In[0]].Type.Elem.String(); c.in != "" && got != c.in {
			t.Errorf("%s: %s arrive, want %s", c.name, got, c.in)
		}
		compareHost(t, im.Model, c.name != "behind a product" && c.name != "of no greater unit") // of many codes
		agree(t, im.Model, 20)
	}
}
