package operators_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/frontend/axes"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/internal/testsupport/graphtest"
)

// TestBatchLSTM takes LSTMs apart whose first states are constants for all samples.
func TestBatchLSTM(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 2))
	for _, direction := range []string{"forward", "bidirectional"} {
		for _, states := range []bool{false, true} {
			dirs := map[string]int{"forward": 1, "bidirectional": 2}[direction]
			c := lstmCase{t: 3, n: 4, in: 2, hidden: 3, direction: direction, layout: 1}
			init := map[string]*graph.ConstantTensor{
				"W":       graphtest.FilledWith(r, dirs, 12, 2),
				"R":       graphtest.FilledWith(r, dirs, 12, 3),
				"B":       graphtest.FilledWith(r, dirs, 24),
				"lengths": graphtest.Ints(graph.DTypeInt32, []int{4}, 3, 3, 3, 3),
			}
			if states {
				init["h0"], init["c0"] = graphtest.Reals(
					[]int{4, dirs, 3},
					make([]float64, 12*dirs)...), graphtest.Reals(
					[]int{4, dirs, 3},
					slices.Repeat(graphtest.FilledWith(r, dirs*3).F, 4)...)
			}
			g := lstmGraph(c, init)
			g.Nodes = append(g.Nodes, graphtest.Node("Identity", nil, "y", "Y"))
			g.Nodes[1].Index, g.Outputs = 1, []graph.ValueInfo{{Name: "y"}}
			b := axes.FindBatchAxisCandidate((operators.Options{}), g, "m")
			if b == nil || b.Sample == nil {
				t.Errorf("%s, states %t: %+v", direction, states, b)
				continue
			}
			if err := graphtest.RunApart(g, b, graphtest.FilledWith(r, 24).F); err != nil {
				t.Errorf("%s, states %t: %v", direction, states, err)
			}
		}
	}
	cell := quantCell(
		lstmCase{t: 2, n: 4, in: 3, hidden: 2, direction: "forward", layout: 1},
		map[string]*graph.ConstantTensor{
			"W": graphtest.FilledWith(r, 1, 8, 3),
			"R": graphtest.FilledWith(r, 1, 8, 2),
			"B": graphtest.FilledWith(r, 1, 16),
		},
		someFormats(),
	)
	cell.Nodes = append(cell.Nodes, graphtest.Node("Identity", nil, "y", "Y"))
	cell.Nodes[1].Index, cell.Outputs = 1, []graph.ValueInfo{{Name: "y"}}
	b := axes.FindBatchAxisCandidate((operators.Options{}), cell, "m")
	if b == nil || b.Sample == nil {
		t.Fatalf("a cell of Brevitas: %+v", b)
	}
	if err := graphtest.RunApart(cell, b, graphtest.FilledWith(r, 24).F); err != nil {
		t.Errorf("a cell of Brevitas: %v", err)
	}
}
