package frontend_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/onnxtest"
)

// layersOf are the layers of a model, without names; why it has none.
func layersOf(t *testing.T, file []byte, opt frontend.Options) (layers string, found []diag.Diag) {
	t.Helper()
	var d diag.List
	im, err := frontend.Import("model.onnx", file, opt, &d)
	if err != nil {
		t.Fatal(err)
	}
	if im.Model == nil {
		return "", d.Diags
	}
	var text strings.Builder
	for _, n := range im.Model.Graph.Nodes {
		fmt.Fprintf(&text, "%s %v %v %+v\n", n.Op.Kind(), n.In, n.Out, n.Op.Params())
	}
	return pointers.ReplaceAllString(text.String(), "pointer"), d.Diags
}

var pointers = regexp.MustCompile(`0x[0-9a-f]+`)

// branchNet writes a model with codes of x, a choice between the functions Relu and Neg, and a product of the result.
func branchNet(choose func(n *net)) []byte {
	n := newNet(18).Input("x", graph.DTypeFloat32, 1, 3)
	n.Init("yes", graph.DTypeBool, nil, 1).Init("no", graph.DTypeBool, nil, 0)
	n.quant("x", "q", n.s(0.5), 0, 4, 1)
	choose(n)
	n.op("MatMul", "y", "c", n.c([]int{3, 2}, 1, -2, 3, 1, 2, -1)).output(1, 2)
	return n.Bytes()
}

// arm is a branch of one node that reads the tensors around it.
func arm(op string, in ...string) *onnxtest.Model {
	m := onnxtest.New(0).Output("out", graph.DTypeFloat32)
	m.Node(op, in...).Out("out")
	return m
}

// chosen are choices that take the branch of the Relu.
var chosen = []struct {
	name string
	make func(n *net)
}{
	{"a constant", func(n *net) {
		n.Node("If", "yes").Graph("then_branch", arm("Relu", "q")).Graph("else_branch", arm("Neg", "q")).Out("c")
	}},
	{"the other branch, of a node that is a constant", func(n *net) {
		n.Node("Constant").Tensor("value", graph.DTypeBool, []int{1}, 0).Out("k")
		n.Node("If", "k").Graph("then_branch", arm("Neg", "q")).Graph("else_branch", arm("Relu", "q")).Out("c")
	}},
	{"computed of shapes", func(n *net) {
		n.op("Shape", "shape", "q").op("Gather", "axis", "shape", n.i(1)).op("Equal", "three", "axis", n.i(3))
		n.Node("If", "three").Graph("then_branch", arm("Relu", "q")).Graph("else_branch", arm("NonZero", "q")).Out("c")
	}},
	{"in another, with names that both have", func(n *net) {
		inner := onnxtest.New(0).Output("t", graph.DTypeFloat32)
		inner.Node("Identity", "q").Out("k")
		inner.Node("Relu", "k").Out("t")
		outer := onnxtest.New(0).Output("out", graph.DTypeFloat32)
		outer.Node("Not", "no").Out("k")
		outer.Node("If", "k").Graph("then_branch", inner).Graph("else_branch", arm("Neg", "q")).Out("t")
		outer.Node("Identity", "t").Out("out")
		n.Node("If", "yes").Graph("then_branch", outer).Graph("else_branch", arm("Neg", "q")).Out("c")
	}},
	{"a tensor from around it", func(n *net) {
		n.op("Relu", "r", "q")
		outside := onnxtest.New(0).Output("r", graph.DTypeFloat32)
		n.Node("If", "yes").Graph("then_branch", outside).Graph("else_branch", arm("Neg", "q")).Out("c")
	}},
	{"one tensor twice, of which one is read", func(n *net) {
		branch := onnxtest.New(0).Output("out", graph.DTypeFloat32).Output("out", graph.DTypeFloat32)
		branch.Init("zero", graph.DTypeFloat32, nil, 0).Node("Max", "q", "zero").Out("out")
		n.Node("If", "yes").Graph("then_branch", branch).Graph("else_branch", branch).Out("a", "c")
	}},
	{"in a function, by one of its inputs", func(n *net) {
		f := onnxtest.New(0)
		f.Node("If", "when").Graph("then_branch", arm("Relu", "a")).Graph("else_branch", arm("Neg", "a")).Out("b")
		n.Function("own", "F", "a when", "b", f)
		n.Opset("own", 1).Node("F", "q", "no").Domain("own").Out("s")
		n.Node("F", "q", "yes").Domain("own").Out("c")
	}},
	{"in a function, by one of its attributes", func(n *net) {
		f := onnxtest.New(0)
		k := f.Node("Constant").Int("value_int", 0)
		k.Proto.Attribute[0].RefAttrName = new("when")
		k.Out("k")
		f.Node("Cast", "k").Int("to", int64(graph.DTypeBool)).Out("when")
		f.Node("If", "when").Graph("then_branch", arm("Relu", "a")).Graph("else_branch", arm("Neg", "a")).Out("b")
		n.Function("own", "F", "a", "b", f).Attribute = []string{"when"}
		n.Opset("own", 1).Node("F", "q").Domain("own").Int("when", 1).Out("c")
	}},
	{"a branch that calls a function that chooses", func(n *net) {
		f := onnxtest.New(0)
		f.Node("If", "no").Graph("then_branch", arm("Neg", "a")).Graph("else_branch", arm("Relu", "a")).Out("b")
		f.Node("Constant").Tensor("value", graph.DTypeBool, nil, 0).Out("no")
		n.Function("own", "F", "a", "b", f)
		branch := onnxtest.New(0).Output("out", graph.DTypeFloat32)
		branch.Node("F", "q").Domain("own").Out("out")
		n.Opset("own", 1).Node("If", "yes").Graph("then_branch", branch).Graph("else_branch", arm("Neg", "q")).Out("c")
	}},
	{"a function of an older version", func(n *net) {
		f := onnxtest.New(0)
		f.Node("Clip", "a").Float("min", 0).Out("clipped")
		f.Node("If", "yes").Graph("then_branch", func() *onnxtest.Model {
			m := onnxtest.New(0).Output("out", graph.DTypeFloat32)
			m.Node("Unsqueeze", "clipped").Ints("axes", 0).Out("t")
			m.Node("Squeeze", "t").Ints("axes", 0).Out("out")
			return m
		}()).Graph("else_branch", arm("Neg", "a")).Out("b")
		n.Function("own", "F", "a yes", "b", f).OpsetImport[0].Version = new(int64(9))
		n.Opset("own", 1).Node("F", "q", "yes").Domain("own").Out("c")
	}},
}

// TestBranchesTaken checks that an If whose condition depends on no data gives the layers of the branch that it takes,
// wherever it is.
func TestBranchesTaken(t *testing.T) {
	t.Parallel()
	want, d := layersOf(t, branchNet(func(n *net) { n.op("Relu", "c", "q") }), frontend.Options{})
	if want == "" {
		t.Fatal(d)
	}
	for _, c := range chosen {
		if got, d := layersOf(t, branchNet(c.make), frontend.Options{}); got != want {
			t.Errorf("%s: %s\nwant\n%s%v", c.name, got, want, d)
		}
	}
}

// TestBranchesRefused checks that the other branches are refused with the true reason.
func TestBranchesRefused(t *testing.T) {
	t.Parallel()
	two := arm("Relu", "q").Output("q", graph.DTypeFloat32)
	for name, c := range map[string]struct {
		make func(n *net)
		code diag.Code
		says string
	}{
		"data": {func(n *net) {
			f := onnxtest.New(0)
			f.Node("ReduceMax", "a").Int("keepdims", 0).Out("m")
			f.Node("Cast", "m").Int("to", int64(graph.DTypeBool)).Out("when")
			f.Node("If", "when").Graph("then_branch", arm("Relu", "a")).Graph("else_branch", arm("Neg", "a")).Out("b")
			n.Function("own", "F", "a", "b", f)
			n.Opset("own", 1).Node("F", "q").Domain("own").Out("c")
		}, diag.OpUnsupported, "depends on data"},
		"no branch": {func(n *net) {
			n.Node("If", "yes").Graph("else_branch", arm("Neg", "q")).Out("c")
		}, diag.OpInvalid, "is missing"},
		"two outputs": {func(n *net) {
			n.Node("If", "yes").Graph("then_branch", two).Graph("else_branch", two).Out("c")
		}, diag.OpInvalid, "does not have the 1 outputs"},
		"two conditions": {func(n *net) {
			n.Node("Constant").Tensor("value", graph.DTypeBool, []int{2}, 0, 1).Out("k")
			n.Node("If", "k").Graph("then_branch", two).Graph("else_branch", two).Out("c")
		}, diag.OpInvalid, "2 elements"},
		"an operator that nobody knows": {func(n *net) {
			n.Node("If", "yes").Graph("then_branch", arm("Det", "q")).Graph("else_branch", arm("Neg", "q")).Out("c")
		}, diag.OpUnsupported, "linear algebra"},
	} {
		_, found := layersOf(t, branchNet(c.make), frontend.Options{})
		if len(found) == 0 || found[0].Code != c.code || !strings.Contains(found[0].Msg, c.says) {
			t.Errorf("%s: %v, want %s with %q", name, found, c.code, c.says)
		}
	}
}

// TestBranchesInLoops has bodies of loops take branches that constants choose, of their own or from around.
func TestBranchesInLoops(t *testing.T) {
	t.Parallel()
	file := func(choose func(b *onnxtest.Model)) []byte {
		m := onnxtest.New(14).Opset(qonnx, 2).Input("x", graph.DTypeFloat32, 4, 1, 2)
		m.Init("w", graph.DTypeFloat32, []int{2, 2}, 1, -1, 2, 1).Init("u", graph.DTypeFloat32, []int{2, 2}, 1, 1, -1,
			0)
		m.Init("s", graph.DTypeFloat32, nil, 0.25).Init("z", graph.DTypeFloat32, nil, 0).Init("bits",
			graph.DTypeFloat32, nil, 4)
		m.Init("h0", graph.DTypeFloat32, []int{1, 2}, 0, 0).Init("yes", graph.DTypeBool, nil, 1)
		quant := func(m *onnxtest.Model, x, y string) {
			m.Node("Quant", x, "s", "z", "bits").Domain(qonnx).Int("signed", 1).Str("rounding_mode", "ROUND").Out(y)
		}
		quant(m, "x", "q")
		b := onnxtest.New(0).Input("h", graph.DTypeFloat32, 1, 2).Input("xt", graph.DTypeFloat32, 1, 2)
		b.Node("MatMul", "xt", "w").Out("a")
		b.Node("MatMul", "h", "u").Out("b")
		b.Node("Add", "a", "b").Out("sum")
		choose(b)
		quant(b, "c", "next")
		b.Node("Identity", "next").Out("step")
		b.Output("next", graph.DTypeFloat32, 1, 2).Output("step", graph.DTypeFloat32, 1, 2)
		m.Node("Scan", "h0", "q").Name("loop").Int("num_scan_inputs", 1).Graph("body", b).Out("", "y")
		return m.Output("y", graph.DTypeFloat32).Bytes()
	}
	want, d := layersOf(t, file(func(b *onnxtest.Model) { b.Node("Relu", "sum").Out("c") }), frontend.Options{})
	if want == "" {
		t.Fatal(d)
	}
	for name, choose := range map[string]func(b *onnxtest.Model){
		"from around": func(b *onnxtest.Model) {
			n := b.Node("If", "yes").Graph("then_branch", arm("Relu", "sum"))
			n.Graph("else_branch", arm("Neg", "sum")).Out("c")
		},
		"of the body": func(b *onnxtest.Model) {
			b.Init("no", graph.DTypeBool, nil, 0)
			b.Node("If", "no").Graph("then_branch", arm("Neg", "sum")).Graph("else_branch", arm("Relu", "sum")).Out("c")
		},
	} {
		if got, d := layersOf(t, file(choose), frontend.Options{}); got != want {
			t.Errorf("%s: %s\nwant\n%s%v", name, got, want, d)
		}
	}
	_, d = layersOf(t, file(func(b *onnxtest.Model) {
		b.Node("Not", "yes").Out("no")
		b.Node("If", "no").Graph("then_branch", arm("Neg", "sum")).Graph("else_branch", arm("Relu", "sum")).Out("c")
	}), frontend.Options{})
	if len(d) == 0 || !strings.Contains(d[0].Msg, "only constants of the file choose a branch") {
		t.Errorf("computed in the body: %v", d)
	}
}
