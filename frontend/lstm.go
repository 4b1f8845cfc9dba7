package frontend

import (
	"fmt"
	"maps"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
)

// LSTMFormats are the quantisers of the gates of ONNX LSTM nodes, by the node's name, or its first output where it has
// none; "*" serves every node that is not named.
type LSTMFormats = map[string]graph.CellFormats

// ParseLSTMFormats reads the file of --lstm-config; graph.ParseFormats has its form.
func ParseLSTMFormats(b []byte) (LSTMFormats, error) { return graph.ParseFormats(b) }

// bind says what the file leaves open: the sizes of dynamic axes, which of them are time, and the formats of cells. It
// tells the user which LSTM nodes change by their formats, and refuses formats that no node has use for.
func (o Options) bind(g *graph.Graph, file string, d *diag.List) graph.Options {
	bind := graph.Options{Dims: o.Dims, Data: o.Data, Cells: o.LSTM}
	used := map[string]bool{}
	for _, n := range g.Nodes {
		if !n.Is(graph.TakesFormats) {
			continue
		}
		name := n.Label()
		if _, ok := o.LSTM[name]; !ok {
			name = graph.EveryCell
		}
		if _, ok := o.LSTM[name]; !ok {
			continue
		}
		used[name] = true
		d.Add(diag.Diag{Severity: diag.Note, Code: diag.LSTMFormats, Node: n.Label(), Op: n.FullOp(),
			Where: graph.Where(file, n),
			Msg: fmt.Sprintf("the gates of this LSTM are quantised as --lstm-config says under %q, which changes "+
				"the model", name), Hint: "what the engines agree on is the changed model: measure its accuracy"})
	}
	for _, name := range slices.Sorted(maps.Keys(o.LSTM)) {
		if !used[name] {
			d.Add(diag.Diag{Severity: diag.Error, Code: diag.LSTMFormats, Where: file,
				Msg: fmt.Sprintf("--lstm-config has formats for %q, which no LSTM of this model takes", name),
				Hint: fmt.Sprintf("use the name of an LSTM node, or %q for all of them; other operators have their "+
					"formats in the model", graph.EveryCell)})
		}
	}
	return bind.Sequences(g, file)
}
