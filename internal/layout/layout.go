// Package layout places the nodes of a directed graph for a picture, from top to bottom.
//
// In come boxes with their sizes and arrows between them; out come positions and the points of each arrow. The method
// is that of Sugiyama, Tagawa and Toda (IEEE Transactions on Systems, Man, and Cybernetics 11, 1981): a rank per box by
// the longest path, an order within each rank by medians (Gansner and others, IEEE Transactions on Software Engineering
// 19, 1993), then coordinates. The same graph gives the same positions on every machine.
//
//	layout.go  Place, and the points of arrows
//	ranks.go   the rank of each box, without cycles
//	order.go   the order within a rank, with few crossings
//	across.go  the coordinate across the picture
package layout

import (
	"math"
	"slices"
)

// A Box is a node of a picture, with its width and height.
type Box struct{ Width, Height float64 }

// An Arrow leads from a box to another one, by their indices. An arrow from a box to itself has no points. A loose one
// may bend rather than move the boxes at its ends.
type Arrow struct {
	From, To int
	Loose    bool
}

// A Graph is what Place places. Gaps are the distances between boxes of a rank and between ranks.
type Graph struct {
	Boxes    []Box
	Arrows   []Arrow
	Gap      float64 // between neighbours of a rank
	RankGap  float64 // between ranks
	ArrowGap float64 // between an arrow that passes a rank and its neighbours there
}

// A Point is a place in a picture. X grows to the right, Y downwards.
type Point struct{ X, Y float64 }

// A Layout has a place for each box and each arrow. All coordinates are 0 or more.
type Layout struct {
	Width, Height float64
	Boxes         []Point   // the upper left corners
	Arrows        [][]Point // from the lower edge of a box, past the ranks between, to the upper edge of another
}

// A node is a box, or the place where an arrow passes a rank.
type node struct {
	box           int // -1 of an arrow that passes
	width         float64
	rank          int
	above, below  []link // to nodes of the neighbouring ranks
	x             float64
	before, after float64 // the gaps that it wants
}

// A link is a piece of an arrow between neighbouring ranks, as one of its ends sees it.
type link struct {
	node  int // at the other end
	loose bool
	only  bool // no other link that is not loose leaves the upper end or enters the lower one
}

// A sheet is a graph in which each link leads from a rank to the next.
type sheet struct {
	nodes []node
	ranks [][]int // nodes from left to right
	paths [][]int // the nodes of each arrow, from the upper end; nil for an arrow to the same box
	back  []bool  // of each arrow: it leads upwards
}

// Place returns a layout. It takes time in proportion to the nodes and the ranks that arrows pass, some hundred times.
// Of a graph whose arrows pass more than 100,000 ranks, some arrows are straight lines. Of one with very many links the
// order is not the best.
func Place(g Graph) Layout {
	s := ranked(g)
	s.arrange()
	s.spread()
	return s.drawn(g)
}

// drawn returns the positions of boxes and the points of arrows.
func (s *sheet) drawn(g Graph) (l Layout) {
	l.Boxes = make([]Point, len(g.Boxes))
	top := make([]float64, len(s.ranks))
	high := make([]float64, len(s.ranks))
	y := 0.0
	for r, nodes := range s.ranks {
		for _, n := range nodes {
			if b := s.nodes[n].box; b >= 0 {
				high[r] = max(high[r], g.Boxes[b].Height)
			}
		}
		top[r] = y
		y += high[r] + g.RankGap
	}
	l.Height = max(0, y-g.RankGap)
	least := 0.0
	for i := range s.nodes {
		n := &s.nodes[i]
		n.x = math.Round(n.x) // what the turns made nearly straight becomes straight
		if left := n.x - n.width/2; i == 0 || left < least {
			least = left
		}
	}
	for i := range s.nodes {
		n := &s.nodes[i]
		n.x -= least
		l.Width = max(l.Width, n.x+n.width/2)
		if n.box >= 0 {
			l.Boxes[n.box] = Point{n.x - n.width/2, top[n.rank] + (high[n.rank]-g.Boxes[n.box].Height)/2}
		}
	}
	l.Arrows = make([][]Point, len(g.Arrows))
	for a, path := range s.paths {
		var points []Point
		for k, i := range path {
			n := s.nodes[i]
			switch {
			case n.box < 0:
				points = append(points, Point{n.x, top[n.rank]}, Point{n.x, top[n.rank] + high[n.rank]})
			case k == 0:
				points = append(points, Point{n.x, l.Boxes[n.box].Y + g.Boxes[n.box].Height})
			default:
				points = append(points, Point{n.x, l.Boxes[n.box].Y})
			}
		}
		if s.back[a] {
			slices.Reverse(points)
		}
		l.Arrows[a] = points
	}
	return l
}
