package frontend

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
	"hlsgen/internal/suggest"
)

// cut makes the named tensors the outputs of g, in that order. It removes everything that only other outputs need, and
// adds a note for the user to d. Without names, or with those of g's outputs, it changes nothing. If a name is not a
// tensor of the graph or is named twice, it adds an error to d and returns false.
func cut(g *graph.Graph, outputs []string, file string, d *diag.List) bool {
	if len(outputs) == 0 || slices.Equal(outputs, graph.ValueNames(g.Outputs)) {
		return true
	}
	values := map[string]graph.ValueInfo{}
	var known []string
	for _, v := range g.Inputs {
		known, values[v.Name] = append(known, v.Name), v
	}
	for _, n := range g.Nodes {
		for _, o := range n.Outputs {
			if o != "" {
				known, values[o] = append(known, o), graph.ValueInfo{Name: o}
			}
		}
	}
	for _, v := range g.Outputs { // the file declares their types
		values[v.Name] = v
	}
	var ends []graph.ValueInfo
	for i, name := range outputs {
		v, ok := values[name]
		say := diag.Diag{Severity: diag.SeverityError, Code: diag.AskedOutputUnknown, Node: name, Op: "output",
			Where: file}
		switch {
		case !ok:
			say.Msg, say.Hint = "the model makes no tensor of this name", meant(g, name, known)
			d.Add(say)
		case slices.Contains(outputs[:i], name):
			say.Msg, say.Hint = "it is named twice", "name every tensor once"
			d.Add(say)
		}
		ends = append(ends, v)
	}
	if d.HasErrors() {
		return false
	}
	before, had := len(g.Nodes), graph.ValueNames(g.Outputs)
	inputs := g.Inputs
	g.Outputs = ends
	keep(g)
	say := diag.Diag{Severity: diag.SeverityNote, Code: diag.ModelCutAtOutputs, Where: file,
		Msg: fmt.Sprintf("the model was cut: its outputs are %s in the place of %s, and %d of %d nodes are left out",
			listed(outputs), listed(had), before-len(g.Nodes), before),
		Hint: "what is behind these tensors is yours to compute"}
	if gone := len(inputs) - len(g.Inputs); gone > 0 {
		say.Msg += fmt.Sprintf(", with %d of %d inputs", gone, len(inputs))
	}
	d.Add(say)
	return true
}

// meant returns a hint for a name that no tensor has: the outputs of a node with that name, or tensors with similar
// names.
func meant(g *graph.Graph, name string, known []string) string {
	for _, n := range g.Nodes {
		if n.Name == name {
			return fmt.Sprintf("a node has this name; what it makes is %s", listed(n.Outputs))
		}
	}
	if near := suggest.NearestWords(name, known, 3); len(near) > 0 {
		return "did you mean " + listed(near) + "?"
	}
	return "give names of tensors, such as the model's outputs: " + listed(graph.ValueNames(g.Outputs))
}

// listed returns the quoted names for a message. Of many names it includes the first and the number of the others.
func listed(names []string) string {
	const most = 8
	var quoted []string
	for _, name := range names[:min(most, len(names))] {
		quoted = append(quoted, strconv.Quote(name))
	}
	if more := len(names) - len(quoted); more > 0 {
		quoted = append(quoted, fmt.Sprintf("%d more", more))
	}
	return strings.Join(quoted, ", ")
}

// keep removes from g nodes and initializers that no output of the graph needs, and inputs that only removed nodes
// read.
func keep(g *graph.Graph) {
	live := map[string]bool{}
	for _, o := range g.Outputs {
		live[o.Name] = true
	}
	read := map[string]bool{}
	kept := make([]*graph.Node, 0, len(g.Nodes))
	for _, n := range slices.Backward(g.Nodes) {
		reads, needed := n.TensorsRead(), slices.ContainsFunc(n.Outputs, func(o string) bool { return live[o] })
		for _, in := range reads {
			read[in] = true
			live[in] = live[in] || needed
		}
		if needed {
			kept = append(kept, n)
		}
	}
	slices.Reverse(kept)
	g.Nodes = kept
	g.Inputs = slices.DeleteFunc(slices.Clone(g.Inputs), func(v graph.ValueInfo) bool {
		return read[v.Name] && !live[v.Name]
	})
	for name := range g.Init {
		if read[name] && !live[name] {
			delete(g.Init, name)
		}
	}
}

// maxEnds is the largest number of tensors that a suggested cut names.
const maxEnds = 16

// A ModelCut is a set of tensors at which a model can end so that everything before them can be mapped.
type ModelCut struct {
	Outputs    []string // the tensors that the removed part reads, and outputs that do not depend on it; for --outputs
	Left, Gone int      // the numbers of nodes that depend on data: kept and removed
}

// FindModelCut returns the cut in front of the nodes that could not be mapped, and of everything that depends on them.
// fates must come from Import. It returns nil if no node is removed, or more nodes than are kept: then the unmapped
// nodes are not the tail. It also returns nil if the file cannot be read, or if --outputs cannot name the cut's tensors
// or would name more than maxEnds.
func FindModelCut(name string, onnx []byte, opt Options, fates []NodeFate) *ModelCut {
	g := opt.graph(name, onnx, new(diag.List))
	if g == nil {
		return nil
	}
	keep(g)
	fate := map[int]string{}
	for _, f := range fates {
		fate[f.Index] = f.Fate
	}
	var c ModelCut
	gone, wanted := map[string]bool{}, map[string]bool{}
	for _, o := range g.Outputs {
		wanted[o.Name] = true
	}
	for _, n := range g.Nodes {
		reads := n.TensorsRead()
		off := fate[n.Index] == unmappedFate || slices.ContainsFunc(reads, func(t string) bool { return gone[t] })
		switch {
		case off:
			c.Gone++
			for _, o := range n.Outputs {
				gone[o] = o != ""
			}
			for _, in := range reads {
				wanted[in] = true
			}
		case fate[n.Index] != constantFate:
			c.Left++
			c.Outputs = append(c.Outputs, n.Outputs...)
		}
	}
	c.Outputs = slices.DeleteFunc(c.Outputs, func(t string) bool { return t == "" || !wanted[t] })
	unnamed := func(t string) bool { return strings.Contains(t, ",") || strings.TrimSpace(t) != t }
	if c.Gone == 0 || c.Gone > c.Left || len(c.Outputs) == 0 || len(c.Outputs) > maxEnds ||
		slices.ContainsFunc(c.Outputs, unnamed) {
		return nil
	}
	return &c
}
