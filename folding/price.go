package folding

import (
	"cmp"
	"math"
	"slices"
)

// A price makes one number of a vector: so much per unit of each kind. For any price, a folding that fits a cap costs no
// more than the cap does. The least that a folding costs at some price therefore tells, without looking further, that
// nothing fits; and the least that a folding with a given row in it costs, that none with that row does.
type price struct {
	unit   vector
	least  int64     // of all foldings; never where there is none
	inside [][]int64 // per table and row: the least for the part of the network in the table
	rest   [][]int64 // per table and row: the least for the rest of the network; nil until it is needed
}

// never is the price of what there is not: more than any folding's, and such that two of it do not overflow.
const never = int64(1) << 61

// priced is what the foldings cost at least.
func (t *tree) priced(unit vector) price {
	p := price{unit: unit, inside: make([][]int64, len(t.plan))}
	for i := range t.plan {
		tb := &t.plan[i]
		inside := make([]int64, tb.rows)
		if tb.left < 0 {
			for r, g := range t.groups[i] {
				inside[r] = never
				for k := range g {
					inside[r] = min(inside[r], unit.dot(g[k].cost))
				}
			}
		} else {
			left, right := p.inside[tb.left], p.inside[tb.right]
			for r := range inside {
				least := never
				for _, q := range tb.pairs[tb.first[r]:tb.first[r+1]] {
					least = min(least, left[q.left]+right[q.right])
				}
				inside[r] = least
			}
		}
		p.inside[i] = inside
	}
	p.least = never
	if last := p.inside[len(t.plan)-1]; len(last) > 0 {
		p.least = last[0]
	}
	return p
}

// cheapest is a folding that costs the least.
func (t *tree) cheapest(p price) *folding {
	f := &folding{options: make([]int32, len(t.layers))}
	t.walk(f, p, len(t.plan)-1, 0)
	return f
}

func (t *tree) walk(f *folding, p price, table int, row int32) {
	tb := &t.plan[table]
	if tb.left < 0 {
		g := t.groups[table][row]
		k := slices.IndexFunc(g, func(c choice) bool { return p.unit.dot(c.cost) == p.inside[table][row] })
		f.add(tb.layer, g[k])
		return
	}
	for _, q := range tb.pairs[tb.first[row]:tb.first[row+1]] {
		if p.inside[tb.left][q.left]+p.inside[tb.right][q.right] == p.inside[table][row] {
			t.walk(f, p, tb.left, q.left)
			t.walk(f, p, tb.right, q.right)
			return
		}
	}
}

func (f *folding) add(layer int, c choice) {
	f.cost = f.cost.plus(c.cost)
	f.converters += int64(c.converter)
	if layer >= 0 {
		f.options[layer] = c.option
	}
}

// around fills in rest, from the whole network to its parts.
func (t *tree) around(p *price) {
	if p.rest != nil {
		return
	}
	p.rest = make([][]int64, len(t.plan))
	for i := range t.plan {
		p.rest[i] = slices.Repeat([]int64{never}, t.plan[i].rows)
	}
	copy(p.rest[len(t.plan)-1], []int64{0})
	for i := len(t.plan) - 1; i >= 0; i-- {
		tb := &t.plan[i]
		if tb.left < 0 {
			break
		}
		left, right := p.rest[tb.left], p.rest[tb.right]
		insideL, insideR := p.inside[tb.left], p.inside[tb.right]
		for r, rest := range p.rest[i] {
			if rest >= never {
				continue
			}
			for _, q := range tb.pairs[tb.first[r]:tb.first[r+1]] {
				left[q.left] = min(left[q.left], rest+insideR[q.right])
				right[q.right] = min(right[q.right], rest+insideL[q.left])
			}
		}
	}
}

// excludes reports whether the price proves that nothing is within caps, none of which is more than the dearest.
func (p *price) excludes(caps vector) bool { return p.least > p.unit.dot(caps) }

// excluder is the price that proves that no folding of the tree is within caps, those of single kinds first; nil where
// none of the known ones does.
func (t *tree) excluder(caps vector) *price {
	caps = caps.least(t.dearest)
	for _, list := range [][]price{t.single, t.prices} {
		for i := range list {
			if list[i].excludes(caps) {
				return &list[i]
			}
		}
	}
	return nil
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

// What relax does at most: rounds is how many prices it tries, keepPrices how many of them it keeps.
const (
	rounds     = 40
	keepPrices = 4
)

// relax looks for the price that says most of what is within caps: the one at which the cheapest folding takes the
// largest share of what the caps cost (the Lagrangian dual of the least share of caps). It plays the game of prices
// against foldings: every round adds the folding that is cheapest at the prices that are best against those so far
// (column generation). The foldings are kept in the tree, and the sharpest prices.
func (t *tree) relax(caps vector) {
	caps = caps.least(t.dearest)
	var tried []price
	share := func(p *price) float64 { return float64(p.least) / float64(max(1, p.unit.dot(caps))) }
	for range rounds {
		weight, value := game(t.found, caps)
		p := t.priced(t.perUnit(weight, caps))
		tried = append(tried, p)
		f := t.cheapest(p)
		known := len(t.found)
		t.keep(f)
		if p.excludes(caps) || len(t.found) == known || share(&p) >= value*(1-1e-6) {
			break
		}
	}
	slices.SortStableFunc(tried, func(a, b price) int { return cmp.Compare(share(&b), share(&a)) })
	t.prices = append(tried[:min(keepPrices, len(tried))], t.prices[:min(3*keepPrices, len(t.prices))]...)
}

// perUnit turns weights of whole caps into prices of a unit, such that not even the dearest folding's price overflows.
func (t *tree) perUnit(weight [kinds]float64, caps vector) (unit vector) {
	sum := 0.0
	for k, w := range weight {
		weight[k] = w / math.Max(float64(caps[k]), 0.5)
		sum += weight[k] * float64(t.dearest[k]+1)
	}
	for k, w := range weight {
		unit[k] = int64(w / sum * (1 << 60))
	}
	return unit
}
