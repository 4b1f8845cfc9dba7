package frontend_test

import (
	"math"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// TestInfinities checks the effect of infinite masks and bounds, behind the last code and in front of the first. It
// runs the model as written, on the host, and in float64 where nothing is decided.
func TestInfinities(t *testing.T) {
	t.Parallel()
	inf := math.Inf(1)
	mask := func(n *net) string { return n.c([]int{1, 4}, 0, -inf, 0, -inf) }
	for name, c := range map[string]struct {
		of      func(n *net, x string) string
		passes  func(x v) v // nil: what the others give, alone
		refused bool
	}{
		"mask in front of a softmax": {of: func(n *net, x string) string {
			n.op("Add", "a", x, mask(n)).op("Softmax", "y", "a")
			return "y"
		}, passes: func(x v) v {
			a, b := math.Exp(x[0]), math.Exp(x[2])
			return v{a / (a + b), 0, b / (a + b), 0}
		}},
		"its logarithm": {of: func(n *net, x string) string {
			n.op("Add", "a", x, mask(n)).op("LogSoftmax", "l", "a").op("Max", "y", "l", n.s(-5))
			return "y"
		}, passes: func(x v) v {
			sum := math.Log(math.Exp(x[0]) + math.Exp(x[2]))
			return v{max(x[0]-sum, -5), -5, max(x[2]-sum, -5), -5}
		}},
		"chosen": {of: func(n *net, x string) string {
			n.op("Greater", "c", x, n.s(0.3)).op("Where", "w", "c", x, n.s(-inf)).op("Max", "y", "w", n.s(-2))
			return "y"
		}, passes: func(x v) v {
			y := v{-2, -2, -2, -2}
			for i, a := range x {
				if a > float64(float32(0.3)) {
					y[i] = a
				}
			}
			return y
		}},
		"chosen in front of a softmax": {of: func(n *net, x string) string {
			n.op("ReduceMean", "mean", x).op("GreaterOrEqual", "c", x, "mean")
			n.op("Where", "w", "c", x, n.s(-inf)).op("Softmax", "y", "w")
			return "y"
		}},
		"an end": {of: func(n *net, x string) string {
			n.op("Greater", "c", x, n.s(0.3)).op("Where", "y", "c", n.s(inf), x)
			return "y"
		}, passes: func(x v) v {
			y := v{0, 0, 0, 0}
			for i, a := range x {
				if y[i] = a; a > float64(float32(0.3)) {
					y[i] = inf
				}
			}
			return y
		}},
		"told": {of: func(n *net, x string) string {
			n.op("Less", "c", x, n.s(0)).op("Where", "w", "c", n.s(-inf), x).op("IsInf", "i", "w").
				op("Cast", "y", "i").Int("to", 1)
			return "y"
		}, passes: func(x v) v {
			y := v{0, 0, 0, 0}
			for i, a := range x {
				if a < 0 {
					y[i] = 1
				}
			}
			return y
		}},
		"the greatest": {of: func(n *net, x string) string {
			n.op("Add", "a", x, mask(n)).op("ReduceMax", "y", "a", n.i(1))
			return "y"
		}, passes: func(x v) v { return v{max(x[0], x[2])} }},
		"bounds of elements": {of: func(n *net, x string) string {
			n.op("Max", "a", x, mask(n)).op("Min", "y", "a", n.c([]int{4}, inf, 1, inf, 1))
			return "y"
		}, passes: func(x v) v { return v{max(x[0], 0), min(x[1], 1), max(x[2], 0), min(x[3], 1)} }},
		"clipped": {of: func(n *net, x string) string {
			n.op("Clip", "y", x, n.s(-inf), n.s(inf))
			return "y"
		}, passes: func(x v) v { return x }},
		"clipped to nothing": {of: func(n *net, x string) string {
			n.op("Clip", "a", x, n.s(inf)).op("Neg", "b", "a").op("Exp", "e", "b").op("Add", "y", "e", x)
			return "y"
		}, passes: func(x v) v { return x }},
		"curves": {of: func(n *net, x string) string {
			n.op("Sub", "a", x, mask(n)).op("Sigmoid", "c1", "a").op("Tanh", "c2", "a").op("Neg", "b", "a")
			n.op("Softplus", "c3", "b").op("Concat", "y", "c1", "c2", "c3").Int("axis", 1)
			return "y"
		}, passes: func(x v) v {
			s := func(a float64) float64 { return 1 / (1 + math.Exp(-a)) }
			p := func(a float64) float64 { return math.Log1p(math.Exp(-a)) }
			return v{s(x[0]), 1, s(x[2]), 1, math.Tanh(x[0]), 1, math.Tanh(x[2]), 1, p(x[0]), 0, p(x[2]), 0}
		}},
		"a mask over a diagonal": {of: func(n *net, x string) string {
			n.Init("full", graph.DTypeFloat32, []int{4, 4}, -inf, -inf, -inf, -inf, -inf, -inf, -inf, -inf, -inf, -inf,
				-inf,
				-inf, -inf, -inf, -inf, -inf)
			n.op("Trilu", "upper", "full", n.i0(1)).op("Add", "a", x, "upper").op("Softmax", "y", "a")
			return "y"
		}},
		"infinity less infinity": {of: func(n *net, x string) string {
			n.op("Add", "a", x, mask(n)).op("Sub", "y", "a", "a")
			return "y"
		}, refused: true},
		"a product": {of: func(n *net, x string) string {
			n.op("Add", "a", x, mask(n)).op("Mul", "y", "a", x)
			return "y"
		}, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			alone := newNet(20).Input("x", graph.DTypeFloat32, 1, 4)
			alone.Output(c.of(alone, "x"), graph.DTypeFloat32)
			values(t, alone, c.passes, c.refused)
			behind := newNet(20).input(1, 3).dense()
			behind.op("Mul", "s", "h", behind.s(0.3)).Output(c.of(behind, "s"), graph.DTypeFloat32)
			front := newNet(20).Input("x", graph.DTypeFloat32, 1, 4)
			y := c.of(front, "x")
			front.quant(y, "q", front.s(0.125), 0, 6, 1).op("ReduceSum", "sum", "q", front.i(0))
			front.op("Reshape", "line", "sum", front.i(1, -1)).Output("line", graph.DTypeFloat32)
			for _, n := range []*net{behind, front} {
				im, found := imported(t, n, frontend.Options{})
				switch {
				case im.Model == nil && !c.refused:
					t.Errorf("%v", found)
				case im.Model != nil && !c.refused:
					agree(t, im.Model, 8)
					compareHost(t, im.Model, false)
				}
			}
		})
	}
}

// i0 is a constant integer without axes.
func (n *net) i0(v float64) string {
	name := n.name()
	n.Init(name, graph.DTypeInt64, nil, v)
	return name
}

// values checks the values of a model without layers.
func values(t *testing.T, n *net, want func(x v) v, refused bool) {
	t.Helper()
	var d diag.List
	im := frontend.ImportForReference("m", n.Bytes(), frontend.Options{}, &d)
	if im.Model == nil {
		if !refused {
			t.Error(d.Diags)
		}
		return
	}
	for _, x := range []v{{0.5, 0.25, -1, 3}, {0.3, -2, 0, 0}, {-7, 1e30, 0.125, -0.75}, {1, 1, 1, 1}} {
		in := []dataflow.RealTensor{{Shape: []int{1, 4}, Data: x}}
		exact, err := im.Model.Reference(in)
		if (err != nil) != refused {
			t.Fatalf("%v: %v", x, err)
		}
		if err != nil {
			continue
		}
		all := []v{exact[0].Data}
		if im.Model.Float != nil {
			float, err := im.Model.Float(in)
			if err != nil {
				t.Fatalf("%v in float64: %v", x, err)
			}
			all = append(all, float[0].Data)
		}
		for _, got := range all {
			to := all[0]
			if want != nil {
				to = want(x)
			}
			for i := range to {
				if away := math.Abs(got[i] - to[i]); got[i] != to[i] && !(away < 1e-6*math.Max(1, math.Abs(to[i]))) {
					t.Errorf("%v: %v, want %v", x, got, to)
				}
			}
		}
	}
}
