package frontend_test

import (
	"slices"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/internal/testsupport/tier"
)

// An ending puts an operator on a tensor of shape 2 by 4, and names the result.
type ending func(n *net, x string) (y string)

// endings returns, for each operator that the host computes, a node with it as files have it. Operators that only read
// constants have none, and neither have those that are first replaced by others.
func endings() map[string]ending {
	one := func(op string) ending {
		return func(n *net, x string) string { n.op(op, "y", x); return "y" }
	}
	set := func(op string, set func(n *net), in ...func(n *net) string) ending {
		return func(n *net, x string) string {
			names := []string{x}
			for _, make := range in {
				names = append(names, make(n))
			}
			n.op(op, "y", names...)
			if set != nil {
				set(n)
			}
			return "y"
		}
	}
	number := func(v float64) func(n *net) string { return func(n *net) string { return n.s(v) } }
	ints := func(v ...float64) func(n *net) string { return func(n *net) string { return n.i(v...) } }
	row := func(v ...float64) func(n *net) string { return func(n *net) string { return n.c([]int{len(v)}, v...) } }
	kernel := func(outputs, inputs int) func(n *net) string {
		return func(n *net) string { return n.c([]int{outputs, inputs, 2, 2}, 1, 2, -3, 4, 0.5, 6, 7, -8) }
	}
	image := func(next ending) ending {
		return func(n *net, x string) string {
			n.op("Reshape", "image", x, n.i(1, 2, 2, 2))
			return next(n, "image")
		}
	}
	bounded := func(next ending) ending { // to within -1/2 and 1/2
		return func(n *net, x string) string {
			n.op("Clip", "bounded", x, n.s(-0.5), n.s(0.5))
			return next(n, "bounded")
		}
	}
	above := func(next ending) ending { // at least 3/2
		return func(n *net, x string) string {
			n.op("Abs", "size", x).op("Add", "above", "size", n.s(1.5))
			return next(n, "above")
		}
	}
	numbers := func(next ending) ending { // 0 and 1 behind what is true and false
		return func(n *net, x string) string {
			n.op("Cast", "z", next(n, x)).Int("to", 1)
			return "z"
		}
	}
	logic := func(op string) ending {
		return numbers(func(n *net, x string) string {
			n.op("Greater", "a", x, n.s(0.1)).op("Less", "b", x, n.s(0.7)).op(op, "y", "a", "b")
			return "y"
		})
	}
	axis := func(k int64) func(n *net) { return func(n *net) { n.Int("axis", k) } }
	list := map[string]ending{
		"ArgMax": set("ArgMax", axis(1)), "ArgMin": set("ArgMin", axis(1)),
		"TopK": set("TopK", nil, ints(2)),
		"BatchNormalization": func(n *net, x string) string {
			four := v{1.5, 0.3, -0.7, 2}
			n.norm(x, "y", four, v{0, 1, 0.1, 0.2}, four, v{1, 2, 3, 0.5})
			return "y"
		},
		"Cast":     set("Cast", func(n *net) { n.Int("to", int64(graph.DTypeInt32)) }),
		"CastLike": set("CastLike", nil, ints(1)),
		"Clip":     set("Clip", nil, number(-0.4), number(0.9)),
		"Concat": func(n *net, x string) string {
			n.op("Concat", "y", x, n.c([]int{1, 4}, 1, 2, 3, 4), x).Int("axis", 0)
			return "y"
		},
		"Conv":          image(set("Conv", nil, kernel(1, 2))),
		"ConvTranspose": image(set("ConvTranspose", nil, kernel(2, 1))),
		"MaxPool":       image(set("MaxPool", func(n *net) { n.Ints("kernel_shape", 2, 2) })),
		"AveragePool":   image(set("AveragePool", func(n *net) { n.Ints("kernel_shape", 2, 2) })),
		"GlobalMaxPool": image(one("GlobalMaxPool")), "GlobalAveragePool": image(one("GlobalAveragePool")),
		"DepthToSpace": func(n *net, x string) string {
			n.op("Reshape", "image", x, n.i(1, 8, 1, 1)).op("DepthToSpace", "y", "image").Int("blocksize", 2)
			return "y"
		},
		"SpaceToDepth": image(set("SpaceToDepth", func(n *net) { n.Int("blocksize", 2) })),
		"Resize": image(func(n *net, x string) string {
			n.op("Resize", "y", x, "", n.c([]int{4}, 1, 1, 2, 2))
			return "y"
		}),
		"Upsample": nil, // until opset 9
		"Div":      set("Div", nil, row(1, -2, 3, 0.7)), "Mul": set("Mul", nil, row(1, -2, 3, 0.7)),
		"Add": set("Add", nil, row(1, -2, 3, 0.7)), "Sub": set("Sub", nil, row(1, -2, 3, 0.7)),
		"Sum": set("Sum", nil, row(1, -2, 3, 0.7)), "Mean": set("Mean", nil, row(1, -2, 3, 0.7)),
		"Max": set("Max", nil, row(1, -2, 3, 0.7)), "Min": set("Min", nil, row(1, -2, 3, 0.7)),
		"Mod": set("Mod", func(n *net) { n.Int("fmod", 1) }, row(1, 2, 3, 0.75)),
		"Pow": set("Pow", nil, number(3)), "PRelu": set("PRelu", nil, row(0.1, 0.2, 0.3, 0.4)),
		"Expand": set("Expand", nil, ints(3, 2, 4)), "Tile": set("Tile", nil, ints(2, 1)),
		"Dropout": one("Dropout"), "Flatten": one("Flatten"), "Identity": one("Identity"),
		"Gather":  set("Gather", axis(1), ints(3, 0, 0)),
		"Gemm":    set("Gemm", nil, func(n *net) string { return n.c([]int{4, 3}, weights...) }, row(1, 2, 3)),
		"OneHot":  set("OneHot", nil, number(3), func(n *net) string { return n.c([]int{2}, 0.5, 2) }),
		"MatMul":  set("MatMul", nil, func(n *net) string { return n.c([]int{4, 3}, weights...) }),
		"Pad":     set("Pad", nil, ints(0, 1, 0, 2), number(0.3)),
		"Reshape": set("Reshape", nil, ints(4, 2)), "Squeeze": func(n *net, x string) string {
			n.op("Unsqueeze", "wide", x, n.i(0)).op("Squeeze", "y", "wide", n.i(0))
			return "y"
		},
		"Unsqueeze": set("Unsqueeze", nil, ints(0)), "Transpose": one("Transpose"),
		"Slice": set("Slice", nil, ints(1), ints(4), ints(1)), "Split": func(n *net, x string) string {
			n.op("Split", "y", x).Int("axis", 1)
			n.last.Out("y", "rest")
			return "rest"
		},
		"Trilu": one("Trilu"),
		"Where": func(n *net, x string) string {
			n.op("Greater", "condition", x, n.s(0.2)).op("Where", "y", "condition", x, n.s(-3))
			return "y"
		},
		"Equal": numbers(set("Equal", nil, number(0))), "Greater": numbers(set("Greater", nil, number(0.2))),
		"GreaterOrEqual": numbers(set("GreaterOrEqual", nil, number(0.2))),
		"Less":           numbers(set("Less", nil, number(0.2))),
		"LessOrEqual":    numbers(set("LessOrEqual", nil, number(0.2))),
		"And":            logic("And"), "Or": logic("Or"), "Xor": logic("Xor"),
		"Not": numbers(func(n *net, x string) string {
			n.op("Greater", "a", x, n.s(0.1)).op("Not", "y", "a")
			return "y"
		}),
		"IsInf": numbers(one("IsInf")), "IsNaN": numbers(one("IsNaN")),
		"BitwiseNot": func(n *net, x string) string {
			n.op("Cast", "whole", x).Int("to", int64(graph.DTypeInt32)).op("BitwiseNot", "y", "whole")
			return "y"
		},
		"Acos": bounded(one("Acos")), "Asin": bounded(one("Asin")), "Atanh": bounded(one("Atanh")),
		"Tan": bounded(one("Tan")), "Acosh": above(one("Acosh")), "Log": above(one("Log")), "Sqrt": above(one("Sqrt")),
		"Reciprocal": above(one("Reciprocal")), "ReduceLogSum": above(one("ReduceLogSum")),
		"QuantizeLinear": func(n *net, x string) string {
			n.Init("code", graph.DTypeInt8, nil, 1).op("QuantizeLinear", "c", x, n.s(0.25), "code")
			n.op("DequantizeLinear", "y", "c", n.s(0.25), "code")
			return "y"
		},
		"RequantShift": nil, // its codes are the device's
	}
	list["DequantizeLinear"] = list["QuantizeLinear"]
	for _, op := range []string{"Abs", "Asinh", "Atan", "Ceil", "Celu", "Cos", "Cosh", "Elu", "Erf", "Exp", "Floor",
		"Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "LogSoftmax", "Mish", "Neg", "Relu", "Round", "Selu", "Shrink",
		"Sigmoid", "Sign", "Sin", "Sinh", "Softmax", "Softplus", "Softsign", "Swish", "Tanh", "ThresholdedRelu",
		"ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum",
		"ReduceSumSquare"} {
		list[op] = one(op)
	}
	return list
}

// unended lists the operators without an ending, with the reason.
var unended = []string{
	"Constant", "ConstantOfShape", "NonZero", "Range", "Shape", "Size", // constants
	"If", "Loop", "Scan", "GRU", "LSTM", "RNN", // written out, or layers
	"ConvInteger", "MatMulInteger", "QLinearConv", "QLinearMatMul", // of codes
}

// cutOff lists products with weights of the file, which need a layer. Where no layer has them, the message names the
// place to cut.
var cutOff = []string{"Conv", "ConvTranspose"}

// TestBehindTheLastCode puts every operator on numbers behind the last layer, and in front of the first one. The model
// must map, and its engines must agree.
func TestBehindTheLastCode(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	list := endings()
	for _, op := range operators.SupportedOperators("") {
		if _, ok := list[op]; !ok && !slices.Contains(unended, op) {
			t.Errorf("%s has no ending", op)
		}
	}
	for op, ends := range list {
		if ends == nil {
			continue
		}
		opset := int64(20)
		t.Run("behind/"+op, func(t *testing.T) {
			t.Parallel()
			n := newNet(opset).input(2, 3).dense()
			n.op("Mul", "s", "h", n.s(0.3))
			endsAgree(t, n, op, ends(n, "s"), false)
		})
		t.Run("front/"+op, func(t *testing.T) {
			t.Parallel()
			n := newNet(opset).Input("x", graph.DTypeFloat32, 2, 4)
			y := ends(n, "x")
			n.op("Cast", "number", y).Int("to", 1).op("Reshape", "line", "number", n.i(1, -1))
			n.quant("line", "q", n.s(0.125), 0, 6, 1)
			n.op("ReduceSum", "total", "q", n.i(1)).op("MatMul", "out", "total", n.c([]int{1, 2}, 3, -2))
			endsAgree(t, n, op, "out", true)
		})
	}
}

func endsAgree(t *testing.T, n *net, op, out string, front bool) {
	t.Helper()
	n.op("Cast", "number of it", out).Int("to", 1).Output("number of it", graph.DTypeFloat32)
	im, found := imported(t, n, frontend.Options{})
	if im.Model == nil && !front && slices.Contains(cutOff, op) {
		opt := frontend.Options{Outputs: frontend.FindModelCut("model.onnx", n.Bytes(), frontend.Options{},
			im.Fates).Outputs}
		im, found = imported(t, n, opt)
	}
	if im.Model == nil {
		t.Fatal(found)
	}
	agree(t, im.Model, 6)
	compareHost(t, im.Model, false)
	h := im.Model.Host()
	if h.Begins != nil && h.Before.ONNX == nil || h.Ends != nil && h.After.ONNX == nil {
		t.Errorf("a driver cannot compute %v or %v", im.Model.Prefix.Nodes, im.Model.Suffix.Nodes)
	}
}

// TestQuantisedEnd checks that the host computes quantisers behind a last function without a layer, as onnxruntime's
// static quantiser writes them: behind a last softmax, and behind nodes that only move its codes.
func TestQuantisedEnd(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for name, ends := range map[string]func(n *net, coded func(x, y string, scale float64)){
		"softmax": func(n *net, coded func(x, y string, scale float64)) {
			n.op("Softmax", "s", "hc")
			coded("s", "y", 1.0/256)
		},
		"softmax, reshaped": func(n *net, coded func(x, y string, scale float64)) {
			n.op("Softmax", "s", "hc")
			coded("s", "sc", 1.0/256)
			n.op("Reshape", "r", "sc", n.i(-1, 2, 2))
			coded("r", "y", 1.0/256)
		},
		"softmax, added": func(n *net, coded func(x, y string, scale float64)) {
			n.op("Softmax", "s", "hc")
			coded("s", "sc", 1.0/256)
			n.op("Add", "a", "sc", "hc")
			coded("a", "y", 0.03)
		},
		"softmax of 300": func(n *net, coded func(x, y string, scale float64)) {
			n.op("Tile", "long", "hc", n.i(1, 75)).op("Softmax", "s", "long")
			coded("s", "y", 1.0/256)
		},
		"divided by the sum": func(n *net, coded func(x, y string, scale float64)) {
			n.op("Exp", "e", "hc").op("ReduceSum", "total", "e", n.i(1)).op("Div", "d", "e", "total")
			coded("d", "dc", 1.0/128)
			n.op("Transpose", "turned", "dc")
			coded("turned", "y", 1.0/128)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNet(13).Input("x", graph.DTypeFloat32, 1, 3)
			coded := func(x, y string, scale float64) {
				n.Init(y+"z", graph.DTypeUInt8, nil, 128)
				n.op("QuantizeLinear", y+"q", x, n.s(scale), y+"z")
				n.op("DequantizeLinear", y, y+"q", n.s(scale), y+"z")
			}
			coded("x", "xc", 0.04)
			n.Init("w", graph.DTypeInt8, []int{3, 4}, weights...).op("DequantizeLinear", "wr", "w", n.s(0.07))
			n.op("MatMul", "h", "xc", "wr")
			coded("h", "hc", 0.05)
			ends(n, coded)
			n.Output("y", graph.DTypeFloat32)
			im, found := imported(t, n, frontend.Options{})
			if im.Model == nil {
				t.Fatal(found)
			}
			if got := kinds(im); got != "MVAU" && got != "MVAU Requantization" {
				t.Errorf("the layers are %s", got)
			}
			agree(t, im.Model, 20)
			compareHost(t, im.Model, false)
		})
	}
}
