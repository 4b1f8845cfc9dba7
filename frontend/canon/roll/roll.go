// Package roll finds recurrences that a file has unrolled, step by step, and replaces them by loops: nodes that run a
// body once per step. An exporter that traces a program's loop writes such files. For example, a cell with 40 nodes and
// 100 steps becomes 4,000 nodes, which repeat the same 40.
//
// In come a graph and its program; out comes the graph with loops in it, of the same meaning.
//
// Two products with the same weights, one of which depends on the other, may be the same product in two successive
// steps. Package roll follows both backwards at once. Nodes that do the same in both steps are part of the body.
// A tensor that both read is the same in all steps. A tensor that one step makes and the next one reads is a state. All
// other inputs are elements of sequences. The result is a template of the body. Every other step is then compared with
// the template, node by node, starting from the states that the step hands on. Only the file's own nodes determine the
// number of steps.
//
//	roll.go      products that may be steps of one recurrence
//	numbers.go   numbers for tensors; equal numbers mean equal computation
//	template.go  the template, from two steps
//	steps.go     all steps that match the template
//	begins.go    the first step, some parts of which may be folded constants
//	emit.go      the loop that replaces the steps
package roll

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
)

// RollUpInPlace replaces the unrolled recurrences in graph g, whose program is p, by loops. It does not change p. It
// skips recurrences whose last product has an index in keep. changed is false if no recurrence is replaced.
func RollUpInPlace(p *program.Program, g *graph.Graph, keep map[int]bool) (changed bool) {
	for upOne(p, g, keep) {
		changed = true
	}
	return changed
}

// upOne replaces the first recurrence that it finds by a loop. It returns false if it finds none.
func upOne(p *program.Program, g *graph.Graph, keep map[int]bool) bool {
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

// rolled replaces a recurrence by a loop, if products a and b do the same in two successive steps of it. Otherwise it
// changes nothing and returns false.
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

// products returns the nodes that multiply data by constants, in groups with equal constants. The groups are ordered by
// the position of their last nodes, so that of two layers the front one comes first.
func (n *numbers) products() [][]*graph.Node {
	order := map[*graph.Node]int{}
	groups := map[string][]*graph.Node{}
	for i, node := range n.g.Nodes {
		order[node] = i
		if !n.multiplies(node) || operators.IsRecurrent(node) {
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

// multiplies reports whether a node computes a sum of products, alone or among other things.
func (n *numbers) multiplies(node *graph.Node) bool {
	return slices.ContainsFunc(n.p.StepsOf(node), func(s *program.Step) bool { return s.Dot != nil })
}

// tries is the number of nodes of a group that are tried as the counterpart, in the step before, of the group's last
// node.
const tries = 8

// before yields the nodes of a group on which its last node depends, the nearest first. The nearest one may belong to
// the same step, if the products of several gates have equal weights.
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

// depends reports whether node b depends on node a, which stands before it.
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
