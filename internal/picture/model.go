package picture

import (
	"cmp"
	"slices"
	"strings"

	"hlsgen/frontend"
	"hlsgen/internal/chart"
	"hlsgen/internal/report"
)

// The classes of a model's nodes, by their fates.
const (
	inHardware = iota
	onHost
	notMapped
	constant
)

// fateClasses names the classes of a model.
var fateClasses = []chart.NetworkClass{inHardware: {Name: "in a layer"}, onHost: {Name: "on the host"},
	notMapped: {Name: "not mapped"}, constant: {Name: "constant or unused", Quiet: true}}

// classOf returns the class of a node.
func classOf(fate string) int {
	switch {
	case fate == frontend.NodeFateHostPrefix || fate == frontend.NodeFateHostSuffix:
		return onHost
	case fate == "constant" || fate == "unused":
		return constant
	case fate == "not mapped" || fate == "undecided" || fate == "not reached":
		return notMapped
	}
	return inHardware
}

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
		n.Nodes = append(n.Nodes, Node{Name: t, Op: "Input", Lines: []string{"input"}, Class: constant, Port: true})
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
		n.Nodes = append(n.Nodes, Node{Name: cmp.Or(f.Node, op), Op: op, Lines: lines, Class: classOf(f.Fate),
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
				Node{Name: t, Op: "Output", Lines: []string{"output"}, Class: constant, Port: true})
		}
	}
	return n
}
