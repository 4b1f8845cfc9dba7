package folding

import (
	"cmp"
	"slices"
)

// A folding is one option per layer.
type folding struct {
	options    []int32
	cost       vector // width converters included
	converters int64
}

// load is the largest share of yard that cost takes, and of which kind.
func load(cost, yard vector) (share float64, kind int) {
	for i := range cost {
		if f := shareOf(cost[i], yard[i]); f > share {
			share, kind = f, i
		}
	}
	return share, kind
}

// shareOf is a/b; nothing of nothing is 0, and something of nothing more than all of it.
func shareOf(a, b int64) float64 {
	if b == 0 {
		a, b = 2*a, 1
	}
	return float64(a) / float64(b)
}

// compare orders foldings by the measure of a search: the largest share of the yardstick, then LUTs; then, so that the
// answer is always the same one, converters, FF, RAMB18, DSP and URAM.
func (s *space) compare(a, b *folding) int {
	la, _ := load(a.cost, s.yard)
	lb, _ := load(b.cost, s.yard)
	return cmp.Or(
		cmp.Compare(la, lb),
		cmp.Compare(a.cost[lut], b.cost[lut]),
		cmp.Compare(a.converters, b.converters),
		cmp.Compare(a.cost[ff], b.cost[ff]),
		cmp.Compare(a.cost[bram], b.cost[bram]),
		cmp.Compare(a.cost[dsp], b.cost[dsp]),
		cmp.Compare(a.cost[uram], b.cost[uram]),
	)
}

// better is the better of two foldings, either of which may be nil.
func (s *space) better(a, b *folding) *folding {
	if a == nil || b != nil && s.compare(b, a) < 0 {
		return b
	}
	return a
}

// A price makes one number of a vector: so much per unit of each kind. For any price, a folding that fits a cap costs
// no more than the cap does; rest therefore tells, without looking further, that what begins in some way cannot fit.
type price struct {
	unit vector
	rest [][]int64 // rest[k][state]: the least price of the steps from k on; never where no path goes on
}

const never = int64(1) << 62

// priced is the price, and the folding that is cheapest at it; nil where no path goes through.
func (l *lattice) priced(unit vector) (price, *folding) {
	p := price{unit, make([][]int64, len(l.steps)+1)}
	p.rest[len(l.steps)] = []int64{0} // one last state: every stream is read
	best := make([][]pick, len(l.steps))
	var groups []int64
	var choices []int32
	for k := len(l.steps) - 1; k >= 0; k-- {
		st := &l.steps[k]
		groups, choices = groups[:0], choices[:0]
		for _, g := range st.groups {
			least, at := never, 0
			for i := range g {
				if v := unit.dot(g[i].cost); v < least {
					least, at = v, i
				}
			}
			groups, choices = append(groups, least), append(choices, int32(at))
		}
		states := len(st.first) - 1
		rest, picks, after := make([]int64, states), make([]pick, states), p.rest[k+1]
		for s := range states {
			rest[s] = never
			for _, e := range st.edges[st.first[s]:st.first[s+1]] {
				if v := after[e.to]; v < never && groups[e.group]+v < rest[s] {
					rest[s], picks[s] = groups[e.group]+v, pick{e, choices[e.group]}
				}
			}
		}
		p.rest[k], best[k] = rest, picks
	}
	if p.rest[0][0] == never {
		return p, nil
	}
	return p, l.walk(best)
}

// A pick is one choice of one edge.
type pick struct {
	edge   edge
	choice int32
}

func (l *lattice) walk(best [][]pick) *folding {
	f := &folding{}
	state := int32(0)
	for k := range l.steps {
		p := best[k][state]
		f.add(l.steps[k].groups[p.edge.group][p.choice])
		state = p.edge.to
	}
	return f
}

func (f *folding) add(c choice) {
	f.cost = f.cost.plus(c.cost)
	f.converters += int64(c.converter)
	if c.option >= 0 {
		f.options = append(f.options, c.option)
	}
}

// most is the largest amount of a kind that the steps from k on can take in each state.
func (l *lattice) most(kind int) [][]int64 {
	most := make([][]int64, len(l.steps)+1)
	most[len(l.steps)] = []int64{0}
	for k := len(l.steps) - 1; k >= 0; k-- {
		st := &l.steps[k]
		m := make([]int64, len(st.first)-1)
		for s := range m {
			for _, e := range st.edges[st.first[s]:st.first[s+1]] {
				for _, c := range st.groups[e.group] {
					m[s] = max(m[s], c.cost[kind]+most[k+1][e.to])
				}
			}
		}
		most[k] = m
	}
	return most
}

// What relax does: rounds is how often prices are changed, keep how many of them are kept for label to prune by.
const (
	rounds = 48
	keep   = 4
)

// relaxed is what prices alone tell of a lattice under caps.
type relaxed struct {
	best    *folding // by the space's measure, among those within caps that are cheapest at some price
	nearest *folding // the one of these, within caps or not, that takes the least share of caps
	single  []price  // per kind: one for a unit of it, nothing for the others
	mixed   []price  // the sharpest, sharpest first
}

// excludes reports whether a price proves that no folding is within caps.
func (r *relaxed) excludes(caps vector) bool {
	for _, p := range slices.Concat(r.single, r.mixed) {
		if p.rest[0][0] > p.unit.dot(caps) {
			return true
		}
	}
	return false
}

// relax looks for the prices that bound best what is within caps (the Lagrangian dual of the least share of caps, by
// multiplicative weights: what is scarce in the cheapest folding becomes dearer). ok is false where the lattice has no
// path.
func (s *space) relax(l *lattice, caps vector) (r relaxed, ok bool) {
	least := 0.0
	see := func(f *folding) (share float64) {
		share, _ = load(f.cost, caps)
		if r.nearest == nil || share < least {
			r.nearest, least = f, share
		}
		if f.cost.within(caps) {
			r.best = s.better(r.best, f)
		}
		return share
	}
	for kind := range kinds {
		var unit vector
		unit[kind] = 1
		p, f := l.priced(unit)
		if f == nil {
			return r, false
		}
		r.single = append(r.single, p)
		see(f)
	}
	type bound struct {
		price
		share float64 // of caps, that every folding takes at least
	}
	var bounds []bound
	weight := vector{1, 1, 1, 1, 1}
	for round := range rounds {
		unit := weight.perUnit(caps)
		p, f := l.priced(unit)
		bounds = append(bounds, bound{p, float64(p.rest[0][0]) / float64(unit.dot(caps))})
		share := see(f)
		if share == 0 {
			break // it takes nothing: no price says more
		}
		for i := range weight {
			// A kind that is as scarce as any doubles at first; later steps are shorter.
			scarce := int64(shareOf(f.cost[i], caps[i]) / share * 1024)
			weight[i] += weight[i] / 1024 * scarce * 4 / int64(4+round)
		}
	}
	slices.SortStableFunc(bounds, func(a, b bound) int { return cmp.Compare(b.share, a.share) })
	for _, b := range bounds[:min(keep, len(bounds))] {
		r.mixed = append(r.mixed, b.price)
	}
	return r, true
}

// perUnit turns weights of whole caps into prices of a unit, and scales the weights so that the prices keep enough
// digits and the price of a network stays far below never.
func (v *vector) perUnit(caps vector) (unit vector) {
	const total = 1 << 32
	var sum int64
	for _, w := range v {
		sum += w
	}
	for i := range v {
		v[i] = max(1, int64(float64(v[i])/float64(sum)*total))
		unit[i] = v[i] / max(1, caps[i])
	}
	return unit
}
