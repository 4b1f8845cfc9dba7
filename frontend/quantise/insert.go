package quantise

import (
	"maps"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/real"
)

// A wish records that a node needs codes of a tensor, and with which place these must share their format, if any.
type wish struct {
	by   *graph.Node
	as   *spot // the place whose format the codes must share; nil for a format of their own
	rows bool  // the tensor is a table, of which by looks up rows
}

// insert finds the tensors of the model's graph that lack a quantiser. Tensors that are multiplied by weights, added,
// or combined with other tensors must be codes. insert looks at the bodies of loops first.
func (n *QuantisableNetwork) insert() {
	s := n.scopes[0]
	for _, in := range n.scopes[1:] {
		n.insertIn(in)
		in.gives()
	}
	n.joinDirections()
	wanted := map[string]wish{} // by tensor
	var order []string
	want := func(t string, w wish) {
		if was, ok := wanted[t]; s.code[t] == nil && !ok {
			wanted[t] = w
			order = append(order, t)
		} else if ok && w.as != nil {
			if was.as != nil {
				was.as.join(w.as)
			}
			wanted[t] = w
		}
	}
	normal := normalises(s)
	for _, it := range s.items {
		if !normal[it.node] {
			for _, t := range s.wants(it.node) {
				want(t, wish{by: it.node})
			}
		}
		if n.lookup == LookupPlaceDevice && chooses(s, it.node) {
			want(it.node.Inputs[0], wish{by: it.node, rows: true})
		}
		if in := n.scopeOf(it.origin()); in != nil {
			in.arrives(want)
		}
	}
	// if one tensor is a moved copy of another, only the other one needs a quantiser
	for _, t := range slices.Clone(order) {
		others := maps.Clone(wanted)
		if delete(others, t); wanted[t].as == nil && s.carried(t, others) {
			delete(wanted, t)
		}
	}
	spots := map[string]*spot{}
	for _, t := range order {
		if w, ok := wanted[t]; ok {
			spots[t] = s.place(t, w.by.Label())
			if spots[t].as = w.as; s.spectra[t] {
				spots[t].more = moreOfSpectra
			}
			spots[t].flags = s.truths(t)
			if spots[t].rows = w.rows; w.rows {
				spots[t].values.add(s.constant(t).Floats())
			}
			n.spots = append(n.spots, spots[t])
		}
	}
	n.put(s, spots)
	s.follow()
}

// place returns a new place for a quantiser after a tensor. Diagnostics call the place label.
func (s *scope) place(tensor, label string) *spot {
	p := &spot{scope: s, label: label, from: tensor, given: tensor, to: s.names.TakeFreshName(tensor, "quantised")}
	p.limits = []*graph.Node{{Index: -1, Name: label, Op: operators.OpIdentity, Inputs: []string{tensor},
		Outputs: []string{p.to}}}
	return p
}

// put inserts places after their tensors.
func (n *QuantisableNetwork) put(s *scope, spots map[string]*spot) {
	s.put(spots)
	for _, w := range n.weights {
		if p := spots[w.data]; p != nil && w.scope == s {
			w.data = p.to
		}
	}
	for _, p := range spots {
		s.code[p.to] = p
	}
}

// wants returns the names of a node's inputs that must be codes for the node.
func (s *scope) wants(node *graph.Node) []string {
	if node == nil {
		return nil
	}
	data := s.data(node)
	switch r := operators.RoleOf(node); {
	case slices.ContainsFunc(node.Outputs, func(o string) bool { return s.fixed[o] }):
		return nil
	case r == operators.RoleWeightedSum, r == operators.RolePlainSum:
		return data
	case r == operators.RoleElementwise && len(data) > 1 && !s.oneRoot(data):
		return data
	case operators.IsMaxPool(node) && (s.mixed(data[0]) || s.turns(data[0])):
		return data
	}
	return nil
}

// mixed reports whether a tensor is a function of several tensors, such as a product of two. A node that chooses among
// its elements, such as a maximum, then needs codes.
func (s *scope) mixed(tensor string) bool {
	return slices.ContainsFunc(s.items, func(it *item) bool {
		if it.node == nil || !slices.Contains(it.node.Outputs, s.root[tensor]) ||
			operators.RoleOf(it.node) != operators.RoleElementwise {
			return false
		}
		data := s.data(it.node)
		return len(data) > 1 && !s.oneRoot(data)
	})
}

// turns reports whether a tensor is a function of another one, element by element, that both rises and falls. An
// example is x times the sigmoid of x. The greatest of its values is then not that of the greatest element.
func (s *scope) turns(tensor string) bool {
	for {
		step := s.prog.ProducerOf(tensor)
		if step == nil || s.code[tensor] != nil {
			return false
		}
		data := s.data(step.Node)
		switch {
		case step.Move != nil && !step.Move.MayReadOtherInputs():
		case step.Elem == nil || step.Window != nil:
			return false
		case len(data) > 1:
			return s.oneRoot(data)
		default:
			with := make([]*real.Expr, len(step.Elem.Args))
			for v, slot := range step.Elem.Args {
				if with[v] = real.Var(0); step.Node.Inputs[slot] != data[0] {
					constant := s.constant(step.Node.Inputs[slot])
					with[v] = real.ConstantExprOfFloat(constant.FloatAt(step.Elem.ArgumentIndex(v, 0)))
				}
			}
			if _, ok := step.Elem.Expr.SubstituteVariables(with).MonotonicDirection(); !ok {
				return true
			}
		}
		tensor = data[0]
	}
}

// carried reports whether a tensor consists of codes alone, given that the tensors in quantised have a quantiser.
func (s *scope) carried(tensor string, quantised map[string]wish) bool {
	for _, it := range s.items {
		if it.node == nil || !slices.Contains(it.node.Outputs, tensor) ||
			operators.RoleOf(it.node) != operators.RoleMovesCodes {
			continue
		}
		data := s.data(it.node)
		if chooses(s, it.node) {
			data = it.node.Inputs[:1]
		}
		return len(data) > 0 && !slices.ContainsFunc(data, func(d string) bool {
			_, has := quantised[d]
			return s.code[d] == nil && !has && !s.carried(d, quantised)
		})
	}
	return false
}

// put inserts places after the nodes that compute their tensors, and makes the other nodes read the quantised tensors.
func (s *scope) put(spots map[string]*spot) {
	var items []*item
	behind := func(tensors []string) {
		for _, t := range tensors {
			if p := spots[t]; p != nil {
				items = append(items, &item{spot: p})
			}
		}
	}
	behind(graph.ValueNames(s.g.Inputs))
	behind(slices.Sorted(maps.Keys(s.g.Init)))
	for _, it := range s.items {
		switch {
		case it.spot != nil:
			if p := spots[it.spot.from]; p != nil {
				it.spot.from, it.spot.given = p.to, p.to
			}
			items = append(items, it)
			behind([]string{it.spot.to})
		default:
			m := *it.node
			m.Inputs = slices.Clone(m.Inputs)
			for i, in := range m.Inputs {
				if p := spots[in]; p != nil && (!p.rows || chooses(s, it.node)) {
					m.Inputs[i] = p.to
				}
			}
			items = append(items, &item{node: &m, of: it.origin()})
			behind(m.Outputs)
		}
	}
	s.items = items
}

// follow records which outputs of carriers hold the codes of the inserted places.
func (s *scope) follow() {
	for _, it := range s.items {
		if it.node == nil || operators.RoleOf(it.node) != operators.RoleMovesCodes {
			continue
		}
		var p *spot
		for i, in := range it.node.Inputs {
			if c := s.code[in]; i == 0 || c != nil {
				p = c
			}
		}
		for _, o := range it.node.Outputs {
			if s.code[o] == nil {
				s.code[o] = p
			}
		}
	}
}
