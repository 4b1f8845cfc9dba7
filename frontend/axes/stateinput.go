package axes

import (
	"fmt"
	"maps"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
)

// A StateInput is an input of a model that only recurrences read, as the initial value of a state.
type StateInput struct {
	Name string
	program.KnownTensor
	Real  bool // some recurrence reads it without a quantiser in between
	loops []begun
}

// A begun is state number k of a recurrence; its initial value comes from an input.
type begun struct {
	*program.Recur
	k int
}

// FindStateInputs returns the real-valued inputs of p's graph that are initial states of recurrences and nothing else,
// in order. They may be moved or quantised on the way.
func FindStateInputs(p *program.Program) (list []*StateInput) {
	outputs := graph.NewNameSet(graph.ValueNames(p.Graph.Outputs))
	for _, in := range p.Graph.Inputs {
		s := &StateInput{Name: in.Name, KnownTensor: p.Known[in.Name]}
		if s.DType.IsReal() && s.reaches(p, in.Name, false, outputs) && len(s.loops) > 0 {
			list = append(list, s)
		}
	}
	return list
}

// reaches records the states that begin with a tensor, which is derived from the input; quantised tells whether through
// a quantiser. It returns false if anything else reads the tensor, or if it is one of the outputs.
func (s *StateInput) reaches(p *program.Program, tensor string, quantised bool, outputs map[string]bool) bool {
	if outputs[tensor] {
		return false
	}
	for _, step := range p.ReadersOf(tensor) {
		role := operators.RoleOf(step.Node)
		switch {
		case step.Recur != nil:
			for k, name := range step.Node.Inputs {
				of := begun{step.Recur, k}
				switch {
				case name != tensor || slices.Contains(s.loops, of):
				case k >= step.Recur.States:
					return false
				default:
					s.loops = append(s.loops, of)
					s.Real = s.Real || !quantised
				}
			}
		case step.Move != nil || role == operators.RoleFakeQuantise || role == operators.RoleQuantizeLinear ||
			role == operators.RoleDequantizeLinear || role == operators.RoleClip:
			if !s.reaches(p, step.Output, quantised || role == operators.RoleFakeQuantise ||
				role == operators.RoleQuantizeLinear,
				outputs) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// A quantising is one node of a quantiser, with its constant inputs by slot.
type quantising struct {
	node *graph.Node
	by   []*graph.ConstantTensor // the constant inputs by slot; nil for the data
}

// NewStateQuantiserNodes returns nodes that quantise the tensor in to the tensor out, as the bodies of the recurrences
// quantise the state. fresh returns unused names; constants are added to init. It returns nil and the reason if the
// model quantises the input already, or the bodies do not quantise it all in one way.
func (s *StateInput) NewStateQuantiserNodes(in, out string, fresh func(string) string,
	init map[string]*graph.ConstantTensor) (nodes []*graph.Node,
	why string) {
	chain, why := s.quantiser()
	for i, q := range chain {
		n := *q.node
		n.Index, n.Stands, n.Name, n.Meta, n.Attrs = -1, nil, "initial-state", nil, maps.Clone(n.Attrs)
		n.Inputs = slices.Clone(n.Inputs)
		for slot, t := range q.by {
			switch {
			case n.Inputs[slot] == "":
			case t == nil:
				n.Inputs[slot] = in
			default:
				n.Inputs[slot] = fresh(fmt.Sprintf("%s.%d", out, slot))
				init[n.Inputs[slot]] = t
			}
		}
		if in = out; i < len(chain)-1 {
			in = fresh(out + ".code")
		}
		n.Outputs = []string{in}
		nodes = append(nodes, &n)
	}
	return nodes, why
}

// CanQuantiseLikeBodies reports whether NewStateQuantiserNodes would return nodes, which it does if all recurrences
// quantise the state in the same way.
func (s *StateInput) CanQuantiseLikeBodies() bool {
	chain, _ := s.quantiser()
	return chain != nil
}

// quantiser returns the nodes that quantise the state, which must be the same in all loops. If there are none, why
// holds the reason.
func (s *StateInput) quantiser() (all []quantising, why string) {
	if !s.Real {
		return nil, "the model quantises it already"
	}
	for i, l := range s.loops {
		chain := quantises(l.Body, l.Body.Graph.Outputs[l.k].Name)
		switch {
		case chain == nil:
			return nil, "no quantiser of the loop's body makes this state"
		case i > 0 && !slices.EqualFunc(chain, all, quantising.equal):
			return nil, "the recurrences that begin with it quantise it differently"
		}
		state := l.Body.Known[l.Body.Graph.Inputs[l.k].Name].Shape
		for _, q := range chain {
			for _, t := range q.by {
				if t != nil && t.Len() > 1 && !slices.Equal(state, s.Shape) {
					return nil, "the loop's quantiser has a scale for each element, and the input another shape than " +
						"the state"
				}
			}
		}
		all = chain
	}
	return all, ""
}

// quantises returns the nodes of the quantiser that gives a tensor's value, from the first to the last. It returns nil
// if no quantiser does.
func quantises(p *program.Program, tensor string) (chain []quantising) {
	for {
		step := p.ProducerOf(tensor)
		if step == nil {
			return nil
		}
		n := p.OriginOf(step.Node)
		role := operators.RoleOf(n)
		ends := role == operators.RoleFakeQuantise || role == operators.RoleQuantizeLinear
		switch {
		case n != step.Node || len(n.Outputs) != 1:
			return nil
		case ends || role == operators.RoleDequantizeLinear || role == operators.RoleClip:
			q := quantising{n, make([]*graph.ConstantTensor, len(n.Inputs))}
			for slot := 1; slot < len(n.Inputs); slot++ {
				if n.Inputs[slot] == "" {
					continue
				}
				if q.by[slot] = p.Known[n.Inputs[slot]].Const; q.by[slot] == nil {
					return nil
				}
			}
			if chain = slices.Insert(chain, 0, q); ends {
				return chain
			}
		case step.Move == nil:
			return nil
		}
		tensor = n.Inputs[0]
	}
}

// equal reports whether two nodes have the same operator, attributes and constant inputs.
func (q quantising) equal(o quantising) bool {
	same := func(a, b *graph.ConstantTensor) bool { return (a == nil) == (b == nil) && (a == nil || a.Equal(b)) }
	return q.node.QualifiedOpName() == o.node.QualifiedOpName() && slices.EqualFunc(q.by, o.by, same) &&
		fmt.Sprint(q.node.Attrs) == fmt.Sprint(o.node.Attrs)
}
