package layout

// turns is the number of times that all ranks get new coordinates, downwards and upwards in turn. In the first rough
// turns a rank only looks back to the rank that came before, so that a chain becomes straight in one turn.
const (
	turns = 120
	rough = 8
)

// weights say how much a link shall be straight: between two boxes, between a box and an arrow that passes, within an
// arrow that passes (Gansner and others).
var weights = [3]float64{1, 2, 8}

// A loose arrow shall be straight less, by slack. A link that is the only one of both its ends on their sides shall be
// straight more, by stiff: then chains bend where they fork and join.
const (
	slack = 1024
	stiff = 32
)

// spread gives each node its coordinate across the picture.
func (s *sheet) spread() {
	for _, rank := range s.ranks {
		x := 0.0
		for k, i := range rank {
			if k > 0 {
				x += s.distance(rank[k-1], i)
			}
			s.nodes[i].x = x
		}
		for _, i := range rank { // around 0
			s.nodes[i].x -= x / 2
		}
	}
	for t := range turns {
		for k := range s.ranks {
			down, both := t%2 == 0, t >= rough
			if !down {
				k = len(s.ranks) - 1 - k
			}
			s.settle(s.ranks[k], down, both)
		}
	}
}

// distance returns the least distance between the centres of two neighbours.
func (s *sheet) distance(left, right int) float64 {
	a, b := s.nodes[left], s.nodes[right]
	return a.width/2 + min(a.after, b.before) + b.width/2
}

// settle moves the nodes of a rank as near as possible to their neighbours above, below or both, by least squares, such
// that neighbours keep their distance. This is isotonic regression, and pooling of neighbours that are
// too near solves it exactly.
func (s *sheet) settle(rank []int, down, both bool) {
	type pool struct{ sum, weight float64 }
	var pools []pool
	sizes := []int{}
	offsets := make([]float64, len(rank)) // least coordinate relative to the first node
	for k, i := range rank {
		if k > 0 {
			offsets[k] = offsets[k-1] + s.distance(rank[k-1], i)
		}
		wanted, weight := s.wanted(i, down, both)
		pools = append(pools, pool{(wanted - offsets[k]) * weight, weight})
		sizes = append(sizes, 1)
		for n := len(pools); n > 1 && pools[n-2].sum*pools[n-1].weight > pools[n-1].sum*pools[n-2].weight; n-- {
			pools[n-2].sum += pools[n-1].sum
			pools[n-2].weight += pools[n-1].weight
			sizes[n-2] += sizes[n-1]
			pools, sizes = pools[:n-1], sizes[:n-1]
		}
	}
	k := 0
	for p, size := range sizes {
		for range size {
			s.nodes[rank[k]].x = pools[p].sum/pools[p].weight + offsets[k]
			k++
		}
	}
}

// wanted returns where a node would be best and how much this counts. A node without neighbours there stays.
func (s *sheet) wanted(i int, down, both bool) (x, weight float64) {
	n := s.nodes[i]
	sum := 0.0
	pull := func(links []link) {
		for _, l := range links {
			passing := 0
			if n.box < 0 {
				passing++
			}
			if s.nodes[l.node].box < 0 {
				passing++
			}
			w := weights[passing]
			switch {
			case l.loose:
				w /= slack
			case l.only:
				w *= stiff
			}
			pulled := w * s.nodes[l.node].x
			sum += pulled
			weight += w
		}
	}
	if down || both {
		pull(n.above)
	}
	if !down || both {
		pull(n.below)
	}
	if weight == 0 {
		return n.x, weights[0]
	}
	return sum / weight, weight
}
