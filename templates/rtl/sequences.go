package rtl

import (
	"slices"

	"hlsgen/internal/dataflow"
)

// timed reports whether a stream carries time steps of sequences.
func (n *Network) timed(stream int) bool {
	return n.one != nil && n.design.Model.Graph.StreamHasTimeSteps(n.one.Model.Graph, stream)
}

// An ending is a FIFO that tells a layer, or an output, where sequences end.
type ending struct {
	dataflow.SequenceEndFIFO
	name string
}

// endings are the FIFOs for the ends of sequences in a network.
type endings []ending

// ends returns the FIFOs for the ends of sequences in the network.
func (n *Network) ends() (list endings) {
	for _, e := range n.design.SequenceEndFIFOs() {
		name := stream(e.Stream) + "_ends" // for an output
		if e.Node >= 0 {
			name = n.design.Model.Graph.Nodes[e.Node].Name + "_ends"
		}
		list = append(list, ending{e, name})
	}
	return list
}

// of returns the ending that a node reads or, for node -1, that the output of the given stream reads. told is false if
// there is none.
func (list endings) of(node, stream int) (e ending, told bool) {
	k := slices.IndexFunc(list, func(e ending) bool { return e.Node == node && (node >= 0 || e.Stream == stream) })
	if k < 0 {
		return e, false
	}
	return list[k], true
}

// written returns the names of the endings that an input writes.
func (list endings) written(input int) (names []string) {
	for _, e := range list {
		if e.Input == input {
			names = append(names, e.name)
		}
	}
	return names
}
