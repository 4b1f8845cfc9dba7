package axes_test

import (
	"strings"
	"testing"

	"hlsgen/frontend/axes"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/onnxtest"
)

// written is a graph as a file has it: sequences x of T steps of 3 reals, and what is made of them.
func written(t *testing.T, make func(m *onnxtest.Model)) func(steps int) *graph.Graph {
	m := onnxtest.New(13).Input("x", graph.DTypeFloat32, "T", 1, 3)
	make(m)
	file := m.Output("y", graph.DTypeFloat32).Bytes()
	return func(steps int) *graph.Graph {
		var d diag.List
		g := onnxio.ParseGraph("m", file, &d)
		if g == nil {
			t.Fatal(d.Diags)
		}
		if l := axes.FindSequenceLengthInput(g); l != nil {
			l.BindStepCount(g, steps)
		}
		return g
	}
}

// recurrent writes an RNN of 2 units.
func recurrent(m *onnxtest.Model, lens string) {
	m.Init("w", graph.DTypeFloat32, []int{1, 2, 3}, 1, 2, 3, 4, 5, 6).Init("r", graph.DTypeFloat32, []int{1, 2, 2}, 1,
		0, 0, 1)
	m.Node("RNN", "x", "w", "r", "", lens).Int("hidden_size", 2).Str("direction", "reverse").Out("all", "last")
}

// TestStretch holds programs of 5 steps against those of 1 to 4. What does not treat all steps alike is named.
func TestStretch(t *testing.T) {
	t.Parallel()
	ints := func(m *onnxtest.Model, name string, v ...float64) string {
		m.Init(name, graph.DTypeInt64, []int{len(v)}, v...)
		return name
	}
	slice := func(m *onnxtest.Model, in, out string, from, to, step float64) {
		m.Node("Slice", in, ints(m, out+"f", from), ints(m, out+"t", to), ints(m, out+"a", 0), ints(m, out+"s", step)).
			Name(out).Out(out)
	}
	for _, tt := range []struct {
		name         string
		make         func(m *onnxtest.Model)
		want, padded string // of the error; empty for none
	}{
		{"each apart", func(m *onnxtest.Model) {
			m.Init("w", graph.DTypeFloat32, []int{3, 2}, 1, 2, 3, 4, 5, 6)
			m.Node("MatMul", "x", "w").Out("p")
			m.Node("Relu", "p").Out("y")
		}, "", ""},
		{"a recurrence", func(m *onnxtest.Model) {
			recurrent(m, "")
			m.Node("Squeeze", "all", ints(m, "one", 1)).Out("y")
		}, "", ""},
		{"the last state", func(m *onnxtest.Model) {
			recurrent(m, "")
			m.Node("Relu", "last").Out("y")
		}, "", ""},
		{"another layout", func(m *onnxtest.Model) {
			m.Node("Transpose", "x").Ints("perm", 1, 2, 0).Out("y")
		}, "", ""},
		{"all in a row", func(m *onnxtest.Model) {
			m.Node("Reshape", "x", ints(m, "s", 1, -1)).Out("y")
		}, "", ""},
		{"turned", func(m *onnxtest.Model) { slice(m, "x", "y", -1, -100, -1) }, "", `Slice "y"`},
		{"the last", func(m *onnxtest.Model) { slice(m, "x", "y", -1, 100, 1) }, "", `Slice "y"`},
		{"the first", func(m *onnxtest.Model) { slice(m, "x", "y", 0, 1, 1) }, "", ""},
		{"the last but one", func(m *onnxtest.Model) { slice(m, "x", "y", -2, -1, 1) }, `Slice "y"`, `Slice "y"`},
		{"rolled", func(m *onnxtest.Model) {
			slice(m, "x", "a", 1, 100, 1)
			slice(m, "x", "b", 0, 1, 1)
			m.Node("Concat", "a", "b").Int("axis", 0).Name("y").Out("y")
		}, `Slice "a"`, `Slice "a"`},
		{"a sum", func(m *onnxtest.Model) {
			m.Node("ReduceSum", "x", ints(m, "axes", 0)).Name("y").Out("y")
		}, `ReduceSum "y"`, `ReduceSum "y"`},
		{"times its length", func(m *onnxtest.Model) {
			m.Node("Shape", "x").Out("shape")
			m.Node("Cast", "shape").Int("to", 1).Out("real")
			slice(m, "real", "steps", 0, 1, 1)
			m.Node("Mul", "x", "steps").Name("y").Out("y")
		}, `Mul "y"`, `Mul "y"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			of := written(t, tt.make)
			for n := 2; n < 5; n++ {
				for _, padded := range []bool{false, true} {
					prepared := func(steps int) *program.Program {
						return onnxtest.Prepare(t, of(steps), operators.Options{Dims: map[string]int{"T": steps}})
					}
					x := &axes.SequenceLengthComparison{Long: prepared(5), Short: prepared(n), From: 5, To: n,
						Padded: padded}
					err, want := x.CompareTensors([]string{"x"}, []string{"y"}), tt.want
					if padded {
						want = tt.padded
					}
					if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
						t.Errorf("%d steps, padded %t: %v, want %q", n, padded, err, want)
					}
				}
			}
		})
	}
}

// TestLengthInput: sequence_lens are lengths where nothing else knows of them.
func TestLengthInput(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		make func(m *onnxtest.Model)
		want bool
	}{
		{"data", func(m *onnxtest.Model) {
			recurrent(m.Input("n", graph.DTypeInt32, 1), "n")
			m.Node("Relu", "last").Out("y")
		}, true},
		{"another type, behind another layout", func(m *onnxtest.Model) {
			m.Input("n", graph.DTypeInt64, "N")
			m.Node("Cast", "n").Int("to", int64(6)).Out("m")
			m.Node("Transpose", "x").Ints("perm", 1, 0, 2).Out("u")
			m.Node("Transpose", "u").Ints("perm", 1, 0, 2).Out("v")
			recurrent(m, "m")
			m.Proto.Graph.Node[len(m.Proto.Graph.Node)-1].Input[0] = "v"
			m.Node("Relu", "last").Out("y")
		}, true},
		{"none", func(m *onnxtest.Model) {
			recurrent(m, "")
			m.Node("Relu", "last").Out("y")
		}, false},
		{"a constant", func(m *onnxtest.Model) {
			recurrent(m.Init("n", graph.DTypeInt32, []int{1}, 2), "n")
			m.Node("Relu", "last").Out("y")
		}, false},
		{"another number of samples than there are", func(m *onnxtest.Model) {
			recurrent(m.Input("n", graph.DTypeInt32, 2), "n")
			m.Node("Relu", "last").Out("y")
		}, false},
		{"known elsewhere", func(m *onnxtest.Model) {
			recurrent(m.Input("n", graph.DTypeInt32, 1), "n")
			m.Node("Cast", "n").Int("to", 1).Out("real")
			m.Node("Mul", "last", "real").Out("y")
		}, false},
	} {
		m := onnxtest.New(13).Input("x", graph.DTypeFloat32, "T", 1, 3)
		tt.make(m)
		var d diag.List
		g := onnxio.ParseGraph("m", m.Output("y", graph.DTypeFloat32).Bytes(), &d)
		if g == nil {
			t.Fatal(tt.name, d.Diags)
		}
		l := axes.FindSequenceLengthInput(g)
		if (l != nil) != tt.want || l != nil && (l.Name != "n" || len(l.Axes) != 1 || l.Axes[0] != (axes.InputTimeAxis{
			Input: "x", Axis: 0})) {
			t.Errorf("%s: %+v, want %t", tt.name, l, tt.want)
		}
	}
}
