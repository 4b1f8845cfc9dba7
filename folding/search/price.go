package search

import (
	"cmp"
	"math"
	"slices"
)

// For example, caps of (7, 7) cost 14 at a price of 1 for each. If the cheapest whole costs 15, no solution is within
// the caps. If it costs 10, and the cheapest whole with some choice costs 16, no solution with that choice is. A price
// of (2, 1) may exclude more.

// A price assigns a cost to a unit of each kind, so that a vector becomes one number. At any price, a solution within
// caps costs no more than the caps. So if the cheapest solution costs more than the caps, nothing is within them. If
// the cheapest solution with some row costs more, no solution with that row is.
type price struct {
	unit   unit
	least  int64   // the least cost of any solution; never if there is none
	inside []int64 // per table and row: the least cost of the part in the table
	rest   []int64 // per table and row: the least cost of everything outside the table; nil until it is needed
	rested bool    // whether the effort of computing rest was counted
}

// A unit holds the cost of one unit of each kind and of each path.
type unit struct {
	kinds AmountVector
	paths []int64 // nil if paths cost nothing
}

// unitOf returns the price of 1 per unit of a kind, or of path k as kind maxAmountKinds+k, and of 0 for all others.
func (t *parts) unitOf(kind int) (u unit) {
	if kind < maxAmountKinds {
		u.kinds[kind] = 1
		return u
	}
	u.paths = make([]int64, len(t.longest))
	u.paths[kind-maxAmountKinds] = 1
	return u
}

// of returns the cost of an amount of each kind and of each path.
func (u *unit) of(cost *AmountVector, paths []int64) int64 {
	sum := u.kinds.dot(cost)
	if u.paths != nil {
		for i, p := range paths {
			sum += u.paths[i] * p
		}
	}
	return sum
}

// never is the cost of a part that does not exist. It exceeds the cost of any solution, and twice never does not
// overflow.
const never = int64(1) << 61

// none is a cost that only a part that does not exist can reach. Paths with negative clocks can bring its cost below
// never.
const none = int64(1) << 60

// priced returns the price u with the least cost of each row of all tables (inside), from the leaves to the whole.
func (t *parts) priced(u unit) price {
	p := price{unit: u, inside: t.perRow()}
	c := t.columns()
	c.price(&u)
	t.leaves(p.inside, c, c.sums)
	t.effort.Done += t.count * (1 + len(u.paths)/8)
	t.join(&p)
	return p
}

// ones returns a list with one price for each kind that the tree uses. Each price is 1 per unit of its own kind, and 0
// for every other kind.
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

// leaves enters in inside the least cost of each leaf's rows, given the cost of each choice.
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

// join computes the least costs of the joins, and of the whole, from those of the leaves. It handles all prices
// together, table by table, because tables have many pairs.
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

// least enters in rows the least cost of each row of a join, given those of the rows of its two tables.
func (t *PlanTable) least(rows, left, right []int64) {
	for r := range rows {
		least := never
		for _, q := range t.pairs(r) {
			least = min(least, left[q.Left]+right[q.Right])
		}
		rows[r] = least
	}
}

// cheapest returns a solution of least cost at price p, which must be the last one that was computed.
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

// around fills in rest of price p: the least cost of all that a solution takes outside each row. It goes from the whole
// to its parts.
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

// largeTree is the number of rows from which on a tree's lists that can be computed again are freed while another tree
// exists.
const largeTree = 1 << 19

// leaveRests frees the rests of a large tree, which would take too much memory beside those of a reduced tree.
func leaveRests(t *parts, list []*price) {
	if t.start[len(t.start)-1] < largeTree {
		return
	}
	for _, p := range list {
		t.effort.room.leave(p.rest)
		p.rest = nil
	}
}

// excludes reports whether one of the prices proves that nothing is within caps. The caps must be those that capped
// returns.
func (t *parts) excludes(list []price, caps *Caps) bool {
	return slices.ContainsFunc(list, func(p price) bool { return p.least > t.limit(&p.unit, caps) })
}

// Excludes reports whether a known price proves that no solution is within caps.
func (t *prices) Excludes(caps Caps) bool {
	caps = t.capped(caps)
	return caps.negative() || t.excludes(t.single, &caps) || t.excludes(t.mixed, &caps)
}

// Limits of LearnBestPrices: rounds is the most prices that it tries, and keepPrices the most that it keeps.
const (
	rounds     = 40
	keepPrices = 4
)

// A prices holds the prices that were tried on a tree's parts.
type prices struct {
	*parts
	single []price                 // unit prices: one per kind that a choice takes, and one per path
	mixed  []price                 // mixed prices: the sharpest of each relaxation
	most   [maxAmountKinds][]int64 // per kind: the result of mostAround, once computed
}

func newPrices(t *parts) (p prices) {
	p.parts, p.single = t, t.ones()
	for k := range t.longest {
		p.single = append(p.single, t.priced(t.unitOf(maxAmountKinds+k)))
	}
	return p
}

// singleOf returns the index in single of the price of a kind alone, or of path k as kind maxAmountKinds+k. It returns
// -1 if no choice takes any of it.
func (t *prices) singleOf(kind int) int {
	return slices.IndexFunc(t.single, func(p price) bool {
		if kind >= maxAmountKinds {
			return p.unit.paths != nil && p.unit.paths[kind-maxAmountKinds] == 1
		}
		return p.unit.kinds[kind] == 1
	})
}

// LearnBestPrices looks for the price that excludes the most. At this price the cheapest solution takes the largest
// share of the caps' cost (the Lagrangian dual of the least share of caps). It plays the game of prices against
// solutions. Each round finds the best prices against the solutions so far, and adds the solution that is cheapest at
// them (column generation). The tree keeps the solutions and the sharpest prices. The tree must have a solution.
func (t *ChoiceTree) LearnBestPrices(caps Caps) {
	caps = t.capped(caps)
	if caps.negative() {
		return
	}
	var tried []price // the sharpest prices so far
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

// leave gives the lists of prices that are no longer needed back for reuse.
func (t *parts) leave(list []price) {
	for i := range list {
		t.effort.room.leave(list[i].inside, list[i].rest)
		list[i].inside, list[i].rest = nil, nil
	}
}

// Free gives the tree's memory back for the next tree to use. The tree must not be used again.
func (t *prices) Free() {
	t.leave(t.single)
	t.leave(t.mixed)
	t.effort.room.leave(t.most[:]...)
	t.most = [maxAmountKinds][]int64{}
}

// SolutionsOfLastRelaxation returns the solutions that the last relaxation mixes against its best prices. They need not
// be within the caps.
func (t *ChoiceTree) SolutionsOfLastRelaxation() (list []*Solution) {
	for i, w := range t.mixture {
		if w > 1e-9 {
			list = append(list, t.found[i])
		}
	}
	return list
}

// perUnit turns weights of whole caps into integer prices per unit, so small that even the dearest solution's cost does
// not overflow.
func (t *parts) perUnit(weight []float64, caps *Caps) (u unit) {
	sum := 0.0
	for k, w := range weight {
		cap, most := t.capOf(k, caps)
		weight[k] = w / math.Max(float64(cap), 0.5)
		if k >= maxAmountKinds {
			most = t.widest[k-maxAmountKinds]
		}
		sum += weight[k] * (math.Max(float64(most), float64(cap)) + 1)
	}
	for k, w := range weight {
		n := int64(w / sum * (1 << 59))
		if k < maxAmountKinds {
			u.kinds[k] = n
			continue
		}
		if u.paths == nil {
			u.paths = make([]int64, len(t.longest))
		}
		u.paths[k-maxAmountKinds] = n
	}
	return u
}

// sharpest returns the mixed prices that exclude the most, with rest filled in, and the cost of the caps at each of
// them.
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
