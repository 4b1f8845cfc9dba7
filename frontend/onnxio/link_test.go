package onnxio

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/onnxtest"
)

// linkModel returns a model with the input x, the initializer w and the output y.
func linkModel() *onnxtest.Model {
	return onnxtest.New(13).Input("x", graph.DTypeFloat32, 1).Init("w", graph.DTypeFloat32, []int{1}, 2).Output("y",
		graph.DTypeFloat32, 1)
}

func TestOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		build func(m *onnxtest.Model)
		want  []int // indices in the file
	}{
		{"square", func(m *onnxtest.Model) { m.Node("Mul", "x", "x").Out("y") }, []int{0}},
		{"square of a node", func(m *onnxtest.Model) {
			m.Node("Mul", "a", "a").Out("y")
			m.Node("Relu", "x").Out("a")
		}, []int{1, 0}},
		{"sorted as it is", func(m *onnxtest.Model) {
			m.Node("Relu", "x").Out("a")
			m.Node("Relu", "w").Out("b")
			m.Node("Relu", "b").Out("c")
			m.Node("Add", "a", "c").Out("y")
		}, []int{0, 1, 2, 3}},
		{"backwards", func(m *onnxtest.Model) {
			m.Node("Relu", "c").Out("y")
			m.Node("Relu", "b").Out("c")
			m.Node("Relu", "a").Out("b")
			m.Node("Relu", "x").Out("a")
		}, []int{3, 2, 1, 0}},
		{"several outputs", func(m *onnxtest.Model) {
			m.Node("Add", "a", "b").Out("y")
			m.Node("Split", "x").Out("b", "a")
		}, []int{1, 0}},
		{"empty slots", func(m *onnxtest.Model) {
			m.Node("LSTM", "x", "", "", "a").Out("", "y")
			m.Node("LSTM", "x", "", "w", "").Out("a", "", "")
		}, []int{1, 0}},
		{"no inputs, no outputs", func(m *onnxtest.Model) {
			m.Node("Print", "y")
			m.Node("Nothing")
			m.Node("Constant").Int("value_int", 1).Out("y")
		}, []int{1, 2, 0}},
		{"names alike", func(m *onnxtest.Model) {
			m.Node("Relu", "#0").Name("n").Out("y")
			m.Node("Relu", "=x").Name("n").Out("#0")
			m.Node("Relu", "x").Name("n").Out("=x")
		}, []int{2, 1, 0}},
		{"no nodes", func(m *onnxtest.Model) { m.Init("y", graph.DTypeFloat32, []int{1}, 1) }, []int{}},
	} {
		m := linkModel()
		c.build(m)
		g := mustRead(t, m.Bytes())
		got := make([]int, len(g.Nodes))
		for i, n := range g.Nodes {
			got[i] = n.Index
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: order %v, want %v", c.name, got, c.want)
		}
	}
}

func TestLinkFaults(t *testing.T) {
	t.Parallel()
	branch := func(reads, makes string) *onnxtest.Model {
		b := onnxtest.New(0).Output(makes, graph.DTypeFloat32)
		b.Node("Relu", reads).Out(makes)
		return b
	}
	for _, c := range []struct {
		name  string
		build func(m *onnxtest.Model)
		want  []string // start of each error: node, place, message
	}{
		{"undefined", func(m *onnxtest.Model) { m.Node("Add", "x", "q").Name("n").Out("y") },
			[]string{`n|m.onnx, node 0|the tensor "q" is read`}},
		{"undefined, read twice", func(m *onnxtest.Model) { m.Node("Add", "q", "q").Out("y") },
			[]string{`y|m.onnx, node 0|the tensor "q" is read`}},
		{"undefined output", func(m *onnxtest.Model) { m.Node("Relu", "x").Out("z") },
			[]string{`|m.onnx, graph outputs|the tensor "y" is read`}},
		{"undefined in a graph without nodes", func(*onnxtest.Model) {},
			[]string{`|m.onnx, graph outputs|the tensor "y" is read`}},
		{"undefined in a branch", func(m *onnxtest.Model) {
			m.Node("If", "x").Graph("then_branch",
				branch("q", "z")).Out("y")
		}, []string{`z|m.onnx, node 0, attribute "then_branch", node 0|the tensor "q" is read`}},
		{"output of a branch is not visible outside", func(m *onnxtest.Model) {
			m.Node("If", "x").Graph("then_branch", branch("x", "z")).Out("a")
			m.Node("Relu", "z").Out("y")
		}, []string{`y|m.onnx, node 1|the tensor "z" is read`}},
		{"two makers", func(m *onnxtest.Model) {
			m.Node("Relu", "x").Name("first").Out("y")
			m.Node("Abs", "x").Name("second").Out("y")
			m.Node("Abs", "x").Name("third").Out("y")
		}, []string{`second|m.onnx, node 1|it makes the tensor "y", which node 0 ("Relu") makes as well`}},
		{"two outputs alike", func(m *onnxtest.Model) { m.Node("Split", "x").Out("y", "y") },
			[]string{`y|m.onnx, node 0|two of its outputs are called "y"`}},
		{"makes an input", func(m *onnxtest.Model) {
			m.Node("Relu", "w").Out("x")
			m.Node("Relu", "x").Out("y")
		}, []string{`x|m.onnx, node 0|it makes the tensor "x", which is an input or initializer`}},
		{"makes an initializer", func(m *onnxtest.Model) {
			m.Node("Relu", "x").Out("w")
			m.Node("Relu", "x").Out("y")
		}, []string{`w|m.onnx, node 0|it makes the tensor "w", which is an input or initializer`}},
		{"two makers in a branch", func(m *onnxtest.Model) {
			b := branch("x", "z")
			b.Node("Relu", "x").Out("z")
			m.Node("If", "x").Graph("else_branch", b).Out("y")
		}, []string{`z|m.onnx, node 0, attribute "else_branch", node 1|it makes the tensor "z", which node 0`}},
		{"reads itself", func(m *onnxtest.Model) { m.Node("Add", "x", "y").Out("y") },
			[]string{`y|m.onnx, node 0|it reads what it makes`}},
		{"reads its second output", func(m *onnxtest.Model) { m.Node("Split", "a").Out("y", "a") },
			[]string{`y|m.onnx, node 0|it reads what it makes`}},
		{"reads itself from within", func(m *onnxtest.Model) {
			m.Node("If", "x").Graph("then_branch",
				branch("y", "z")).Out("y")
		}, []string{`y|m.onnx, node 0|it reads what it makes`}},
		{"two cycles", func(m *onnxtest.Model) {
			m.Node("Add", "x", "c").Name("A").Out("b")
			m.Node("Relu", "b").Name("B").Out("c")
			m.Node("Add", "c", "e").Name("C").Out("d")
			m.Node("Relu", "d").Name("D").Out("e")
			m.Node("Relu", "e").Name("E").Out("y")
		}, []string{`A|m.onnx, node 0|2 nodes depend on each other: "A", "B"`,
			`C|m.onnx, node 2|2 nodes depend on each other: "C", "D"`}},
		{"a long cycle", func(m *onnxtest.Model) {
			for i := range 20 {
				m.Node("Relu", fmt.Sprint(i)).Out(fmt.Sprint((i + 1) % 20))
			}
			m.Node("Relu", "0").Out("y")
		}, []string{`1|m.onnx, node 0|20 nodes depend on each other: "1", "2", "3", "4", "5", "6", "7", "8", 12 more`}},
		{"several faults at once", func(m *onnxtest.Model) {
			m.Node("Add", "p", "q").Out("y")
			m.Node("Add", "b", "x").Out("b")
		}, []string{`b|m.onnx, node 1|it reads what`, `y|m.onnx, node 0|the tensor "p"`,
			`y|m.onnx, node 0|the tensor "q"`}},
	} {
		m := linkModel()
		c.build(m)
		var d diag.List
		if ParseGraph("m.onnx", m.Bytes(), &d) != nil || len(d.Diags) != len(c.want) {
			t.Errorf("%s: %v, want %d errors", c.name, d.Diags, len(c.want))
			continue
		}
		for i, want := range c.want {
			got := d.Diags[i]
			if got.Code != diag.ModelMalformed || got.Hint == "" ||
				!strings.HasPrefix(got.Node+"|"+got.Where+"|"+got.Msg, want) {
				t.Errorf("%s: error %d is %q at %q: %s, want %s", c.name, i, got.Node, got.Where, got.Msg, want)
			}
		}
	}
}

// TestWire checks that onnx-go returns every slot of every operator as it was given.
func TestWire(t *testing.T) {
	t.Parallel()
	ops := []operator{
		{reads: []string{"x", "", "x", "w"}, makes: []string{"a", "", "b"}},
		{reads: nil, makes: []string{"c"}},
		{reads: []string{"a", "b", "c", "a"}, makes: nil},
		{reads: []string{"=x", "#0", "#1"}, makes: []string{"#2"}},
	}
	w, err := wire(ops)
	if err != nil {
		t.Fatal(err)
	}
	checkWiring(t, w, ops)
}

// checkWiring compares the edges of the multigraph with the operators.
func checkWiring(t *testing.T, w *wiring, ops []operator) {
	t.Helper()
	for i, op := range ops {
		if len(w.made[i]) != max(1, len(op.makes)) {
			t.Errorf("operator %d made %d tensors, want %d", i, len(w.made[i]), len(op.makes))
			continue
		}
		for slot, name := range op.makes {
			if got := w.made[i][slot].name; name != "" && got != tensorName(name) {
				t.Errorf("output %d of operator %d is %q, want %q", slot, i, got, name)
			}
		}
		for _, made := range w.made[i] {
			slots := make(map[int]string)
			for to := w.From(made.ID()); to.Next(); {
				tensor := to.Node().(*tensorNode)
				for l := w.WeightedLines(made.ID(), tensor.ID()); l.Next(); {
					slots[int(l.WeightedLine().Weight())] = tensor.name
				}
			}
			if len(slots) != max(1, len(op.reads)) {
				t.Errorf("operator %d has %d inputs, want %d", i, len(slots), len(op.reads))
			}
			for slot, name := range op.reads {
				got := slots[slot]
				if name != "" && got != tensorName(name) || name == "" && !strings.HasPrefix(got, "#") {
					t.Errorf("input %d of operator %d is %q, want %q", slot, i, got, name)
				}
			}
		}
	}
}

// TestDeterministic checks that nodes have the same order in every run, although onnx-go's graphs keep their nodes
// in maps.
func TestDeterministic(t *testing.T) {
	t.Parallel()
	m := onnxtest.New(13).Input("x", graph.DTypeFloat32, 1).Output("y", graph.DTypeFloat32, 1)
	for _, node := range []string{"y f g h", "h e d", "g d c", "f c b", "e a b", "d b", "c a", "b x", "a x"} {
		names := strings.Fields(node)
		m.Node("Sum", names[1:]...).Out(names[0])
	}
	b := m.Bytes()
	var want []int
	for range 50 {
		var got []int
		for _, n := range mustRead(t, b).Nodes {
			got = append(got, n.Index)
		}
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Fatalf("order %v, then %v", want, got)
		}
	}
}

// BenchmarkRead reads a model of a million bytes: 250 quantised layers with 1000 float32 weights each.
func BenchmarkRead(b *testing.B) {
	m := onnxtest.New(13).Opset("qonnx.custom_op.general", 2).Input("t0", graph.DTypeFloat32, 1, 10).Output("t250",
		graph.DTypeFloat32, 1, 10)
	m.Init("scale", graph.DTypeFloat32, nil, 0.25).Init("zero", graph.DTypeFloat32, nil, 0).Init("bits",
		graph.DTypeFloat32, nil, 4)
	weights := make([]float64, 1000)
	quant := func(x, y string) {
		m.Node("Quant", x, "scale", "zero", "bits").Domain("qonnx.custom_op.general").Name(y+"/Quant").
			Int("narrow", 0).Int("signed", 1).Str("rounding_mode", "ROUND").Out(y)
	}
	for i := range 250 {
		w, in, sum, out := fmt.Sprint("w", i), fmt.Sprint("t", i), fmt.Sprint("s", i), fmt.Sprint("t", i+1)
		m.Init(w, graph.DTypeFloat32, []int{10, 100}, weights...)
		quant(w, w+"q")
		m.Node("MatMul", in, w+"q").Name(sum + "/MatMul").Out(sum)
		quant(sum, out)
	}
	file := m.Bytes()
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		var d diag.List
		if ParseGraph("m.onnx", file, &d) == nil {
			b.Fatal(d.Diags)
		}
	}
}
