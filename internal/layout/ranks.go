package layout

// ranked returns the sheet of a graph: each box in the rank of its longest path from a box that no arrow enters. Such
// boxes move down, next to the first box that they lead to. Arrows that close a cycle lead upwards.
func ranked(g Graph) *sheet {
	s := &sheet{back: backward(g), paths: make([][]int, len(g.Arrows))}
	rank := longest(g, s.back)
	for i, b := range g.Boxes {
		s.nodes = append(s.nodes, node{box: i, width: b.Width, rank: rank[i], before: g.Gap, after: g.Gap})
	}
	room := mostPassed
	join := func(from, to int, loose bool) {
		s.nodes[from].below = append(s.nodes[from].below, link{node: to, loose: loose})
		s.nodes[to].above = append(s.nodes[to].above, link{node: from, loose: loose})
	}
	for a, arrow := range g.Arrows {
		from, to := arrow.From, arrow.To
		if from == to {
			continue
		}
		if s.back[a] {
			from, to = to, from
		}
		if room -= rank[to] - rank[from] - 1; room < 0 {
			s.paths[a] = []int{from, to}
			continue
		}
		path := []int{from}
		for r := rank[from] + 1; r < rank[to]; r++ {
			s.nodes = append(s.nodes, node{box: -1, rank: r, before: g.ArrowGap, after: g.ArrowGap})
			path = append(path, len(s.nodes)-1)
		}
		path = append(path, to)
		for k := range path[1:] {
			join(path[k], path[k+1], arrow.Loose)
		}
		s.paths[a] = path
	}
	s.markChains()
	for i, n := range s.nodes {
		for len(s.ranks) <= n.rank {
			s.ranks = append(s.ranks, nil)
		}
		s.ranks[n.rank] = append(s.ranks[n.rank], i)
	}
	return s
}

// mostPassed is the number of places where arrows pass ranks that a sheet has. Further arrows are straight lines, which
// may cross boxes.
const mostPassed = 100_000

// markChains marks the links that are the only ones of their ends.
func (s *sheet) markChains() {
	tight := func(links []link) (n int) {
		for _, l := range links {
			if !l.loose {
				n++
			}
		}
		return n
	}
	for i := range s.nodes {
		below := s.nodes[i].below
		for k, l := range below {
			below[k].only = !l.loose && tight(below) == 1 && tight(s.nodes[l.node].above) == 1
		}
	}
	for i := range s.nodes {
		above := s.nodes[i].above
		for k, l := range above {
			above[k].only = !l.loose && tight(above) == 1 && tight(s.nodes[l.node].below) == 1
		}
	}
}

// backward reports of each arrow whether it leads to a box from which its own box is reached, in the order of a search
// that begins with the first box.
func backward(g Graph) []bool {
	back := make([]bool, len(g.Arrows))
	leaving := make([][]int, len(g.Boxes)) // arrows
	for a, arrow := range g.Arrows {
		leaving[arrow.From] = append(leaving[arrow.From], a)
	}
	const (
		unseen = iota
		open
		done
	)
	state := make([]int, len(g.Boxes))
	next := make([]int, len(g.Boxes))
	for start := range g.Boxes {
		if state[start] != unseen {
			continue
		}
		state[start] = open
		for stack := []int{start}; len(stack) > 0; {
			b := stack[len(stack)-1]
			if next[b] == len(leaving[b]) {
				state[b] = done
				stack = stack[:len(stack)-1]
				continue
			}
			a := leaving[b][next[b]]
			next[b]++
			switch to := g.Arrows[a].To; state[to] {
			case unseen:
				state[to] = open
				stack = append(stack, to)
			case open:
				back[a] = to != b
			}
		}
	}
	return back
}

// longest returns the rank of each box.
func longest(g Graph, back []bool) []int {
	above, below := make([][]int, len(g.Boxes)), make([][]int, len(g.Boxes))
	entering := make([]int, len(g.Boxes))
	for a, arrow := range g.Arrows {
		from, to := arrow.From, arrow.To
		if from == to {
			continue
		}
		if back[a] {
			from, to = to, from
		}
		below[from] = append(below[from], to)
		above[to] = append(above[to], from)
		entering[to]++
	}
	rank := make([]int, len(g.Boxes))
	var ready []int
	for b := range g.Boxes {
		if entering[b] == 0 {
			ready = append(ready, b)
		}
	}
	for len(ready) > 0 {
		b := ready[0]
		ready = ready[1:]
		for _, to := range below[b] {
			rank[to] = max(rank[to], rank[b]+1)
			if entering[to]--; entering[to] == 0 {
				ready = append(ready, to)
			}
		}
	}
	for b := range g.Boxes {
		if len(above[b]) > 0 || len(below[b]) == 0 {
			continue
		}
		first := rank[below[b][0]]
		for _, to := range below[b] {
			first = min(first, rank[to])
		}
		rank[b] = first - 1
	}
	return rank
}
