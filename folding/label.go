package folding

import (
	"cmp"
	"context"
	"slices"
)

// A label is a way to fold a part of the network: the choice of a leaf, or a label of each of the two tables that a
// table joins.
type label struct {
	cost        vector
	clamped     vector // cost, with what no rest can make matter taken out
	converters  int32
	option      int32
	left, right int32
}

// A sheet is the labels of one table, by row: those of row i are all[first[i]:first[i+1]].
type sheet struct {
	all   []label
	first []int32
}

// label finds the folding within caps that takes the least of the kind prime: it carries every way to fold a part of the
// network from the leaves to the whole, and drops those that provably cannot end within caps and those that another one
// equals or beats in every kind of resource. best is nil where there is none; exact is false where there were too many,
// so that a better one may exist.
func (t *tree) label(ctx context.Context, caps vector, prime int) (best *folding, exact bool, err error) {
	p := t.newPruner(caps, prime)
	sheets := make([]sheet, len(t.plan))
	exact = true
	for i := range t.plan {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		var whole bool
		sheets[i], whole = p.sheet(i, sheets)
		exact = exact && whole
	}
	end := &sheets[len(sheets)-1]
	at := -1
	for i := range end.all {
		if at < 0 || p.before(&end.all[i], &end.all[at]) {
			at = i
		}
	}
	if at < 0 {
		return nil, exact, nil
	}
	best = &folding{options: make([]int32, len(t.layers)), cost: end.all[at].cost, converters: int64(end.all[at].converters)}
	t.trace(best, sheets, len(sheets)-1, int32(at))
	return best, exact, nil
}

// trace fills in the options of a label of a table.
func (t *tree) trace(f *folding, sheets []sheet, table int, at int32) {
	tb, n := &t.plan[table], &sheets[table].all[at]
	switch {
	case tb.layer >= 0:
		f.options[tb.layer] = n.option
	case tb.stream < 0:
		t.trace(f, sheets, tb.left, n.left)
		t.trace(f, sheets, tb.right, n.right)
	}
}

// A pruner knows which labels lead nowhere.
type pruner struct {
	*tree
	caps   vector
	prime  int
	mixed  []price
	limits []int64 // the price of caps, per mixed price
	most   [kinds][][]int64
	kept   int // labels of a table, at most; of a row, at most four times as many are compared with each other
}

func (t *tree) newPruner(caps vector, prime int) *pruner {
	caps = caps.least(t.dearest)
	p := &pruner{tree: t, caps: caps, prime: prime, kept: t.beam}
	for k := range t.single {
		t.around(&t.single[k])
	}
	order := make([]int, len(t.prices))
	for i := range order {
		order[i] = i
	}
	share := func(i int) float64 { return float64(t.prices[i].least) / float64(max(1, t.prices[i].unit.dot(caps))) }
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(share(j), share(i)) })
	for _, i := range order[:min(keepPrices, len(order))] {
		t.around(&t.prices[i])
		p.mixed = append(p.mixed, t.prices[i])
		p.limits = append(p.limits, t.prices[i].unit.dot(caps))
	}
	for k := range kinds {
		p.most[k] = t.mostAround(k)
	}
	return p
}

// sheet makes the labels of a table from those of the tables that it joins. whole is false where some were cut.
func (p *pruner) sheet(table int, sheets []sheet) (s sheet, whole bool) {
	tb := &p.plan[table]
	whole = true
	s.first = make([]int32, 1, tb.rows+1)
	var row []label
	for r := range tb.rows {
		row = row[:0]
		if tb.left < 0 {
			row = p.leaves(row, table, r)
		} else {
			for _, q := range tb.pairs[tb.first[r]:tb.first[r+1]] {
				row = p.extend(row, table, r, &sheets[tb.left], &sheets[tb.right], q)
				if len(row) > 8*p.kept {
					row, whole = p.likeliest(row, table, r, 4*p.kept), false
				}
			}
		}
		if len(row) > 4*p.kept {
			row, whole = p.likeliest(row, table, r, 4*p.kept), false
		}
		s.all = append(s.all, p.undominated(row)...)
		s.first = append(s.first, int32(len(s.all)))
	}
	if len(s.all) > p.kept {
		s, whole = p.cut(s, table), false
	}
	return s, whole
}

// leaves adds the choices of a leaf's row that may end within caps.
func (p *pruner) leaves(row []label, table, r int) []label {
	for _, c := range p.groups[table][r] {
		n := label{cost: c.cost, converters: c.converter, option: c.option, left: -1, right: -1}
		if p.hopeful(&n.cost, table, r) {
			n.clamped = p.clamp(&n.cost, table, r)
			row = append(row, n)
		}
	}
	p.labels += len(p.groups[table][r])
	return row
}

// extend adds the labels of a pair of rows that may end within caps.
func (p *pruner) extend(row []label, table, r int, left, right *sheet, q pair) []label {
	for i := left.first[q.left]; i < left.first[q.left+1]; i++ {
		a := &left.all[i]
		for j := right.first[q.right]; j < right.first[q.right+1]; j++ {
			b := &right.all[j]
			cost := a.cost.plus(b.cost)
			if p.hopeful(&cost, table, r) {
				row = append(row, label{cost: cost, clamped: p.clamp(&cost, table, r), converters: a.converters + b.converters, option: -1, left: i, right: j})
			}
		}
		p.labels += int(right.first[q.right+1] - right.first[q.right])
	}
	return row
}

// hopeful reports whether no price proves that a part of the network that costs so much ends beyond caps.
func (p *pruner) hopeful(cost *vector, table, r int) bool {
	for k := range cost {
		if cost[k]+p.single[k].rest[table][r] > p.caps[k] {
			return false
		}
	}
	for i := range p.mixed {
		if p.mixed[i].unit.dot(*cost)+p.mixed[i].rest[table][r] > p.limits[i] {
			return false
		}
	}
	return true
}

// clamp raises each amount to where even the largest rest stays within caps: below that, less is not better. Only of the
// kind that is minimised less always is.
func (p *pruner) clamp(cost *vector, table, r int) vector {
	v := *cost
	for k := range v {
		if k != p.prime {
			v[k] = max(v[k], p.caps[k]-p.most[k][table][r])
		}
	}
	return v
}

// before orders labels: the less of the prime kind, the other kinds in their order, the fewer converters.
func (p *pruner) before(a, b *label) bool {
	return cmp.Or(cmp.Compare(a.clamped[p.prime], b.clamped[p.prime]), slices.Compare(a.clamped[:], b.clamped[:]),
		slices.Compare(a.cost[:], b.cost[:]), cmp.Compare(a.converters, b.converters), cmp.Compare(a.left, b.left), cmp.Compare(a.right, b.right)) < 0
}

// undominated keeps the labels of a row that no other equals or beats, in a fixed order.
func (p *pruner) undominated(row []label) []label {
	slices.SortFunc(row, func(a, b label) int {
		if p.before(&a, &b) {
			return -1
		}
		return 1
	})
	kept := row[:0]
	for i := range row {
		if !p.dominated(kept, &row[i].clamped) {
			kept = append(kept, row[i])
		}
	}
	return kept
}

// dominated reports whether one of kept takes no more of anything.
func (p *pruner) dominated(kept []label, v *vector) bool {
	for i := range kept {
		k := &kept[i].clamped
		if k[lut] <= v[lut] && k[ff] <= v[ff] && k[bram] <= v[bram] && k[dsp] <= v[dsp] && k[uram] <= v[uram] {
			p.compared += i + 1
			return true
		}
	}
	p.compared += len(kept)
	return false
}

// share is the largest share of caps, weighed by a price, that the cheapest end of a label takes.
func (p *pruner) share(n *label, table, r int) float64 {
	share := 0.0
	for i := range p.mixed {
		total := p.mixed[i].unit.dot(n.cost) + p.mixed[i].rest[table][r]
		share = max(share, float64(total)/float64(max(1, p.limits[i])))
	}
	return share
}

// A rank orders labels by how much room they leave.
type rank struct {
	share float64
	at    int
}

func firstRanks(ranks []rank, n int) []rank {
	slices.SortFunc(ranks, func(a, b rank) int { return cmp.Or(cmp.Compare(a.share, b.share), cmp.Compare(a.at, b.at)) })
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
	for r := range p.plan[table].rows {
		for i := s.first[r]; i < s.first[r+1]; i++ {
			ranks = append(ranks, rank{p.share(&s.all[i], table, r), int(i)})
		}
	}
	kept := sheet{first: make([]int32, 1, len(s.first))}
	ranks = firstRanks(ranks, p.kept)
	for r := range p.plan[table].rows {
		for len(ranks) > 0 && ranks[0].at < int(s.first[r+1]) {
			kept.all = append(kept.all, s.all[ranks[0].at])
			ranks = ranks[1:]
		}
		kept.first = append(kept.first, int32(len(kept.all)))
	}
	return kept
}

// mostAround is the largest amount of a kind that the rest of the network can take, per table and row.
func (t *tree) mostAround(kind int) [][]int64 {
	if t.most[kind] != nil {
		return t.most[kind]
	}
	n := len(t.plan)
	inside, rest := make([][]int64, n), make([][]int64, n)
	for i := range t.plan {
		tb := &t.plan[i]
		inside[i] = make([]int64, tb.rows)
		rest[i] = make([]int64, tb.rows)
		for r := range inside[i] {
			if tb.left < 0 {
				for _, c := range t.groups[i][r] {
					inside[i][r] = max(inside[i][r], c.cost[kind])
				}
				continue
			}
			for _, q := range tb.pairs[tb.first[r]:tb.first[r+1]] {
				inside[i][r] = max(inside[i][r], inside[tb.left][q.left]+inside[tb.right][q.right])
			}
		}
	}
	for i := n - 1; i >= 0 && t.plan[i].left >= 0; i-- {
		tb := &t.plan[i]
		for r, more := range rest[i] {
			for _, q := range tb.pairs[tb.first[r]:tb.first[r+1]] {
				rest[tb.left][q.left] = max(rest[tb.left][q.left], more+inside[tb.right][q.right])
				rest[tb.right][q.right] = max(rest[tb.right][q.right], more+inside[tb.left][q.left])
			}
		}
	}
	t.most[kind] = rest
	return rest
}
