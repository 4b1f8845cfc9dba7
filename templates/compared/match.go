package compared

import (
	"fmt"
	"slices"
	"strings"

	"hlsgen/templates/report"
)

// A pair is a layer in each of two designs that computes the same, or a layer of one of them; the other is nil then.
type pair struct {
	nodes []string // ONNX nodes of either
	of    [2]*report.LayerRow
}

// pairs matches the layers of two designs, in the order of the first and then of the second. Layers match that are of
// one kind and made of the same ONNX nodes, or of nodes that a layer of either design joins. A layer of no node matches
// one of its kind in front of a match.
func pairs(designs [2]*report.Page) (list []pair) {
	at := map[string]int{}
	nodes := groupNodes(designs)
	for side, p := range designs {
		keys := keysOf(p, nodes)
		for i := range p.Layers {
			l := &p.Layers[i]
			k, ok := at[keys[l.Name]]
			if !ok {
				k = len(list)
				at[keys[l.Name]], list = k, append(list, pair{})
			}
			list[k].of[side] = l
			for _, n := range l.Nodes {
				if !slices.Contains(list[k].nodes, n) {
					list[k].nodes = append(list[k].nodes, n)
				}
			}
		}
	}
	return list
}

// groupNodes returns, for each ONNX node, the first node of those that layers of either design join with it.
func groupNodes(designs [2]*report.Page) map[string]string {
	first := map[string]string{}
	find := func(n string) string {
		for first[n] != n {
			first[n] = first[first[n]]
			n = first[n]
		}
		return n
	}
	for _, p := range designs {
		for _, l := range p.Layers {
			for _, n := range l.Nodes {
				if first[n] == "" {
					first[n] = n
				}
				first[find(n)] = find(l.Nodes[0])
			}
		}
	}
	groups := map[string]string{}
	for n := range first {
		groups[n] = find(n)
	}
	return groups
}

// keysOf returns what a layer is matched by, for each layer by its name: its kind and the group of its nodes, or its
// kind and the next layer with nodes. Further layers with all of that in common are numbered.
func keysOf(p *report.Page, groups map[string]string) map[string]string {
	next := map[string]string{}
	for _, f := range p.FIFOs {
		if from := producer(f); next[from] == "" {
			next[from] = f.To
		}
	}
	byName := map[string]*report.LayerRow{}
	for i := range p.Layers {
		byName[p.Layers[i].Name] = &p.Layers[i]
	}
	keys, seen := map[string]string{}, map[string]int{}
	for i := range p.Layers {
		l, place := &p.Layers[i], "\x00of\x00"
		for steps := 0; l != nil && len(l.Nodes) == 0 && steps < len(p.Layers); steps++ {
			l, place = byName[next[l.Name]], "\x00before\x00"
		}
		if l != nil && len(l.Nodes) > 0 {
			place += groups[l.Nodes[0]]
		}
		key := kindOf(p.Layers[i].Name) + place
		keys[p.Layers[i].Name] = fmt.Sprintf("%s\x00%d", key, seen[key])
		seen[key]++
	}
	return keys
}

// producer returns the name of the layer that writes a FIFO.
func producer(f report.FIFORow) string {
	name, _, _ := strings.Cut(f.Stream, ` ("`)
	return name
}

// kindOf returns a layer's name without its number.
func kindOf(name string) string {
	if i := strings.LastIndexByte(name, '_'); i > 0 && strings.Trim(name[i+1:], "0123456789") == "" {
		return name[:i]
	}
	return name
}
