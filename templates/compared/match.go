package compared

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"hlsgen/templates/report"
)

// A pair is the layers of two designs that compute the same. A layer that one design splits is a pair with all of its
// parts. A side is empty if a design has nothing of the kind.
type pair struct {
	nodes []string // ONNX nodes of either
	of    [2][]*report.LayerRow
}

// pairs matches the layers of two designs, in the order of the first and then of the second. Layers match that are of
// one kind and made of the same ONNX nodes, or of nodes that a layer of either design joins. What is left of such nodes
// matches as a whole. A layer of no node matches one of its kind in front of a match.
func pairs(designs [2]*report.Page) (list []pair) {
	groups := groupNodes(designs)
	var keys [2]map[string]string
	sides := map[string]int{} // a bit for each design
	for side, p := range designs {
		keys[side] = keysOf(p, groups)
		for _, k := range keys[side] {
			sides[k] |= 1 << side
		}
	}
	at := map[string]int{}
	for side, p := range designs {
		for i := range p.Layers {
			l := &p.Layers[i]
			key := keys[side][l.Name]
			if sides[key] != 3 && len(l.Nodes) > 0 {
				key = "\x00rest of\x00" + groups[l.Nodes[0]]
			}
			k, ok := at[key]
			if !ok {
				k = len(list)
				at[key], list = k, append(list, pair{})
			}
			list[k].of[side] = append(list[k].of[side], l)
			for _, n := range l.Nodes {
				if !slices.Contains(list[k].nodes, n) {
					list[k].nodes = append(list[k].nodes, n)
				}
			}
		}
	}
	return list
}

// names returns the names of the pair's layers: once what both designs call the same.
func (p *pair) names() string {
	var names [2]string
	for side, layers := range p.of {
		var list []string
		for _, l := range layers {
			list = append(list, l.Name)
		}
		names[side] = strings.Join(list, ", ")
	}
	switch {
	case names[0] == names[1] || names[1] == "":
		return names[0]
	case names[0] == "":
		return names[1]
	}
	return names[0] + " → " + names[1]
}

// sum returns the cell of a figure that a layer's parts take together.
func (p *pair) sum(of func(*report.LayerRow) int) besideCell {
	return p.number(func(a, b int) int { return a + b }, of)
}

// most returns the cell of a figure that is the largest of a layer's parts.
func (p *pair) most(of func(*report.LayerRow) int) besideCell {
	return p.number(func(a, b int) int { return max(a, b) }, of)
}

// number returns the cell of a figure of a layer, joined from its parts.
func (p *pair) number(join func(a, b int) int, of func(*report.LayerRow) int) besideCell {
	var n [2]int
	for side, layers := range p.of {
		for _, l := range layers {
			n[side] = join(n[side], of(l))
		}
	}
	return numbers(p.has(), n)
}

// text returns the cell of a text of a layer: each one of its parts once.
func (p *pair) text(of func(*report.LayerRow) string) besideCell {
	var s [2]string
	for side, layers := range p.of {
		var list []string
		for _, l := range layers {
			if t := of(l); t != "" && !slices.Contains(list, t) {
				list = append(list, t)
			}
		}
		s[side] = strings.Join(list, "; ")
	}
	return texts(p.has(), s)
}

// has says which design has layers of the pair.
func (p *pair) has() (has [2]bool) {
	for side, layers := range p.of {
		has[side] = len(layers) > 0
	}
	return has
}

// groupNodes returns, for the first node of every layer of either design, a node by which the layer is matched. It is
// the same one where the other design has a layer of which it is the first, or else the first of a layer that
// contains it.
func groupNodes(designs [2]*report.Page) map[string]string {
	groups := map[string]string{}
	for side, p := range designs {
		leads, holds := map[string]bool{}, map[string]string{}
		for _, l := range designs[1-side].Layers {
			for i, n := range l.Nodes {
				if leads[n] = leads[n] || i == 0; holds[n] == "" {
					holds[n] = l.Nodes[0]
				}
			}
		}
		for _, l := range p.Layers {
			if len(l.Nodes) == 0 || groups[l.Nodes[0]] != "" {
				continue
			}
			groups[l.Nodes[0]] = l.Nodes[0]
			if first := l.Nodes[0]; !leads[first] && holds[first] != "" {
				groups[first] = holds[first]
			}
		}
	}
	return groups
}

// keysOf returns what a layer is matched by, for each layer by its name: its kind and the group of its nodes, or its
// kind and the next layer with nodes. Further layers with all of that in common are numbered.
func keysOf(p *report.Page, groups map[string]string) map[string]string {
	next := map[string]string{}
	for _, f := range p.FIFOs {
		if next[f.From] == "" {
			next[f.From] = f.To
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

// stream matches the name of a stream in a table of FIFOs. Its group is the tensor that it carries, if that has a name.
var stream = regexp.MustCompile(`(?s) \("(.*)"\)$`)

// tensorOf returns the name of the tensor that a FIFO carries. It is empty if the tensor has none.
func tensorOf(f *report.FIFORow) string {
	if parts := stream.FindStringSubmatch(f.Stream); parts != nil {
		return parts[1]
	}
	return ""
}

// kindOf returns a layer's name without its number.
func kindOf(name string) string {
	if i := strings.LastIndexByte(name, '_'); i > 0 && strings.Trim(name[i+1:], "0123456789") == "" {
		return name[:i]
	}
	return name
}
