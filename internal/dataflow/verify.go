package dataflow

import (
	"fmt"
	"strconv"
)

func itoa(i int) string { return strconv.Itoa(i) }

// Verify checks the graph's form: ids in range, one writer and one reader per stream, nodes in topological order,
// names unique, types well formed.
func (g *Graph) Verify() error {
	writers, readers := make([]int, len(g.Streams)), make([]int, len(g.Streams))
	for i, s := range g.Streams {
		if s.ID != i {
			return fmt.Errorf("stream %d has id %d", i, s.ID)
		}
		if err := s.Type.verify(); err != nil {
			return fmt.Errorf("stream s%d: %w", i, err)
		}
	}
	use := func(count []int, who string, ids []int) error {
		for _, s := range ids {
			if s < 0 || s >= len(g.Streams) {
				return fmt.Errorf("%s names stream %d of %d", who, s, len(g.Streams))
			}
			count[s]++
		}
		return nil
	}
	if err := use(writers, "input", g.In); err != nil {
		return err
	}
	names := map[string]bool{}
	for _, n := range g.Nodes {
		if names[n.Name] {
			return fmt.Errorf("two nodes are called %s", n.Name)
		}
		names[n.Name] = true
		if err := use(readers, n.Name, n.In); err != nil {
			return err
		}
		for _, s := range n.In {
			if writers[s] == 0 {
				return fmt.Errorf("%s reads stream s%d before it is written", n.Name, s)
			}
		}
		if err := use(writers, n.Name, n.Out); err != nil {
			return err
		}
	}
	if err := use(readers, "output", g.Out); err != nil {
		return err
	}
	for i := range g.Streams {
		if writers[i] != 1 || readers[i] != 1 {
			return fmt.Errorf("stream s%d has %d writers and %d readers, wants one of each", i, writers[i], readers[i])
		}
	}
	return nil
}

func (t Type) verify() error {
	for _, d := range t.Shape {
		if d < 1 {
			return fmt.Errorf("shape %v has an empty axis", t.Shape)
		}
	}
	if len(t.Range) != 1 && len(t.Range) != t.Shape.Channels() {
		return fmt.Errorf("%d ranges for %d channels", len(t.Range), t.Shape.Channels())
	}
	if t.Elem.Kind == 0 || t.Elem.Width < 1 {
		return fmt.Errorf("no element type")
	}
	for _, r := range t.Range {
		if r.Lo > r.Hi || !r.Within(t.Elem.Range()) {
			return fmt.Errorf("%s does not hold %s", t.Elem, r)
		}
	}
	return nil
}
