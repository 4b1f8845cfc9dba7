package onnxio

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio/onnxpb"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/onnxtest"
)

// function adds a function of the domain "own" with the nodes of body to a model.
func function(m *onnxtest.Model, name, inputs, outputs string, body func(f *onnxtest.Model)) *onnxpb.FunctionProto {
	f := onnxtest.New(0)
	body(f)
	return m.Function("own", name, inputs, outputs, f)
}

// refer turns the last attribute of the last node into a reference to an attribute of the function.
func refer(n *onnxtest.Node, to string) *onnxtest.Node {
	a := n.Proto.Attribute[len(n.Proto.Attribute)-1]
	a.RefAttrName = &to
	return n
}

// calls lists functions and their calls. y is computed from c, which is 1 and -2.
var calls = []struct {
	name string
	make func(m *onnxtest.Model)
	want []float64
}{
	{"one", func(m *onnxtest.Model) {
		function(m, "Twice", "a", "b", func(f *onnxtest.Model) { f.Node("Add", "a", "a").Out("b") })
		m.Node("Twice", "c").Domain("own").Out("y")
	}, []float64{2, -4}},
	{"two calls, with tensors inside", func(m *onnxtest.Model) {
		function(m, "F", "a", "b", func(f *onnxtest.Model) {
			f.Node("Neg", "a").Out("c")
			f.Node("Add", "c", "k").Out("b")
			f.Node("Constant").Tensor("value", graph.DTypeFloat32, nil, 5).Out("k") // out of order
		})
		m.Node("F", "c").Domain("own").Name("first").Out("x")
		m.Node("F", "x").Domain("own").Name("first").Out("y")
	}, []float64{1, -2}},
	{"one that calls another", func(m *onnxtest.Model) {
		function(m, "Outer", "a", "b", func(f *onnxtest.Model) {
			f.Node("Inner", "a").Domain("own").Out("t")
			f.Node("Inner", "t").Domain("own").Out("b")
		})
		function(m, "Inner", "a", "b", func(f *onnxtest.Model) { f.Node("Mul", "a", "a").Out("b") })
		m.Node("Outer", "c").Domain("own").Out("y")
	}, []float64{1, 16}},
	{"attributes by reference, through two", func(m *onnxtest.Model) {
		leaf := function(m, "Leaf", "a", "b", func(f *onnxtest.Model) {
			refer(f.Node("LeakyRelu", "a").Float("alpha", 0), "slope").Out("b")
		})
		leaf.Attribute = []string{"slope"}
		function(m, "F", "a", "b", func(f *onnxtest.Model) {
			refer(f.Node("Leaf", "a").Domain("own").Float("slope", 0), "s").Out("b")
		})
		m.Node("F", "c").Domain("own").Float("s", 0.5).Out("y")
	}, []float64{1, -1}},
	{"an attribute by default", func(m *onnxtest.Model) {
		f := function(m, "F", "a", "b", func(f *onnxtest.Model) {
			refer(f.Node("LeakyRelu", "a").Float("alpha", 0), "slope").Out("b")
		})
		d := onnxtest.New(0).Node("D").Float("slope", 0.25)
		f.AttributeProto = d.Proto.Attribute
		m.Node("F", "c").Domain("own").Out("y")
	}, []float64{1, -0.5}},
	{"an attribute left out is the operator's own", func(m *onnxtest.Model) {
		function(m, "F", "a", "b", func(f *onnxtest.Model) {
			f.Node("Constant").Tensor("value", graph.DTypeInt64, []int{2}, 1, 0).Out("i")
			refer(f.Node("Gather", "a", "i").Int("axis", 7), "axis").Out("b")
		})
		m.Node("F", "c").Domain("own").Out("y")
	}, []float64{-2, 1}},
	{"overloads", func(m *onnxtest.Model) {
		for _, x := range []struct{ op, overload string }{{"Neg", ""}, {"Abs", "abs"}} {
			f := function(m, "F", "a", "b", func(f *onnxtest.Model) { f.Node(x.op, "a").Out("b") })
			f.Overload = new(x.overload)
		}
		m.Node("F", "c").Domain("own").Out("x")
		m.Node("F", "x").Domain("own").Out("y").Proto.Overload = new("abs")
	}, []float64{1, 2}},
	{"inputs and outputs left out", func(m *onnxtest.Model) {
		function(m, "F", "a low high", "b c d", func(f *onnxtest.Model) {
			f.Node("Clip", "a", "low", "high").Out("c")
			f.Node("Neg", "a").Out("b")
			f.Node("Neg", "b").Out("d")
		})
		m.Init("zero", graph.DTypeFloat32, nil, 0)
		m.Node("F", "c", "zero").Domain("own").Out("", "y")
	}, []float64{1, 0}},
	{"an output that is an input", func(m *onnxtest.Model) {
		function(m, "F", "a b", "b b", func(f *onnxtest.Model) {})
		m.Node("F", "c", "c").Domain("own").Out("x", "y")
	}, []float64{1, -2}},
	{"one in ONNX' own domain, by its other name", func(m *onnxtest.Model) {
		f := function(m, "Same", "a", "b", func(f *onnxtest.Model) { f.Node("Identity", "a").Out("b") })
		f.Domain = new("ai.onnx")
		m.Node("Same", "c").Out("y")
	}, []float64{1, -2}},
}

// TestFunctions checks the results of functions where they are called.
func TestFunctions(t *testing.T) {
	t.Parallel()
	for _, c := range calls {
		m := onnxtest.New(18).Opset("own", 1).Output("y", graph.DTypeFloat32, 2).Init("c", graph.DTypeFloat32,
			[]int{2}, 1, -2)
		c.make(m)
		p := onnxtest.Prepare(t, mustRead(t, m.Bytes()))
		if k := p.Known["y"].Const; k == nil || !slices.Equal(k.Floats(), c.want) {
			t.Errorf("%s: %v, want %v", c.name, k, c.want)
		}
	}
}

// TestFunctionNames checks the names of nodes and tensors of a function, and that the exporter's metadata about a
// node are kept.
func TestFunctionNames(t *testing.T) {
	t.Parallel()
	m := onnxtest.New(0).Opset("own", 1).Input("x", graph.DTypeFloat32, 2).Output("y", graph.DTypeFloat32, 2)
	function(m, "F", "a", "b", func(f *onnxtest.Model) {
		f.Node("Neg", "a").Name("minus").Out("t").Proto.MetadataProps = []*onnxpb.StringStringEntryProto{
			{Key: new("namespace"), Value: new(": Net/net.minus: Minus/neg: aten.neg.default")}}
		f.Node("Neg", "t").Out("b")
	})
	m.Node("F", "x").Domain("own").Name("call").Out("call.t")
	m.Node("F", "call.t").Domain("own").Out("y")
	g := mustRead(t, m.Bytes())
	var got []string
	for _, n := range g.Nodes {
		got = append(got, fmt.Sprintln(n.Index, n.Name, n.Inputs, n.Outputs, n.ModuleName()))
	}
	if want := []string{"0 call/minus [x] [call.t2] net.minus\n", "1 call/Neg [call.t2] [call.t] \n",
		"2 F/minus [call.t] [F.t] net.minus\n", "3 F/Neg [F.t] [y] \n"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if g.Opsets[""] != 18 {
		t.Errorf("the functions' version is not imported: %v", g.Opsets)
	}
	file, err := EncodeGraph(g, nil)
	if err != nil {
		t.Fatal(err)
	}
	if again := mustRead(t, file); again.Nodes[0].ModuleName() != "net.minus" || len(again.Nodes[1].Meta) > 0 {
		t.Error("what the exporter knows is not written")
	}
}

// TestFunctionBodies checks the bodies of subgraphs in a function where it is called. They have names of their own,
// although calls use some names in common, and they see the tensors of the call, its attributes, and its bodies.
func TestFunctionBodies(t *testing.T) {
	t.Parallel()
	m := onnxtest.New(18).Opset("own", 1).Input("x", graph.DTypeFloat32, 2).Output("y", graph.DTypeFloat32, 2)
	f := function(m, "F", "a yes", "b", func(f *onnxtest.Model) {
		f.Node("Neg", "a").Out("t")
		body := onnxtest.New(0).Output("r", graph.DTypeFloat32).Init("k", graph.DTypeFloat32, nil, 3)
		refer(body.Node("LeakyRelu", "t").Float("alpha", 0), "slope").Out("l")
		body.Node("G", "l", "k").Domain("own").Out("r")
		n := f.Node("If", "yes").Graph("then_branch", body).Graph("else_branch", onnxtest.New(0))
		refer(n, "else").Out("b")
	})
	f.Attribute = []string{"slope", "else"}
	function(m, "G", "p q", "r", func(f *onnxtest.Model) { f.Node("Sub", "p", "q").Out("r") })
	m.Input("c", graph.DTypeBool)
	for i, names := range [][2]string{{"x", "u"}, {"u", "y"}} {
		other := onnxtest.New(0).Output("e", graph.DTypeFloat32)
		other.Node("G", "x", "x").Domain("own").Out("e")
		m.Node("F", names[0], "c").Domain("own").Float("slope", float32(i)).Graph("else", other).Name("f").Out(names[1])
	}
	g := mustRead(t, m.Bytes())
	var got []string
	for _, n := range g.Nodes {
		line := fmt.Sprint(n.Op, n.Inputs, n.Outputs)
		for _, name := range []string{"then_branch", "else_branch"} {
			if body := n.Attrs[name].G; body != nil {
				for _, n := range body.Nodes {
					line += fmt.Sprint(" ", n.Op, n.Inputs, n.Outputs, n.FloatAttrOr("alpha", -1))
				}
				line += fmt.Sprint(" ", body.Outputs[0].Name, len(body.Init))
			}
		}
		got = append(got, line)
	}
	if want := []string{
		"Neg[x] [f.t]",
		"If[c] [u] LeakyRelu[f.t] [f.l] 0 Sub[f.l f.k] [f.r] -1 f.r1 Sub[x x] [e] -1 e0",
		"Neg[u] [f.t2]",
		"If[c] [y] LeakyRelu[f.t2] [f.l2] 1 Sub[f.l2 f.k2] [f.r2] -1 f.r21 Sub[x x] [e] -1 e0",
	}; !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestFunctionFaults checks that forbidden functions, and functions that grow without bounds, are refused.
func TestFunctionFaults(t *testing.T) {
	t.Parallel()
	chain := func(length, calls int) func(m *onnxtest.Model) {
		return func(m *onnxtest.Model) {
			for i := range length {
				function(m, fmt.Sprint("F", i), "a", "b", func(f *onnxtest.Model) {
					for k := range calls {
						f.Node(fmt.Sprint("F", i+1), "a").Domain("own").Out(fmt.Sprint("t", k))
					}
					f.Node("Neg", "a").Out("b")
				})
			}
			function(m, fmt.Sprint("F", length), "a", "b", func(f *onnxtest.Model) { f.Node("Neg", "a").Out("b") })
			m.Node("F0", "c").Domain("own").Out("y")
		}
	}
	for _, c := range []struct {
		name string
		make func(m *onnxtest.Model)
		code diag.Code
		says string
	}{
		{"recursive", func(m *onnxtest.Model) {
			function(m, "F", "a", "b", func(f *onnxtest.Model) { f.Node("F", "a").Domain("own").Out("b") })
			m.Node("F", "c").Domain("own").Out("y")
		}, diag.ModelMalformed, `the function "own::F" calls itself`},
		{"recursive by another, in a body", func(m *onnxtest.Model) {
			function(m, "F", "a", "b", func(f *onnxtest.Model) { f.Node("G", "a").Domain("own").Out("b") })
			function(m, "G", "a", "b", func(f *onnxtest.Model) {
				body := onnxtest.New(0).Output("r", graph.DTypeFloat32)
				body.Node("F", "a").Domain("own").Out("r")
				f.Node("If", "a").Graph("then_branch", body).Graph("else_branch", body).Out("b")
			})
			m.Node("F", "c").Domain("own").Out("y")
		}, diag.ModelMalformed, `the function "own::F" calls itself`},
		{"twice", func(m *onnxtest.Model) {
			for range 2 {
				function(m, "F", "a", "b", func(f *onnxtest.Model) { f.Node("Neg", "a").Out("b") })
			}
		}, diag.ModelMalformed, "stands for two functions"},
		{"too many inputs", func(m *onnxtest.Model) {
			function(m, "F", "a", "b", func(f *onnxtest.Model) { f.Node("Neg", "a").Out("b") })
			m.Node("F", "c", "c").Domain("own").Out("y")
		}, diag.ModelMalformed, "is called with 2 and 1"},
		{"an attribute of another kind", func(m *onnxtest.Model) {
			function(m, "F", "a", "b", func(f *onnxtest.Model) {
				refer(f.Node("LeakyRelu", "a").Float("alpha", 0), "slope").Out("b")
			})
			m.Node("F", "c").Domain("own").Int("slope", 1).Out("y")
		}, diag.ModelMalformed, `attribute "slope"`},
		{"an output that nothing makes", func(m *onnxtest.Model) {
			function(m, "F", "a", "b", func(f *onnxtest.Model) { f.Node("Neg", "a").Out("t") })
			m.Node("F", "c").Domain("own").Out("y")
		}, diag.ModelMalformed, "nothing makes it"},
		{"a tensor that nothing makes", func(m *onnxtest.Model) {
			function(m, "F", "a", "b", func(f *onnxtest.Model) { f.Node("Add", "a", "c").Out("b") })
			m.Node("F", "c").Domain("own").Out("y")
		}, diag.ModelMalformed, `"F.c" is read, but nothing makes it`},
		{"doubling", chain(40, 2), diag.ModelTooLarge, "more than 65536 nodes"},
		{"deep", chain(200, 1), diag.ModelTooLarge, "deeper than 100"},
		{"of many inputs", func(m *onnxtest.Model) {
			function(m, "F", strings.Repeat("a ", 1<<14), "b", func(f *onnxtest.Model) { f.Node("Neg", "a").Out("b") })
			for i := range 1 << 10 {
				m.Node("F", "c").Domain("own").Out(fmt.Sprint(i))
			}
		}, diag.ModelTooLarge, "names of more than"},
		{"of long names", func(m *onnxtest.Model) {
			long := strings.Repeat("n", 3000)
			function(m, "F", "a", "b", func(f *onnxtest.Model) { f.Node("Neg", "a").Name(long).Out("b") })
			m.Node("F", "c").Domain("own").Name(long).Out("y")
		}, diag.ModelTooLarge, "a name of more than 4096 bytes"},
	} {
		m := onnxtest.New(18).Opset("own", 1).Output("y", graph.DTypeFloat32, 2).Init("c", graph.DTypeFloat32,
			[]int{2}, 1, -2)
		c.make(m)
		var d diag.List
		if g := ParseGraph("m.onnx", m.Bytes(), &d); g != nil || len(d.Diags) == 0 || d.Diags[0].Code != c.code ||
			!strings.Contains(d.Diags[0].Msg, c.says) {
			t.Errorf("%s: %v, want %q", c.name, d.Diags, c.says)
		}
	}
}
