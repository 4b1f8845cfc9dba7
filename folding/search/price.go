package search

import (
	"cmp"
	"math"
	"slices"
)

// For example, caps of (7, 7) cost 14 at a price of 1 for each. Where the cheapest whole costs 15, nothing is within;
// where it costs 10, and the cheapest with some choice costs 16, nothing with that choice is. A price of (2, 1) may
// tell more.

// A price makes one number of a vector: so much per unit of each kind. For any price, a solution within caps costs no
// more than the caps do. The least that a solution costs at some price therefore tells, without looking further, that
// nothing is within; and the least that a solution with a given row in it costs, that none with that row is.
type price struct {
	unit   unit
	least  int64   // of all solutions; never where there is none
	inside []int64 // per table and row: the least for the part in the table
	rest   []int64 // per table and row: the least for what is not in the table; nil until it is needed
	rested bool    // the effort of rest is counted
}

// A unit is what a unit of each kind and of each path costs.
type unit struct {
	kinds Vector
	paths []int64 // nil where they cost nothing
}

// unitOf is one for a unit of a kind, or of path k as kind Kinds+k, and nothing for the others.
func (t *parts) unitOf(kind int) (u unit) {
	if kind < Kinds {
		u.kinds[kind] = 1
		return u
	}
	u.paths = make([]int64, len(t.longest))
	u.paths[kind-Kinds] = 1
	return u
}

// of is the price of amounts.
func (u *unit) of(cost *Vector, paths []int64) int64 {
	sum := u.kinds.dot(cost)
	if u.paths != nil {
		for i, p := range paths {
			sum += u.paths[i] * p
		}
	}
	return sum
}

// never is the price of what there is not: more than any solution's, and such that two of it do not overflow.
const never = int64(1) << 61

// none is a price that only what there is not can have: with paths of negative clocks it may be less than never.
const none = int64(1) << 60

// priced is what the solutions cost at least.
func (t *parts) priced(u unit) price {
	p := price{unit: u, inside: t.perRow()}
	c := t.columns()
	c.price(&u)
	t.leaves(p.inside, c, c.sums)
	t.effort.Done += t.count * (1 + len(u.paths)/8)
	t.join(&p)
	return p
}

// ones are the prices of one for a unit of each of the tree's kinds, and nothing for the others.
func (t *parts) ones() []price {
	list, c := make([]price, len(t.kinds), len(t.kinds)+len(t.longest)), t.columns()
	for j, k := range t.kinds {
		list[j] = price{unit: t.unitOf(k), inside: t.perRow()}
		t.leaves(list[j].inside, c, c.kind(j))
	}
	t.effort.Done += t.count * len(t.kinds)
	each := make([]*price, len(list))
	for j := range list {
		each[j] = &list[j]
	}
	t.join(each...)
	return list
}

// leaves finds what the rows of leaves cost at least, where choices cost so much.
func (t *parts) leaves(inside []int64, c *columns, each []int64) {
	for leaf := range t.plan.Leaves {
		if same := t.same[leaf]; same < leaf {
			copy(t.of(leaf, inside), t.of(same, inside))
			continue
		}
		for r := t.start[leaf]; r < t.start[leaf+1]; r++ {
			least := never
			for _, cost := range c.row(each, r) {
				least = min(least, cost)
			}
			inside[r] = least
		}
	}
}

// join finds what joins cost at least, and all solutions, of what leaves do: table by table at all of some prices, for
// the pairs of all tables are many.
func (t *parts) join(list ...*price) {
	for i := t.plan.Leaves; i < len(t.plan.Tables); i++ {
		tb := &t.plan.Tables[i]
		for _, p := range list {
			tb.least(t.of(i, p.inside), t.of(tb.Left, p.inside), t.of(tb.Right, p.inside))
		}
		t.effort.Done += len(list) * (len(tb.Pairs) / 4)
	}
	for _, p := range list {
		p.least = never
		if last := t.of(len(t.plan.Tables)-1, p.inside); len(last) > 0 {
			p.least = last[0]
		}
	}
}

// least finds what the rows of a join cost at least, of what those of its two tables do.
func (t *Table) least(rows, left, right []int64) {
	for r := range rows {
		least := never
		for _, q := range t.pairs(r) {
			least = min(least, left[q.Left]+right[q.Right])
		}
		rows[r] = least
	}
}

// cheapest is a solution that costs the least at the price that was asked for last.
func (t *parts) cheapest(p *price) *Solution {
	f := t.blank()
	t.walk(f, p, t.columns(), len(t.plan.Tables)-1, 0)
	return f
}

func (t *parts) walk(f *Solution, p *price, c *columns, table int, row int32) {
	tb := &t.plan.Tables[table]
	least := t.of(table, p.inside)[row]
	if tb.Left < 0 {
		at := slices.Index(c.row(c.sums, t.start[table]+int(row)), least)
		t.pick(f, table, row, &t.choices[table][row][at])
		return
	}
	left, right := t.of(tb.Left, p.inside), t.of(tb.Right, p.inside)
	for _, q := range tb.pairs(int(row)) {
		if left[q.Left]+right[q.Right] == least {
			t.walk(f, p, c, tb.Left, q.Left)
			t.walk(f, p, c, tb.Right, q.Right)
			return
		}
	}
}

// around fills in rest, from the whole to its parts.
func (t *parts) around(p *price) {
	if p.rest != nil {
		return
	}
	tables := t.plan.Tables
	p.rest = t.perRow()
	for r := range p.rest {
		p.rest[r] = never
	}
	copy(t.of(len(tables)-1, p.rest), []int64{0})
	steps := 0
	for i := len(tables) - 1; i >= t.plan.Leaves; i-- {
		tb := &tables[i]
		left, right := t.of(tb.Left, p.rest), t.of(tb.Right, p.rest)
		insideL, insideR := t.of(tb.Left, p.inside), t.of(tb.Right, p.inside)
		for r, rest := range t.of(i, p.rest) {
			if rest >= none {
				continue
			}
			for _, q := range tb.pairs(r) {
				left[q.Left] = min(left[q.Left], rest+insideR[q.Right])
				right[q.Right] = min(right[q.Right], rest+insideL[q.Left])
			}
		}
		steps += len(tb.Pairs) / 4
	}
	if !p.rested {
		p.rested = true
		t.effort.Done += steps
	}
}

// largeTree is the rows of a tree from which on what can be found again soon is not kept beside another tree.
const largeTree = 1 << 19

// leaveRests lets rests go where there are so many rows that they would be too much beside those of a reduced tree.
func leaveRests(t *parts, list []*price) {
	if t.start[len(t.start)-1] < largeTree {
		return
	}
	for _, p := range list {
		t.effort.room.leave(p.rest)
		p.rest = nil
	}
}

// excludes reports whether one of some prices proves that nothing is within caps, which are capped.
func (t *parts) excludes(list []price, caps *Caps) bool {
	return slices.ContainsFunc(list, func(p price) bool { return p.least > t.limit(&p.unit, caps) })
}

// Excludes reports whether some price that is known proves that no solution is within caps.
func (t *prices) Excludes(caps Caps) bool {
	caps = t.capped(caps)
	return caps.negative() || t.excludes(t.single, &caps) || t.excludes(t.mixed, &caps)
}

// What relax does at most: rounds is how many prices it tries, keepPrices how many of them it keeps.
const (
	rounds     = 40
	keepPrices = 4
)

// prices are those that were tried on some parts.
type prices struct {
	*parts
	single []price        // per kind that is taken at all, and per path: one for a unit of it, nothing for the others
	mixed  []price        // others, the sharpest of each relaxation
	most   [Kinds][]int64 // mostAround, once it was asked for
}

func newPrices(t *parts) (p prices) {
	p.parts, p.single = t, t.ones()
	for k := range t.longest {
		p.single = append(p.single, t.priced(t.unitOf(Kinds+k)))
	}
	return p
}

// singleOf is the index of the price of one for a unit of a kind, or of path k as kind Kinds+k; -1 where nothing is
// taken of it.
func (t *prices) singleOf(kind int) int {
	return slices.IndexFunc(t.single, func(p price) bool {
		if kind >= Kinds {
			return p.unit.paths != nil && p.unit.paths[kind-Kinds] == 1
		}
		return p.unit.kinds[kind] == 1
	})
}

// Relax looks for the price that says most of what is within caps: the one at which the cheapest solution takes the
// largest share of what the caps cost (the Lagrangian dual of the least share of caps). It plays the game of prices
// against solutions: every round adds the solution that is cheapest at the prices that are best against those so far
// (column generation). The solutions are kept in the tree, and the sharpest prices. There must be a solution.
func (t *Tree) Relax(caps Caps) {
	caps = t.capped(caps)
	if caps.negative() {
		return
	}
	var tried []price // the sharpest so far
	share := func(p *price) float64 { return float64(p.least) / float64(max(1, t.limit(&p.unit, &caps))) }
	for range rounds {
		weight, mixture, value := t.game(t.found, &caps)
		t.mixture = mixture
		p := t.priced(t.perUnit(weight, &caps))
		fresh := t.keep(t.cheapest(&p))
		over := p.least > t.limit(&p.unit, &caps) || !fresh || share(&p) >= value*(1-1e-6)
		tried = append(tried, p)
		slices.SortStableFunc(tried, func(a, b price) int { return cmp.Compare(share(&b), share(&a)) })
		if len(tried) > keepPrices {
			t.leave(tried[keepPrices:])
			tried = tried[:keepPrices]
		}
		if over {
			break
		}
	}
	old := min(3*keepPrices, len(t.mixed))
	t.leave(t.mixed[old:])
	t.mixed = slices.Concat(tried, t.mixed[:old])
}

// leave tells that prices are of no use any more.
func (t *parts) leave(list []price) {
	for i := range list {
		t.effort.room.leave(list[i].inside, list[i].rest)
		list[i].inside, list[i].rest = nil, nil
	}
}

// Dismiss tells that the tree is of no use any more: the next one has its lists.
func (t *prices) Dismiss() {
	t.leave(t.single)
	t.leave(t.mixed)
	t.effort.room.leave(t.most[:]...)
	t.most = [Kinds][]int64{}
}

// Mixture is the solutions of which the last relaxation mixes what is best against the prices. They need not be within
// the caps.
func (t *Tree) Mixture() (list []*Solution) {
	for i, w := range t.mixture {
		if w > 1e-9 {
			list = append(list, t.found[i])
		}
	}
	return list
}

// perUnit turns weights of whole caps into prices of a unit, such that not even the dearest solution's price overflows.
func (t *parts) perUnit(weight []float64, caps *Caps) (u unit) {
	sum := 0.0
	for k, w := range weight {
		cap, most := t.capOf(k, caps)
		weight[k] = w / math.Max(float64(cap), 0.5)
		if k >= Kinds {
			most = t.widest[k-Kinds]
		}
		sum += weight[k] * (math.Max(float64(most), float64(cap)) + 1)
	}
	for k, w := range weight {
		n := int64(w / sum * (1 << 59))
		if k < Kinds {
			u.kinds[k] = n
			continue
		}
		if u.paths == nil {
			u.paths = make([]int64, len(t.longest))
		}
		u.paths[k-Kinds] = n
	}
	return u
}

// sharpest is the prices that say most of caps, with their rests, and what caps cost at them.
func (t *prices) sharpest(caps *Caps) (list []*price, limits []int64) {
	order := make([]int, len(t.mixed))
	shares := make([]float64, len(t.mixed))
	for i := range order {
		order[i] = i
		shares[i] = float64(t.mixed[i].least) / float64(max(1, t.limit(&t.mixed[i].unit, caps)))
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(shares[j], shares[i]) })
	for _, i := range order[:min(keepPrices, len(order))] {
		p := &t.mixed[i]
		t.around(p)
		list, limits = append(list, p), append(limits, t.limit(&p.unit, caps))
	}
	return list, limits
}
