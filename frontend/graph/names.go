package graph

import "fmt"

// UsedNames is the set of used tensor names. The value of a name is the number with which Fresh continues, because
// models derive thousands of names from one.
type UsedNames map[string]int

// NameSet returns a set that holds the given names.
func NameSet(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// UsedNames returns the names of all tensors of a graph, without those of bodies in it.
func (g *Graph) UsedNames() UsedNames {
	t := make(UsedNames, len(g.Nodes)+len(g.Init))
	for name := range g.Init {
		t.Take(name)
	}
	for _, in := range g.Inputs {
		t.Take(in.Name)
	}
	for _, n := range g.Nodes {
		for _, o := range n.Outputs {
			t.Take(o)
		}
	}
	return t
}

// Take marks a name as used. It returns false if it was used before.
func (t UsedNames) Take(name string) bool {
	if t[name] > 0 {
		return false
	}
	t[name] = 2
	return true
}

// Fresh returns an unused name and marks it as used. The name is base.suffix, with a number behind it if that is used
// already.
func (t UsedNames) Fresh(base, suffix string) string {
	first := base + "." + suffix
	if t.Take(first) {
		return first
	}
	for i := t[first]; ; i++ {
		if name := fmt.Sprintf("%s%d", first, i); t.Take(name) {
			t[first] = i + 1
			return name
		}
	}
}

// Free marks name, which Fresh returned for base and suffix, as unused again.
func (t UsedNames) Free(base, suffix, name string) {
	delete(t, name)
	if first := base + "." + suffix; t[first] > 0 {
		t[first] = 2 // a smaller number may be unused now
	}
}
