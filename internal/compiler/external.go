package compiler

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hlsgen/boards"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/suggest"
	"hlsgen/templates"
)

// worthwhile is the bytes of weights from which on a layer has them come from memory where none is named: as many as
// its mover holds of what is on its way.
const worthwhile = 4096

// ParseWeights reads a source of weights as users write it.
func ParseWeights(s string) (WeightsFrom, error) {
	from, layers, named := strings.Cut(s, "=")
	if !slices.Contains(WeightSources, from) {
		return "", fmt.Errorf("sources of weights are %s%s", strings.Join(WeightSources, ", "),
			suggest.Meant(from, WeightSources))
	}
	if !named {
		return WeightsFrom(s), nil
	}
	if from != string(WeightsExternal) {
		return "", fmt.Errorf("of %s no layers are named, but of %s: %[2]s=LAYER,LAYER", from, WeightsExternal)
	}
	list := strings.Split(layers, ",")
	for i, name := range list {
		if name == "" || slices.Contains(list[:i], name) {
			return "", fmt.Errorf("%q is no list of different layers: %s=LAYER,LAYER", layers, WeightsExternal)
		}
	}
	return WeightsFrom(s), nil
}

// external reports whether weights come from memory with every frame.
func (w WeightsFrom) external() bool {
	from, _, _ := strings.Cut(string(w), "=")
	return from == string(WeightsExternal)
}

// streams reports whether tables are filled from memory, by a mover of their own.
func (w WeightsFrom) streams() bool { return w == WeightsStream || w.external() }

// layers are those that are named; nil where none is.
func (w WeightsFrom) layers() []string {
	_, names, named := strings.Cut(string(w), "=")
	if !named {
		return nil
	}
	return strings.Split(names, ",")
}

// outside notes in rooms the layers whose weights come from memory with every frame: those that are named, or the
// largest ones that read each weight once per frame. Each has a memory port of its own, which inputs have left. Where
// there are none, or one cannot be, d says why.
func (w WeightsFrom) outside(m *dataflow.Model, b boards.Board, rooms []*dataflow.Room, d *diag.List) bool {
	fail := func(where, msg, hint string) bool {
		d.Fail(diag.WeightsUnfit, where, msg, hint)
		return false
	}
	left := len(b.MemoryPorts) - len(m.Graph.In)
	if b.MemoryBits() == 0 || left < 1 {
		return fail("", fmt.Sprintf("--weights external: nothing is known of a memory port of %s that weights could "+
			"come through", b.Name), "use a board with a processor or a platform (`hlsgen boards`), or --weights "+
			"stream")
	}
	if names := w.layers(); names != nil {
		return named(names, left, m.Graph, rooms, b, d)
	}
	var large []int
	for i, n := range m.Graph.Nodes {
		if e, ok := n.Op.(dataflow.External); ok && rooms[i] != nil && e.Reads() == 1 && tableBytes(e) >= worthwhile {
			large = append(large, i)
		}
	}
	if len(large) == 0 {
		return fail("", fmt.Sprintf("--weights external: no layer reads each of its weights once per frame and has %d "+
			"bytes of them or more, which its mover would hold", worthwhile), "name the layers that are to read them "+
			"from memory all the same, --weights external=LAYER, or use --weights stream")
	}
	slices.SortStableFunc(large, func(a, b int) int {
		return cmp.Compare(tableBytes(m.Graph.Nodes[b].Op.(dataflow.External)),
			tableBytes(m.Graph.Nodes[a].Op.(dataflow.External)))
	})
	for _, i := range large[:min(left, len(large))] {
		rooms[i].External = true
	}
	return true
}

// named notes the layers of these names.
func named(names []string, left int, g *dataflow.Graph, rooms []*dataflow.Room, b boards.Board, d *diag.List) bool {
	var can []string
	for i, n := range g.Nodes {
		if _, ok := n.Op.(dataflow.External); ok && rooms[i] != nil {
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
			d.Fail(diag.WeightsUnfit, "", "--weights external: "+fmt.Sprintf(what, name), hint)
			return false
		}
		rooms[i].External = true
	}
	if len(names) > left {
		d.Fail(diag.WeightsUnfit, "", fmt.Sprintf("--weights external: %d layers want a memory port each; %s has %d, "+
			"and inputs take %d", len(names), b.Name, len(b.MemoryPorts), len(g.In)),
			"name fewer layers: the largest ones")
		return false
	}
	return true
}

// tableBytes is what a layer's weights take in whole bytes.
func tableBytes(e dataflow.External) int {
	for f := range e.Folds() {
		p := e.WeightPort(f)
		return (p.Words*p.Width() + 7) / 8
	}
	return 0
}

// imagesOf is the weights of a design that come from memory with every frame, as they lie there once.
func imagesOf(d *dataflow.Design) (list [][]byte) {
	for _, p := range templates.WeightPorts(d) {
		list = append(list, p.Image(d.Words(p.Weights)))
	}
	return list
}
