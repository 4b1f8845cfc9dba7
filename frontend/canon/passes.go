// Package canon normalises spelling: after it, constants are numbers, every quantiser of every dialect is one Code node
// followed by ordinary arithmetic, and matrix products are MatMul. It performs no algebra on scales.
//
// In comes a graph.Graph; out comes one of the same meaning. It sees graph, pass and diag.
//
//   - passes.go is the table of passes, rewrite.go what edits graphs
//   - fold.go, hoist.go, loops.go, unroll.go: what passes for constants, codes and loops do
package canon

import (
	"hlsgen/frontend/graph"
	"hlsgen/frontend/pass"
	"hlsgen/internal/diag"
)

// A Model is what passes work on: the graph, and what is needed to derive its shapes anew.
type Model struct {
	Graph   *graph.Graph
	File    string
	Options graph.Options
	Unroll  map[int]bool // loops to write out, by their nodes' indices: no layer runs them
}

// Passes is the table, in order of execution.
var Passes = []pass.Pass[*Model]{
	{
		Name: "loops-to-scans",
		Doc:  "Every recurrent operator (Scan, LSTM, QuantLSTMCell) becomes a Scan whose body has its constants and shapes in itself, and so is a graph like any other: the passes behind work in it too. First, because constants around a body that only it reads would be dropped.",
		Run:  loopsToScans,
	},
	{
		Name:  "unroll-loops",
		After: []string{"loops-to-scans"},
		Doc:   "A short loop whose body is no LSTM cell is written out run by run. Only where a first attempt has shown that no layer runs it.",
		Run:   unrollLoops,
	},
	{
		Name:  "fold-constants",
		After: []string{"unroll-loops"},
		Doc:   "What does not depend on data becomes an initializer: weights after their quantiser, bit widths and shapes computed by nodes. Early, because the others read bit widths and scales as numbers.",
		Run:   inBodies(foldConstants),
	},
	{
		Name:  "gemm-to-matmul",
		Doc:   "Gemm becomes MatMul, Mul and Add, so that the integer sum of products has a name of its own.",
		After: []string{"fold-constants"},
		Run:   inBodies(gemmToMatMul),
	},
	{
		Name:  "quant-to-code",
		Doc:   "QONNX Quant and ONNX QuantizeLinear become a Code node, which gives integers; the value (code - zero point) * scale stays ordinary arithmetic.",
		After: []string{"fold-constants"},
		Run:   inBodies(quantToCode),
	},
	{
		Name:  "clip-into-code",
		Doc:   "A Clip of codes narrows the limits of the Code before it: exporters write QuantizeLinear, Clip for widths other than 8 bits.",
		After: []string{"quant-to-code"},
		Run:   inBodies(clipIntoCode),
	},
	{
		Name:  "hoist-codes",
		Doc:   "The quantiser of a scanned tensor goes from the body to the tensor itself: the codes then arrive, and a loop that walks the other way shares them.",
		After: []string{"clip-into-code"},
		Run:   hoistCodes,
	},
}

// Run applies the passes and returns the prepared program, or nil after an error was added to d. The error is that of
// the dump, if opt asks for one.
func Run(m *Model, opt pass.Options[*Model], d *diag.List) (*graph.Program, error) {
	opt.Verify = func(m *Model) error { return m.Graph.Verify() }
	if err := pass.Run(Passes, m, opt, d); err != nil {
		return nil, err
	}
	return graph.Prepare(m.Graph, m.File, m.Options, d), nil
}
