// Package canon brings graphs to a normal form. After its passes, constants are initializers, every quantiser of every
// dialect is one Code node followed by ordinary arithmetic, and matrix products are MatMul. It performs no algebra on
// scales.
//
// In comes a graph.Graph; out comes one of the same meaning.
//
//   - passes.go has the table of passes; rewrite.go edits graphs and has the passes for Gemm, Quant and Clip
//   - fold.go folds constants; whole.go and hoist.go find and move codes; front.go moves quantisers to the front;
//     loops.go and unroll.go rewrite loops; split.go splits products; above.go finds tensors that are functions of one
//     other tensor, for whole.go and front.go
package canon

import (
	"maps"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/pass"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
)

// A PassState holds a model and the parts of it that passes are to rewrite. A pass replaces nodes of Graph and never
// changes a node; afterwards Program is made again from Graph.
type PassState struct {
	Program *program.Program // the program of the graph before the current pass
	Graph   *graph.Graph     // a copy that NormaliseGraph makes for the passes
	// By node index: loops to unroll, and unrolled recurrences that stay so, because no layer runs them.
	Unroll map[int]bool
	// By output: the groups of indices of the summed axis into which a product is split.
	Split map[string][][]int
	// By output: quantisers to move in front of the nodes that move and join their inputs.
	Front map[string]bool
}

// Values of pass.Options.Until. After NumberOfPassesUntilScans passes, every loop is a Scan. After
// NumberOfPassesUntilRolledUp passes, unrolled recurrences are Scans, too.
const (
	NumberOfPassesUntilScans    = 1
	NumberOfPassesUntilRolledUp = 3
)

// Passes is the table of passes, in order of execution.
var Passes = []pass.Pass[*PassState]{
	{
		Name: "loops-to-scans",
		Doc: "Every recurrent operator (Scan, LSTM, QuantLSTMCell) becomes a Scan whose body has its own constants " +
			"and shapes. So the body is a graph like any other, and later passes work in it, too. This pass is the " +
			"first, because others would drop constants around a body that only the body reads.",
		Run: kept(loopsToScans),
	},
	{
		Name:  "unroll-loops",
		After: []string{"loops-to-scans"},
		Doc: "A short loop whose body is not an LSTM cell is unrolled. The pass takes only loops that no layer runs, " +
			"as a first attempt has shown.",
		Run: kept(unrollLoops),
	},
	{
		Name:  "roll-up-loops",
		After: []string{"unroll-loops"},
		Doc: "A recurrence that the file has unrolled becomes a Scan. Its steps apply the same operators and " +
			"constants to elements of a sequence and to the results of the step before. The pass leaves the loops " +
			"that unroll-loops has just unrolled, because no layer runs them.",
		Run: kept(rollUpLoops),
	},
	{
		Name:  "fold-constants",
		After: []string{"roll-up-loops"},
		Doc: "A tensor that does not depend on data becomes an initializer: weights after their quantiser, bit " +
			"widths and shapes computed by nodes. The pass is early, because others read bit widths and scales as " +
			"numbers.",
		Run: inBodies(foldConstants),
	},
	{
		Name:  "gemm-to-matmul",
		Doc:   "Gemm becomes MatMul, Mul and Add, so that the integer sum of products has a name of its own.",
		After: []string{"fold-constants"},
		Run:   inBodies(gemmToMatMul),
	},
	{
		Name: "quant-to-code",
		Doc: "QONNX Quant and ONNX QuantizeLinear become a Code node, which gives integers; the value (code - " +
			"zero point) * scale stays ordinary arithmetic.",
		After: []string{"fold-constants"},
		Run:   inBodies(quantToCode),
	},
	{
		Name: "clip-into-code",
		Doc: "A Clip of codes narrows the limits of the Code before it: exporters write QuantizeLinear, Clip for " +
			"widths other than 8 bits.",
		After: []string{"quant-to-code"},
		Run:   inBodies(clipIntoCode),
	},
	{
		Name: "whole-to-code",
		Doc: "A quantiser may be written as a Round and a Clip, a RequantShift or a Sign, with other nodes around. " +
			"Where a rounding gives integers that are bounded, they get a Code node, which changes none of them.",
		After: []string{"clip-into-code"},
		Run:   inBodies(wholeToCode),
	},
	{
		Name: "hoist-codes",
		Doc: "The quantiser of a scanned tensor moves from the body to the tensor itself. The loop then reads codes, " +
			"and a loop in the other direction shares them.",
		After: []string{"whole-to-code"},
		Run:   kept(hoistCodes),
	},
	{
		Name:  "codes-in-front",
		After: []string{"hoist-codes"},
		Doc: "A quantiser after a Concat, or after another node that moves elements, moves in front of it, once for " +
			"each input. The pass takes only quantisers that no layer computes, as a first attempt has shown.",
		Run: kept(codesInFront),
	},
	{
		Name:  "split-products",
		After: []string{"codes-in-front"},
		Doc: "A product with data of several scales becomes a sum of products, one per scale. Such data come from a " +
			"Concat of branches, or the weights have scales in blocks. The pass takes only products that no layer " +
			"computes as one, as a first attempt has shown.",
		Run: kept(splitProducts),
	},
}

// NormaliseGraph applies the passes to a copy of m's graph and returns the program of the new graph; m then holds both.
// It returns nil if a pass added an error to d. The returned error comes from opt.Dump.
func NormaliseGraph(m *PassState, opt pass.Options[*PassState], d *diag.List) (*program.Program, error) {
	m.Graph = m.Program.Graph.ShallowCopy()
	opt.Verify = func(m *PassState) error { return m.Graph.Verify() }
	if err := pass.RunPasses(Passes, m, opt, d); err != nil {
		return nil, err
	}
	return m.Program, nil
}

// kept returns a function for a pass that calls run and, if that reports a change, prepares the program of the changed
// graph.
func kept(run func(*PassState) bool) func(*PassState, *diag.List) bool {
	return func(m *PassState, d *diag.List) bool { return m.apply(run, d) }
}

func (m *PassState) apply(run func(*PassState) bool, d *diag.List) (changed bool) {
	if m.Program != nil && run(m) {
		m.Program, changed = operators.ReprepareProgram(m.Program, m.Graph, d), true
	}
	return changed
}

// inBodies is like kept, but the returned function also applies run to the body of every loop.
func inBodies(run func(*PassState) bool) func(*PassState, *diag.List) bool {
	body := func(n *graph.Node, program *program.Program) []*graph.Node {
		inner := &PassState{Program: program, Graph: program.Graph.ShallowCopy()}
		if !run(inner) {
			return nil
		}
		return []*graph.Node{withBody(n, inner.Graph)}
	}
	return func(m *PassState, d *diag.List) bool {
		changed := m.apply(run, d)
		return m.apply(func(m *PassState) bool {
			return edit(m.Graph).each(func(n *graph.Node) []*graph.Node {
				if loop := m.Program.LoopOfNode(n); loop != nil {
					return body(n, loop.Body)
				}
				return nil
			})
		}, d) || changed
	}
}

// withBody returns a copy of a loop's node that runs another body.
func withBody(n *graph.Node, body *graph.Graph) *graph.Node {
	c := *n
	c.Attrs = maps.Clone(n.Attrs)
	c.Attrs["body"] = graph.NewGraphAttr(body)
	return &c
}
