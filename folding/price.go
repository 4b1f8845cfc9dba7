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

// load is the largest share of the yardstick that cost takes, and of which kind.
func (s *space) load(cost vector) (share float64, kind int) {
	for i := range cost {
		if f := float64(cost[i]) / float64(s.yard[i]); f > share {
			share, kind = f, i
		}
	}
	return share, kind
}

// compare orders foldings by the measure of a search: the largest share of the yardstick, then LUTs; then, so that the
// answer is always the same one, converters, FF, RAMB18, DSP and URAM.
func (s *space) compare(a, b *folding) int {
	la, _ := s.load(a.cost)
	lb, _ := s.load(b.cost)
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

// relaxed is what prices alone tell of a lattice.
type relaxed struct {
	best   *folding // by the space's measure, among those cheapest at some price
	single []price  // per kind: one for a unit of it, nothing for the others
	prices []price  // the sharpest mixed ones, sharpest first
}

// relax looks for the prices that bound best (the Lagrangian dual of the least load, by multiplicative weights: what is
// scarce in the cheapest folding becomes dearer). ok is false where the lattice has no path.
func (s *space) relax(l *lattice) (r relaxed, ok bool) {
	for kind := range kinds {
		var unit vector
		unit[kind] = 1
		p, f := l.priced(unit)
		if f == nil {
			return r, false
		}
		r.single = append(r.single, p)
		r.best = s.better(r.best, f)
	}
	const total = 1 << 32
	weight := vector{1, 1, 1, 1, 1}
	type bound struct {
		price
		load float64 // every folding's load is at least this
	}
	var bounds []bound
	for round := range rounds {
		var sum int64
		for _, w := range weight {
			sum += w
		}
		var unit vector
		for i := range unit {
			weight[i] = max(1, int64(float64(weight[i])/float64(sum)*total))
			unit[i] = weight[i] / s.yard[i]
		}
		p, f := l.priced(unit)
		r.best = s.better(r.best, f)
		bounds = append(bounds, bound{p, float64(p.rest[0][0]) / float64(unit.dot(s.yard))})
		load, _ := s.load(f.cost)
		if load == 0 {
			break
		}
		for i := range weight {
			// A kind that is as scarce as any doubles at first; later steps are shorter.
			scarce := int64(float64(f.cost[i]) / float64(s.yard[i]) / load * 1024)
			weight[i] += weight[i] / 1024 * scarce * 4 / int64(4+round)
		}
	}
	slices.SortStableFunc(bounds, func(a, b bound) int { return cmp.Compare(b.load, a.load) })
	for _, b := range bounds[:min(keep, len(bounds))] {
		r.prices = append(r.prices, b.price)
	}
	return r, true
}
