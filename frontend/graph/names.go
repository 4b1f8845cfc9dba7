package graph

import "fmt"

// Taken are the names of tensors that no other one may have. Each has the number with which Fresh may go on: models
// make thousands of names of one.
type Taken map[string]int

// setOf is names as a set.
func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// Taken are the names of a graph's tensors, without those of bodies.
func (g *Graph) Taken() Taken {
	t := make(Taken, len(g.Nodes)+len(g.Init))
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

// Take takes a name; it is false where somebody has it.
func (t Taken) Take(name string) bool {
	if t[name] > 0 {
		return false
	}
	t[name] = 2
	return true
}

// Fresh takes a name that is free, close to the given one.
func (t Taken) Fresh(base, suffix string) string {
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

// free gives back a name that Fresh took.
func (t Taken) free(base, suffix, name string) {
	delete(t, name)
	if first := base + "." + suffix; t[first] > 0 {
		t[first] = 2 // some number below has become free
	}
}
