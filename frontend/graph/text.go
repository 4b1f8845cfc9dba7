package graph

import (
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"slices"
	"strings"
)

// WriteGraphText writes the graph as text for people: inputs, constants by name, nodes in order, and outputs. Large
// constants are summarised by a hash and their first values. Equal graphs give equal text. An error comes from w.
func WriteGraphText(w io.Writer, g *Graph) error {
	var b strings.Builder
	format(&b, g, "")
	_, err := io.WriteString(w, b.String())
	return err
}

// format writes a graph with the given indentation to b. The bodies of a node follow the node, indented further.
func format(b *strings.Builder, g *Graph, indent string) {
	for _, in := range g.Inputs {
		fmt.Fprintf(b, "%sinput  %q %s %s\n", indent, in.Name, in.DType, FormatDims(in))
	}
	for _, name := range slices.Sorted(maps.Keys(g.Init)) {
		t := g.Init[name]
		fmt.Fprintf(b, "%sconst  %q %s %v %s\n", indent, name, t.DType, t.Shape, formatValues(t))
	}
	for _, n := range g.Nodes {
		fmt.Fprintf(b, "%snode   %d %q %s(%s) -> %s%s\n", indent, n.Index, n.Name, ownOp(n), quoteAll(n.Inputs),
			quoteAll(n.Outputs), formatAttrs(n.Attrs))
		for _, name := range slices.Sorted(maps.Keys(n.Attrs)) {
			if body := n.Attrs[name].G; body != nil {
				format(b, body, indent+"       ")
			}
		}
	}
	for _, o := range g.Outputs {
		fmt.Fprintf(b, "%soutput %q %s %s\n", indent, o.Name, o.DType, FormatDims(o))
	}
}

// ownOp returns the operator of the node itself, even if a pass made it; QualifiedOpName returns the operator in the
// file.
func ownOp(n *Node) string {
	own := *n
	own.Was = ""
	return own.QualifiedOpName()
}

// FormatDims returns the axes of a value as text: "?" if its shape is not known, and otherwise a list in brackets. An
// axis is its size, its name in quotes, or ? if it has neither.
func FormatDims(v ValueInfo) string {
	if !v.Known {
		return "?"
	}
	var dims []string
	for _, d := range v.Dims {
		switch {
		case d.Size >= 0:
			dims = append(dims, fmt.Sprint(d.Size))
		case d.Param != "":
			dims = append(dims, fmt.Sprintf("%q", d.Param))
		default:
			dims = append(dims, "?")
		}
	}
	return "[" + strings.Join(dims, " ") + "]"
}

// shown is the largest number of a constant's values that are written in a text.
const shown = 8

func formatValues(t *ConstantTensor) string {
	n := t.Len()
	var b strings.Builder
	for i := range min(n, shown) {
		if i > 0 {
			b.WriteByte(' ')
		}
		if t.DType.IsReal() {
			fmt.Fprint(&b, t.FloatAt(i))
		} else {
			fmt.Fprint(&b, t.IntAt(i))
		}
	}
	if n > shown {
		h := fnv.New64a()
		for i := range n {
			fmt.Fprintf(h, "%x,", t.bits(i))
		}
		fmt.Fprintf(&b, " ... fnv64a %016x", h.Sum64())
	}
	return b.String()
}

func formatAttrs(attrs AttributesByName) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		a := attrs[name]
		fmt.Fprintf(&b, " %s=", name)
		switch values := [...]any{nil, a.F, a.I, a.S, a.T, a.G, a.Floats, a.Ints, a.Strings}; a.Kind {
		case AttrKindUnknown:
			b.WriteString("?")
		case AttrKindTensor:
			fmt.Fprintf(&b, "%s%v(%s)", a.T.DType, a.T.Shape, formatValues(a.T))
		case AttrKindGraph:
			fmt.Fprintf(&b, "graph(%d nodes)", len(a.G.Nodes))
		case AttrKindString, AttrKindStrings:
			fmt.Fprintf(&b, "%q", values[a.Kind])
		default:
			fmt.Fprint(&b, values[a.Kind])
		}
	}
	return b.String()
}

func quoteAll(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(out, ", ")
}
