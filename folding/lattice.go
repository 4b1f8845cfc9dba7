package folding

import (
	"cmp"
	"slices"
)

// maxStates bounds the states after one step. A chain has as many as a stream has word widths, some tens; only wide
// bundles of parallel branches come near.
const maxStates = 4096

// A lattice is the choices at one interval as a layered graph: every path from its one first state to its one last
// state is a folding whose layers and converters all keep the interval. The state between two steps is the elements
// per word on every stream that is written and not yet read, so that a chain has one number and a fork two.
type lattice struct {
	steps []step
	exact bool // false where maxStates cut states off
}

// A step takes each state to the next: it either turns one stream's words into those its reader wants, or chooses one
// layer's fold.
type step struct {
	layer  int // -1 where the step is about a stream
	states int // after the step
	groups [][]choice
	edges  []edge
	first  []int32 // edges of state i are edges[first[i]:first[i+1]]
}

// An edge joins two states by any choice of a group.
type edge struct{ from, to, group int32 }

// A choice is what an edge costs. No other choice of its group is better in one resource and as good in the others.
type choice struct {
	cost      vector
	option    int32 // of the layer; -1 for a stream
	converter int32 // 1 where a width converter is put in
}

// lattice lists the choices at the interval. It may have no path from end to end.
func (s *space) lattice(interval int) *lattice {
	b := builder{space: s, interval: interval, states: [][]int{{}}, reach: []float64{0}, lattice: &lattice{exact: true}}
	for i := range s.layers {
		groups, shapes := s.layers[i].groups(interval)
		n := s.layers[i].node
		for p, stream := range n.In {
			if s.writer[stream] >= 0 {
				b.streamStep(stream, p, shapes)
			}
		}
		b.layerStep(i, groups, shapes)
	}
	return b.lattice
}

// groups is the layer's choices that keep the interval, one group per shape.
func (l *layer) groups(interval int) (groups [][]choice, shapes []shape) {
	of := make([][]choice, len(l.shapes))
	for i, o := range l.options {
		if o.iterations <= interval {
			of[o.shape] = append(of[o.shape], choice{cost: o.cost, option: int32(i)})
		}
	}
	for i, g := range of {
		if len(g) > 0 {
			groups, shapes = append(groups, undominated(g)), append(shapes, l.shapes[i])
		}
	}
	return groups, shapes
}

// undominated keeps the choices that none other is at least as good as in every resource; of equal ones the first.
func undominated(all []choice) []choice {
	slices.SortStableFunc(all, func(a, b choice) int { return slices.Compare(a.cost[:], b.cost[:]) })
	var kept []choice
	for _, c := range all {
		if !slices.ContainsFunc(kept, func(k choice) bool { return k.cost.within(c.cost) }) {
			kept = append(kept, c)
		}
	}
	return kept
}

// A builder makes a lattice step by step.
type builder struct {
	*space
	*lattice
	interval int
	open     []int     // streams written and not yet read, in the order of a state's numbers
	states   [][]int   // after the last step
	reach    []float64 // per state: what reaching it costs at least, at the yardstick's prices
}

// streamStep turns the words on an open stream into each of those that port p of its reader may take.
func (b *builder) streamStep(stream, p int, shapes []shape) {
	at := slices.Index(b.open, stream)
	var wanted []int
	for _, sh := range shapes {
		wanted = append(wanted, sh.in[p])
	}
	slices.Sort(wanted)
	wanted = slices.Compact(wanted)
	n := next{index: map[string]int{}}
	groups := map[[2]int]int32{}
	for from, words := range b.states {
		for _, out := range wanted {
			in := words[at]
			c := b.convert(stream, in, out)
			if !c.ok || c.iterations > b.interval {
				continue
			}
			g, ok := groups[[2]int{in, out}]
			if !ok {
				k := choice{cost: c.cost, option: -1}
				if in != out {
					k.converter = 1
				}
				g = n.group(b.space, []choice{k})
				groups[[2]int{in, out}] = g
			}
			to := slices.Clone(words)
			to[at] = out
			n.join(b, from, to, g)
		}
	}
	b.take(n, -1)
}

// layerStep closes the layer's inputs and opens its outputs, in each of its shapes that the state allows.
func (b *builder) layerStep(i int, groups [][]choice, shapes []shape) {
	node := b.layers[i].node
	var ports []int // indices into a state of the layer's inner inputs, by port; -1 for the host's
	for _, stream := range node.In {
		ports = append(ports, slices.Index(b.open, stream))
	}
	var open, keep []int
	for k, stream := range b.open {
		if !slices.Contains(ports, k) {
			open, keep = append(open, stream), append(keep, k)
		}
	}
	var outs []int // output ports that another layer reads
	for p, stream := range node.Out {
		if !slices.Contains(b.graph.Out, stream) {
			open, outs = append(open, stream), append(outs, p)
		}
	}
	n := next{index: map[string]int{}}
	for _, g := range groups {
		n.group(b.space, g)
	}
	for from, words := range b.states {
		for g, sh := range shapes {
			if !fitsPorts(words, ports, sh.in) {
				continue
			}
			to := make([]int, 0, len(open))
			for _, k := range keep {
				to = append(to, words[k])
			}
			for _, p := range outs {
				to = append(to, sh.out[p])
			}
			n.join(b, from, to, int32(g))
		}
	}
	b.open = open
	b.take(n, i)
}

func fitsPorts(words, ports, in []int) bool {
	for p, k := range ports {
		if k >= 0 && words[k] != in[p] {
			return false
		}
	}
	return true
}

// next collects one step.
type next struct {
	groups [][]choice
	price  []float64 // per group
	edges  []edge
	states [][]int
	index  map[string]int
	reach  []float64
}

func (n *next) group(s *space, choices []choice) int32 {
	n.groups, n.price = append(n.groups, choices), append(n.price, s.cheapest(choices))
	return int32(len(n.groups) - 1)
}

func (n *next) join(b *builder, from int, to []int, group int32) {
	price := b.reach[from] + n.price[group]
	k := key(to)
	i, ok := n.index[k]
	if !ok {
		i = len(n.states)
		n.index[k] = i
		n.states, n.reach = append(n.states, to), append(n.reach, price)
	}
	n.reach[i] = min(n.reach[i], price)
	n.edges = append(n.edges, edge{int32(from), int32(i), group})
}

// cheapest is the least sum of shares of the yardstick among the choices.
func (s *space) cheapest(choices []choice) float64 {
	var best float64
	for i, c := range choices {
		var price float64
		for r := range c.cost {
			price += float64(c.cost[r]) / float64(s.yard[r])
		}
		if i == 0 || price < best {
			best = price
		}
	}
	return best
}

// take ends a step: it cuts the states to maxStates, dearest first, and indexes the edges, which come in order of
// their first state.
func (b *builder) take(n next, layer int) {
	if len(n.states) > maxStates {
		n.cut()
		b.exact = false
	}
	first := make([]int32, len(b.states)+1)
	for _, e := range n.edges {
		first[e.from+1]++
	}
	for i := range b.states {
		first[i+1] += first[i]
	}
	b.steps = append(b.steps, step{layer, len(n.states), n.groups, n.edges, first})
	b.states, b.reach = n.states, n.reach
}

func (n *next) cut() {
	order := make([]int, len(n.states))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(n.reach[i], n.reach[j]) })
	place := make([]int32, len(n.states))
	for i := range place {
		place[i] = -1
	}
	var states [][]int
	var reach []float64
	for _, i := range order[:maxStates] {
		place[i] = int32(len(states))
		states, reach = append(states, n.states[i]), append(reach, n.reach[i])
	}
	kept := n.edges[:0]
	for _, e := range n.edges {
		if e.to = place[e.to]; e.to >= 0 {
			kept = append(kept, e)
		}
	}
	n.states, n.reach, n.edges = states, reach, kept
}
