package build_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	"hlsgen/folding"
	"hlsgen/internal/check"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
)

// A setFolding folds a model as FINN does, to compare with: by the greedy algorithm of FINN's transformation SetFolding
// (finn/transformation/fpgadataflow/set_folding.py), restated here. It takes every layer by itself and raises one
// attribute after the other, through the divisors of what it counts, until the layer takes fewer clocks than the
// target; where no target is reached, all layers are folded again for what the slowest one reaches. It knows no budget
// and no neighbours. Memory and multipliers stay at FINN's defaults: tables in block RAM, which is what FINN's formulas
// count for ram_style auto, and products in LUTs.
type setFolding struct {
	graph  *dataflow.Graph
	target dataflow.Target
	layers []greedy // per node
}

// A greedy is a layer whose attributes are raised.
type greedy struct {
	node     *dataflow.Node
	pe, simd []int                    // what they may be in any fold
	folds    map[[2]int]dataflow.Fold // by PE and SIMD, with FINN's default styles or what there is instead
	clocks   map[[2]int]int           // of these
	bits     int                      // of a weight, where SIMD is bounded by them
	first    [2]int                   // of the first fold
	at       [2]int                   // PE and SIMD so far
	target   int
	most     int // bits of weights per PE
}

// The attributes that FINN raises, by their place in greedy.at.
const (
	peOf = iota
	simdOf
)

// finnWordBits is the default of FINN's mvau_wwidth_max: the weights of SIMD inputs have no more bits.
const finnWordBits = 36

// windowKind is the kind of sliding windows.
const windowKind = "ConvolutionInputGenerator"

func newSetFolding(m *dataflow.Model, t dataflow.Target) *setFolding {
	s := &setFolding{graph: m.Graph, target: t}
	for _, n := range m.Graph.Nodes {
		g := greedy{node: n, folds: map[[2]int]dataflow.Fold{}, clocks: map[[2]int]int{}}
		for f := range n.Op.Folds() {
			if !s.buildable(n, f) {
				continue
			}
			at := [2]int{f.PE, f.SIMD}
			if len(g.folds) == 0 {
				g.first = at
			}
			g.pe, g.simd = append(g.pe, f.PE), append(g.simd, f.SIMD)
			if was, ok := g.folds[at]; !ok || offDefault(f) < offDefault(was) {
				g.folds[at], g.clocks[at] = f, n.Op.Loop(f, t).IterationsPerFrame()
			}
		}
		slices.Sort(g.pe)
		slices.Sort(g.simd)
		g.pe, g.simd = slices.Compact(g.pe), slices.Compact(g.simd)
		if n.Op.Kind() == "MVAU" {
			g.bits = weightBits(n.Op, t)
		}
		s.layers = append(s.layers, g)
	}
	return s
}

// buildable reports whether a design can have a fold: words travel in row-major order at the host, the layer follows
// the clock, and the board can fill the memory.
func (s *setFolding) buildable(n *dataflow.Node, f dataflow.Fold) bool {
	in, out := n.Op.Ports(f)
	for p, id := range n.In {
		if w, _ := s.graph.WriterOfStream(id); w < 0 && in[p].Tile != 0 {
			return false
		}
	}
	for p, id := range n.Out {
		if r, _ := s.graph.ReaderOfStream(id); r < 0 && out[p].Tile != 0 {
			return false
		}
	}
	if carried := n.Op.Describe().CarriedDelayNS; carried != nil && carried(f, s.target)*s.target.ClockMHz > 1000 {
		return false
	}
	return f.Memory != dataflow.MemoryURAM || s.target.Board.CanInitialiseURAM()
}

// offDefault orders folds by how far their styles are off FINN's defaults.
func offDefault(f dataflow.Fold) (off int) {
	if f.Memory == dataflow.MemoryLUTRAM || f.Memory == dataflow.MemoryURAM {
		off++
	}
	if f.Compute == dataflow.MultiplierInDSPs {
		off += 2
	}
	return off
}

// weightBits is the width of a weight.
func weightBits(op dataflow.Op, t dataflow.Target) int {
	for f := range op.Folds() {
		for _, table := range op.Emit(f, t).Tables {
			if table.Name == "weights" {
				return table.Elem.Width
			}
		}
		break
	}
	return 1
}

// fold is a fold per layer for a target of clocks per frame, with at most so many bits of weights per PE. What Vitis
// IncludesHLS refuses is no fold, and is passed over.
func (s *setFolding) fold(target, bits int) []dataflow.Fold {
	for i := range s.layers {
		s.layers[i].begin(target, bits)
	}
	for i := range s.layers {
		g := &s.layers[i]
		switch kind := g.node.Op.Kind(); kind {
		case "VVAU", "Pool":
			g.raise(peOf, g.pe)
			if kind == "VVAU" && g.at[peOf] == g.pe[len(g.pe)-1] {
				g.raise(simdOf, g.simd)
			}
			if w := s.windowBefore(g.node); w >= 0 {
				s.layers[w].follow(g.at[peOf], g.at[simdOf] > 1)
			}
		case windowKind:
			if !s.depthwise(g.node) { // else it follows its reader
				g.raise(simdOf, g.simd)
				g.raise(peOf, g.pe) // parallel_window
			}
		default:
			g.raise(simdOf, g.simd)
			g.raise(peOf, g.pe)
		}
	}
	folds := make([]dataflow.Fold, len(s.layers))
	for i, g := range s.layers {
		folds[i] = g.folds[g.at]
	}
	return folds
}

// windowBefore is the sliding window that a layer reads; -1 where it reads none.
func (s *setFolding) windowBefore(n *dataflow.Node) int {
	w, _ := s.graph.WriterOfStream(n.In[0])
	if w >= 0 && s.graph.Nodes[w].Op.Kind() == windowKind {
		return w
	}
	return -1
}

// depthwise reports whether a window's reader takes the channels apart.
func (s *setFolding) depthwise(window *dataflow.Node) bool {
	r, _ := s.graph.ReaderOfStream(window.Out[0])
	return r >= 0 && slices.Contains([]string{"VVAU", "Pool"}, s.graph.Nodes[r].Op.Kind())
}

// begin takes the least of both.
func (g *greedy) begin(target, bits int) {
	g.target, g.most, g.at = target, bits, [2]int{g.pe[0], g.simd[0]}
	if _, ok := g.folds[g.at]; !ok { // the two are not possible together
		g.at = g.first
	}
}

// raise raises an attribute until the layer takes no more clocks than the target.
func (g *greedy) raise(attribute int, values []int) {
	for _, v := range values {
		next := g.at
		next[attribute] = v
		switch _, ok := g.folds[next]; {
		case !ok || v <= g.at[attribute]:
			continue
		case g.clocks[g.at] <= g.target || attribute == simdOf && v*g.bits > g.most:
			return
		}
		g.at = next
	}
}

// follow gives a depthwise window the channels of its reader, and all positions at a time where that needs them.
func (g *greedy) follow(channels int, parallel bool) {
	next := [2]int{g.at[peOf], channels}
	if parallel {
		next[peOf] = g.pe[len(g.pe)-1]
	}
	if _, ok := g.folds[next]; ok {
		g.at = next
	}
}

// intervals is every number of clocks per frame that some layer takes, from what the slowest one needs at least,
// increasing.
func (s *setFolding) intervals() (list []int) {
	least := 0
	for _, g := range s.layers {
		of := slices.Sorted(maps.Values(g.clocks))
		least = max(least, of[0])
		list = append(list, of...)
	}
	slices.Sort(list)
	list = slices.Compact(list)
	return slices.DeleteFunc(list, func(n int) bool { return n < least })
}

// slowest is the interval of some folds.
func (s *setFolding) slowest(folds []dataflow.Fold) (clocks int) {
	for i, f := range folds {
		clocks = max(clocks, s.graph.Nodes[i].Op.Loop(f, s.target).IterationsPerFrame())
	}
	return clocks
}

// bySetFolding is the fastest design of SetFolding's within the default budget, width converters and FIFOs included:
// among those for each interval that a layer offers, with FINN's bits of weights per PE and with as many as there are.
// So a user of FINN finds it, by trying. Folds are SetFolding's; the rest of the design is made as any other.
func bySetFolding(t testing.TB, m *dataflow.Model, target dataflow.Target) (best *folding.Design) {
	t.Helper()
	s := newSetFolding(m, target)
	budget := folding.BudgetOfBoard(target.Board, folding.MaxUseFractions{})
	for _, bits := range []int{finnWordBits, dataflow.MaxTableRowBits} {
		var last []dataflow.Fold
		for _, interval := range s.intervals() {
			folds := s.fold(interval, bits)
			if slowest := s.slowest(folds); slowest > interval {
				folds = s.fold(slowest, bits)
			}
			d := &dataflow.Design{Model: m, Target: target, Folds: folds}
			if _, layers := d.CostPerNode(); slices.Equal(folds, last) || !budget.AllowsResources(layers) {
				continue
			}
			last = folds
			if made := fixed(t, d); made != nil && !made.Over {
				if best == nil || made.Clocks.Interval < best.Clocks.Interval {
					best = made
				}
				break
			}
		}
	}
	if best == nil {
		t.Fatalf("no folding of SetFolding's fits %+v", budget.Resources)
	}
	return best
}

// fixed is the design of some folds, within the budget or not; nil where no width converters join them.
func fixed(t testing.TB, d *dataflow.Design) *folding.Design {
	t.Helper()
	var told diag.List
	file := folding.ParseFoldingFile(folding.FormatFoldingFile(d, false), &told)
	wanted := folding.Goal{Fixed: file, OverBudget: true}
	made, err := folding.FindBestDesign(context.Background(), d.Model, d.Target, wanted, &told)
	unjoined := slices.ContainsFunc(told.Diags, func(x diag.Diag) bool { return x.Code == diag.StreamWordTooWide })
	if err != nil || made == nil && !unjoined {
		t.Fatal(err, told.Diags)
	}
	return made
}

// SetFolding raises SIMD, then PE, each layer by itself, and stops at the width of weights that FINN allows.
func TestSetFolding(t *testing.T) {
	weights := func(i, o int) float64 { return float64((i+2*o)%4 - 2) } // of two bits
	net := chain(64).quant("in", 2, 0, 1).matmul("fc1", 32, weights).node("Relu", "relu").quant("act", 2, 0, 8)
	onnx := net.matmul("fc2", 8, weights).end()
	t.Chdir(t.TempDir())
	var d diag.List
	c, err := check.Run(context.Background(), check.Options{Source: options.Source{Model: file(t,
		onnx)}}, &d)
	if err != nil || d.HasErrors() {
		t.Fatal(err, d.Diags)
	}
	m, target := c.Imported.Model, finnTarget(t)
	s := newSetFolding(m, target)
	var layers []int
	for i, n := range m.Graph.Nodes {
		if n.Op.Kind() == "MVAU" {
			layers = append(layers, i)
		}
	}
	for _, c := range []struct {
		target, bits int
		want         [2]dataflow.Fold // PE and SIMD
	}{
		{2048, finnWordBits, [2]dataflow.Fold{{PE: 1, SIMD: 1}, {PE: 1, SIMD: 1}}},
		{256, finnWordBits, [2]dataflow.Fold{{PE: 1, SIMD: 8}, {PE: 1, SIMD: 1}}},
		{32, 1 << 20, [2]dataflow.Fold{{PE: 1, SIMD: 64}, {PE: 1, SIMD: 8}}},
		{32, finnWordBits, [2]dataflow.Fold{{PE: 4, SIMD: 16}, {PE: 1, SIMD: 8}}}, // 2 bits by 32 are too many
		{20, finnWordBits, [2]dataflow.Fold{{PE: 8, SIMD: 16}, {PE: 1, SIMD: 16}}},
	} {
		folds := s.fold(c.target, c.bits)
		for k, i := range layers {
			if f := folds[i]; f.PE != c.want[k].PE || f.SIMD != c.want[k].SIMD ||
				f.Compute != dataflow.MultiplierInLUTs {
				t.Errorf("target %d, layer %d: %+v, want %+v", c.target, i, f, c.want[k])
			}
		}
	}
	r := bySetFolding(t, m, target)
	if err := r.Verify(); err != nil || r.Over {
		t.Error(err, r.Shares)
	}
}
