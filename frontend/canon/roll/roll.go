// Package roll finds recurrences that a file has written out, step by step, and makes loops of them: nodes that run a
// body once per step. An exporter that follows a loop of a program writes such files: of a cell with 40 nodes and 100
// steps, 4,000 nodes, which are 100 times the same 40.
//
// In come a graph and its program; out comes the graph with loops in it, of the same meaning. It sees graph and diag.
//
// Two products with the same weights, one of which depends on the other, may stand for one product of two steps. Both
// are followed backwards, side by side: what does the same in both is a part of the body, what is the same tensor is so
// in all steps, what one step makes and the next one reads is a state, and the rest is elements of sequences. That is a
// template of the body. Every other step is then held against it, node by node, from the states that it hands on.
// Nothing but the file's own nodes says how many steps there are.
//
//	roll.go      products that may be steps of one recurrence
//	numbers.go   tensors that are computed alike have one number
//	template.go  the body, of two steps
//	steps.go     all steps that are like it
//	begins.go    the first one, in which constants may have been computed before
//	emit.go      the loop in place of the steps
package roll

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"hlsgen/frontend/graph"
)

// Up puts loops in the place of recurrences that are written out in a graph, of which p is the program. It leaves those
// alone that are called like one of keep (Recurrence). changed is false where there is none.
func Up(p *graph.Program, g *graph.Graph, keep map[int]bool) (changed bool) {
	for upOne(p, g, keep) {
		changed = true
	}
	return changed
}

// upOne puts the first loop that it finds in the place of its steps.
func upOne(p *graph.Program, g *graph.Graph, keep map[int]bool) bool {
	n := number(p, g)
	numbered := false
	for _, group := range n.products() {
		b := group[len(group)-1]
		if keep[b.Index] {
			continue
		}
		for a := range n.before(group) {
			if !numbered {
				n.all()
				numbered = true
			}
			if n.rolled(n.first[a], n.first[b]) {
				return true
			}
		}
	}
	return false
}

// rolled puts a loop in the place of the steps of which two follow each other and have one of two nodes each.
func (n *numbers) rolled(a, b *graph.Node) bool {
	if a == b || a == nil || b == nil {
		return false
	}
	t, ok := compare(n, a, b)
	if !ok {
		return false
	}
	r, ok := follow(t)
	return ok && r.emit()
}

// products lists the nodes with sums of products of data and constants, those with equal constants together. The last
// ones of the groups stand in the order of the graph, so that of two layers the one in front comes first.
func (n *numbers) products() [][]*graph.Node {
	order := map[*graph.Node]int{}
	groups := map[string][]*graph.Node{}
	for i, node := range n.g.Nodes {
		order[node] = i
		if !n.multiplies(node) || node.Recurrent() {
			continue
		}
		key, constants := node.Op, 0
		for _, in := range node.Inputs {
			if t := n.constant(in); in != "" && t != nil {
				key += fmt.Sprint(" ", n.fixed(in, t))
				constants++
			}
		}
		if constants > 0 {
			groups[key] = append(groups[key], node)
		}
	}
	var out [][]*graph.Node
	for _, list := range groups {
		if len(list) > 1 {
			out = append(out, list)
		}
	}
	slices.SortFunc(out, func(a, b []*graph.Node) int {
		return cmp.Compare(order[a[len(a)-1]], order[b[len(b)-1]])
	})
	return out
}

// multiplies reports whether a node is a sum of products, or has one in it.
func (n *numbers) multiplies(node *graph.Node) bool {
	return slices.ContainsFunc(graph.Made(n.p, node), func(s *graph.Step) bool { return s.Dot != nil })
}

// tries is how many nodes of a group are looked at for one that the last one depends on.
const tries = 8

// before gives the nodes of a group that its last one depends on, the nearest first: products of several gates may have
// equal weights, and then the nearest is one of the same step.
func (n *numbers) before(group []*graph.Node) iter.Seq[*graph.Node] {
	last := len(group) - 1
	return func(yield func(*graph.Node) bool) {
		for k := last - 1; k >= max(0, last-tries); k-- {
			if n.depends(group[last], group[k]) && !yield(group[k]) {
				return
			}
		}
	}
}

// depends reports whether b depends on a, which stands before it.
func (n *numbers) depends(b, a *graph.Node) bool {
	at := n.positions()
	seen := map[string]bool{}
	list := slices.Clone(b.Inputs)
	for len(list) > 0 {
		name := list[len(list)-1]
		list = list[:len(list)-1]
		w := n.writer(name)
		if seen[name] || w == nil || at[w] < at[a] {
			continue
		}
		if w == a {
			return true
		}
		seen[name] = true
		list = append(list, w.Inputs...)
	}
	return false
}
