package adders

import (
	"slices"

	"hlsgen/internal/num"
)

// AnyLevels stands for no limit on levels.
const AnyLevels = 40

// A way is how a graph is made: the depth of its spanning tree, and the weighting of pairs.
type way struct {
	depth  int
	weight weighting
}

// ways returns those that are tried for the rows of a matrix. A spanning tree pays where all weights are powers of two,
// such as 1 and -1. There the digits of two rows often agree, and a difference has few.
func ways(rows [][]int64) []way {
	for _, r := range rows {
		if slices.ContainsFunc(r, func(w int64) bool { return digitsIn(w) > 1 }) {
			return []way{{0, byOverlap}, {0, bySaving}}
		}
	}
	return []way{{0, byOverlap}, {2, byOverlap}, {AnyLevels, byOverlap}}
}

// Product returns a graph of a matrix, by rows, for inputs in the given ranges: of several, the one with the fewest
// bits of adders of so many operands, 2 or 3. No path has more levels than the row with most digits needs, and extra.
func Product(matrix [][]int64, inputs []num.Range, extra, operands int) *Graph {
	rows, shapes := different(matrix)
	levels := min(leastLevels(rows)+extra, AnyLevels)
	var best *Graph // the first way always keeps the levels
	for _, w := range ways(rows) {
		g := w.graph(rows, inputs, levels)
		if g.Levels() <= levels && (best == nil || g.Bits(operands) < best.Bits(operands)) {
			best = g
		}
	}
	list := best.Outputs
	best.Outputs = nil
	for _, s := range shapes {
		o := Term{Signal: NoSignal}
		if s.row >= 0 {
			o = list[s.row]
			o.Shift += s.shift
			o.Minus = o.Minus != s.minus
		}
		best.Outputs = append(best.Outputs, o)
	}
	return best
}

func (w way) graph(rows [][]int64, inputs []num.Range, levels int) *Graph {
	b := newBuilder(inputs)
	if w.depth > 0 {
		b.Outputs = b.spanned(rows, w.depth, levels, w.weight)
	} else {
		list := make([][]Term, len(rows))
		for i, r := range rows {
			list[i] = digitsOf(r)
		}
		b.Outputs = b.share(list, levels, w.weight)
	}
	b.prune()
	return &b.Graph
}
