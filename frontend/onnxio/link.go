package onnxio

import (
	"errors"
	"fmt"
	"strings"

	"gonum.org/v1/gonum/graph/topo"

	"hlsgen/frontend/graph"
)

// link checks that every tensor has only one maker, and sorts g.Nodes. given holds the inputs and initializers,
// captured[i] the uses of outside tensors by the subgraphs of node i. It returns the uses that nothing in g satisfies,
// one per tensor.
func (r *reader) link(g *graph.Graph, given map[string]bool, captured [][]read, at string) []read {
	ops := make([]operator, len(g.Nodes))
	for i, n := range g.Nodes {
		reads := n.Inputs[:len(n.Inputs):len(n.Inputs)]
		for _, c := range captured[i] {
			reads = append(reads, c.tensor)
		}
		ops[i] = operator{reads: reads, makes: n.Outputs}
		r.edges += max(1, len(reads)) * max(1, len(n.Outputs))
		if r.edges > maxEdges {
			r.report(subjectOf(n, at), tooLarge("the nodes of the model have more than %d connections", maxEdges))
			return nil
		}
	}
	w, err := wire(ops)
	if err != nil {
		r.report(subject{at: at}, damaged("the graph cannot be wired: %v", err))
		return nil
	}
	unmet := r.unmet(g, w, given, captured, at)
	if r.checkSingle(g, w, given, at) {
		r.sort(g, w, at)
	}
	return unmet
}

// unmet returns the uses of tensors that are neither given nor made in g, one per tensor.
func (r *reader) unmet(g *graph.Graph, w *wiring, given map[string]bool, captured [][]read, at string) []read {
	var list []read
	seen := make(map[string]bool)
	need := func(tensor string, by func() subject) {
		if tensor == "" || given[tensor] || seen[tensor] || len(w.writers[w.byName[tensorName(tensor)]]) > 0 {
			return
		}
		seen[tensor] = true
		list = append(list, read{tensor, by()})
	}
	for i, n := range g.Nodes {
		for _, in := range n.Inputs {
			need(in, func() subject { return subjectOf(n, at) })
		}
		for _, c := range captured[i] {
			need(c.tensor, func() subject { return c.by })
		}
	}
	for _, o := range g.Outputs {
		need(o.Name, func() subject { return subject{at: at + ", graph outputs"} })
	}
	return list
}

// checkSingle reports tensors with more than one maker, and returns true if there are none. ONNX requires static single
// assignment.
func (r *reader) checkSingle(g *graph.Graph, w *wiring, given map[string]bool, at string) bool {
	const hint = "give each tensor a name of its own"
	single := true
	seen := make(map[*tensorNode]int)
	for i, n := range g.Nodes {
		for slot, t := range w.made[i] {
			if slot >= len(n.Outputs) || n.Outputs[slot] == "" {
				continue
			}
			name := n.Outputs[slot]
			seen[t]++
			switch first := g.Nodes[w.writers[t][0]]; {
			case given[name]:
				r.report(subjectOf(n, at),
					malformed(hint, "it makes the tensor %s, which is an input or initializer of the graph",
						quote(name)))
			case seen[t] == 1:
				continue
			case seen[t] > 2: // the second was reported
			case first == n:
				r.report(subjectOf(n, at), malformed(hint, "two of its outputs are called %s", quote(name)))
			default:
				r.report(subjectOf(n, at), malformed(hint, "it makes the tensor %s, which node %d (%s) makes as well",
					quote(name), first.Index, quote(first.QualifiedOpName())))
			}
			single = false
		}
	}
	return single
}

// sort sorts g.Nodes topologically, and keeps the file's order where that is topological. If there are cycles, it
// reports them and leaves the order unchanged.
func (r *reader) sort(g *graph.Graph, w *wiring, at string) {
	deps, loops := w.dependences()
	const hint = "a graph cannot feed back into itself; write recurrence as Scan, Loop or LSTM"
	for _, i := range loops {
		r.report(subjectOf(g.Nodes[i], at), malformed(hint, "it reads what it makes"))
	}
	sorted, err := topo.SortStabilized(deps, nil)
	var cycles topo.Unorderable
	if errors.As(err, &cycles) {
		for _, c := range cycles {
			const most = 8
			var labels []string
			for _, n := range c[:min(most, len(c))] {
				labels = append(labels, quote(g.Nodes[n.ID()].Label()))
			}
			if len(c) > most {
				labels = append(labels, fmt.Sprintf("%d more", len(c)-most))
			}
			r.report(subjectOf(g.Nodes[c[0].ID()], at), malformed(hint, "%d nodes depend on each other: %s", len(c),
				strings.Join(labels, ", ")))
		}
		return
	}
	nodes := make([]*graph.Node, len(sorted))
	for i, n := range sorted {
		nodes[i] = g.Nodes[n.ID()]
	}
	g.Nodes = nodes
}
