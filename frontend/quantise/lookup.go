package quantise

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
)

// A LookupPlace says where rows of tables are looked up by integers: on the device or on the host. The empty string
// leaves it open: products of ones and zeros are layers of the device, and other rows are chosen on the host.
type LookupPlace string

// These are the places.
const (
	LookupPlaceDevice LookupPlace = "device"
	LookupPlaceHost   LookupPlace = "host"
)

// LookupPlaceNames lists the names of the places, as ParseLookupPlace reads them.
var LookupPlaceNames = []string{string(LookupPlaceDevice), string(LookupPlaceHost)}

// ParseLookupPlace parses the name of a place. It returns an error unless s is one of LookupPlaceNames, so also for the
// empty string.
func ParseLookupPlace(s string) (LookupPlace, error) {
	if !slices.Contains(LookupPlaceNames, s) {
		return "", fmt.Errorf("want %s", strings.Join(LookupPlaceNames, ", "))
	}
	return LookupPlace(s), nil
}

// A TableLookup is a node that looks up rows of a constant table by integers, with the costs, per sample, of either
// place. The node chooses rows, or multiplies weights by ones and zeros that are made of integers.
type TableLookup struct {
	Node   *graph.Node
	OneHot bool // a product
	OnHost bool
	Rows   int // bytes that the host sends where it looks rows up

	Indices int // bytes that the host sends where the device chooses rows
	Table   int // bits that the device then keeps
	Ones    int // ones and zeros that the host sends where the device multiplies them
	MACs    int // that it then computes
}

// TableLookupCostsUnderRecipe returns the lookups of the network, in order, with their costs under a recipe. It leaves
// out a table that has a quantiser, which belongs to the device, products without an axis of output channels, and the
// bodies of loops.
func (n *QuantisableNetwork) TableLookupCostsUnderRecipe(r Recipe) (list []TableLookup) {
	s := n.scopes[0]
	for _, it := range s.items {
		node := it.origin()
		switch {
		case node == nil:
		case chooses(s, node):
			table := s.constant(node.Inputs[0])
			index := bits.Len(uint(table.Shape[0] - 1))
			x := TableLookup{Node: node, OnHost: n.lookup != LookupPlaceDevice, Rows: rowsOf(n, node, r),
				Table: table.Len() *
					r.Activations.width()}
			x.Indices = graph.ElementCount(s.prog.Known[node.Inputs[1]].Shape) * max(1, (index+7)/8)
			list = append(list, x)
		case multipliesOnes(s, node):
			data := s.data(node)[0]
			x := TableLookup{Node: node, OneHot: true, OnHost: s.fixed[node.Outputs[0]], Rows: rowsOf(n, node, r),
				Ones: graph.ElementCount(s.prog.Known[data].Shape)}
			slot := slices.IndexFunc(node.Inputs, func(in string) bool { return s.constant(in) != nil })
			shape := s.constant(node.Inputs[slot]).Shape
			axis := operators.OutputChannelAxisOfWeights(node, slot, len(shape))
			if axis < 0 {
				continue
			}
			x.MACs = x.Ones * shape[axis]
			list = append(list, x)
		}
	}
	return list
}

// rowsOf returns the number of bytes per sample that the host would send for the rows that a node chooses, under a
// recipe. The rows are quantised at the places behind the node, or as if a place stood there.
func rowsOf(n *QuantisableNetwork, node *graph.Node, r Recipe) (bytes int) {
	s, from := n.scopes[0], map[string]bool{node.Outputs[0]: true}
	for _, it := range s.items {
		switch p := it.spot; {
		case p != nil && from[p.from]:
			i := slices.Index(n.spots, p)
			bytes += graph.ElementCount(s.prog.Known[p.given].Shape) * ((p.lead().format(r.spot(i)).width() + 7) / 8)
		case p == nil && slices.ContainsFunc(it.node.Inputs, func(in string) bool { return from[in] }):
			for _, o := range it.node.Outputs {
				from[o] = from[o] || s.raw[o]
			}
		}
	}
	if bytes == 0 {
		bytes = graph.ElementCount(s.prog.Known[node.Outputs[0]].Shape) * ((r.Activations.width() + 7) / 8)
	}
	return bytes
}

// width returns the number of bits of a value in the format.
func (f QuantFormat) width() int {
	if f.Bits > 0 {
		return f.Bits
	}
	return 1 + f.Exponent + f.Mantissa
}

// chooses reports whether a node chooses rows of a constant table of reals by integers that arrive on an input.
func chooses(s *scope, node *graph.Node) bool {
	if s.loop != nil || node == nil || node.Op != operators.OpGather || len(s.data(node)) != 1 {
		return false
	}
	table := s.constant(node.Inputs[0])
	return table != nil && table.DType.IsReal() && s.raw[node.Inputs[1]] && s.quantiserOf(node.Inputs[0]) == nil
}

// multipliesOnes reports whether a node multiplies constants with ones and zeros that are made of integers.
func multipliesOnes(s *scope, node *graph.Node) bool {
	data := s.data(node)
	if s.loop != nil || operators.RoleOf(node) != operators.RoleWeightedSum || len(data) != 1 || !s.raw[data[0]] {
		return false
	}
	for t := data[0]; ; {
		step := s.prog.ProducerOf(t)
		switch {
		case s.truths(t):
			return true
		case step == nil || step.Move == nil || step.Move.MayReadOtherInputs():
			return false
		}
		t = step.Node.Inputs[0]
	}
}

// truths reports whether a tensor is made of truths alone, a one-hot of integers among them.
func (s *scope) truths(tensor string) bool {
	step := s.prog.ProducerOf(tensor)
	return step != nil && step.Node.Op == operators.OpCast && s.prog.Known[step.Node.Inputs[0]].DType == graph.DTypeBool
}
