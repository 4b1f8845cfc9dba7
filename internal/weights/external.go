package weights

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hlsgen/boards"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/templates"
)

// worthwhile is the smallest table of weights, in bytes, that a layer reads from memory with every frame by default.
// For a smaller table, the mover's buffer would be larger than the table.
const worthwhile = 4096

// MarkLayersWithExternalWeights sets External in rooms, an entry per layer, for those that read their weights from
// memory with every frame. The user names them; else they are the largest that read each weight once per frame, of
// 4,096 bytes or more. Each takes a memory port that no input uses. It returns false after adding an error to d.
func MarkLayersWithExternalWeights(w options.WeightSource, m *dataflow.Model, b boards.Board,
	rooms []*dataflow.LoadableWeightLimits,
	d *diag.List) bool {
	fail := func(where, msg, hint string) bool {
		d.AddError(diag.WeightsNotLoadable, where, msg, hint)
		return false
	}
	left := len(b.MemoryPorts) - len(m.Graph.In)
	if b.MemoryPortBits() == 0 || left < 1 {
		return fail("", fmt.Sprintf("--weights external: nothing is known of a memory port of %s that weights could "+
			"come through", b.Name), "use a board with a processor or a platform (`hlsgen boards`), or --weights "+
			"stream")
	}
	if names := w.ExternalLayerNames(); names != nil {
		return named(names, left, m.Graph, rooms, b, d)
	}
	var large []int
	for i, n := range m.Graph.Nodes {
		if w, ok := n.Op.(dataflow.HasLoadableWeights); ok && rooms[i] != nil && w.Reads() == 1 &&
			tableBytes(n.Op) >= worthwhile {
			large = append(large, i)
		}
	}
	if len(large) == 0 {
		return fail("", fmt.Sprintf("--weights external: no layer reads each of its weights once per frame and has %d "+
			"bytes of them or more, which its mover would hold", worthwhile), "name the layers that are to read them "+
			"from memory all the same, --weights external=LAYER, or use --weights stream")
	}
	slices.SortStableFunc(large, func(a, b int) int {
		return cmp.Compare(tableBytes(m.Graph.Nodes[b].Op), tableBytes(m.Graph.Nodes[a].Op))
	})
	for _, i := range large[:min(left, len(large))] {
		rooms[i].External = true
	}
	return true
}

// named sets External in rooms, an entry per layer, for the layers with the given names. left is the number of memory
// ports that no input uses. It returns false after adding an error to d; some entries may then be changed.
func named(names []string, left int, g *dataflow.Graph, rooms []*dataflow.LoadableWeightLimits, b boards.Board,
	d *diag.List) bool {
	var can []string
	for i, n := range g.Nodes {
		if rooms[i] != nil {
			can = append(can, n.Name)
		}
	}
	for _, name := range names {
		i := slices.IndexFunc(g.Nodes, func(n *dataflow.Node) bool { return n.Name == name })
		if i < 0 || !slices.Contains(can, name) {
			what := "there is no layer %q"
			if i >= 0 {
				what = "layer %q has no table of weights"
			}
			hint := "no layer of this network has one"
			if len(can) > 0 {
				hint = "those that have one are " + strings.Join(can, ", ")
			}
			d.AddError(diag.WeightsNotLoadable, "", "--weights external: "+fmt.Sprintf(what, name), hint)
			return false
		}
		rooms[i].External = true
	}
	if len(names) > left {
		d.AddError(diag.WeightsNotLoadable, "",
			fmt.Sprintf("--weights external: %d layers want a memory port each; %s has %d, "+
				"and inputs take %d", len(names), b.Name, len(b.MemoryPorts), len(g.In)),
			"name fewer layers: the largest ones")
		return false
	}
	return true
}

// tableBytes returns the size of a layer's table of weights in bytes, rounded up.
func tableBytes(op dataflow.Op) int {
	for f := range op.Folds() {
		p := op.(dataflow.HasLoadableWeights).WeightPort(f)
		return (p.Words*p.Width() + 7) / 8
	}
	return 0
}

// imagesOf returns the contents of memory for the weights that a design reads with every frame, one for each layer that
// does so.
func imagesOf(d *dataflow.Design) (list [][]byte) {
	for _, p := range templates.WeightPortsOf(d) {
		list = append(list, p.EncodeTable(d.ExternalWeightRows(p.ExternalWeights)))
	}
	return list
}
