package frontend

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio"
	"hlsgen/frontend/program"
	"hlsgen/internal/dataflow"
)

// oldest is the oldest version of ONNX's operators that still have the same definition in version 12, the least version
// of pre.onnx and post.onnx.
const oldest = 11

// outside returns the part of a model that computes the tensors to, given the tensors from, as an ONNX file of its own.
// The part has no file if it contains an operator that is not ONNX's own or has a body, or if it needs other inputs.
func outside(p *program.Program, from, to []string) (o dataflow.RemainingHostPart) {
	g := &graph.Graph{Name: "outside", Init: map[string]*graph.ConstantTensor{},
		Opsets: map[string]int64{"": p.Graph.Opsets[""]}}
	plain := g.Opsets[""] >= oldest
	need := map[string]bool{}
	for _, name := range to {
		need[name] = true
	}
	has := func(name string) bool { return slices.Contains(from, name) }
	for _, n := range slices.Backward(p.Graph.Nodes) {
		if !slices.ContainsFunc(n.Outputs, func(out string) bool { return need[out] && !has(out) }) {
			continue
		}
		bare := *n
		bare.Meta = nil // a driver needs no metadata of the exporter
		g.Nodes = append(g.Nodes, &bare)
		plain = plain && n.Domain == ""
		for _, a := range n.Attrs {
			plain = plain && a.G == nil
		}
		for _, in := range n.Inputs {
			need[in] = true
		}
	}
	slices.Reverse(g.Nodes)
	o.Nodes = graph.NodeLabelsOncePerIndex(g.Nodes)
	made := slices.Clone(from)
	for _, n := range g.Nodes {
		for _, in := range n.Inputs {
			if t := p.Graph.Init[in]; t != nil {
				g.Init[in] = t
			}
			plain = plain && (in == "" || g.Init[in] != nil || slices.Contains(made, in))
		}
		made = append(made, n.Outputs...)
	}
	for _, name := range to {
		plain = plain && slices.Contains(made, name)
	}
	for _, name := range slices.Concat(from, to) {
		_, known := p.Known[name]
		plain = plain && known
	}
	if !plain {
		return o
	}
	g.Inputs, g.Outputs = declared(p, from), declared(p, to)
	if text, err := onnxio.EncodeGraph(g, nil); err == nil {
		o.ONNX = text
	}
	return o
}

// declared returns the declarations of tensors as inputs or outputs of another graph.
func declared(p *program.Program, names []string) (list []graph.ValueInfo) {
	for _, name := range names {
		k := p.Known[name]
		v := graph.ValueInfo{Name: name, DType: k.DType, Known: true}
		for _, n := range k.Shape {
			v.Dims = append(v.Dims, graph.Dim{Size: n})
		}
		list = append(list, v)
	}
	return list
}

func realNames(of []dataflow.RealTensorInfo) (names []string) {
	for _, r := range of {
		names = append(names, r.Name)
	}
	return names
}
