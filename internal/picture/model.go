package picture

import (
	"cmp"
	"slices"
	"strings"

	"hlsgen/frontend"
	"hlsgen/internal/chart"
	"hlsgen/internal/report"
)

// fateClasses names the classes of a model's nodes, by where they are computed.
var fateClasses = []chart.NetworkClass{frontend.FatePlaceLayer: {Name: "in a layer"},
	frontend.FatePlaceHost: {Name: "on the host"}, frontend.FatePlaceUnmapped: {Name: "not mapped"},
	frontend.FatePlaceNowhere: {Name: "constant or unused", Quiet: true}}

// quiet is the class of ports.
const quiet = int(frontend.FatePlaceNowhere)

// OfModel returns the network of a model: a node for every ONNX node, with what becomes of it, and the shapes of its
// tensors. layers are those of the model, or nil if it does not map; they tell the integers of tensors.
func OfModel(name string, im *frontend.ImportedModel, layers []report.LayerReport) *Drawing {
	n := &Drawing{Name: name, Classes: fateClasses, Loose: true}
	types := map[string]string{}
	for _, l := range layers {
		for _, s := range slices.Concat(l.In, l.Out) {
			if s.Tensor != "" {
				types[s.Tensor] = s.Type
			}
		}
	}
	writer := map[string]int{}
	stream := func(tensor string, from, to int) {
		shape := im.TensorShape(tensor)
		s := Wire{From: from, To: to, Tensor: tensor, Shape: shape, Type: types[tensor]}
		if shape != nil {
			s.Label = strings.TrimSpace(dims(shape) + " " + s.Type)
		}
		n.Streams = append(n.Streams, s)
	}
	inputs, outputs := frontend.PortNames(im)
	for _, t := range inputs {
		writer[t] = len(n.Nodes)
		n.Nodes = append(n.Nodes, Node{Name: t, Op: "Input", Lines: []string{"input"}, Class: quiet, Port: true})
	}
	first := len(n.Nodes)
	for i, f := range im.Fates {
		for _, t := range f.Writes {
			writer[t] = first + i
		}
	}
	for i, f := range im.Fates {
		op := f.Op[strings.LastIndex(f.Op, ":")+1:]
		lines := []string{op}
		if !strings.EqualFold(f.Fate, op) {
			lines = append(lines, f.Fate)
		}
		n.Nodes = append(n.Nodes, Node{Name: cmp.Or(f.Node, op), Op: op, Lines: lines, Class: int(f.Place()),
			Facts: []Attribute{{"becomes", f.Fate}}})
		for _, t := range f.Reads {
			if from, ok := writer[t]; ok { // else it is a constant of the file
				stream(t, from, first+i)
			}
		}
	}
	for _, t := range outputs {
		if from, ok := writer[t]; ok {
			stream(t, from, len(n.Nodes))
			n.Nodes = append(n.Nodes,
				Node{Name: t, Op: "Output", Lines: []string{"output"}, Class: quiet, Port: true})
		}
	}
	return n
}
