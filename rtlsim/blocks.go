package rtlsim

import (
	"fmt"
	"slices"
	"strings"
)

// A block is a biconnected component of the graph whose edges are streams, whatever their direction. It holds the
// paths between a fork and its join. A stream that lies on no closed way is a block of its own. Layers can wait for
// each other in a circle only within a block: a circle that leaves a block by a stream cannot come back.
type block struct {
	streams []int
	members []bool // the layers at their ends
}

// split returns the blocks of the graph (Hopcroft and Tarjan 1973), sorted by their first streams.
func (p *plan) split() []block {
	f := finder{plan: p, order: make([]int, len(p.loops)), low: make([]int, len(p.loops))}
	for n := range p.loops {
		if f.order[n] == 0 {
			f.search(n, -1)
		}
	}
	for i := range f.blocks {
		slices.Sort(f.blocks[i].streams)
	}
	slices.SortFunc(f.blocks, func(a, b block) int { return a.streams[0] - b.streams[0] })
	return f.blocks
}

type finder struct {
	*plan
	order, low []int // when a node was found, and the earliest found node that it or a node behind it leads to
	found      int
	open       []int // streams that belong to no block yet
	blocks     []block
}

func (f *finder) search(node, from int) {
	f.found++
	f.order[node], f.low[node] = f.found, f.found
	n := f.design.Model.Graph.Nodes[node]
	for _, s := range slices.Concat(n.In, n.Out) {
		if s == from || !f.inner(s) {
			continue
		}
		to := f.writer[s] + f.reader[s] - node
		switch {
		case f.order[to] == 0:
			before := len(f.open)
			f.open = append(f.open, s)
			f.search(to, s)
			f.low[node] = min(f.low[node], f.low[to])
			if f.low[to] >= f.order[node] {
				f.close(before)
			}
		case f.order[to] < f.order[node]:
			f.open = append(f.open, s)
			f.low[node] = min(f.low[node], f.order[to])
		}
	}
}

// close makes a block of the open streams from index from on.
func (f *finder) close(from int) {
	b := block{streams: slices.Clone(f.open[from:]), members: make([]bool, len(f.loops))}
	f.open = f.open[:from]
	for _, s := range b.streams {
		b.members[f.writer[s]] = true
		b.members[f.reader[s]] = true
	}
	f.blocks = append(f.blocks, b)
}

// reason returns a sentence that explains why words gather on stream s of block b, for the user.
func (p *plan) reason(b block, s int) string {
	join, arrives := -1, -1
	if len(b.streams) > 1 {
		join, arrives = p.join(b, s)
	}
	if join < 0 {
		return fmt.Sprintf("%s gives words faster at times than %s takes them", p.name(p.writer[s]),
			p.name(p.reader[s]))
	}
	here := p.above(b, p.writer[s])
	for _, other := range p.design.Model.Graph.Nodes[join].In {
		if other == arrives || !slices.Contains(b.streams, other) {
			continue
		}
		there := p.above(b, p.writer[other])
		for fork := join - 1; fork >= 0; fork-- {
			if here[fork] && there[fork] {
				return fmt.Sprintf("behind the fork %s, words for the join %s wait here for those that go by %s",
					p.name(fork), p.name(join), p.between(b, fork, p.writer[other], there))
			}
		}
	}
	return fmt.Sprintf("words for the join %s wait here for those of its other input", p.name(join))
}

// join returns the first layer behind stream s with another input from the same block. It also returns the stream
// by which s reaches that layer.
func (p *plan) join(b block, s int) (node, arrives int) {
	g := p.design.Model.Graph
	for {
		r := p.reader[s]
		inputs := 0
		for _, in := range g.Nodes[r].In {
			if slices.Contains(b.streams, in) {
				inputs++
			}
		}
		if inputs > 1 {
			return r, s
		}
		out := g.Nodes[r].Out
		next := slices.IndexFunc(out, func(s int) bool { return slices.Contains(b.streams, s) })
		if next < 0 {
			return -1, -1
		}
		s = out[next]
	}
}

// above returns the set of the layer node and all layers of the block that feed it.
func (p *plan) above(b block, node int) []bool {
	set := make([]bool, len(p.loops))
	set[node] = true
	for i := node; i >= 0; i-- { // nodes are in topological order
		if !set[i] {
			continue
		}
		for _, s := range p.design.Model.Graph.Nodes[i].In {
			if slices.Contains(b.streams, s) {
				set[p.writer[s]] = true
			}
		}
	}
	return set
}

// between returns a text that names the layers behind the fork on the way to the layer last.
func (p *plan) between(b block, fork, last int, above []bool) string {
	var names []string
	for i := fork + 1; i <= last; i++ {
		if above[i] && p.above(b, i)[fork] {
			names = append(names, p.name(i))
		}
	}
	const most = 4
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", more))
	}
	if len(names) == 0 {
		return "no layer"
	}
	return strings.Join(names, ", ")
}
