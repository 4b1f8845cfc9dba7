package canon

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
)

// splitProducts writes each product in m.Split as a sum of products, one for each group of indices of the summed axis.
// It reports whether there were any such products.
func splitProducts(m *PassState) bool {
	e := edit(m.Graph)
	return e.each(func(n *graph.Node) []*graph.Node {
		s := m.product(n)
		if s == nil {
			return nil
		}
		groups := m.Split[s.Output]
		x, w := n.Inputs[s.Dot.A], n.Inputs[s.Dot.B]
		axis, rows := len(m.Program.Known[x].Shape)-1, 0 // the summed axis of the data and of the weights
		data, rest, size := 1, 1, 0                      // the number of groups of the data, and their size
		if s.Window != nil {
			axis, rows, data, size = 1, 1, s.Window.Group, s.Window.Depth
		}
		if operators.HasTrait(n, operators.TraitInputChannelsFirst) {
			rows, rest = 0, data
		}
		weights := m.Program.Known[w].Const
		if weights == nil || s.Window == nil && len(weights.Shape) != 2 {
			return nil
		}
		var nodes []*graph.Node
		sum := ""
		for i, group := range groups {
			taken := func(tensor string, axis, groups int) string {
				indices := &graph.ConstantTensor{DType: graph.DTypeInt64, Shape: []int{groups * len(group)}}
				for g := range groups {
					for _, k := range group {
						indices.I = append(indices.I, int64(g*size+k))
					}
				}
				at, out := e.constant(n.Outputs[0], "elements", indices), e.taken.TakeFreshName(tensor, "elements")
				nodes = append(nodes, from(n, "", operators.OpGather, []string{tensor, at}, out,
					graph.AttributesByName{"axis": graph.NewIntAttr(axis)}))
				return out
			}
			inputs := slices.Clone(n.Inputs)
			if inputs[s.Dot.A], inputs[s.Dot.B] = taken(x, axis, data), taken(w, rows, rest); i > 0 {
				inputs = inputs[:2] // only the first product has the bias
			}
			part := *n
			part.Inputs, part.Outputs = inputs, []string{e.taken.TakeFreshName(n.Outputs[0], "part")}
			nodes = append(nodes, &part)
			if i == 0 {
				sum = part.Outputs[0]
				continue
			}
			out := n.Outputs[0]
			if i < len(groups)-1 {
				out = e.taken.TakeFreshName(out, "sum")
			}
			nodes = append(nodes, from(n, "", operators.OpAdd, []string{sum, part.Outputs[0]}, out, nil))
			sum = out
		}
		return nodes
	})
}

// product returns the step of the sum of products that node n computes, perhaps before it adds a bias. It returns nil
// unless m.Split has that step.
func (m *PassState) product(n *graph.Node) *program.Step {
	if len(n.Outputs) != 1 {
		return nil
	}
	s := m.Program.ProducerOf(n.Outputs[0])
	if s != nil && s.Elem != nil && s.Node.Index == n.Index {
		s = m.Program.ProducerOf(s.Node.Inputs[0])
	}
	if s == nil || s.Node.Index != n.Index || s.Dot == nil || s.Dot.Then != nil || m.Split[s.Output] == nil {
		return nil
	}
	return s
}
