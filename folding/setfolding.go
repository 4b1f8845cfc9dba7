package folding

import (
	"context"
	"fmt"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// SetFolding folds a model as FINN does, to compare with: by the greedy algorithm of FINN's transformation SetFolding
// (finn/transformation/fpgadataflow/set_folding.py), restated here. It takes every layer by itself and raises one
// attribute after the other, through the divisors of what it counts, until the layer takes fewer clocks than the target;
// where no target is reached, all layers are folded again for what the slowest one reaches. It knows no budget and no
// neighbours. Memory and multipliers stay at FINN's defaults: tables in block RAM, which is what FINN's formulas count for
// ram_style auto, and products in LUTs.
//
// A user of FINN finds the target by trying, and whether weights may have more than FINN's default of 36 bits per PE
// (mvau_wwidth_max): the result is the fastest such design within the budget of goal.MaxUse, width converters included,
// among those for each interval that a layer offers, with and without that limit. The rest of the goal has no effect. It is
// nil where there is none, and where d says why there is nothing to fold.
func SetFolding(ctx context.Context, m *dataflow.Model, t dataflow.Target, goal Goal, d *diag.List) (*Result, error) {
	goal = Goal{MaxUse: goal.MaxUse}
	s, err := prepare(m, t, goal, widthConverter, d)
	if err != nil || s == nil {
		return nil, err
	}
	layers := s.greedies()
	var best *Result
	for _, bits := range []int{finnWordBits, dataflow.MaxRow} {
		c, one, err := s.bestSetFolding(ctx, layers, bits)
		if err != nil {
			return nil, err
		}
		if c == nil {
			continue
		}
		if r := one.result(m, goal, c); best == nil || r.Interval < best.Interval {
			best = r
		}
	}
	return best, nil
}

// bestSetFolding is the fastest folding within the budget, and its space; nil where there is none.
func (s *space) bestSetFolding(ctx context.Context, layers []greedy, bits int) (*chosen, *space, error) {
	tried := map[string]bool{}
	for _, interval := range s.intervals() {
		options := s.setFolding(layers, interval, bits)
		if slowest := s.slowestOf(options); slowest > interval {
			options = s.setFolding(layers, slowest, bits)
		}
		name := fmt.Sprint(options)
		var cost vector
		for i, o := range options {
			cost = cost.plus(s.layers[i].options[o].cost)
		}
		if tried[name] || !cost.within(s.budget) {
			continue
		}
		tried[name] = true
		one := s.only(options)
		c, err := one.choose(ctx, Goal{MaxCycles: mostClocks}, &diag.List{})
		if err != nil {
			return nil, nil, err
		}
		if c != nil && c.cost.within(s.budget) { // else its width converters do not fit, or none joins it
			return c, one, nil
		}
	}
	return nil, nil, nil
}

// slowestOf is the interval of a choice of options.
func (s *space) slowestOf(options []int) (clocks int) {
	for i, o := range options {
		clocks = max(clocks, s.layers[i].options[o].iterations)
	}
	return clocks
}

// only is the space of a single folding.
func (s *space) only(options []int) *space {
	one := &space{graph: s.graph, target: s.target, budget: s.budget, yard: s.yard, converter: s.converter, rows: s.rows,
		converted: s.converted, trees: map[int]*tree{}}
	one.newStreams()
	for i, o := range options {
		l := s.layers[i]
		l.options = []option{l.options[o]}
		one.layers = append(one.layers, l)
	}
	one.listForms()
	one.makePlan()
	one.begin(0)
	return one
}

// A greedy is a layer whose attributes are raised.
type greedy struct {
	l        *layer
	pe, simd []int             // what they may be in any fold
	options  map[[2]int]option // by PE and SIMD, with FINN's default memory and multipliers or what there is instead
	index    map[[2]int]int    // of them in the layer
	bits     int               // of a weight, where SIMD is bounded by them
	fold     [2]int            // PE and SIMD so far
	target   int
	most     int // bits of weights per PE
}

// The attributes that FINN raises, by their place in greedy.fold.
const (
	peOf = iota
	simdOf
)

// finnWordBits is the default of FINN's mvau_wwidth_max: the weights of SIMD inputs have no more bits.
const finnWordBits = 36

func (s *space) greedies() []greedy {
	list := make([]greedy, len(s.layers))
	for i := range list {
		g := &list[i]
		*g = greedy{l: &s.layers[i], options: map[[2]int]option{}, index: map[[2]int]int{}}
		for k, o := range g.l.options {
			g.pe, g.simd = append(g.pe, o.fold.PE), append(g.simd, o.fold.SIMD)
			at := [2]int{o.fold.PE, o.fold.SIMD}
			if was, ok := g.options[at]; !ok || finnStyle(o.fold) < finnStyle(was.fold) {
				g.options[at], g.index[at] = o, k
			}
		}
		slices.Sort(g.pe)
		slices.Sort(g.simd)
		g.pe, g.simd = slices.Compact(g.pe), slices.Compact(g.simd)
		if g.l.node.Op.Kind() == "MVAU" {
			g.bits = weightBits(g.l.node.Op, s.target)
		}
	}
	return list
}

// finnStyle orders folds by how far their styles are off FINN's defaults.
func finnStyle(f dataflow.Fold) (off int) {
	if f.Memory == dataflow.LUTRAM || f.Memory == dataflow.URAM {
		off++
	}
	if f.Compute == dataflow.DSP {
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

// setFolding is an option per layer for a target of clocks per frame, with at most so many bits of weights per PE. What
// Vitis HLS refuses is no option, and is passed over.
func (s *space) setFolding(layers []greedy, target, bits int) []int {
	for i := range layers {
		layers[i].begin(target, bits)
	}
	for i := range layers {
		g := &layers[i]
		switch kind := g.l.node.Op.Kind(); kind {
		case "VVAU", "Pool":
			g.raise(peOf, g.pe)
			if kind == "VVAU" && g.fold[peOf] == g.pe[len(g.pe)-1] {
				g.raise(simdOf, g.simd)
			}
			if w := s.windowBefore(i); w >= 0 {
				layers[w].follow(g.fold[peOf], g.fold[simdOf] > 1)
			}
		case windowKind:
			if !s.depthwise(i) { // else it follows its reader
				g.raise(simdOf, g.simd)
				g.raise(peOf, g.pe) // parallel_window
			}
		default:
			g.raise(simdOf, g.simd)
			g.raise(peOf, g.pe)
		}
	}
	chosen := make([]int, len(layers))
	for i := range layers {
		chosen[i] = layers[i].index[layers[i].fold]
	}
	return chosen
}

// windowBefore is the sliding window that a layer reads; -1 where it reads none.
func (s *space) windowBefore(i int) int {
	w := s.streams[s.layers[i].node.In[0]].writer.layer
	if w >= 0 && s.layers[w].node.Op.Kind() == windowKind {
		return w
	}
	return -1
}

// depthwise reports whether a window's reader takes the channels apart.
func (s *space) depthwise(window int) bool {
	r := s.streams[s.layers[window].node.Out[0]].reader.layer
	return r >= 0 && slices.Contains([]string{"VVAU", "Pool"}, s.layers[r].node.Op.Kind())
}

// begin takes the least of both.
func (g *greedy) begin(target, bits int) {
	g.target, g.most, g.fold = target, bits, [2]int{g.pe[0], g.simd[0]}
	if _, ok := g.options[g.fold]; !ok { // the two are not possible together
		first := g.l.options[0].fold
		g.fold = [2]int{first.PE, first.SIMD}
	}
}

// raise raises an attribute until the layer takes no more clocks than the target.
func (g *greedy) raise(attribute int, values []int) {
	for _, v := range values {
		next := g.fold
		next[attribute] = v
		switch _, ok := g.options[next]; {
		case !ok || v <= g.fold[attribute]:
			continue
		case g.options[g.fold].iterations <= g.target || attribute == simdOf && v*g.bits > g.most:
			return
		}
		g.fold = next
	}
}

// follow gives a depthwise window the channels of its reader, and all positions at a time where that needs them.
func (g *greedy) follow(channels int, parallel bool) {
	next := [2]int{g.fold[peOf], channels}
	if parallel {
		next[peOf] = g.pe[len(g.pe)-1]
	}
	if _, ok := g.options[next]; ok {
		g.fold = next
	}
}
