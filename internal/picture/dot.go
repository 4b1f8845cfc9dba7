package picture

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
)

// quoted makes a text safe inside quotes of Graphviz, where a backslash begins an escape.
var quoted = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// escaped returns a text for inside quotes. What cannot be printed becomes a space.
func escaped(text string) string {
	return quoted.Replace(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text))
}

// dot returns the network as text for Graphviz. Nodes have numbers as names, so that names of a model are labels only.
func (n *Drawing) dot() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "digraph network {\n    label=\"%s\"\n    labelloc=t\n", escaped(n.Name))
	b.WriteString("    node [shape=box, style=filled, fontname=\"Helvetica\", fontsize=10]\n")
	b.WriteString("    edge [fontname=\"Helvetica\", fontsize=8]\n")
	fills := n.Chart().Fills()
	for i, node := range n.Nodes {
		text := escaped(node.Name)
		for _, line := range node.Lines {
			text += `\n` + escaped(line)
		}
		fmt.Fprintf(&b, "    n%d [label=\"%s\", fillcolor=\"%s\"]\n", i, text, fills[node.Class])
	}
	for _, s := range n.Streams {
		fmt.Fprintf(&b, "    n%d -> n%d [label=\"%s\"]\n", s.From, s.To, escaped(s.Label))
	}
	b.WriteString("}\n")
	return b.Bytes()
}
