package graph

import "fmt"

// UsedTensorNames is the set of used tensor names. The value of a name is the number with which TakeFreshName continues
// to number names made from it. So deriving thousands of names from one stays fast.
type UsedTensorNames map[string]int

// NewNameSet returns a set that holds the given names.
func NewNameSet(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// UsedTensorNames returns the names of all tensors of a graph, without those in the bodies of its nodes.
func (g *Graph) UsedTensorNames() UsedTensorNames {
	t := make(UsedTensorNames, len(g.Nodes)+len(g.Init))
	for name := range g.Init {
		t.MarkUsed(name)
	}
	for _, in := range g.Inputs {
		t.MarkUsed(in.Name)
	}
	for _, n := range g.Nodes {
		for _, o := range n.Outputs {
			t.MarkUsed(o)
		}
	}
	return t
}

// MarkUsed marks a name as used. It returns true if the name was unused before.
func (t UsedTensorNames) MarkUsed(name string) bool {
	if t[name] > 0 {
		return false
	}
	t[name] = 2
	return true
}

// TakeFreshName returns an unused name and marks it as used. The name is base.suffix, with a number behind it if that
// is used already.
func (t UsedTensorNames) TakeFreshName(base, suffix string) string {
	first := base + "." + suffix
	if t.MarkUsed(first) {
		return first
	}
	for i := t[first]; ; i++ {
		if name := fmt.Sprintf("%s%d", first, i); t.MarkUsed(name) {
			t[first] = i + 1
			return name
		}
	}
}

// ReleaseName marks name, which TakeFreshName returned for base and suffix, as unused again.
func (t UsedTensorNames) ReleaseName(base, suffix, name string) {
	delete(t, name)
	if first := base + "." + suffix; t[first] > 0 {
		t[first] = 2 // a smaller number may be unused now
	}
}
