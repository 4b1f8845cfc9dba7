package graph

import "fmt"

// Taken are the names of tensors that no other one may have.
type Taken map[string]bool

// setOf is names as a set.
func setOf(names []string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return set
}

// Taken are the names of a graph's tensors, without those of bodies.
func (g *Graph) Taken() Taken {
	t := Taken{}
	for name := range g.Init {
		t[name] = true
	}
	for _, in := range g.Inputs {
		t[in.Name] = true
	}
	for _, n := range g.Nodes {
		for _, o := range n.Outputs {
			t[o] = true
		}
	}
	return t
}

// Take takes a name; it is false where somebody has it.
func (t Taken) Take(name string) bool {
	free := !t[name]
	t[name] = true
	return free
}

// Fresh takes a name that is free, close to the given one.
func (t Taken) Fresh(base, suffix string) string {
	name := base + "." + suffix
	for i := 2; !t.Take(name); i++ {
		name = fmt.Sprintf("%s.%s%d", base, suffix, i)
	}
	return name
}
