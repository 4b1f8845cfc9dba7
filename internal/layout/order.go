package layout

import (
	"cmp"
	"slices"
	"sort"
)

// sweeps is the number of times that all ranks are put in order, downwards and upwards in turn. Crossings hardly
// become fewer after that.
const sweeps = 12

// mostCompared is the number of pairs of links that transpose compares in a sweep. Few graphs of networks need more.
const mostCompared = 10_000_000

// arrange orders each rank such that few links cross. It keeps the best order of all sweeps.
func (s *sheet) arrange() {
	best := s.copied()
	fewest := s.crossings()
	for k := 0; k < sweeps && fewest > 0; k++ {
		s.byMedians(k%2 == 0)
		s.transpose()
		if c := s.crossings(); c < fewest {
			fewest, best = c, s.copied()
		}
	}
	s.ranks = best
}

// copied returns a copy of the order.
func (s *sheet) copied() [][]int {
	all := make([][]int, len(s.ranks))
	for r := range s.ranks {
		all[r] = slices.Clone(s.ranks[r])
	}
	return all
}

// places returns the place of each node in its rank.
func (s *sheet) places() []int {
	at := make([]int, len(s.nodes))
	for _, rank := range s.ranks {
		for k, n := range rank {
			at[n] = k
		}
	}
	return at
}

// byMedians orders each rank by the medians of places in the rank that comes before it, downwards or upwards. Nodes
// without links stay where they are.
func (s *sheet) byMedians(down bool) {
	at := s.places()
	for k := range s.ranks {
		r := k
		if !down {
			r = len(s.ranks) - 1 - k
		}
		type placed struct {
			node   int
			median float64
		}
		var linked []placed
		var free []int // places that linked nodes take
		for p, n := range s.ranks[r] {
			near := s.nodes[n].above
			if !down {
				near = s.nodes[n].below
			}
			if len(near) > 0 {
				linked = append(linked, placed{n, median(near, at)})
				free = append(free, p)
			}
		}
		slices.SortStableFunc(linked, func(a, b placed) int { return cmp.Compare(a.median, b.median) })
		for i, l := range linked {
			s.ranks[r][free[i]] = l.node
			at[l.node] = free[i]
		}
	}
}

// median returns the median of the places of the nodes at the ends of links: of an even number, the mean of the two in
// the middle.
func median(links []link, at []int) float64 {
	places := make([]int, len(links))
	for i, l := range links {
		places[i] = at[l.node]
	}
	sort.Ints(places)
	m := len(places) / 2
	if len(places)%2 == 1 {
		return float64(places[m])
	}
	return float64(places[m-1]+places[m]) / 2
}

// transpose exchanges neighbours while this removes crossings, until it has compared mostCompared pairs of links.
func (s *sheet) transpose() {
	at := s.places()
	left := mostCompared
	for better := true; better; {
		better = false
		for _, rank := range s.ranks {
			for k := range len(rank) - 1 {
				a, b := rank[k], rank[k+1]
				x, y := &s.nodes[a], &s.nodes[b]
				if left -= 1 + len(x.above)*len(y.above) + len(x.below)*len(y.below); left < 0 {
					return
				}
				if s.pair(a, b, at) > s.pair(b, a, at) {
					rank[k], rank[k+1] = b, a
					at[a], at[b] = k+1, k
					better = true
				}
			}
		}
	}
}

// pair returns how many links of two neighbours cross if a is to the left of b.
func (s *sheet) pair(a, b int, at []int) (n int) {
	count := func(left, right []link) {
		for _, x := range left {
			for _, y := range right {
				if at[x.node] > at[y.node] {
					n++
				}
			}
		}
	}
	count(s.nodes[a].above, s.nodes[b].above)
	count(s.nodes[a].below, s.nodes[b].below)
	return n
}

// crossings returns the number of pairs of links that cross.
func (s *sheet) crossings() (n int) {
	at := s.places()
	for _, rank := range s.ranks {
		var ends []int // lower ends, by their upper ends
		for _, x := range rank {
			below := make([]int, 0, len(s.nodes[x].below))
			for _, y := range s.nodes[x].below {
				below = append(below, at[y.node])
			}
			sort.Ints(below)
			ends = append(ends, below...)
		}
		n += inversions(ends)
	}
	return n
}

// inversions returns the number of pairs of which the first is greater. It sorts v.
func inversions(v []int) (n int) {
	if len(v) < 2 {
		return 0
	}
	m := len(v) / 2
	left, right := slices.Clone(v[:m]), slices.Clone(v[m:])
	n = inversions(left) + inversions(right)
	for i, j, k := 0, 0, 0; k < len(v); k++ {
		if j == len(right) || i < len(left) && left[i] <= right[j] {
			v[k] = left[i]
			i++
			continue
		}
		v[k] = right[j]
		n += len(left) - i
		j++
	}
	return n
}
