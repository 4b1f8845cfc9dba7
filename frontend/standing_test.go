package frontend_test

import (
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/hlslib"
	"hlsgen/internal/dataflow"
)

// placed writes an operator between codes q, of shape [1, 2, 4, 4] and from 0 to 7.5, and a quantiser behind y. Those
// without a row here are a node of one input.
var placed = map[string]func(n *net){
	"Acosh":      func(n *net) { n.op("Add", "a", "q", n.s(1)).op("Acosh", "y", "a") },
	"Log":        func(n *net) { n.op("Add", "a", "q", n.s(1)).op("Log", "y", "a") },
	"Reciprocal": func(n *net) { n.op("Add", "a", "q", n.s(1)).op("Reciprocal", "y", "a") },
	"Acos":       func(n *net) { n.op("Mul", "a", "q", n.s(0.1)).op("Acos", "y", "a") },
	"Asin":       func(n *net) { n.op("Mul", "a", "q", n.s(0.1)).op("Asin", "y", "a") },
	"Atanh":      func(n *net) { n.op("Mul", "a", "q", n.s(0.1)).op("Atanh", "y", "a") },
	"Clip":       func(n *net) { n.op("Clip", "y", "q", n.s(1), n.s(5.25)) },
	"Pow":        func(n *net) { n.op("Pow", "y", "q", n.s(2)) },
	"PRelu":      func(n *net) { n.op("Sub", "a", "q", n.s(2)).op("PRelu", "y", "a", n.s(0.3)) },
	"Mod":        func(n *net) { n.op("Mod", "y", "q", n.s(2)).Int("fmod", 1) },
	"Max":        func(n *net) { n.op("Max", "y", "q", n.s(1.25)) },
	"Min":        func(n *net) { n.op("Min", "y", "q", n.s(1.25)) },
	"Concat":     func(n *net) { n.op("Concat", "y", "q", "q").Int("axis", 1) },
	"DepthToSpace": func(n *net) {
		n.op("Concat", "a", "q", "q").Int("axis", 1).op("DepthToSpace", "y", "a").Int("blocksize", 2)
	},
	"SpaceToDepth": func(n *net) { n.op("SpaceToDepth", "y", "q").Int("blocksize", 2) },
	"Expand":       func(n *net) { n.op("Expand", "y", "q", n.i(1, 2, 4, 4)) },
	"Gather":       func(n *net) { n.op("Gather", "y", "q", n.i(1, 0)).Int("axis", 1) },
	"Pad":          func(n *net) { n.op("Pad", "y", "q", n.i(0, 0, 1, 0, 0, 0, 0, 1)) },
	"Reshape":      func(n *net) { n.op("Reshape", "y", "q", n.i(1, 4, 2, 4)) },
	"Resize":       func(n *net) { n.op("Resize", "y", "q", "", n.c([]int{4}, 1, 1, 2, 2)).asNearest() },
	"Slice":        func(n *net) { n.op("Slice", "y", "q", n.i(1), n.i(3), n.i(2)) },
	"Split":        func(n *net) { n.op("Split", "y", "q").Int("axis", 1).Int("num_outputs", 2).last.Out("y", "y2") },
	"Squeeze":      func(n *net) { n.op("Squeeze", "y", "q", n.i(0)) },
	"Unsqueeze":    func(n *net) { n.op("Unsqueeze", "y", "q", n.i(0)) },
	"Tile":         func(n *net) { n.op("Tile", "y", "q", n.i(1, 1, 2, 1)) },
	"Transpose":    func(n *net) { n.op("Transpose", "y", "q").Ints("perm", 0, 2, 3, 1) },
	"Upsample":     func(n *net) { n.op("Resize", "y", "q", "", n.c([]int{4}, 1, 1, 2, 2)).asNearest() },
	"Cast":         func(n *net) { n.op("Cast", "y", "q").Int("to", int64(graph.DTypeInt32)) },
	"CastLike": func(n *net) {
		n.Init("i", graph.DTypeInt32, nil, 0).op("CastLike", "y", "q", "i")
	},
	"OneHot": func(n *net) { n.op("OneHot", "y", "q", n.s(3), n.c([]int{2}, 0.5, 2)) },
	"BitwiseNot": func(n *net) {
		n.op("Cast", "i", "q").Int("to", int64(graph.DTypeInt32)).op("BitwiseNot", "b", "i")
		n.op("Cast", "y", "b").Int("to", int64(graph.DTypeFloat32))
	},
	"And": truth("And"), "Or": truth("Or"), "Xor": truth("Xor"), "Not": truth("Not"), "Where": truth("Where"),
	"Equal": compare("Equal"), "Greater": compare("Greater"), "GreaterOrEqual": compare("GreaterOrEqual"),
	"Less": compare("Less"), "LessOrEqual": compare("LessOrEqual"),
	"IsNaN": func(n *net) { number(n, "IsNaN", "q") }, "IsInf": func(n *net) { number(n, "IsInf", "q") },

	"Add": twice("Add"), "Sub": twice("Sub"), "Mul": twice("Mul"), "Sum": twice("Sum"), "Mean": twice("Mean"),
	"Div": func(n *net) { n.op("Div", "y", "q", n.s(3)) },
	"BatchNormalization": func(n *net) {
		n.norm("q", "y", v{1, 2}, v{0, 1}, v{0.5, 0.25}, v{1, 2})
	},

	"AveragePool": pool("AveragePool", 3), "MaxPool": pool("MaxPool", 2),
	"ReduceMax": over("ReduceMax"), "ReduceMean": over("ReduceMean"), "ReduceMin": over("ReduceMin"),
	"ReduceSum": over("ReduceSum"),

	"Conv":          func(n *net) { n.op("Conv", "y", "q", n.c([]int{2, 2, 1, 1}, 1, -2, 3, 1)) },
	"ConvTranspose": func(n *net) { n.op("ConvTranspose", "y", "q", n.c([]int{2, 2, 1, 1}, 1, -2, 3, 1)) },
	"MatMul":        func(n *net) { n.op("MatMul", "y", "q", n.c([]int{4, 2}, 1, 2, 3, -1, 2, 1, 0, 1)) },
	"Gemm": func(n *net) {
		n.op("Flatten", "f", "q").op("Gemm", "y", "f", n.c([]int{32, 1}, slices.Repeat([]float64{1, -2}, 16)...))
	},
}

// asNearest makes the last node, a Resize, repeat pixels.
func (n *net) asNearest() {
	n.last.Str("mode", "nearest").Str("coordinate_transformation_mode", "asymmetric").Str("nearest_mode", "floor")
}

// compare compares codes with a number.
func compare(op string) func(n *net) {
	return func(n *net) { number(n, op, "q", n.s(2)) }
}

// number writes a node that gives truth, and a number of it.
func number(n *net, op string, in ...string) {
	n.op(op, "t", in...).op("Cast", "y", "t").Int("to", int64(graph.DTypeFloat32))
}

func truth(op string) func(n *net) {
	return func(n *net) {
		n.op("Greater", "g", "q", n.s(1)).op("Less", "l", "q", n.s(4))
		switch op {
		case "Not":
			number(n, op, "g")
		case "Where":
			n.op("Where", "y", "g", n.s(2), "q")
		default:
			number(n, op, "g", "l")
		}
	}
}

// twice has codes of two quantisers.
func twice(op string) func(n *net) {
	return func(n *net) { n.quant("x", "p", n.s(1), 0, 4, 0).op(op, "y", "q", "p") }
}

func pool(op string, k int64) func(n *net) {
	return func(n *net) { n.op(op, "y", "q").Ints("kernel_shape", k, k) }
}

func over(op string) func(n *net) {
	return func(n *net) {
		n.op(op, "y", "q", n.i(2, 3))
	}
}

// TestStandings has operators between quantisers computed by the layers that the list of operators names.
func TestStandings(t *testing.T) {
	t.Parallel()
	list, _ := operators.SupportEntriesOf("", operators.SupportedOperators(""))
	tried := 0
	for _, s := range list {
		named := strings.FieldsFunc(s.How, func(r rune) bool { return strings.ContainsRune(" ,;()", r) })
		apart := slices.Contains(named, "RNN") || slices.Contains(named, "LabelSelect")
		if !slices.ContainsFunc(named, isLayer) || apart {
			continue // these have tests of their own, and the others no layer
		}
		for _, op := range s.Ops {
			if strings.HasPrefix(op, "QLinear") || strings.HasSuffix(op, "Integer") {
				continue // written out in others
			}
			n := newNet(24).Input("x", graph.DTypeFloat32, 1, 2, 4, 4)
			n.quant("x", "q", n.s(0.5), 0, 4, 0)
			if write := placed[op]; write != nil {
				write(n)
			} else {
				n.op(op, "y", "q")
			}
			n.op("Cast", "real", "y").Int("to", int64(graph.DTypeFloat32))
			n.quant("real", "c", n.s(0.75), 1, 3, 1).Output("c", graph.DTypeFloat32)
			im, d := imported(t, n, frontend.Options{})
			if im.Model == nil {
				t.Errorf("%s: %v", op, d)
				continue
			}
			tried++
			for _, kind := range strings.Fields(kinds(im)) {
				if !slices.Contains(named, kind) && kind != "Thresholding" && kind != "DuplicateStreams" {
					t.Errorf("%s is computed by %s, which is not among: %s", op, kinds(im), s.How)
				}
			}
		}
	}
	if tried < 90 {
		t.Errorf("%d operators were tried", tried)
	}
}

func isLayer(name string) bool {
	return slices.ContainsFunc(hlslib.LayerKinds, func(k dataflow.LayerKind) bool { return k.Name == name })
}
