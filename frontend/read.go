package frontend

import (
	"maps"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio"
	"hlsgen/internal/diag"
)

// read is the graph of a file, with the quantisers that the user asks for; nil after errors were added to d.
func read(name string, onnx []byte, opt Options, d *diag.List) *graph.Graph {
	g := opt.graph(name, onnx, d)
	if g == nil {
		return nil
	}
	opt.settle(g, name)
	graph.Decompose(g)
	graph.RecoverWeights(g, name, d)
	if l := g.LengthInput(); l != nil && opt.steps > 0 {
		l.Bind(g, opt.steps)
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

// settle takes the branches that depend on no data.
func (o Options) settle(g *graph.Graph, file string) {
	graph.Settle(g, file, func() graph.Options { return o.bind(g, file, new(diag.List)) })
}

// graph returns the graph of a file as it is, up to the outputs that are asked for, with the axes that options name;
// nil after errors were added to d.
func (o Options) graph(name string, onnx []byte, d *diag.List) *graph.Graph {
	if o.Folder != nil {
		if onnx = onnxio.Whole(name, onnx, o.Folder, d); onnx == nil {
			return nil
		}
	}
	g := onnxio.Read(name, onnx, d)
	if g == nil || !cut(g, o.Outputs, name, d) || !o.Shapes.Bind(g, name, d) {
		return nil
	}
	for _, place := range slices.Sorted(maps.Keys(o.Dims)) {
		g.Open(place)
	}
	return g
}
