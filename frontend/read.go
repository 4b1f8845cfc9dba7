package frontend

import (
	"maps"
	"slices"

	"hlsgen/frontend/axes"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio"
	"hlsgen/frontend/operators"
	"hlsgen/internal/diag"
)

// read returns the graph of a file, with the changes that the options ask for, or nil after adding errors to d.
func read(name string, onnx []byte, opt Options, d *diag.List) *graph.Graph {
	g := opt.graph(name, onnx, d)
	if g == nil {
		return nil
	}
	opt.settle(g, name)
	operators.DecomposeOperators(g)
	operators.RecoverExactWeights(g, name, d)
	if l := axes.FindSequenceLengthInput(g); l != nil && opt.steps > 0 {
		l.BindStepCount(g, opt.steps)
	}
	quantised, ok := opt.begin(g, name, d)
	if !ok || !opt.keeping(g, name, d) {
		return nil
	}
	if opt.InputType != nil && !opt.InputType.insert(g, name, quantised, d) {
		return nil
	}
	if opt.InputQuant != nil {
		opt.InputQuant.insert(g, name, quantised, d)
	}
	return g
}

// settle replaces conditional branches that do not depend on data by the nodes of the chosen branch.
func (o Options) settle(g *graph.Graph, file string) {
	operators.ResolveBranches(g, file, func() operators.Options { return o.bind(g, file, new(diag.List)) })
}

// graph returns the graph of a file, cut at the outputs that the options name, with its axes bound. It returns nil
// after adding errors to d.
func (o Options) graph(name string, onnx []byte, d *diag.List) *graph.Graph {
	if o.Folder != nil {
		if onnx = onnxio.InlineExternalData(name, onnx, o.Folder, d); onnx == nil {
			return nil
		}
	}
	g := onnxio.ParseGraph(name, onnx, d)
	if g == nil || !cut(g, o.Outputs, name, d) || !o.Shapes.SetInGraph(g, name, d) {
		return nil
	}
	for _, place := range slices.Sorted(maps.Keys(o.Dims)) {
		operators.MakeAxisDynamic(g, place)
	}
	return g
}
