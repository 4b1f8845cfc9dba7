package search

import (
	"cmp"
	"context"
	"slices"
)

// liveKinds is how many kinds may bind for labels to be tried.
const liveKinds = 8

// Where both kinds have caps of 7, of the labels (3, 3), (4, 3) and (1, 5) of a row, (4, 3) goes: (3, 3) takes no more
// of anything. Where whatever fits to the row takes at most 2 of the second kind, (1, 5) and (1, 4) are the same: with
// either, the whole takes no more than 7 of it. Both are clamped to (1, 5).

// A label is a way to choose for a part: a choice of a leaf, or a label of each of the two tables that a join joins.
// Amounts are those of the pruner's kinds, in its order.
type label struct {
	cost        [liveKinds]int64
	clamped     [liveKinds]int64  // cost, with what no rest can make matter taken out
	sum         [keepPrices]int64 // what all kinds cost at the pruner's prices
	choice      int32             // in the leaf's row
	left, right int32
}

// A sheet is the labels of one table, by row: those of row i are all[first[i]:first[i+1]].
type sheet struct {
	all   []label
	first []int32
}

// label finds the solution within caps, of a tree without paths, that takes the least of the kind prime: it carries
// every way to choose for a part from the leaves to the whole, and drops those that provably cannot end within caps and
// those that another one equals or beats in every kind. best is nil where there is none; exact is false where there
// were too many, so that a better one may exist.
func (t *Tree) label(ctx context.Context, caps Caps, prime, beam int) (best *Solution, exact bool, err error) {
	p := t.newPruner(caps, prime, beam)
	if p == nil {
		return nil, false, nil
	}
	sheets := make([]sheet, len(t.plan.Tables))
	exact = true
	for i := range t.plan.Tables {
		if err := t.done(ctx, 0); err != nil {
			return nil, false, err
		}
		whole := false
		sheets[i], whole = p.sheet(i, sheets)
		exact = exact && whole
		if len(sheets[i].all) == 0 {
			return nil, exact, nil
		}
	}
	end := &sheets[len(sheets)-1]
	at := 0
	for i := range end.all {
		if p.compare(&end.all[i], &end.all[at]) < 0 {
			at = i
		}
	}
	best = t.blank()
	t.trace(best, sheets, len(sheets)-1, int32(at))
	return best, exact, nil
}

// trace fills in the picks of a label of a table.
func (t *Tree) trace(f *Solution, sheets []sheet, table int, at int32) {
	tb, s := &t.plan.Tables[table], &sheets[table]
	n := &s.all[at]
	if tb.Left < 0 {
		row, _ := slices.BinarySearch(s.first, at+1)
		row--
		t.pick(f, table, int32(row), &t.choices[table][row][n.choice])
		return
	}
	t.trace(f, sheets, tb.Left, n.left)
	t.trace(f, sheets, tb.Right, n.right)
}

// A pruner knows which labels lead nowhere.
type pruner struct {
	*Tree
	kinds  []int // that may exceed their caps; the one to minimise first
	caps   [liveKinds]int64
	single []*price // per kind
	most   [liveKinds][][]int64
	mixed  []*price
	limits []int64 // the price of caps, per mixed price
	beam   int     // labels of a table, at most; of a row, at most four times as many are compared with each other
}

// newPruner is nil where there are paths, or too many kinds may exceed their caps.
func (t *Tree) newPruner(caps Caps, prime, beam int) *pruner {
	caps = t.capped(caps)
	if len(t.longest) > 0 {
		return nil
	}
	p := &pruner{Tree: t, kinds: []int{prime}, beam: beam}
	for k := range caps.Vector {
		if k != prime && t.dearest[k] > caps.Vector[k] {
			p.kinds = append(p.kinds, k)
		}
	}
	if len(p.kinds) > liveKinds {
		return nil
	}
	for i, k := range p.kinds {
		p.caps[i] = caps.Vector[k]
		p.single = append(p.single, t.around1(k))
		p.most[i] = t.mostAround(k)
	}
	p.mixed, p.limits = t.sharpest(&caps)
	return p
}

// around1 is the price of one for a unit of a kind, with its rests.
func (t *prices) around1(kind int) *price {
	i := t.singleOf(kind)
	if i < 0 { // nothing is taken of it
		i = len(t.single)
		t.single = append(t.single, t.priced(t.unitOf(kind)))
	}
	t.around(&t.single[i])
	return &t.single[i]
}

// sheet makes the labels of a table from those of the tables that it joins. whole is false where some were cut.
func (p *pruner) sheet(table int, sheets []sheet) (s sheet, whole bool) {
	tb := &p.plan.Tables[table]
	whole = true
	s.first = make([]int32, 1, tb.Rows+1)
	var row []label
	for r := range tb.Rows {
		row = row[:0]
		if tb.Left < 0 {
			row = p.leaves(row, table, r)
		} else {
			for _, q := range tb.pairs(r) {
				row = p.extend(row, table, r, &sheets[tb.Left], &sheets[tb.Right], q)
				if len(row) > 8*p.beam {
					row, whole = p.likeliest(row, table, r, 4*p.beam), false
				}
			}
		}
		if len(row) > 4*p.beam {
			row, whole = p.likeliest(row, table, r, 4*p.beam), false
		}
		s.all = append(s.all, p.undominated(row)...)
		s.first = append(s.first, int32(len(s.all)))
	}
	if len(s.all) > p.beam {
		s, whole = p.cut(s, table), false
	}
	return s, whole
}

// leaves adds the choices of a leaf's row that may end within caps.
func (p *pruner) leaves(row []label, table, r int) []label {
	for i := range p.choices[table][r] {
		c := &p.choices[table][r][i]
		n := label{choice: int32(i), left: -1, right: -1}
		for j, k := range p.kinds {
			n.cost[j] = c.Cost[k]
		}
		for j, q := range p.mixed {
			n.sum[j] = q.unit.kinds.dot(&c.Cost)
		}
		row = p.add(row, &n, table, r)
	}
	p.effort.Done += len(p.choices[table][r])
	return row
}

// extend adds the labels of a pair of rows that may end within caps.
func (p *pruner) extend(row []label, table, r int, left, right *sheet, q Pair) []label {
	m := len(p.kinds)
	for i := left.first[q.Left]; i < left.first[q.Left+1]; i++ {
		a := &left.all[i]
		for j := right.first[q.Right]; j < right.first[q.Right+1]; j++ {
			b := &right.all[j]
			n := label{choice: -1, left: i, right: j}
			for k := range m {
				n.cost[k] = a.cost[k] + b.cost[k]
			}
			for k := range p.mixed {
				n.sum[k] = a.sum[k] + b.sum[k]
			}
			row = p.add(row, &n, table, r)
		}
		p.effort.Done += int(right.first[q.Right+1] - right.first[q.Right])
	}
	return row
}

// add adds a label to a row, unless some price proves that a part that costs so much ends beyond caps.
//
// Each amount is raised to where even the largest rest stays within caps: below that, less is not better. Only of the
// kind that is minimised less always is.
func (p *pruner) add(row []label, n *label, table, r int) []label {
	for i, q := range p.single {
		if n.cost[i]+q.rest[table][r] > p.caps[i] {
			return row
		}
	}
	for i, q := range p.mixed {
		if n.sum[i]+q.rest[table][r] > p.limits[i] {
			return row
		}
	}
	n.clamped = n.cost
	for i := 1; i < len(p.kinds); i++ {
		n.clamped[i] = max(n.clamped[i], p.caps[i]-p.most[i][table][r])
	}
	return append(row, *n)
}

// compare orders labels: the less of the prime kind, then of the others in their order.
func (p *pruner) compare(a, b *label) int {
	m := len(p.kinds)
	return cmp.Or(slices.Compare(a.clamped[:m], b.clamped[:m]), slices.Compare(a.cost[:m], b.cost[:m]),
		cmp.Compare(a.left, b.left), cmp.Compare(a.right, b.right), cmp.Compare(a.choice, b.choice))
}

// undominated keeps the labels of a row that no other equals or beats, in a fixed order.
func (p *pruner) undominated(row []label) []label {
	slices.SortFunc(row, func(a, b label) int { return p.compare(&a, &b) })
	p.effort.Done += 8 * len(row)
	kept := row[:0]
	for i := range row {
		if !p.dominated(kept, &row[i]) {
			kept = append(kept, row[i])
		}
	}
	return kept
}

// dominated reports whether one of kept takes no more of anything.
func (p *pruner) dominated(kept []label, n *label) bool {
	m := len(p.kinds)
next:
	for i := range kept {
		k := &kept[i].clamped
		for j := 1; j < m; j++ { // of the first kind none has less
			if k[j] > n.clamped[j] {
				continue next
			}
		}
		p.effort.Done += (i + 1) / 4
		return true
	}
	p.effort.Done += len(kept) / 4
	return false
}

// share is the largest share of caps, weighed by a price, that the cheapest end of a label takes.
func (p *pruner) share(n *label, table, r int) float64 {
	share := 0.0
	for i, q := range p.mixed {
		share = max(share, float64(n.sum[i]+q.rest[table][r])/float64(max(1, p.limits[i])))
	}
	return share
}

// A rank orders labels by how much room they leave.
type rank struct {
	share float64
	at    int
}

func firstRanks(ranks []rank, n int) []rank {
	slices.SortFunc(ranks, func(a, b rank) int {
		return cmp.Or(cmp.Compare(a.share, b.share), cmp.Compare(a.at,
			b.at))
	})
	ranks = ranks[:n]
	slices.SortFunc(ranks, func(a, b rank) int { return cmp.Compare(a.at, b.at) })
	return ranks
}

// likeliest keeps the n labels of a row that the prices leave most room, in their order.
func (p *pruner) likeliest(row []label, table, r, n int) []label {
	ranks := make([]rank, len(row))
	for i := range row {
		ranks[i] = rank{p.share(&row[i], table, r), i}
	}
	for i, k := range firstRanks(ranks, n) {
		row[i] = row[k.at] // k.at >= i
	}
	return row[:n]
}

// cut keeps the labels of a sheet that the prices leave most room.
func (p *pruner) cut(s sheet, table int) sheet {
	ranks := make([]rank, 0, len(s.all))
	for r := range p.plan.Tables[table].Rows {
		for i := s.first[r]; i < s.first[r+1]; i++ {
			ranks = append(ranks, rank{p.share(&s.all[i], table, r), int(i)})
		}
	}
	kept := sheet{first: make([]int32, 1, len(s.first))}
	ranks = firstRanks(ranks, p.beam)
	for r := range p.plan.Tables[table].Rows {
		for len(ranks) > 0 && ranks[0].at < int(s.first[r+1]) {
			kept.all = append(kept.all, s.all[ranks[0].at])
			ranks = ranks[1:]
		}
		kept.first = append(kept.first, int32(len(kept.all)))
	}
	return kept
}

// mostAround is the largest amount of a kind that what is not in a table can take, per table and row.
func (t *prices) mostAround(kind int) [][]int64 {
	if t.most[kind] != nil {
		return t.most[kind]
	}
	tables := t.plan.Tables
	inside, rest := make([][]int64, len(tables)), make([][]int64, len(tables))
	for i := range tables {
		tb := &tables[i]
		inside[i] = make([]int64, tb.Rows)
		rest[i] = make([]int64, tb.Rows)
		for r := range inside[i] {
			if tb.Left < 0 {
				for k := range t.choices[i][r] {
					inside[i][r] = max(inside[i][r], t.choices[i][r][k].Cost[kind])
				}
				continue
			}
			for _, q := range tb.pairs(r) {
				inside[i][r] = max(inside[i][r], inside[tb.Left][q.Left]+inside[tb.Right][q.Right])
			}
		}
	}
	for i := len(tables) - 1; i >= t.plan.Leaves; i-- {
		tb := &tables[i]
		for r, more := range rest[i] {
			for _, q := range tb.pairs(r) {
				rest[tb.Left][q.Left] = max(rest[tb.Left][q.Left], more+inside[tb.Right][q.Right])
				rest[tb.Right][q.Right] = max(rest[tb.Right][q.Right], more+inside[tb.Left][q.Left])
			}
		}
	}
	t.most[kind] = rest
	return rest
}
