package quantise

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
)

// A normalisation that consists of several nodes divides by a number computed from many elements: a softmax by a sum of
// exponentials, a layer normalisation by a deviation. No layer does that, so codes inside would cost accuracy and gain
// nothing. Only its input, and its output if a product reads it, may get codes.

// normalises returns the set of the nodes of a scope that belong to normalisations, such as those that divide by a
// standard deviation.
func normalises(s *scope) map[*graph.Node]bool {
	all := map[*graph.Node]bool{}
	readers := map[string][]*graph.Node{}
	for _, it := range s.items {
		if it.node == nil {
			continue
		}
		for _, in := range it.node.Inputs {
			readers[in] = append(readers[in], it.node)
		}
	}
	for _, it := range s.items {
		if it.node == nil || !operators.IsReduction(it.node) || len(s.data(it.node)) == 0 {
			continue
		}
		within, divides := until(it.node, readers)
		for node := range within {
			all[node] = all[node] || divides
		}
	}
	return all
}

// until returns node and the nodes that depend on it, up to the next products and quantisers. divides reports whether
// one of them divides by a result of another.
func until(node *graph.Node, readers map[string][]*graph.Node) (all map[*graph.Node]bool, divides bool) {
	all = map[*graph.Node]bool{node: true}
	for list := []*graph.Node{node}; len(list) > 0; list = list[1:] {
		for _, out := range list[0].Outputs {
			for _, r := range readers[out] {
				role := operators.RoleOf(r)
				if role == operators.RoleWeightedSum || role == operators.RoleScan ||
					role == operators.RoleFakeQuantise ||
					role == operators.RoleQuantizeLinear {
					continue
				}
				divides = divides || operators.DivisorOrPowerBaseOf(r) == out
				if !all[r] {
					all[r] = true
					list = append(list, r)
				}
			}
		}
	}
	return all, divides && slices.ContainsFunc(node.Outputs, func(o string) bool { return len(readers[o]) > 0 })
}
