package search

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// liveKinds is the most kinds that may exceed their caps for which labels are tried. With more, too few labels could be
// dropped.
const liveKinds = 8

// For example, let both kinds have caps of 7, and let a row have the labels (3, 3), (4, 3) and (1, 5). Label (4, 3) is
// dropped, because (3, 3) takes no more of any kind. If everything that fits the row takes at most 2 of the second
// kind, then (1, 5) and (1, 4) are equally good: with either, the whole stays within 7. Both are clamped to (1, 5).

// labels holds labels. A label is a way to choose for a part: a choice of a leaf, or a label of each of the two tables
// of a join. For each label there are its amounts of the pruner's kinds, its cost at the pruner's mixed prices, and its
// origin. Labels are very many, so they lie in two flat lists.
type labels struct {
	amounts []int64 // per label: one amount per limit of the pruner
	from    []origin
}

// An origin says of which two labels, one of each table of a join, a label consists. For a leaf's label, left is the
// choice in the row, and right is -1.
type origin struct{ left, right int32 }

// A sheet holds the labels of one table, by row: row i has the labels first[i] to first[i+1].
type sheet struct {
	labels
	first []int32
}

// label returns the solution within caps that takes the least of the kind prime, for a tree without paths. It carries
// all ways to choose for a part from the leaves to the whole. It drops labels that provably cannot end within caps, and
// labels that another one equals or beats in every kind. best is nil if there is no solution. exact is false if there
// were too many labels, so that a better solution may exist.
func (t *ChoiceTree) label(ctx context.Context, caps Caps, prime, beam int) (best *Solution, exact bool, err error) {
	p := t.newPruner(caps, prime, beam)
	if p == nil {
		return nil, false, nil
	}
	if t.start[len(t.start)-1] > largeTree {
		t.effort.room.columns = columns{} // labels do not need them
	}
	exact = true
	for i := range t.plan.Tables {
		if err := t.done(ctx, 0); err != nil {
			return nil, false, err
		}
		whole := p.sheet(i)
		exact = exact && whole
		if len(p.sheets[i].from) == 0 {
			return nil, exact, nil
		}
	}
	best = t.blank()
	t.trace(best, p.sheets, len(t.plan.Tables)-1, 0) // the first label takes the least
	return best, exact, nil
}

// trace enters in f the choices for which label number at of a table stands.
func (t *ChoiceTree) trace(f *Solution, sheets []sheet, table int, at int32) {
	tb, s := &t.plan.Tables[table], &sheets[table]
	n := s.from[at]
	if tb.Left < 0 {
		row, _ := slices.BinarySearch(s.first, at+1)
		row--
		t.pick(f, table, int32(row), &t.choices[table][row][n.left])
		return
	}
	t.trace(f, sheets, tb.Left, n.left)
	t.trace(f, sheets, tb.Right, n.right)
}

// A pruner makes the labels of all tables, and drops those that cannot end within the caps.
type pruner struct {
	*ChoiceTree
	*room
	kinds  []int     // kinds that may exceed their caps; the kind to minimise first
	mixed  []*price  // the sharpest mixed prices
	prices []*price  // a unit price for each of kinds, then the mixed prices
	limits []int64   // the cost of the caps at these prices
	most   [][]int64 // per kind: the result of mostAround
	beam   int       // the most labels of a table; up to four times as many of a row are compared with each other
	// The following belong to the row in work, one entry per price, base one per kind.
	rest []int64 // the least cost of everything outside the part
	left []int64 // the most that the part may cost
	base []int64 // per kind: the amount below which less is no better
	digester
}

// newPruner returns a pruner for caps that minimises the kind prime, with at most beam labels a table. It returns nil
// if the tree has paths, or if more than liveKinds kinds may exceed their caps.
func (t *ChoiceTree) newPruner(caps Caps, prime, beam int) *pruner {
	caps = t.capped(caps)
	if len(t.longest) > 0 {
		return nil
	}
	p := &pruner{ChoiceTree: t, kinds: []int{prime}, beam: beam}
	for k := range caps.AmountVector {
		if k != prime && t.dearest[k] > caps.AmountVector[k] {
			p.kinds = append(p.kinds, k)
		}
	}
	if len(p.kinds) > liveKinds {
		return nil
	}
	for _, k := range p.kinds {
		p.limits = append(p.limits, caps.AmountVector[k])
		p.prices = append(p.prices, t.around1(k))
		p.most = append(p.most, t.mostAround(k))
	}
	mixed, limits := t.sharpest(&caps)
	p.mixed, p.prices, p.limits = mixed, append(p.prices, mixed...), append(p.limits, limits...)
	p.rest, p.left, p.base = make([]int64, len(p.limits)), make([]int64, len(p.limits)), make([]int64, len(p.kinds))
	p.digester = newDigester(len(p.kinds) - 1)
	p.room = t.effort.room
	p.room.layOut(len(t.plan.Tables))
	return p
}

// around1 returns the price of 1 per unit of the given kind and 0 for the others. The costs outside each part (rest)
// are filled in.
func (t *prices) around1(kind int) *price {
	i := t.singleOf(kind)
	if i < 0 { // no choice takes any of it
		i = len(t.single)
		t.single = append(t.single, t.priced(t.unitOf(kind)))
	}
	t.around(&t.single[i])
	return &t.single[i]
}

// sheet makes the labels of a table from those of the tables that it joins. whole is false if it dropped labels to stay
// within the beam. Amounts are kept for joins only, and only until another table joins them; origins are kept to the
// end.
func (p *pruner) sheet(table int) (whole bool) {
	tb, s := &p.plan.Tables[table], &p.sheets[table]
	s.amounts, s.from, s.first = p.room.take(), s.from[:0], append(s.first[:0], 0)
	var left, right *sheet
	if tb.Left >= 0 {
		left, right = p.amounted(tb.Left), p.amounted(tb.Right)
	}
	whole = true
	for r := range tb.Rows {
		p.begin(table, r)
		if tb.Left < 0 {
			p.leaves(p.choices[table][r])
		} else {
			for _, q := range tb.pairs(r) {
				p.extend(left, right, q)
				if len(p.row.from) > 8*p.beam {
					p.likeliest()
					whole = false
				}
			}
		}
		if len(p.row.from) > 4*p.beam {
			p.likeliest()
			whole = false
		}
		p.undominated(&s.labels)
		s.first = append(s.first, int32(len(s.from)))
	}
	if len(s.from) > p.beam {
		p.cut(s, table)
		whole = false
	}
	if tb.Left < 0 {
		p.room.free(s)
	} else {
		p.room.free(left)
		p.room.free(right)
	}
	return whole
}

// amounted returns the sheet of a table with the amounts of its labels. For a leaf it computes them from the choices.
func (p *pruner) amounted(table int) *sheet {
	s := &p.sheets[table]
	if p.plan.Tables[table].Left >= 0 {
		return s
	}
	width := len(p.limits)
	s.amounts = slices.Grow(p.room.take(), len(s.from)*width)[:len(s.from)*width]
	for r, row := range p.choices[table] {
		for i := s.first[r]; i < s.first[r+1]; i++ {
			p.weigh(p.amounts(&s.labels, i), &row[s.from[i].left])
		}
	}
	return s
}

// weigh sets amounts to those of a choice: of the pruner's kinds, and its cost at the pruner's mixed prices.
func (p *pruner) weigh(amounts []int64, c *LeafChoice) {
	for j, k := range p.kinds {
		amounts[j] = c.Cost[k]
	}
	for j, q := range p.mixed {
		amounts[len(p.kinds)+j] = q.unit.kinds.dot(&c.Cost)
	}
}

// begin prepares for the labels of row r.
//
// It sets base, to which amounts are raised: below it, even the largest rest stays within caps, so less is no better.
// The minimised kind has no base, because less of it is always better.
func (p *pruner) begin(table, r int) {
	p.row.amounts, p.row.from = p.row.amounts[:0], p.row.from[:0]
	at := p.start[table] + r
	for i, q := range p.prices {
		p.rest[i] = q.rest[at]
		p.left[i] = p.limits[i] - p.rest[i]
	}
	for i := range p.base {
		p.base[i] = p.limits[i] - p.most[i][at]
		if i > 0 {
			p.span(i-1, p.base[i], p.left[i])
		}
	}
	p.base[0] = math.MinInt64
}

// leaves adds to the row in work the choices of a leaf that may end within caps.
func (p *pruner) leaves(choices []LeafChoice) {
	for i := range choices {
		n := p.add(origin{int32(i), -1})
		p.weigh(n, &choices[i])
		p.check(n)
	}
	p.effort.Done += len(choices)
}

// extend adds to the row in work the labels of a pair of rows, one of each joined table, that may end within caps.
func (p *pruner) extend(left, right *sheet, q RowPair) {
	width := len(p.left)
	first, end := right.first[q.Right], right.first[q.Right+1]
	others := right.amounts[int(first)*width : int(end)*width]
	for i := left.first[q.Left]; i < left.first[q.Left+1]; i++ {
		a := p.amounts(&left.labels, i)
		p.row.amounts = slices.Grow(p.row.amounts, len(others))
		for j := first; j < end; j++ {
			n := len(p.row.amounts)
			if added(p.row.amounts[n:n+width], a, others[int(j-first)*width:], p.left) {
				p.row.amounts = p.row.amounts[:n+width]
				p.row.from = append(p.row.from, origin{i, j})
			}
		}
		p.effort.Done += int(end - first)
	}
}

// added sets sum to a + b, amount by amount. It stops and returns false at the first sum above its limit.
func added(sum, a, b, limits []int64) bool {
	sum, a, b = sum[:len(limits)], a[:len(limits)], b[:len(limits)]
	for k, limit := range limits {
		n := a[k] + b[k]
		if n > limit {
			return false
		}
		sum[k] = n
	}
	return true
}

// amounts returns the amounts of label i: of the pruner's kinds, then its cost at the mixed prices.
func (p *pruner) amounts(l *labels, i int32) []int64 {
	width := len(p.limits)
	return l.amounts[int(i)*width:][:width:width]
}

// add adds a label with the given origin to the row in work, and returns its list of amounts, which the caller fills.
func (p *pruner) add(from origin) (amounts []int64) {
	n, width := len(p.row.amounts), len(p.limits)
	p.row.amounts = slices.Grow(p.row.amounts, width)[:n+width]
	p.row.from = append(p.row.from, from)
	return p.row.amounts[n:]
}

// check removes the last label of the row, which has these amounts, if a price proves that it cannot end within the
// caps.
func (p *pruner) check(amounts []int64) {
	for i, left := range p.left {
		if amounts[i] > left {
			p.row.amounts = p.row.amounts[:len(p.row.amounts)-len(p.left)]
			p.row.from = p.row.from[:len(p.row.from)-1]
			return
		}
	}
}

// atBits is the number of bits for a label's place in its row. An amount within caps fits the other bits of an entry.
const atBits = 22

// An entry is a label of the row: its amount of the kind prime, and in the low atBits bits its place.
type entry int64

func (e entry) amount() int64 { return int64(e >> atBits) }
func (e entry) at() int32     { return int32(e & (1<<atBits - 1)) }

// compare orders labels of the row in work that have equal amounts of the kind prime. It compares the other kinds,
// raised to base, then the amounts themselves, and then the origins.
func (p *pruner) compare(a, b entry) int {
	f, g := p.amounts(&p.row, a.at()), p.amounts(&p.row, b.at())
	for k, base := range p.base {
		if x, y := max(f[k], base), max(g[k], base); x != y {
			return cmp.Compare(x, y)
		}
	}
	from, other, m := p.row.from[a.at()], p.row.from[b.at()], len(p.base)
	return cmp.Or(slices.Compare(f[:m], g[:m]), cmp.Compare(from.left, other.left),
		cmp.Compare(from.right, other.right))
}

// sort sorts the labels of the row in work by their amount of the kind prime, then by compare.
func (p *pruner) sort(order []entry) {
	slices.Sort(order)
	for first := 0; first < len(order); {
		end := first + 1
		for end < len(order) && order[end].amount() == order[first].amount() {
			end++
		}
		if end > first+1 {
			slices.SortFunc(order[first:end], p.compare)
		}
		first = end
	}
}

// undominated adds to to the labels of the row that no other equals or beats, in a fixed order.
func (p *pruner) undominated(to *labels) {
	n := len(p.row.from)
	p.order, p.digests = p.order[:0], slices.Grow(p.digests[:0], n)[:n]
	for i := range p.digests {
		amounts := p.amounts(&p.row, int32(i))
		p.order = append(p.order, entry(amounts[0]<<atBits|int64(i)))
		p.digests[i] = p.digester.of(amounts[1:len(p.kinds)])
	}
	p.sort(p.order)
	p.effort.Done += 8 * n
	p.front = p.front[:0]
	first := len(to.from) // the first label of the front in to
	for _, o := range p.order {
		amounts, digest := p.amounts(&p.row, o.at()), p.digests[o.at()]
		if beaten := p.beaten(to, first, amounts, digest); beaten >= 0 {
			p.effort.Done += (beaten + 1) / 4
			continue
		}
		p.effort.Done += len(p.front) / 4
		p.front = append(p.front, digest)
		to.amounts, to.from = append(to.amounts, amounts...), append(to.from, p.row.from[o.at()])
	}
}

// beaten returns the first label of the front that takes no more of any kind than the given amounts, or -1 if there is
// none. The front begins at label first, and none of it takes more of the kind prime. Amounts are raised to base.
func (p *pruner) beaten(front *labels, first int, amounts []int64, digest uint64) int {
next:
	for i := p.next(p.front, 0, digest); i >= 0; i = p.next(p.front, i+1, digest) {
		other := p.amounts(front, int32(first+i))
		for k := 1; k < len(p.base); k++ {
			if other[k] > max(amounts[k], p.base[k]) {
				continue next
			}
		}
		return i
	}
	return -1
}

// share returns the share of the caps' cost, at the mixed price where it is largest, that the cheapest completion of a
// label takes. The larger it is, the less room the label leaves. The label belongs to the row in work.
func (p *pruner) share(amounts []int64) (share float64) {
	for k := len(p.kinds); k < len(amounts); k++ {
		share = max(share, float64(amounts[k]+p.rest[k])/float64(max(1, p.limits[k])))
	}
	return share
}

// likeliest reduces the row in work to as many labels as are compared with each other: those with the smallest shares,
// in their order.
func (p *pruner) likeliest() {
	p.shares = p.shares[:0]
	for i := range p.row.from {
		p.shares = append(p.shares, p.share(p.amounts(&p.row, int32(i))))
	}
	p.keepLeast(&p.row, 4*p.beam)
}

// cut reduces a table's sheet to beam labels, those with the smallest shares.
func (p *pruner) cut(s *sheet, table int) {
	p.shares = p.shares[:0]
	for r := range p.plan.Tables[table].Rows {
		p.begin(table, r)
		for i := s.first[r]; i < s.first[r+1]; i++ {
			p.shares = append(p.shares, p.share(p.amounts(&s.labels, i)))
		}
	}
	kept := p.keepLeast(&s.labels, p.beam)
	n := 0
	for r, first := range s.first {
		for n < len(kept) && kept[n] < first {
			n++
		}
		s.first[r] = int32(n)
	}
}

// keepLeast keeps the n labels with the smallest shares, the first ones among equals, and returns their places.
func (p *pruner) keepLeast(l *labels, n int) (kept []int32) {
	p.sorted = append(p.sorted[:0], p.shares...)
	most := nth(p.sorted, n-1)
	equal := n // how many labels with the largest kept share remain to be kept
	for _, share := range p.shares {
		if share < most {
			equal--
		}
	}
	kept = p.kept[:0]
	for i, share := range p.shares {
		if share > most || share == most && equal == 0 {
			continue
		}
		if share == most {
			equal--
		}
		copy(p.amounts(l, int32(len(kept))), p.amounts(l, int32(i)))
		l.from[len(kept)] = l.from[i]
		kept = append(kept, int32(i))
	}
	l.amounts, l.from, p.kept = l.amounts[:n*len(p.limits)], l.from[:n], kept
	return kept
}

// nth returns the number at index n of the sorted list. It moves the smaller numbers before it (C. A. R. Hoare's
// selection).
func nth(list []float64, n int) float64 {
	for low, high := 0, len(list)-1; low < high; {
		i, j, middle := low, high, list[(low+high)/2]
		for i <= j {
			for list[i] < middle {
				i++
			}
			for list[j] > middle {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case n <= j:
			high = j
		case n >= i:
			low = i
		default:
			return list[n]
		}
	}
	return list[n]
}

// mostAround returns, for each row of all tables, the largest amount of a kind that everything outside the table can
// take together.
func (t *prices) mostAround(kind int) []int64 {
	if t.most[kind] != nil {
		return t.most[kind]
	}
	tables := t.plan.Tables
	inside, rest := t.perRow(), t.perRow()
	clear(inside)
	clear(rest)
	if j := slices.Index(t.kinds, kind); j >= 0 { // otherwise no choice takes any of it
		c := t.columns()
		for leaf := range t.plan.Leaves {
			if same := t.same[leaf]; same < leaf {
				copy(t.of(leaf, inside), t.of(same, inside))
				continue
			}
			for r := t.start[leaf]; r < t.start[leaf+1]; r++ {
				for _, amount := range c.row(c.kind(j), r) {
					inside[r] = max(inside[r], amount)
				}
			}
		}
	}
	for i := t.plan.Leaves; i < len(tables); i++ {
		tb := &tables[i]
		left, right := t.of(tb.Left, inside), t.of(tb.Right, inside)
		for r := range tb.Rows {
			most := int64(0)
			for _, q := range tb.pairs(r) {
				most = max(most, left[q.Left]+right[q.Right])
			}
			inside[t.start[i]+r] = most
		}
	}
	for i := len(tables) - 1; i >= t.plan.Leaves; i-- {
		tb := &tables[i]
		left, right := t.of(tb.Left, rest), t.of(tb.Right, rest)
		insideL, insideR := t.of(tb.Left, inside), t.of(tb.Right, inside)
		for r, more := range t.of(i, rest) {
			for _, q := range tb.pairs(r) {
				left[q.Left] = max(left[q.Left], more+insideR[q.Right])
				right[q.Right] = max(right[q.Right], more+insideL[q.Left])
			}
		}
	}
	t.effort.room.leave(inside)
	t.most[kind] = rest
	return rest
}
