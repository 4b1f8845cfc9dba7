package frontend_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// A spelling is a way to write a quantiser, with the function that it computes. All numbers are small multiples of a
// power of two, so float64 is exact.
type spelling struct {
	name  string
	opset int64 // 0 is 13
	write func(n *net, x, y string)
	value func(x float64) float64
}

func clip(x, lo, hi float64) float64 { return math.Max(lo, math.Min(hi, x)) }

// chain writes nodes one behind the other: each is an operator and its further inputs.
func (n *net) chain(x, y string, nodes ...[]string) {
	for i, node := range nodes {
		out := y
		if i < len(nodes)-1 {
			out = fmt.Sprintf("%s.%d", y, i)
		}
		n.op(node[0], out, append([]string{x}, node[1:]...)...)
		x = out
	}
}

// to gives the last node but back the attribute of a Cast.
func (n *net) to(dt graph.DType, node string) {
	for _, p := range n.Proto.Graph.Node {
		if p.Output[0] == node {
			n.last.Proto = p
			n.last.Int("to", int64(dt))
		}
	}
}

type list = []string

var spellings = []spelling{
	{name: "Div, Add, Round, Clip, Sub, Mul", write: func(n *net, x, y string) {
		n.chain(x, y, list{"Div", n.s(0.5)}, list{"Add", n.s(3)}, list{"Round"}, list{"Clip", n.s(0), n.s(15)},
			list{"Sub", n.s(3)}, list{"Mul", n.s(0.5)})
	}, value: func(x float64) float64 { return (clip(math.RoundToEven(x/0.5+3), 0, 15) - 3) * 0.5 }},
	{name: "Mul, Round, Add, Clip, Sub, Div", write: func(n *net, x, y string) {
		n.chain(x, y, list{"Mul", n.s(2)}, list{"Round"}, list{"Add", n.s(3)}, list{"Clip", n.s(0), n.s(15)},
			list{"Sub", n.s(3)}, list{"Div", n.s(2)})
	}, value: func(x float64) float64 { return (clip(math.RoundToEven(x*2)+3, 0, 15) - 3) / 2 }},
	{name: "Floor of a half more", write: func(n *net, x, y string) {
		n.chain(x, y, list{"Mul", n.s(2)}, list{"Add", n.s(0.5)}, list{"Floor"}, list{"Clip", n.s(-8), n.s(7)},
			list{"Mul", n.s(0.5)})
	}, value: func(x float64) float64 { return clip(math.Floor(2*x+0.5), -8, 7) * 0.5 }},
	{name: "Clip, then Round", write: func(n *net, x, y string) {
		n.chain(x, y, list{"Clip", n.s(-3.75), n.s(3.5)}, list{"Div", n.s(0.5)}, list{"Round"}, list{"Mul", n.s(0.5)})
	}, value: func(x float64) float64 { return math.RoundToEven(clip(x, -3.75, 3.5)/0.5) * 0.5 }},
	{name: "Ceil, Min and Max", write: func(n *net, x, y string) {
		n.chain(x, y, list{"Mul", n.s(2)}, list{"Ceil"}, list{"Max", n.s(-4)}, list{"Min", n.s(3)},
			list{"Mul", n.s(0.5)})
	}, value: func(x float64) float64 { return clip(math.Ceil(2*x), -4, 3) * 0.5 }},
	{name: "Round, Relu and Min", write: func(n *net, x, y string) {
		n.chain(x, y, list{"Round"}, list{"Relu"}, list{"Min", n.s(6)})
	}, value: func(x float64) float64 { return clip(math.RoundToEven(x), 0, 6) }},
	{name: "Clip and Cast, which drops", write: func(n *net, x, y string) {
		n.chain(x, y, list{"Mul", n.s(2)}, list{"Clip", n.s(-8), n.s(7.5)}, list{"Cast"}, list{"Cast"},
			list{"Mul", n.s(0.5)})
		n.to(graph.DTypeInt8, y+".2")
		n.to(graph.DTypeFloat32, y+".3")
	}, value: func(x float64) float64 { return math.Trunc(clip(2*x, -8, 7.5)) * 0.5 }},
	{name: "Round and Cast, Clip of integers", write: func(n *net, x, y string) {
		lo, hi := n.name(), n.name()
		n.Init(lo, graph.DTypeInt32, nil, -5).Init(hi, graph.DTypeInt32, nil, 4)
		n.chain(x, y, list{"Round"}, list{"Cast"}, list{"Clip", lo, hi}, list{"Cast"})
		n.to(graph.DTypeInt32, y+".1")
		n.to(graph.DTypeFloat32, y)
	}, value: func(x float64) float64 { return clip(math.RoundToEven(x), -5, 4) }},
	{name: "bounds as attributes", opset: 10, write: func(n *net, x, y string) {
		n.op("Floor", y+".0", x).op("Clip", y+".1", y+".0").Float("min", -2).Float("max", 1)
		n.op("Mul", y, y+".1", n.s(0.25))
	}, value: func(x float64) float64 { return clip(math.Floor(x), -2, 1) * 0.25 }},
	{name: "Sign", write: func(n *net, x, y string) { n.chain(x, y, list{"Sign"}, list{"Mul", n.s(0.5)}) },
		value: func(x float64) float64 {
			switch {
			case x > 0:
				return 0.5
			case x < 0:
				return -0.5
			}
			return 0
		}},
	{name: "truth, and numbers of it", write: func(n *net, x, y string) {
		n.op("Greater", y+".0", x, n.s(1)).op("Where", y, y+".0", n.s(0.75), n.s(-0.5))
	}, value: func(x float64) float64 {
		if x > 1 {
			return 0.75
		}
		return -0.5
	}},
	{name: "three values by two truths", write: func(n *net, x, y string) {
		n.op("Greater", y+".0", x, n.s(1)).op("LessOrEqual", y+".1", x, n.s(-1)).
			op("Where", y+".2", y+".1", n.s(-1), n.s(0)).op("Where", y, y+".0", n.s(1), y+".2")
	}, value: func(x float64) float64 {
		switch {
		case x > 1:
			return 1
		case x <= -1:
			return -1
		}
		return 0
	}},
	{name: "truth as a number", write: func(n *net, x, y string) {
		n.chain(x, y, list{"GreaterOrEqual", n.s(0.5)}, list{"Cast"}, list{"Mul", n.s(2)}, list{"Sub", n.s(1)})
		n.to(graph.DTypeFloat32, y+".1")
	}, value: func(x float64) float64 {
		if x >= 0.5 {
			return 1
		}
		return -1
	}},
	{name: "RequantShift", write: func(n *net, x, y string) {
		n.op("RequantShift", y, x, n.s(3), n.s(2)).Int("signed", 1).Int("n_levels", 16).last.
			Tensor("div", graph.DTypeFloat32, nil, 4)
	}, value: func(x float64) float64 { return clip(math.Floor((x*3+2)/4+0.5), -8, 7) }},
	{name: "RequantShift without sign", write: func(n *net, x, y string) {
		n.op("RequantShift", y, x, n.s(3), n.s(2)).Int("signed", 0).Int("div", 8).last.
			Tensor("n_levels_out", graph.DTypeFloat32, []int{1}, 4)
	}, value: func(x float64) float64 { return clip(math.Floor((x*3+2)/8+0.5), 0, 3) }},
	{name: "Quant in ONNX's own domain", write: func(n *net, x, y string) {
		n.Node("Quant", x, n.s(0.5), n.s(0), n.s(4)).Int("signed", 1).Int("narrow", 1).Out(y)
	}, value: func(x float64) float64 { return clip(math.RoundToEven(x*2), -7, 7) * 0.5 }},
	{name: "BipolarQuant in ONNX's own domain", write: func(n *net, x, y string) {
		n.Node("BipolarQuant", x, n.s(0.5)).Out(y)
	}, value: func(x float64) float64 {
		if x >= 0 {
			return 0.5
		}
		return -0.5
	}},
	{name: "Quant and Trunc in ONNX's own domain", write: func(n *net, x, y string) {
		n.Node("Quant", x, n.s(0.5), n.s(0), n.s(6)).Int("signed", 1).Out(y + ".0")
		n.Node("Trunc", y+".0", n.s(0.5), n.s(0), n.s(6), n.s(4)).Str("rounding_mode", "FLOOR").Out(y)
	}, value: func(x float64) float64 { return math.Floor(clip(math.RoundToEven(x*2), -32, 31)/4) * 0.5 }},
}

// small are inputs that lie on boundaries of rounding, between them, and far out.
func small(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		if x[i] = float64(r.IntN(129)-64) / 8; r.IntN(10) == 0 {
			x[i] *= 16
		}
	}
	return x
}

// follows compares the model as written, and its layers, with a plain evaluation.
func follows(t *testing.T, m *dataflow.Model, want func(x [][]float64) []float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 6))
	followsOn(t, m, want, func(n int) []float64 { return small(r, n) })
}

// followsOn is follows for data of a kind: n elements.
func followsOn(t *testing.T, m *dataflow.Model, want func(x [][]float64) []float64, data func(n int) []float64) {
	t.Helper()
	seen := map[string]bool{}
	for range 200 {
		var x []dataflow.RealTensor
		var plain [][]float64
		for _, in := range m.In {
			v := data(dataflow.Shape(in.Shape).ElementCount())
			x, plain = append(x, dataflow.RealTensor{Shape: in.Shape, Data: v}), append(plain, v)
		}
		y := want(plain)
		written, err := m.Reference(x)
		if err != nil {
			t.Fatal(err)
		}
		made, _ := run(t, m, x)
		if !slices.Equal(written[0].Data, y) || !slices.Equal(made[0].Data, y) {
			t.Fatalf("inputs %v: the model gives %v, the layers %v, want %v", plain, written[0].Data, made[0].Data, y)
		}
		seen[fmt.Sprint(y)] = true
	}
	if len(seen) < 2 {
		t.Errorf("every output is the same: nothing was tested")
	}
}

// product is x times a matrix of len(x) rows.
func product(x, w []float64) []float64 {
	y := make([]float64, len(w)/len(x))
	for i, v := range w {
		y[i%len(y)] += x[i/len(y)] * v
	}
	return y
}

func each(x []float64, f func(float64) float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = f(v)
	}
	return y
}

// TestSpelledQuantisers builds networks of quantisers in every spelling: of data, of a layer's sums, of weights.
func TestSpelledQuantisers(t *testing.T) {
	t.Parallel()
	real := []float64{1.25, 0.125, -2, 6.5, -3, 0.625, 1, -4, 2.875, 0, 2, 2}
	for _, c := range spellings {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.opset == 0 {
				c.opset = 13
			}
			n := newNet(c.opset).Input("x", graph.DTypeFloat32, "N", 3)
			c.write(n, "x", "q")
			c.write(n, n.c([]int{3, 4}, real...), "w")
			n.op("MatMul", "h", "q", "w")
			c.write(n, "h", "y")
			im, found := imported(t, n.output("N", 4), frontend.Options{})
			if im.Model == nil {
				t.Fatal(found)
			}
			if got := kinds(im); !strings.Contains(got, "MVAU") {
				t.Errorf("layers %s", got)
			}
			follows(t, im.Model, func(x [][]float64) []float64 {
				return each(product(each(x[0], c.value), each(real, c.value)), c.value)
			})
		})
	}
}

// TestRoundedSums rounds a layer's sums without a bound: their own range is one.
func TestRoundedSums(t *testing.T) {
	t.Parallel()
	n := newNet(13).input("N", 3).dense().op("Mul", "m", "h", "quarter").op("Round", "r", "m").op("Relu", "a", "r").
		op("MatMul", "y", "a", "w")
	n.Init("quarter", graph.DTypeFloat32, nil, 0.25).Init("w", graph.DTypeFloat32, []int{4, 2}, 1, 2, -3, 4, 5, -6, 7,
		8)
	im, found := imported(t, n.output("N", 2), frontend.Options{})
	if im.Model == nil {
		t.Fatal(found)
	}
	follows(t, im.Model, func(x [][]float64) []float64 {
		q := each(x[0], func(v float64) float64 { return clip(math.RoundToEven(v*2), -8, 7) * 0.5 })
		rounded := each(product(q, weights), func(v float64) float64 { return math.Max(0, math.RoundToEven(v*0.25)) })
		return product(rounded, []float64{1, 2, -3, 4, 5, -6, 7, 8})
	})
}

// TestTails ends networks with nodes that no layer computes, and that no quantiser follows. The host must compute them.
func TestTails(t *testing.T) {
	t.Parallel()
	value := func(x float64) float64 { return clip(math.RoundToEven(x*2), -8, 7) * 0.5 }
	sums := func(x []float64) []float64 { return product(each(x, value), weights) }
	squares := func(x [][]float64) []float64 {
		var sum float64
		for _, v := range sums(x[0]) {
			sum += v * v
		}
		return []float64{sum}
	}
	for _, c := range []struct {
		name   string
		build  func(n *net)
		layers string
		want   func(x [][]float64) []float64
	}{
		{"the product of data with itself", func(n *net) {
			n.op("Unsqueeze", "row", "h", n.i(1)).op("Unsqueeze", "column", "h", n.i(2))
			n.op("MatMul", "y", "row", "column").output("N", 1, 1)
		}, "MVAU", squares},
		{"and a layer behind it", func(n *net) {
			n.op("Unsqueeze", "row", "h", n.i(1)).op("Unsqueeze", "column", "h", n.i(2)).
				op("MatMul", "square", "row", "column").op("MatMul", "y", "square", n.c([]int{1, 2}, 3, -1)).
				output("N", 1, 2)
		}, "MVAU", func(x [][]float64) []float64 { return product(squares(x), []float64{3, -1}) }},
		{"a sum of products of two layers", func(n *net) {
			n.op("MatMul", "g", "q", n.c([]int{3, 4}, count(12)...)).op("Mul", "p", "h", "g").
				op("ReduceSum", "y", "p", n.i(1)).output("N", 1)
		}, "DuplicateStreams MVAU MVAU", func(x [][]float64) []float64 {
			var sum float64
			for i, v := range product(each(x[0], value), count(12)) {
				sum += v * sums(x[0])[i]
			}
			return []float64{sum}
		}},
		{"the product of data with itself, with quantisers of 18 bits", func(n *net) {
			n.quant("h", "k", n.s(0.25), 0, 18, 1).op("Unsqueeze", "row", "k", n.i(1)).
				op("Unsqueeze", "column", "k", n.i(2)).op("MatMul", "square", "row", "column").
				quant("square", "y", n.s(0.125), 0, 18, 1).output("N", 1, 1)
		}, "MVAU Requantization", squares},
		{"a quantiser of the greatest of two layers", func(n *net) {
			n.op("MatMul", "g", "q", n.c([]int{3, 4}, count(12)...)).op("Max", "m", "h", "g").
				quant("m", "y", n.s(4), 0, 4, 1).output("N", 4)
		}, "DuplicateStreams MVAU MVAU", func(x [][]float64) []float64 {
			y := sums(x[0])
			for i, v := range product(each(x[0], value), count(12)) {
				y[i] = clip(math.RoundToEven(math.Max(y[i], v)/4), -8, 7) * 4
			}
			return y
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := newNet(13).input("N", 3).dense()
			c.build(n)
			im, found := imported(t, n, frontend.Options{})
			if im.Model == nil {
				t.Fatal(found)
			}
			if got := kinds(im); got != c.layers {
				t.Errorf("layers %s, want %s", got, c.layers)
			}
			follows(t, im.Model, c.want)
		})
	}
}

// TestOneCause checks that nodes with one cause give one diagnostic, with their number and a hint.
func TestOneCause(t *testing.T) {
	t.Parallel()
	n := newNet(13).Input("x", graph.DTypeFloat32, "N", 3)
	x := "x"
	for i := range 7 {
		q, s, z, w := fmt.Sprint("q", i), fmt.Sprint("s", i), fmt.Sprint("z", i), fmt.Sprint("w", i)
		n.Init(w, graph.DTypeInt8, []int{3, 3}, 1, 2, 3, 4, 5, 6, 7, 8, 9)
		n.Node("DynamicQuantizeLinear", x).Name(fmt.Sprint("dynamic", i)).Out(q, s, z)
		n.op("MatMulInteger", fmt.Sprint("m", i), q, w, z).op("Cast", fmt.Sprint("c", i), fmt.Sprint("m", i)).
			Int("to", int64(graph.DTypeFloat32))
		x = fmt.Sprint("h", i)
		n.op("Mul", x, fmt.Sprint("c", i), s)
	}
	n.Node("Mystery", x).Name("mystery").Out("e")
	n.Node("DynamicQuantizeMatMul", "e", x).Domain("com.microsoft").Name("whole").Out("y")
	im, found := imported(t, n.output("N", 3), frontend.Options{})
	if im.Model != nil || len(found) != 2 {
		t.Fatalf("%v, want two diagnostics", found)
	}
	first := found[0]
	if first.Code != diag.OpUnsupported || first.Node != "dynamic0" || !strings.Contains(first.Msg, "(8 nodes)") ||
		!strings.Contains(first.Hint, "quantize_static") || len(first.Notes) != 1 ||
		!strings.Contains(first.Notes[0], `"dynamic1", "dynamic2", "dynamic3", "dynamic4" and 3 more`) {
		t.Errorf("%v", first)
	}
	if found[1].Node != "mystery" || strings.Contains(found[1].Msg, "nodes") {
		t.Errorf("%v", found[1])
	}
}

// TestPositions adds constants that differ from element to element, as positions are coded, in front of a quantiser.
func TestPositions(t *testing.T) {
	t.Parallel()
	value := func(x float64) float64 { return clip(math.RoundToEven(x*2), -8, 7) * 0.5 }
	at := []float64{0.5, -1, 0.25, 2, 0, -3.25, 1.75, 0.5, 8, -8, 0.125, 1}
	more := func(x float64) float64 { return clip(math.RoundToEven(x*2), -16, 15) * 0.5 }
	wide := func(x float64) float64 { return clip(math.RoundToEven(x*4), -128, 127) / 4 }
	rows := func(x []float64, w []float64, f func(float64) float64) (y []float64) {
		for r := range slices.Chunk(x, 3) {
			y = append(y, product(each(r, f), w)...)
		}
		return y
	}
	for _, c := range []struct {
		name   string
		build  func(n *net)
		layers string
		want   func(x [][]float64) []float64
	}{
		{"behind the input", func(n *net) {
			n.Input("x", graph.DTypeFloat32, 1, 4, 3).quant("x", "q", n.s(0.5), 0, 4, 1).
				op("Add", "a", "q", n.c([]int{4, 3}, at...)).quant("a", "b", n.s(0.5), 0, 5, 1).
				op("MatMul", "y", "b", n.c([]int{3, 4}, weights...)).output(1, 4, 4)
		}, "Thresholding MVAU", func(x [][]float64) []float64 {
			sums := each(x[0], value)
			for i := range sums {
				sums[i] += at[i]
			}
			return rows(sums, weights, more)
		}},
		{"behind a layer, and scaled per row", func(n *net) {
			n.Input("x", graph.DTypeFloat32, 1, 4, 3).quant("x", "q", n.s(0.5), 0, 4, 1).
				op("MatMul", "h", "q", n.c([]int{3, 3}, weights[:9]...)).op("Add", "a", "h", n.c([]int{4, 3}, at...)).
				op("Mul", "m", "a", n.c([]int{4, 1}, 1, -0.5, 0.25, 2)).quant("m", "b", n.s(0.25), 0, 8, 1).
				op("MatMul", "y", "b", n.c([]int{3, 4}, weights...)).output(1, 4, 4)
		}, "MVAU Requantization MVAU", func(x [][]float64) []float64 {
			sums := rows(x[0], weights[:9], value)
			for i := range sums {
				sums[i] = (sums[i] + at[i]) * []float64{1, -0.5, 0.25, 2}[i/3]
			}
			return rows(sums, weights, wide)
		}},
		{"on an image", func(n *net) {
			n.Input("x", graph.DTypeFloat32, 1, 3, 2, 2).quant("x", "q", n.s(0.5), 0, 4, 1).
				op("Add", "a", "q", n.c([]int{3, 2, 2}, at...)).quant("a", "b", n.s(0.5), 0, 5, 1).
				op("Conv", "y", "b", n.c([]int{1, 3, 1, 1}, 1, -2, 3)).output(1, 1, 2, 2)
		}, "Thresholding MVAU", func(x [][]float64) []float64 {
			y := make([]float64, 4)
			for i, v := range x[0] {
				y[i%4] += more(value(v)+at[i]) * []float64{1, -2, 3}[i/4]
			}
			return y
		}},
		{"means at borders", func(n *net) {
			n.Input("x", graph.DTypeFloat32, 1, 1, 4).quant("x", "q", n.s(0.5), 0, 4, 1).
				op("AveragePool", "a", "q").Ints("kernel_shape", 2).Ints("pads", 1, 1).
				quant("a", "b", n.s(0.5), 0, 4, 1).
				op("MatMul", "y", "b", n.c([]int{5, 1}, 1, 2, -3, 4, 5)).output(1, 1, 1)
		}, "ConvolutionInputGenerator Pool Reorder Thresholding MVAU", func(x [][]float64) []float64 {
			q := each(x[0], value)
			return product(each([]float64{q[0], (q[0] + q[1]) / 2, (q[1] + q[2]) / 2, (q[2] + q[3]) / 2, q[3]}, value),
				[]float64{1, 2, -3, 4, 5})
		}},
	} {
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
			follows(t, im.Model, c.want)
		})
	}
}
