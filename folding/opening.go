package folding

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"hlsgen/internal/dataflow"
)

// rests is what is surely still to come, per stream: from the first word and from the last word on it, to the last word
// at the outputs, with the fastest option of every layer; and the least of every kind of resource from a layer on.
type rests struct {
	first, last []int
	cost        []vector // per layer: of it and those behind it
}

func (h *latencySearch) newRests() rests {
	r := rests{first: make([]int, len(h.streams)), last: make([]int, len(h.streams)), cost: make([]vector, len(h.layers)+1)}
	for i := len(h.layers) - 1; i >= 0; i-- {
		l := &h.layers[i]
		cost := vector{}
		for k := range cost {
			cost[k] = l.options[slices.MinFunc(h.options[i], func(a, b timedOption) int {
				return cmp.Compare(l.options[a.option].cost[k], l.options[b.option].cost[k])
			}).option].cost[k]
		}
		r.cost[i] = r.cost[i+1].plus(cost)
		for p, id := range l.node.In {
			for o, out := range l.node.Out {
				first, last, tail := h.fastest(i, p, o)
				r.first[id] = max(r.first[id], first+r.first[out], last+r.last[out])
				r.last[id] = max(r.last[id], tail+r.last[out])
			}
		}
	}
	return r
}

// fastest is the fewest clocks from an input's first word to an output's first and last word, and from its last word to
// the output's last, over all options of a layer.
func (h *latencySearch) fastest(layer, in, out int) (first, last, tail int) {
	for k, o := range h.options[layer] {
		w := &o.delay.out[out]
		f, l, t := w.first-o.delay.start[in], w.last-o.delay.start[in], w.tail[in]
		if k == 0 {
			first, last, tail = f, l, t
		}
		first, last, tail = min(first, f), min(last, l), min(tail, t)
	}
	return first, last, tail
}

// bound is what no folding's latency is below, up to that of a known one: each layer's every option has a latency that
// it cannot stay below with all others the fastest, and where prices prove that the options below some latency do not
// suffice, no folding has it.
func (h *latencySearch) bound(best int) int {
	own := h.alone()
	var list []int
	for _, of := range own {
		for _, clocks := range of {
			list = append(list, clocks)
		}
	}
	list = append(list, best)
	slices.Sort(list)
	list = slices.Compact(list)
	list = list[:slices.Index(list, best)+1]
	return list[sort.Search(len(list)-1, func(i int) bool { return !h.excludes(own, list[i]) })]
}

// excludes reports whether no folding within the caps has so short a latency.
func (h *latencySearch) excludes(own []map[int32]int, clocks int) bool {
	t := h.newTree(func(layer, option int) bool {
		least, ok := own[layer][int32(option)]
		return ok && least <= clocks
	}, nil)
	if t.possible() && t.excluder(h.caps) == nil {
		t.relax(h.caps)
	}
	return !t.possible() || t.excluder(h.caps) != nil
}

// alone is, per layer, the latency that each option has at least, if all other layers are the fastest.
func (h *latencySearch) alone() []map[int32]int {
	own := make([]map[int32]int, len(h.layers))
	spans := make([]span, len(h.streams))
	for i := range h.layers {
		l := &h.layers[i]
		own[i] = map[int32]int{}
		for k, o := range h.options[i] {
			in := make([]span, len(l.node.In))
			for p, id := range l.node.In {
				if in[p] = spans[id]; h.streams[id].writer.layer < 0 {
					in[p] = h.source(id, h.shapeAt(i, o).in[p])
				}
			}
			for p, s := range o.delay.through(in) {
				id := l.node.Out[p]
				if k == 0 {
					spans[id] = s
				}
				spans[id] = span{min(spans[id].first, s.first), min(spans[id].last, s.last)}
				own[i][o.option] = max(own[i][o.option], s.first+h.rest.first[id]+1, s.last+h.rest.last[id]+1)
			}
		}
	}
	return own
}

// rebind binds a layer with one input.
func rebind(op dataflow.Op, t dataflow.Type) dataflow.Op {
	bound, _, err := op.Bind([]dataflow.Type{t})
	if err != nil {
		panic("folding: " + op.Kind() + " does not bind again: " + err.Error())
	}
	return bound
}

// An opening is the beginning of a folding in the order of the layers: what it takes, and the spans on the open streams.
type opening struct {
	cost       vector
	converters int64
	option     int32
	from       int32 // the opening of the layer before
	clocks     int   // latency so far
	spans      []span
	forms      []form
}

// label looks for a folding faster than best by carrying every beginning of one from layer to layer, without those that
// cannot end faster or within the caps, and those that another one equals or beats. exact is false where there were too
// many; found is nil where there is none.
func (h *latencySearch) label(ctx context.Context, best *timed) (found *timed, exact bool, err error) {
	steps := [][]opening{{{from: -1, option: -1}}}
	var open []int
	for i := range h.layers {
		var next []int
		for _, id := range open {
			if h.streams[id].reader.layer != i {
				next = append(next, id)
			}
		}
		for _, id := range h.layers[i].node.Out {
			if h.streams[id].inner() {
				next = append(next, id)
			}
		}
		all, whole := h.step(i, steps[i], open, next, best)
		if err := ctx.Err(); err != nil || !whole {
			return nil, false, err
		}
		steps, open = append(steps, all), next
	}
	for k := range steps[len(steps)-1] {
		if f := h.trace(steps, k); found == nil || h.compare(f, found) < 0 {
			found = f
		}
	}
	return found, true, nil
}

func (h *latencySearch) trace(steps [][]opening, at int) *timed {
	end := steps[len(steps)-1][at]
	f := &timed{&folding{make([]int32, len(h.layers)), end.cost, end.converters}, end.clocks}
	for i := len(steps) - 1; i > 0; i-- {
		f.options[i-1] = steps[i][at].option
		at = int(steps[i][at].from)
	}
	return f
}

// step is the openings after a layer. whole is false where there are too many.
func (h *latencySearch) step(layer int, before []opening, open, next []int, best *timed) (kept []opening, whole bool) {
	spans, at := make([]span, len(h.streams)), make([]form, len(h.streams))
	groups := map[string][]opening{}
	var order []string
	for b := range before {
		for k, id := range open {
			spans[id], at[id] = before[b].spans[k], before[b].forms[k]
		}
		for _, o := range h.options[layer] {
			n, ok := h.extend(layer, o, &before[b], spans, at, next)
			if !ok || !h.hopeful(&n, layer, next, best) {
				continue
			}
			n.from = int32(b)
			k := key(n.forms)
			if groups[k] == nil {
				order = append(order, k)
			}
			groups[k] = append(groups[k], n)
		}
		if h.labels += len(h.options[layer]); h.spent() {
			return nil, false
		}
	}
	for _, k := range order {
		if len(groups[k]) > 8*maxOpenings {
			return nil, false
		}
		if kept = append(kept, h.unbeatenOpenings(groups[k])...); len(kept) > maxOpenings || h.spent() {
			return nil, false
		}
	}
	return kept, true
}

// extend is an opening with one more layer; spans and at are those of the open streams.
func (h *latencySearch) extend(layer int, o timedOption, b *opening, spans []span, at []form, next []int) (n opening, ok bool) {
	out, cost, converters, ok := h.layer(layer, o, spans, at)
	if !ok {
		return n, false
	}
	l := &h.layers[layer]
	n = opening{cost: b.cost.plus(cost), converters: b.converters + converters, option: o.option, clocks: b.clocks}
	for _, id := range next {
		s, f := spans[id], at[id]
		if p := slices.Index(l.node.Out, id); p >= 0 {
			s, f = out[p], l.shapes[l.options[o.option].shape].out[p]
		}
		n.spans, n.forms = append(n.spans, s), append(n.forms, f)
	}
	for p, id := range l.node.Out {
		if h.streams[id].reader.layer < 0 {
			n.clocks = max(n.clocks, out[p].last+1)
		}
	}
	return n, true
}

// hopeful reports whether the opening may end within the caps and no later than best.
func (h *latencySearch) hopeful(n *opening, layer int, open []int, best *timed) bool {
	if !n.cost.plus(h.rest.cost[layer+1]).within(h.caps) || n.clocks > best.clocks {
		return false
	}
	for k, id := range open {
		if max(n.spans[k].first+h.rest.first[id], n.spans[k].last+h.rest.last[id])+1 > best.clocks {
			return false
		}
	}
	return true
}

// unbeatenOpenings keeps the openings that no other equals or beats. All have the same forms.
func (h *latencySearch) unbeatenOpenings(all []opening) []opening {
	slices.SortStableFunc(all, func(a, b opening) int {
		return cmp.Or(slices.Compare(a.cost[:], b.cost[:]), cmp.Compare(a.clocks, b.clocks), cmp.Compare(a.converters, b.converters))
	})
	var kept []opening
	for i := range all {
		n := &all[i]
		at := slices.IndexFunc(kept, func(k opening) bool { return k.beats(n) })
		if h.compared += at; at < 0 {
			h.compared += len(kept)
			kept = append(kept, *n)
		}
	}
	return kept
}

func (d *opening) beats(o *opening) bool {
	if !d.cost.within(o.cost) || d.clocks > o.clocks {
		return false
	}
	for k, s := range d.spans {
		if s.first > o.spans[k].first || s.last > o.spans[k].last {
			return false
		}
	}
	return true
}
