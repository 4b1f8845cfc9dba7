package operators_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/frontend/execution"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/internal/testsupport/graphtest"
	"hlsgen/internal/testsupport/onnxtest"
)

// inPieces runs a stream piece by piece through a part, and joins an output.
func inPieces(t *testing.T, p *program.Program, x []float64, out string) (all []float64) {
	t.Helper()
	part, err := execution.NewProgramPart(p, []string{"x"}, []string{out})
	if err != nil {
		t.Fatal(err)
	}
	run, size := part.NewCopyKeepingLoopStates(), graph.ElementCount(p.Known["x"].Shape)
	for len(x) > 0 {
		y, _, err := run.Run([]*program.Reals{program.NewExactReals(p.Known["x"].Shape, x[:size])})
		if err != nil {
			t.Fatal(err)
		}
		all, x = append(all, y[0].Lo...), x[size:]
	}
	return all
}

// TestStreams gives a sequence in pieces: together they are what the whole gives, with states that are codes and with
// real ones.
func TestStreams(t *testing.T) {
	t.Parallel()
	const steps, piece = 12, 3
	for k, c := range []gruCase{
		{op: "GRU", n: 1, in: 2, hidden: 3, bias: true, formats: gruFormats("reset_product")},
		{op: "GRU", n: 1, in: 2, hidden: 3, bias: true, resetsSum: 1},
		{op: "GRU", n: 1, in: 2, hidden: 2, states: true, fixed: true, formats: gruFormats()},
		{op: "RNN", n: 1, in: 2, hidden: 2, layout: 1, formats: formatsOf("output")},
	} {
		var got [2][]float64
		var x []float64
		for i, n := range []int{steps, piece} {
			c.t = n
			g, v := c.random(rand.New(rand.NewPCG(11, uint64(k))))
			for name, w := range g.Init { // the same in both: x takes other numbers
				*w = *graphtest.FilledWith(rand.New(rand.NewPCG(uint64(len(name)+int(name[0])), 5)), w.Shape...)
			}
			options := operators.Options{}
			if c.formats != nil {
				options = given("*", c.formats)
			}
			if x == nil {
				x = v.x
			}
			got[i] = inPieces(t, onnxtest.Prepare(t, g, options), x, "Y")
		}
		for i, y := range got[0] {
			if math.Abs(y-got[1][i]) > 1e-9 || c.formats != nil && y != got[1][i] {
				t.Fatalf("%d: the pieces give %v, the whole %v", k, got[1], got[0])
			}
		}
	}
}

// TestDecisionsAcrossPieces rounds sums of thirds that only the history of earlier pieces decides, and runs a fork,
// which begins anew.
func TestDecisionsAcrossPieces(t *testing.T) {
	t.Parallel()
	third := graphtest.Body([]string{"s", "e"}, []string{"t", "t"},
		map[string]*graph.ConstantTensor{"three": graphtest.Scalar(3)},
		graphtest.Node("Div", nil, "d", "e", "three"), graphtest.Node("Add", nil, "t", "s", "d"))
	g := graphtest.Network([]int{2}, map[string]*graph.ConstantTensor{"zero": graphtest.Scalar(0)},
		graphtest.ScanNode(graphtest.Attrs{}, third, []string{"zero", "x"}, []string{"last", "all"}),
		graphtest.Node("Floor", nil, "y", "all"))
	p := graphtest.Prepare(t, g)
	ones := []float64{1, 1, 1, 1, 1, 1}
	if got, want := inPieces(t, p, ones, "y"), []float64{0, 0, 1, 1, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	part, err := execution.NewProgramPart(p, []string{"x"}, []string{"all"})
	if err != nil {
		t.Fatal(err)
	}
	part = part.NewCopyKeepingLoopStates()
	var got []string
	for _, run := range []*execution.ProgramPart{part, part, part.Fork(), part.NewCopyKeepingLoopStates(), part} {
		_, all, err := run.Run([]*program.Reals{program.NewExactReals([]int{2}, ones[:2])})
		if err != nil {
			t.Fatal(err)
		}
		y, err := run.RoundedOutput("all", all)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%.2f", y))
	}
	if want := "[[0.33 0.67] [1.00 1.33] [0.33 0.67] [0.33 0.67] [1.67 2.00]]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestStreamsInFloat32 walks pieces in other arithmetics: each begins with the states that the exact run has left.
func TestStreamsInFloat32(t *testing.T) {
	t.Parallel()
	g := graphtest.Network([]int{2}, map[string]*graph.ConstantTensor{"zero": graphtest.Scalar(0)},
		graphtest.ScanNode(graphtest.Attrs{}, graphtest.Running(), []string{"zero", "x"}, []string{"last", "y"}))
	part, err := execution.NewProgramPart(graphtest.Prepare(t, g), []string{"x"}, []string{"y"})
	if err != nil {
		t.Fatal(err)
	}
	part = part.NewCopyKeepingLoopStates()
	for k, want := range [][]float64{{2, 6}, {8, 12}} {
		x := []*program.Reals{program.NewExactReals([]int{2}, []float64{1, 2})}
		_, exact, err := part.Run(x)
		if err != nil {
			t.Fatal(err)
		}
		bounds, _ := part.BoundFloat32Values(x, exact)
		for what, got := range map[string]*program.Reals{"exact": exact["y"], "bounds": bounds["y"],
			"float32": part.RunFloat32(x, execution.Float32Variants[0])["y"]} {
			for i, w := range want {
				if !(w-1e-5 < got.Lo[i] && got.Lo[i] <= w && w <= got.Hi[i] && got.Hi[i] < w+1e-5) {
					t.Errorf("piece %d, %s: %v, want %v", k, what, got, want)
				}
			}
		}
	}
}
