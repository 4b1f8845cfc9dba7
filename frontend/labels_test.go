package frontend_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/hlslib/labelselect"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

// perChannel multiplies h by a scale per channel.
func (n *net) perChannel(scale ...float64) *net {
	return n.dense().op("Mul", "m", "h", n.c([]int{len(scale)}, scale...))
}

// top puts x in order; y is the indices of the first k.
func (n *net) top(x string, k float64) *net {
	n.last = n.Node("TopK", x, n.i(k)).Name("order").Out("values", "y")
	return n
}

func (n *net) arg(op, x string) *net { return n.index(op, x, "y", -1) }

// index is the index of an extreme along an axis.
func (n *net) index(op, x, y string, axis int64) *net {
	n.last = n.Node(op, x).Name("order").Int("axis", axis).Out(y)
	return n
}

func (n *net) indices(dims ...any) *net { return n.Output("y", graph.DTypeInt64, dims...) }

const onHost = "host suffix"

var labelled = []struct {
	name   string
	opset  int64 // 0 is 13
	build  func(n *net)
	layers string // the kinds of the layers, in order
	order  string // the parameters of the one that selects labels, or onHost
	refuse string // part of the message, where another layer needs what no layer gives
}{
	{name: "the largest sum", build: func(n *net) { // a column is 0, and one has only even weights
		n.input("N", 3).dense().arg("ArgMax", "h").indices("N", 1)
	}, layers: "MVAU LabelSelect", order: "{4 1 largest lower index}"},
	{name: "the smallest sum, the last of equal ones", build: func(n *net) {
		n.input("N", 3).dense().arg("ArgMin", "h").Int("keepdims", 0).Int("select_last_index", 1).indices("N")
	}, layers: "MVAU LabelSelect", order: "{4 1 smallest higher index}"},
	{name: "quantised weights, a scale and a bias for all", build: func(n *net) {
		n.input("N", 3)
		n.Node("Quant", n.c([]int{3, 4}, weights...), n.s(0.3), n.s(0), n.s(4)).Domain(qonnx).Int("signed", 1).Out("w")
		n.op("MatMul", "h", "q", "w").op("Mul", "m", "h", n.s(0.7)).op("Add", "a", "m", n.s(-11.3)).top("a", 3).
			indices("N", 3)
	}, layers: "MVAU LabelSelect", order: "{4 3 largest lower index}"},
	{name: "the smallest three", build: func(n *net) {
		n.input("N", 3).dense().top("h", 3).Int("largest", 0).indices("N", 3)
	}, layers: "MVAU LabelSelect", order: "{4 3 smallest lower index}"},
	{name: "every label", build: func(n *net) {
		n.input("N", 3).dense().top("h", 4).indices("N", 4)
	}, layers: "MVAU LabelSelect", order: "{4 4 largest lower index}"},
	{name: "a negative scale", build: func(n *net) {
		n.input("N", 3).op("MatMul", "h", "q", n.c([]int{3, 3}, 1, -2, 3, 2, 1, -1, 3, 3, 1)).
			op("Mul", "m", "h", n.s(-0.3)).op("Sub", "a", n.s(2), "m").op("Neg", "b", "a").top("b", 2).
			indices("N", 2)
	}, layers: "MVAU LabelSelect", order: "{3 2 smallest lower index}"},
	{name: "a negative scale of columns with factors", build: func(n *net) {
		n.input("N", 3).dense().op("Mul", "m", "h", n.s(-0.3)).arg("ArgMax", "m").Int("select_last_index", 1).
			indices("N", 1)
	}, layers: "MVAU LabelSelect", order: "{4 1 smallest higher index}"},
	{name: "scales of both signs, powers of two apart", build: func(n *net) {
		n.input("N", 3).perChannel(0.3, -0.3, -0.6, 1.2).top("m", 4).indices("N", 4)
	}, layers: "MVAU LabelSelect", order: "{4 4 largest lower index}"},
	{name: "scales of their own", build: func(n *net) {
		n.input("N", 3).perChannel(0.1, 0.3, 0.7, 1.1).top("m", 3).indices("N", 3)
	}, layers: "MVAU", order: onHost},
	{name: "a scale of 0", build: func(n *net) {
		n.input("N", 3).perChannel(1, 1, 0, 1).arg("ArgMax", "m").indices("N", 1)
	}, layers: "MVAU", order: onHost},
	{name: "biases of their own", build: func(n *net) {
		n.input("N", 3).dense().op("Add", "a", "h", n.c([]int{4}, 0.5, 1, 0, -1)).arg("ArgMax", "a").
			indices("N", 1)
	}, layers: "MVAU", order: onHost},
	{name: "no weights", build: func(n *net) {
		n.input("N", 3).op("MatMul", "h", "q", n.c([]int{3, 2}, make([]float64, 6)...)).arg("ArgMax", "h").
			indices("N", 1)
	}, layers: "MVAU LabelSelect", order: "{2 1 largest lower index}"},
	{name: "weights beyond 8 bits stay as wide", build: func(n *net) {
		n.input("N", 3).op("MatMul", "h", "q", n.c([]int{3, 2}, 1000, 6, -999, 4, 1, 2)).arg("ArgMax", "h").
			indices("N", 1)
	}, layers: "MVAU LabelSelect", order: "{2 1 largest lower index}"},
	{name: "weights that would become too large", build: func(n *net) {
		n.input("N", 3).op("MatMul", "h", "q", n.c([]int{3, 2}, 7, 7*64, -6, 3*64, 1, 64)).arg("ArgMax", "h").
			indices("N", 1)
	}, layers: "MVAU", order: onHost},
	{name: "one label", build: func(n *net) {
		n.input("N", 3).op("MatMul", "h", "q", n.c([]int{3, 1}, 1, 2, 3)).arg("ArgMax", "h").indices("N", 1)
	}, layers: "MVAU LabelSelect", order: "{1 1 largest lower index}"},
	{name: "softmax", build: func(n *net) {
		n.input("N", 3).dense().op("Mul", "m", "h", n.s(0.1)).op("Softmax", "s", "m").top("s", 3).
			indices("N", 3)
	}, layers: "MVAU LabelSelect", order: "{4 3 largest lower index}"},
	{name: "softmax and moves, of a softmax", build: func(n *net) {
		n.input(1, 2, 3).dense().op("Softmax", "s", "h").op("Reshape", "r", "s", n.i(2, 4)).
			op("LogSoftmax", "l", "r").op("Unsqueeze", "u", "l", n.i(0)).arg("ArgMin", "u").indices(1, 2, 1)
	}, layers: "MVAU LabelSelect", order: "{4 1 smallest lower index}"},
	{name: "softmax over more than the row", opset: 11, build: func(n *net) {
		n.input(1, 2, 3).dense().op("Softmax", "s", "h").Int("axis", 0).arg("ArgMax", "s").indices(1, 2, 1)
	}, layers: "MVAU LabelSelect", order: "{4 1 largest lower index}"},
	{name: "softmax across the rows", build: func(n *net) {
		n.input(1, 2, 3).dense().op("Softmax", "s", "h").Int("axis", 1).index("ArgMax", "s", "i", -1).
			op("Cast", "c", "i").Int("to", int64(graph.DTypeFloat32)).quant("c", "y", n.s(1.5), 0, 4, 1).
			output(1, 2, 1)
	}, refuse: "depends on 2 integers"},
	{name: "softmax of scales of their own", build: func(n *net) {
		n.input("N", 3).perChannel(0.1, 0.3, 0.7, 1.1).op("Softmax", "s", "m").arg("ArgMax", "s").
			indices("N", 1)
	}, layers: "MVAU", order: onHost},
	{name: "a sigmoid", build: func(n *net) {
		n.input("N", 3).dense().op("Mul", "m", "h", n.s(900)).op("Sigmoid", "s", "m").arg("ArgMax", "s").
			indices("N", 1)
	}, layers: "MVAU LabelSelect", order: "{4 1 largest lower index}"},
	{name: "functions that rise and fall", build: func(n *net) {
		n.input("N", 3).dense().op("Neg", "m", "h").op("Tanh", "t", "m").op("Elu", "e", "t").
			op("Sub", "u", n.s(2), "e").op("LeakyRelu", "s", "u").op("Neg", "v", "s").top("v", 3).indices("N", 3)
	}, layers: "MVAU LabelSelect", order: "{4 3 smallest lower index}"},
	{name: "a sigmoid that a layer needs the index of", build: func(n *net) {
		n.input("N", 3).dense().op("Sigmoid", "s", "h").op("LogSoftmax", "l", "s").index("ArgMin", "l", "i", 1).
			op("Cast", "c", "i").Int("to", int64(graph.DTypeFloat32)).quant("c", "q2", n.s(1.5), 0, 4, 1).
			op("MatMul", "y", "q2", n.c([]int{1, 2}, 3, -1)).output("N", 2)
	}, layers: "MVAU LabelSelect Thresholding MVAU", order: "{4 1 smallest lower index}"},
	{name: "a slope per label", build: func(n *net) {
		n.input("N", 3).dense().op("PRelu", "s", "h", n.c([]int{4}, 0.1, 0.1, 0.2, 0.1)).arg("ArgMax", "s").
			indices("N", 1)
	}, layers: "MVAU", order: onHost},
	{name: "one slope for all", build: func(n *net) {
		n.input("N", 3).dense().op("PRelu", "s", "h", n.c([]int{4}, 0.1, 0.1, 0.1, 0.1)).arg("ArgMax", "s").
			indices("N", 1)
	}, layers: "MVAU LabelSelect", order: "{4 1 largest lower index}"},
	{name: "a rectifier makes equal ones of different ones", build: func(n *net) {
		n.input("N", 3).dense().op("Relu", "r", "h").arg("ArgMax", "r").indices("N", 1)
	}, layers: "MVAU", order: onHost},
	{name: "codes of an activation", build: func(n *net) {
		n.input("N", 3).dense().op("Add", "a", "h", n.c([]int{4}, 0.5, 1, 0, -1)).
			quant("a", "q2", n.s(0.75), 0, 3, 1).top("q2", 2).indices("N", 2)
	}, layers: "MVAU LabelSelect", order: "{4 2 largest lower index}"},
	{name: "codes that are the sums unchanged", build: func(n *net) {
		n.input("N", 3).op("MatMul", "h", "q", n.c([]int{3, 3}, 1, -2, 3, 2, 1, -1, 3, 3, 1)).
			quant("h", "q2", n.s(0.5), 0, 8, 1).arg("ArgMax", "q2").indices("N", 1)
	}, layers: "MVAU LabelSelect", order: "{3 1 largest lower index}"},
	{name: "codes with scales of their own", build: func(n *net) {
		n.input("N", 3).dense().quant("h", "q2", n.c([]int{4}, 0.5, 0.25, 1, 0.5), 0, 3, 1).arg("ArgMax", "q2").
			indices("N", 1)
	}, layers: "MVAU", order: onHost},
	{name: "bipolar codes", build: func(n *net) {
		n.input("N", 3).dense().bipolar("h", "q2", n.s(0.5)).top("q2", 3).Int("largest", 0).indices("N", 3)
	}, layers: "MVAU LabelSelect", order: "{4 3 smallest lower index}"},
	{name: "codes of the input", build: func(n *net) {
		n.input("N", 3).arg("ArgMax", "q").indices("N", 1)
	}, layers: "LabelSelect", order: "{3 1 largest lower index}"},
	{name: "an input of bytes", build: func(n *net) {
		n.Input("x", graph.DTypeUInt8, "N", 3).top("x", 2).indices("N", 2)
	}, layers: "LabelSelect", order: "{3 2 largest lower index}"},
	{name: "a head of 16 bits", build: func(n *net) {
		n.Input("x", graph.DTypeFloat32, "N", 3).quant("x", "q", n.s(0.5), 0, 8, 1).dense().
			quant("h", "q2", n.s(0.01), 0, 16, 1).arg("ArgMax", "q2").indices("N", 1)
	}, layers: "MVAU", order: onHost},
	{name: "vectors in a row", build: func(n *net) {
		n.input("N", 5, 3).dense().top("h", 2).indices("N", 5, 2)
	}, layers: "MVAU LabelSelect", order: "{4 2 largest lower index}"},
	{name: "vectors in a row, channels first", build: func(n *net) {
		n.input(1, 5, 3).dense().op("Transpose", "t", "h").Ints("perm", 0, 2, 1).index("ArgMax", "t", "y", 1).
			indices(1, 1, 5)
	}, layers: "MVAU LabelSelect", order: "{4 1 largest lower index}"},
	{name: "places that lie apart", build: func(n *net) {
		n.input(1, 5, 3).dense().op("Transpose", "t", "h").Ints("perm", 0, 2, 1).top("t", 2).Int("axis", 1).
			indices(1, 2, 5)
	}, layers: "MVAU", order: onHost},
	{name: "rows of several vectors", build: func(n *net) {
		n.input(1, 2, 3).dense().op("Reshape", "r", "h", n.i(1, 8)).top("r", 5).indices(1, 5)
	}, layers: "MVAU LabelSelect", order: "{8 5 largest lower index}"},
	{name: "rows of parts of a vector", build: func(n *net) {
		n.input(1, 3).dense().op("Reshape", "r", "h", n.i(2, 2)).arg("ArgMax", "r").indices(2, 1)
	}, layers: "MVAU", order: onHost},
	{name: "rows across vectors", build: func(n *net) {
		n.input(1, 5, 3).dense().index("ArgMax", "h", "y", 1).indices(1, 1, 4)
	}, layers: "MVAU", order: onHost},
	{name: "some of the labels", build: func(n *net) {
		n.input(1, 3).dense().op("Gather", "g", "h", n.i(0, 1, 2)).Int("axis", 1).arg("ArgMax", "g").
			indices(1, 1)
	}, layers: "MVAU", order: onHost},
	{name: "more places than a layer has", build: func(n *net) {
		n.input("N", 3).op("MatMul", "h", "q", n.c([]int{3, 18}, count(54)...)).top("h", 17).indices("N", 17)
	}, layers: "MVAU", order: onHost},
	{name: "the values too", build: func(n *net) {
		n.input("N", 3).dense().top("h", 2).indices("N", 2).Output("values", graph.DTypeFloat32, "N", 2)
	}, layers: "MVAU", order: onHost},
	{name: "what is put in order too", build: func(n *net) {
		n.input("N", 3).dense().op("Mul", "m", "h", n.s(0.3)).arg("ArgMax", "m").indices("N", 1).
			Output("m", graph.DTypeFloat32, "N", 4)
	}, layers: "MVAU", order: onHost},
	{name: "both ends", build: func(n *net) {
		n.input("N", 3).dense().arg("ArgMax", "h").op("ArgMin", "z", "h").Int("axis", -1).indices("N", 1).
			Output("z", graph.DTypeInt64, "N", 1)
	}, layers: "MVAU", order: onHost},
	{name: "the index goes on as a real number", build: func(n *net) {
		n.input("N", 3).dense().index("ArgMax", "h", "i", 1).op("Cast", "c", "i").
			Int("to", int64(graph.DTypeFloat32)).op("Mul", "y", "c", n.s(0.3)).output("N", 1)
	}, layers: "MVAU LabelSelect", order: "{4 1 largest lower index}"},
	{name: "the index goes into a layer", build: func(n *net) {
		n.input("N", 3).dense().index("ArgMax", "h", "i", 1).op("Cast", "c", "i").
			Int("to", int64(graph.DTypeFloat32)).quant("c", "q2", n.s(1.5), 0, 4, 1).
			op("MatMul", "y", "q2", n.c([]int{1, 2}, 3, -1)).output("N", 2)
	}, layers: "MVAU LabelSelect Thresholding MVAU", order: "{4 1 largest lower index}"},
	{name: "a layer needs the values", build: func(n *net) {
		n.input("N", 3).dense().top("h", 2).quant("values", "q2", n.s(1.5), 0, 4, 1).
			op("MatMul", "z", "q2", n.c([]int{2, 1}, 3, -1)).Output("z", graph.DTypeFloat32, "N", 1)
	}, refuse: "the values that come first are used"},
	{name: "a layer needs the index of labels with biases", build: func(n *net) {
		n.input("N", 3).dense().op("Add", "a", "h", n.c([]int{4}, 0.5, 1, 0, -1)).index("ArgMax", "a", "i", 1).
			op("Cast", "c", "i").Int("to", int64(graph.DTypeFloat32)).quant("c", "y", n.s(1.5), 0, 4, 1).
			output("N", 1)
	}, refuse: "different scales or biases"},
	{name: "a layer needs more places than a layer has", build: func(n *net) {
		n.input("N", 3).op("MatMul", "h", "q", n.c([]int{3, 18}, count(54)...)).top("h", 17).
			op("Cast", "c", "y").Int("to", int64(graph.DTypeFloat32)).quant("c", "z", n.s(1.5), 0, 4, 1).
			Output("z", graph.DTypeFloat32, "N", 17)
	}, refuse: "17 places, at most 16 are possible"},
}

// TestLabels imports models that put rows in order, and compares them to the model as written, on inputs that make many
// labels equal.
func TestLabels(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, c := range labelled {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			opset := c.opset
			if opset == 0 {
				opset = 13
			}
			n := newNet(opset)
			c.build(n)
			im, found := imported(t, n, frontend.Options{})
			if im.Model == nil {
				x := found[0]
				if c.refuse == "" || len(found) != 1 || x.Code != diag.NodeNotMapped || x.Node != "order" ||
					!strings.Contains(x.Msg, c.refuse) {
					t.Errorf("%v, want one of %q", found, c.refuse)
				}
				return
			}
			order := onHost
			for _, node := range im.Model.Graph.Nodes {
				if p, ok := node.Op.Params().(labelselect.Params); ok {
					order = fmt.Sprint(p)
				}
			}
			if got := kinds(im); got != c.layers || order != c.order {
				t.Errorf("layers %s, order %s, want %s, %s", got, order, c.layers, c.order)
			}
			for _, f := range im.Fates {
				if f.Node == "order" && (f.Fate == onHost) != (order == onHost) {
					t.Errorf("%s becomes %s", f.Op, f.Fate)
				}
			}
			agree(t, im.Model, 100)
			carries(t, im)
		})
	}
}

// TestFractionsOfInputs checks that integers stand for exact numbers: a product of pixels over 255, and the place of
// the largest one, need no rounding.
func TestFractionsOfInputs(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"MatMul", "ArgMax"} {
		n := newNet(13)
		n.Input("x", graph.DTypeFloat32, 1, 3)
		if op == "MatMul" {
			n.op(op, "y", "x", n.c([]int{3, 1}, 1, 2, 3))
			n.Output("y", graph.DTypeFloat32, 1, 1)
		} else {
			n.arg(op, "x").indices(1, 1)
		}
		arrives := &frontend.IntegerInputType{Type: num.Type{Kind: num.KindUInt, Width: 8}, Scale: big.NewRat(1, 255)}
		im, found := imported(t, n, frontend.Options{InputType: arrives})
		if im.Model == nil || len(found) > 0 {
			t.Fatal(op, found)
		}
		onGrid(t, im.Model, 8)
	}
}

// carries checks the scales and biases of the streams: with them, the integers of a stream are a tensor of the model.
func carries(t *testing.T, im *frontend.ImportedModel) {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 3))
	for range 5 {
		in := im.Model.In[0]
		x := []dataflow.RealTensor{{Shape: in.Shape, Data: make([]float64, dataflow.Shape(in.Shape).ElementCount())}}
		for i := range x[0].Data {
			x[0].Data[i] = float64(r.IntN(9))
		}
		tensors, err := im.NewAllTensorsRunner()(x)
		if err != nil {
			t.Fatal(err)
		}
		_, streams := run(t, im.Model, x)
		for _, c := range im.StreamedTensors() {
			want, known := tensors[c.Name]
			for i, q := range c.Integers(streams[c.Stream].Data) {
				if known && c.Scale[i]*float64(q)+c.Bias[i] != want.Data[i] {
					t.Fatalf("element %d of %q is %v*%d + %v, want %v", i, c.Name, c.Scale[i], q, c.Bias[i],
						want.Data[i])
				}
			}
		}
	}
}

// TestRandomLabels draws heads: scales and biases with a chance to be alike, and orders of every kind.
func TestRandomLabels(t *testing.T) {
	t.Parallel()
	selected := 0
	const networks = 80
	for seed := range networks {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		pick := func(v ...float64) float64 { return v[r.IntN(len(v))] }
		vector := func(size int, from ...float64) []float64 {
			v := make([]float64, size)
			for i := range v {
				v[i] = pick(from...)
			}
			return v
		}
		n := newNet(13)
		labels := 1 + r.IntN(7)
		n.input(1, 2, 3).
			op("MatMul", "h", "q", n.c([]int{3, labels}, vector(3*labels, -4, -2, -1, 0, 0, 1, 2, 3, 6)...)).
			op("Mul", "m", "h", n.c([]int{labels}, vector(labels,
				[][]float64{{0.3}, {-0.7}, {0.5, 2}, {-1, 1}, {0.1, 0.7}, {0, 1}}[r.IntN(6)]...)...)).
			op("Add", "a", "m", n.c([]int{labels}, vector(labels, [][]float64{{0}, {-3.3}, {0.1, 1}}[r.IntN(3)]...)...))
		x := "a"
		if r.IntN(2) == 0 {
			ops := []string{"Softmax", "LogSoftmax", "Sigmoid", "Tanh", "Softplus", "Neg", "Elu", "Relu"}
			n.op(ops[r.IntN(len(ops))], "s", "a")
			x = "s"
		}
		if r.IntN(2) == 0 {
			k := 1 + r.IntN(labels)
			n.top(x, float64(k)).Int("largest", int64(r.IntN(2)))
			n.indices(1, 2, k)
		} else {
			n.arg([]string{"ArgMax", "ArgMin"}[r.IntN(2)], x).Int("select_last_index", int64(r.IntN(2)))
			n.indices(1, 2, 1)
		}
		if r.IntN(2) == 0 {
			n.Prune(r)
		}
		im, found := imported(t, n, frontend.Options{})
		if im.Model == nil {
			t.Fatalf("seed %d: %v", seed, found)
		}
		if len(im.Model.Graph.Nodes) == 2 {
			selected++
		}
		agree(t, im.Model, 20)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if selected < networks/4 || selected > networks*3/4 {
		t.Errorf("a layer selects the labels in %d of %d networks", selected, networks)
	}
}
