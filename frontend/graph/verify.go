package graph

import "fmt"

// Verify returns an error unless every tensor is written once, and before it is read, and all outputs are written. It
// does not look into the bodies of nodes.
func (g *Graph) Verify() error {
	known := make(map[string]bool, len(g.Nodes)+len(g.Init))
	for name := range g.Init {
		known[name] = true
	}
	write := func(name, who string) error {
		if name == "" {
			return nil
		}
		if known[name] {
			return fmt.Errorf("tensor %q is written twice, again by %s", name, who)
		}
		known[name] = true
		return nil
	}
	for _, in := range g.Inputs {
		if err := write(in.Name, "the inputs"); err != nil {
			return err
		}
	}
	for _, n := range g.Nodes {
		for _, in := range n.Inputs {
			if in != "" && !known[in] {
				return fmt.Errorf("%s %q reads %q before it is written", n.QualifiedOpName(), n.Label(), in)
			}
		}
		for _, o := range n.Outputs {
			if err := write(o, fmt.Sprintf("%s %q", n.QualifiedOpName(), n.Label())); err != nil {
				return err
			}
		}
	}
	for _, o := range g.Outputs {
		if !known[o.Name] {
			return fmt.Errorf("output %q is never written", o.Name)
		}
	}
	return nil
}
