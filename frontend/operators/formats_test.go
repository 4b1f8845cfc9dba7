package operators_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend/execution"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/internal/testsupport/graphtest"
	"hlsgen/internal/testsupport/onnxtest"
)

// given are options with formats under one name.
func given(name string, f operators.CellFormats) operators.Options {
	return operators.Options{Cells: []operators.CellFormatsFile{{Flag: operators.CellFormatsFlag,
		Cells: map[string]operators.CellFormats{name: f}}}}
}

// TestFormats writes formats and reads them back, and refuses files that say something else.
func TestFormats(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{operators.LSTMFormatsFlag, operators.CellFormatsFlag} {
		f := operators.CellFormatsFile{Flag: flag, Cells: map[string]operators.CellFormats{"*": someFormats(),
			`a "node"`: someFormats()}}
		if back, err := operators.ParseCellFormats(flag, f.FileContent()); err != nil ||
			fmt.Sprint(back) != fmt.Sprint(f) {
			t.Errorf("%v %v, want %v", back, err, f)
		}
		good := string(operators.CellFormatsFile{Flag: flag,
			Cells: map[string]operators.CellFormats{"*": someFormats()}}.FileContent())
		for _, c := range []struct{ name, old, new, says string }{
			{"no JSON", good, "lstm", "invalid character"},
			{"more behind", "\n}\n", "\n}\n{}", "text after the end"},
			{"no node", good, "{}", `use "*"`},
			{"an unknown quantiser", `"cell_acc"`, `"cell_accu"`, `"cell_accu" is no quantiser`},
			{"an unknown field", `"zero_point"`, `"zeropoint"`, "zeropoint"},
			{"no scale", `"scale": 0.0625, `, "", "scale, bits and signed"},
			{"a scale of zero", `"scale": 0.0625`, `"scale": 0`, "the scale is 0"},
			{"a scale beyond float32", `"scale": 0.0625`, `"scale": 1e99`, "1e+99"},
			{"one bit", `"bits": 6`, `"bits": 1`, "want 2 to 16"},
			{"half a bit", `"bits": 6`, `"bits": 6.5`, "6.5"},
			{"a zero point between codes", `"zero_point": 0`, `"zero_point": 0.5`, "the zero point is 0.5"},
			{"a rounding", `"ROUND"`, `"SIDEWAYS"`, "SIDEWAYS"},
		} {
			bad := strings.Replace(good, c.old, c.new, 1)
			if _, err := operators.ParseCellFormats(flag, []byte(bad)); bad == good || err == nil ||
				!strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v, want an error that says %q", c.name, err, c.says)
			}
		}
	}
	gru := operators.CellFormatsFile{Cells: map[string]operators.CellFormats{"*": gruFormats("reset_product")}}
	if _, err := operators.ParseCellFormats(operators.LSTMFormatsFlag, gru.FileContent()); err == nil ||
		!strings.Contains(err.Error(), "is no quantiser of a cell of LSTM") {
		t.Errorf("a GRU's formats for LSTMs: %v", err)
	}
}

// TestFormatsOfNodes finds the formats of nodes by their names, their operators and the rest, and what they lack.
func TestFormatsOfNodes(t *testing.T) {
	t.Parallel()
	file := func(flag string, names ...string) operators.CellFormatsFile {
		f := operators.CellFormatsFile{Flag: flag, Cells: map[string]operators.CellFormats{}}
		for _, name := range names {
			f.Cells[name] = nil
		}
		return f
	}
	for _, c := range []struct {
		file     operators.CellFormatsFile
		op, name string
	}{
		{file(operators.CellFormatsFlag, "*", "n", "GRU:*"), "GRU", "n"}, {file(operators.CellFormatsFlag, "*",
			"GRU:*"), "GRU",
			"GRU:*"},
		{file(operators.CellFormatsFlag, "*", "GRU:*"), "RNN", "*"}, {file(operators.CellFormatsFlag, "GRU:*"), "LSTM",
			""},
		{file(operators.CellFormatsFlag, "*"), "LSTM", "*"}, {file(operators.CellFormatsFlag, "n"), "Scan", ""},
		{file(operators.LSTMFormatsFlag, "*", "n"), "GRU", ""}, {file(operators.LSTMFormatsFlag, "*"), "LSTM", "*"},
	} {
		if _, name, ok := c.file.FormatsOfNode(&graph.Node{Name: "n", Op: c.op}); name != c.name ||
			ok != (c.name != "") {
			t.Errorf("%v for %s: %q, want %q", c.file, c.op, name, c.name)
		}
	}
	for _, c := range []struct {
		op    string
		has   operators.CellFormats
		lacks string
	}{
		{"LSTM", someFormats(), ""}, {"LSTM", formatsOf("output"), "the quantiser cell_state is missing"},
		{"GRU", gruFormats(), ""}, {"GRU", gruFormats("update_acc", "reset_product"), ""},
		{"GRU", formatsOf("output"), "the quantiser update_sigmoid is missing"},
		{"GRU", gruFormats("cell_state"), `"cell_state" is no quantiser of a cell of GRU`},
		{"RNN", formatsOf("output"), ""}, {"RNN", formatsOf("output", "hidden_acc"), ""},
		{"RNN", formatsOf("hidden_acc"), "the quantiser output is missing"},
		{"RNN", gruFormats(), `"hidden_tanh" is no quantiser of a cell of RNN`},
	} {
		if got := c.has.MismatchReason(&graph.Node{Name: "n", Op: c.op}); !strings.HasPrefix(got, c.lacks) ||
			c.lacks == "" && got != "" {
			t.Errorf("%v for %s: %q, want %q", c.has, c.op, got, c.lacks)
		}
	}
}

// TestSeveralFormats gives one LSTM behind another formats of its own: both are as they are alone.
func TestSeveralFormats(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 5))
	fine := someFormats()
	for name, f := range fine {
		f.Scale, f.Bits = f.Scale/4, f.Bits+2
		fine[name] = f
	}
	c := lstmCase{t: 3, n: 1, in: 2, hidden: 2, direction: "forward"}
	first := lstmGraph(c, map[string]*graph.ConstantTensor{"W": graphtest.FilledWith(r, 1, 8, 2),
		"R": graphtest.FilledWith(r,
			1, 8, 2)})
	second := lstmGraph(c, map[string]*graph.ConstantTensor{"W": graphtest.FilledWith(r, 1, 8, 2),
		"R": graphtest.FilledWith(r,
			1, 8, 2)})
	init := map[string]*graph.ConstantTensor{"shape": graphtest.Int64s(3, 1, 2)}
	both := graphtest.Network([]int{3, 1, 2}, init)
	for k, g := range []*graph.Graph{first, second} {
		n := *g.Nodes[0]
		suffix := fmt.Sprint(k)
		n.Name += suffix
		n.Inputs = []string{[]string{"x", "between"}[k], "W" + suffix, "R" + suffix}
		n.Outputs = []string{"Y" + suffix}
		for _, name := range []string{"W", "R"} {
			init[name+suffix] = g.Init[name]
		}
		n.Index = len(both.Nodes)
		both.Nodes = append(both.Nodes, &n, &graph.Node{Index: n.Index + 1, Op: "Reshape",
			Inputs: []string{"Y" + suffix, "shape"}, Outputs: []string{[]string{"between", "y"}[k]}})
	}
	run := func(g *graph.Graph, x []float64, out string, cells map[string]operators.CellFormats) []float64 {
		p := onnxtest.Prepare(t, g,
			operators.Options{Cells: []operators.CellFormatsFile{{Flag: operators.LSTMFormatsFlag,
				Cells: cells}}})
		part, err := execution.NewProgramPart(p, []string{"x"}, []string{out})
		if err != nil {
			t.Fatal(err)
		}
		y, _, err := part.Run([]*program.Reals{program.NewExactReals([]int{3, 1, 2}, x)})
		if err != nil {
			t.Fatal(err)
		}
		return y[0].Lo
	}
	x := graphtest.FilledWith(r, 3, 1, 2).F
	got := run(both, x, "y", map[string]operators.CellFormats{"lstm1": fine, "*": someFormats()})
	all := func(f operators.CellFormats) map[string]operators.CellFormats {
		return map[string]operators.CellFormats{"*": f}
	}
	if want := run(second, run(first, x, "Y", all(someFormats())), "Y", all(fine)); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if other := run(second, run(first, x, "Y", all(someFormats())), "Y", all(someFormats())); slices.Equal(got, other) {
		t.Error("the formats make no difference")
	}
}

// gruFormats are the formats that a GRU needs, and more.
func gruFormats(more ...string) operators.CellFormats {
	return formatsOf(append(more, "output", "update_sigmoid", "reset_sigmoid", "hidden_tanh")...)
}
