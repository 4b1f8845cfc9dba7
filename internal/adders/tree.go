package adders

import (
	"math/bits"
	"slices"
)

// A branch is a row of a matrix as a difference from another row.
type branch struct {
	parent int  // a row, or -1 for 0
	minus  bool // the parent is subtracted
	depth  int  // branches from 0 to the row's parent
}

// digitCount returns the number of signed digits of x + y, or of x - y.
func digitCount(x, y []int64, minus bool) (n int) {
	for i, v := range x {
		switch {
		case y == nil:
		case minus:
			v -= y[i]
		default:
			v += y[i]
		}
		n += digitsIn(v)
	}
	return n
}

// digitsIn returns the number of canonical signed digits of v.
func digitsIn(v int64) int {
	u := uint64(max(v, -v))
	return bits.OnesCount64(u ^ 3*u)
}

// spanningTree returns a branch for each row. Together their differences have few digits, and no branch is deeper than
// depth (Prim's algorithm).
func spanningTree(rows [][]int64, depth int) []branch {
	tree := make([]branch, len(rows))
	cost := make([]int, len(rows))
	in := make([]bool, len(rows))
	for i, r := range rows {
		tree[i] = branch{parent: -1}
		cost[i] = digitCount(r, nil, false)
	}
	for range rows {
		next := -1
		for i := range rows {
			if !in[i] && (next < 0 || cost[i] < cost[next]) {
				next = i
			}
		}
		if in[next] = true; tree[next].depth >= depth {
			continue
		}
		for i, r := range rows {
			if in[i] {
				continue
			}
			for _, minus := range []bool{false, true} {
				// the row is its parent plus a difference, or the difference minus its parent
				if n := digitCount(r, rows[next], !minus) + 1; n < cost[i] {
					cost[i], tree[i] = n, branch{next, minus, tree[next].depth + 1}
				}
			}
		}
	}
	return tree
}

// spanned returns the outputs of a matrix by a spanning tree of at most the given depth.
func (b *builder) spanned(rows [][]int64, depth, levels int, w weighting) []Term {
	tree := spanningTree(rows, depth)
	differences, deepest := make([][]Term, len(rows)), 0
	for i, t := range tree {
		d := slices.Clone(rows[i])
		for k := range d {
			switch {
			case t.parent < 0:
			case t.minus:
				d[k] += rows[t.parent][k]
			default:
				d[k] -= rows[t.parent][k]
			}
		}
		differences[i] = digitsOf(d)
		deepest = max(deepest, t.depth)
	}
	first := b.share(differences, levels-bits.Len(uint(deepest)), w)
	sums := make([][]Term, len(rows))
	for i := range rows {
		minus := false
		for at := i; at >= 0; at = tree[at].parent {
			if t := first[at]; t.Signal != NoSignal {
				t.Minus = t.Minus != minus
				sums[i] = append(sums[i], t)
			}
			minus = minus != tree[at].minus
		}
	}
	return b.share(sums, levels, w)
}

// A shape is a row without its sign, its factor of a power of two, and its equals.
type shape struct {
	row   int // of the different rows
	shift int
	minus bool
}

// different returns the rows of a matrix that differ in more than sign and shift, and how the others follow from these.
func different(matrix [][]int64) (rows [][]int64, shapes []shape) {
	known := map[string]int{}
	for _, r := range matrix {
		s := shape{row: -1, shift: 64}
		first := int64(0)
		for _, w := range r {
			if w != 0 {
				s.shift = min(s.shift, bits.TrailingZeros64(uint64(w)))
				if first == 0 {
					first = w
				}
			}
		}
		if first == 0 {
			shapes = append(shapes, shape{row: -1})
			continue
		}
		s.minus = first < 0
		plain := make([]int64, len(r))
		var key []byte
		for i, w := range r {
			if plain[i] = w >> s.shift; s.minus {
				plain[i] = -plain[i]
			}
			for k := range 8 {
				key = append(key, byte(plain[i]>>(8*k)))
			}
		}
		at, ok := known[string(key)]
		if !ok {
			at = len(rows)
			known[string(key)] = at
			rows = append(rows, plain)
		}
		s.row = at
		shapes = append(shapes, s)
	}
	return rows, shapes
}

// leastLevels returns the levels of a tree of adders over the digits of the row that has most.
func leastLevels(rows [][]int64) (levels int) {
	for _, r := range rows {
		if n := digitCount(r, nil, false); n > 1 {
			levels = max(levels, bits.Len(uint(n-1)))
		}
	}
	return levels
}
