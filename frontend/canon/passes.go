// Package canon normalises spelling: after it, constants are numbers, every quantiser of every dialect is one Code node
// followed by ordinary arithmetic, and matrix products are MatMul. It performs no algebra on scales.
//
// In comes a graph.Graph; out comes one of the same meaning. It sees roll, graph, real, pass and diag.
//
//   - passes.go is the table of passes, rewrite.go what edits graphs
//   - fold.go, whole.go, hoist.go, front.go, loops.go, unroll.go, split.go: what passes for constants, codes, loops
//     and products do; above.go: which tensors are functions of which, for whole.go and front.go
package canon

import (
	"maps"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/pass"
	"hlsgen/internal/diag"
)

// A Model is what passes work on. They put other nodes in the place of nodes of the graph and change none, so the
// program can be kept up to date.
type Model struct {
	Program *graph.Program // of the graph: as it was before the pass that is running
	Graph   *graph.Graph   // Run gives the model one of its own
	Unroll  map[int]bool   // loops to write out, by their nodes' indices, or to leave so: no layer runs them
	// products to write as sums of products, by output: which elements of the summed axis are in which
	Split map[string][][]int
	Front map[string]bool // quantisers' codes that are to be made in front of what moves what they are of
}

// The passes, counted, behind which loops are Scans, and behind which recurrences that are written out are, too.
const (
	Scans    = 1
	RolledUp = 3
)

// Passes is the table, in order of execution.
var Passes = []pass.Pass[*Model]{
	{
		Name: "loops-to-scans",
		Doc: "Every recurrent operator (Scan, LSTM, QuantLSTMCell) becomes a Scan whose body has its constants and " +
			"shapes in itself. So the body is a graph like any other: the passes behind work in it too. First, because " +
			"constants around a body that only it reads would be dropped.",
		Run: kept(loopsToScans),
	},
	{
		Name:  "unroll-loops",
		After: []string{"loops-to-scans"},
		Doc: "A short loop whose body is no LSTM cell is written out run by run. Only where a first attempt has " +
			"shown that no layer runs it.",
		Run: kept(unrollLoops),
	},
	{
		Name:  "roll-up-loops",
		After: []string{"unroll-loops"},
		Doc: "A recurrence that the file has written out step by step becomes a Scan: steps that do the same with " +
			"the same constants, of elements of a sequence and of what the step before made. What it leaves are " +
			"loops that no layer runs, which have been written out just before.",
		Run: kept(rollUpLoops),
	},
	{
		Name:  "fold-constants",
		After: []string{"roll-up-loops"},
		Doc: "What does not depend on data becomes an initializer: weights after their quantiser, bit widths and " +
			"shapes computed by nodes. Early, because the others read bit widths and scales as numbers.",
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
		Doc: "Quantisers that are spelled out, by a Round and a Clip, a RequantShift or a Sign, whatever stands " +
			"around: where a rounding gives integers, and they are bounded, they get a Code that changes none of " +
			"them.",
		After: []string{"clip-into-code"},
		Run:   inBodies(wholeToCode),
	},
	{
		Name: "hoist-codes",
		Doc: "The quantiser of a scanned tensor goes from the body to the tensor itself: the codes then arrive, " +
			"and a loop that walks the other way shares them.",
		After: []string{"whole-to-code"},
		Run:   kept(hoistCodes),
	},
	{
		Name:  "codes-in-front",
		After: []string{"hoist-codes"},
		Doc: "A quantiser behind a Concat, or behind what else moves elements, becomes one in front of it for each " +
			"of the tensors. Only where a first attempt has shown that no layer makes its codes behind it.",
		Run: kept(codesInFront),
	},
	{
		Name:  "split-products",
		After: []string{"codes-in-front"},
		Doc: "A product with data of several scales becomes a sum of products, one per scale: behind a Concat of " +
			"branches, or with weights in blocks. Only where a first attempt has shown that no layer " +
			"computes it as one.",
		Run: kept(splitProducts),
	},
}

// Run applies the passes to what is made of the model's program, which itself stays, and returns the model's new
// program, or nil after an error was added to d. The error is that of the dump, if opt asks for one.
func Run(m *Model, opt pass.Options[*Model], d *diag.List) (*graph.Program, error) {
	m.Graph = m.Program.Graph.Copy()
	opt.Verify = func(m *Model) error { return m.Graph.Verify() }
	if err := pass.Run(Passes, m, opt, d); err != nil {
		return nil, err
	}
	return m.Program, nil
}

// kept makes a pass that brings the program up to date.
func kept(run func(*Model) bool) func(*Model, *diag.List) bool {
	return func(m *Model, d *diag.List) bool { return m.apply(run, d) }
}

func (m *Model) apply(run func(*Model) bool, d *diag.List) (changed bool) {
	if m.Program != nil && run(m) {
		m.Program, changed = m.Program.Again(m.Graph, d), true
	}
	return changed
}

// inBodies makes a pass that works in the bodies of loops too.
func inBodies(run func(*Model) bool) func(*Model, *diag.List) bool {
	body := func(n *graph.Node, program *graph.Program) []*graph.Node {
		inner := &Model{Program: program, Graph: program.Graph.Copy()}
		if !run(inner) {
			return nil
		}
		return []*graph.Node{withBody(n, inner.Graph)}
	}
	return func(m *Model, d *diag.List) bool {
		changed := m.apply(run, d)
		return m.apply(func(m *Model) bool {
			return edit(m.Graph).each(func(n *graph.Node) []*graph.Node {
				if loop := m.Program.Loop(n); loop != nil {
					return body(n, loop.Body)
				}
				return nil
			})
		}, d) || changed
	}
}

// withBody is a node with another body.
func withBody(n *graph.Node, body *graph.Graph) *graph.Node {
	c := *n
	c.Attrs = maps.Clone(n.Attrs)
	c.Attrs["body"] = graph.GraphAttr(body)
	return &c
}
