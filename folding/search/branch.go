package search

import (
	"cmp"
	"context"
	"slices"
)

// beam is the most labels that a table keeps. Where it must drop labels, the search halves the choices instead.
const beam = 100

// A finding is the result of a search for solutions within caps: the best one, and whether the search was complete.
type finding struct {
	best *Solution // a solution; nil if none was found
	// whether the search proved that there is no solution, or, if it minimises, that none measures less than best
	exact bool
}

// within looks for a solution within caps, with at most the given number of nodes. If least is true, it is that with
// the least of m; otherwise the first one found. It tries known solutions, prices and labels, and then halves the tree.
func (t *ChoiceTree) within(ctx context.Context, caps Caps, m Objective, least bool, nodes int) (finding, error) {
	found := finding{exact: true}
	open := []*ChoiceTree{t}
	done := func(n *ChoiceTree) {
		if n != t {
			n.Free()
		}
	}
	defer func() {
		for _, n := range open {
			done(n)
		}
	}()
	for ; len(open) > 0; nodes-- {
		n := open[len(open)-1]
		open = open[:len(open)-1]
		f, rest, err := n.decide(ctx, caps, m.prime())
		if rest != n {
			done(n)
		}
		if err != nil {
			return found, err
		}
		if f != nil {
			t.keep(f)
			if found.best = f; !least {
				found.exact = false
				return found, nil
			}
			caps = m.CapsToMatchSolution(f, caps, 1)
		}
		if rest == nil {
			continue
		}
		if nodes <= 0 || t.effort.MustEndSearch() {
			found.exact = false
			return found, nil
		}
		if f != nil {
			open = append(open, rest) // look at the node again for a smaller measure
			continue
		}
		a, b := rest.split()
		done(rest)
		open = append(open, b, a)
	}
	return found, nil
}

// decide looks for a solution within caps in the tree of one node of the search. rest is the tree that may still hold a
// better solution; nil if there is none. The solution has the least amount of the kind with number prime that labels
// find.
func (t *ChoiceTree) decide(ctx context.Context, caps Caps, prime int) (f *Solution, rest *ChoiceTree, err error) {
	if !t.HasAnySolution() || t.Excludes(caps) {
		return nil, nil, nil
	}
	if f := t.leastOf(caps, prime); f != nil {
		return f, t, nil
	}
	t.LearnBestPrices(caps)
	if t.Excludes(caps) {
		return nil, nil, nil
	}
	if f := t.leastOf(caps, prime); f != nil {
		return f, t, nil
	}
	n := t.withoutExcludedChoices(caps)
	if n == nil {
		return nil, nil, nil
	}
	f, whole, err := n.label(ctx, caps, prime, beam)
	if err != nil || whole && f == nil {
		n.Free()
		return nil, nil, err
	}
	if f != nil {
		return f, n, nil
	}
	n.LearnBestPrices(caps) // split needs the new mixture
	return nil, n, nil
}

// A pool holds the solutions that a search has found so far; no two have the same cost.
type pool struct {
	found   []*Solution
	mixture []float64 // the weight of each of found in the last game
}

// keep adds a solution to the pool. It returns false, without adding it, if the pool has a solution of the same cost.
func (p *pool) keep(f *Solution) bool {
	if slices.ContainsFunc(p.found, func(o *Solution) bool {
		return o.Cost == f.Cost && slices.Equal(o.Paths,
			f.Paths)
	}) {
		return false
	}
	p.found = append(p.found, f)
	return true
}

// leastOf returns the solution of the pool within caps that takes the least of the kind with number prime, or nil.
func (p *pool) leastOf(caps Caps, prime int) (best *Solution) {
	for _, f := range p.found {
		if f.isWithinCaps(&caps) && (best == nil || f.compare(best, prime) < 0) {
			best = f
		}
	}
	return best
}

// compare orders solutions by their amounts: of kind prime first, then of the other kinds in their order.
func (f *Solution) compare(o *Solution, prime int) int {
	return cmp.Or(cmp.Compare(f.Cost[prime], o.Cost[prime]), slices.Compare(f.Cost[:], o.Cost[:]))
}

// split halves the choices of one leaf and returns a tree for each half. It takes the leaf whose choices differ most in
// the last game's mixture, and divides them at the mean amount.
func (t *ChoiceTree) split() (a, b *ChoiceTree) {
	leaf, kind, mean := t.mostMixed()
	small := func(c *LeafChoice) bool { return float64(c.amount(kind)) <= mean }
	if leaf < 0 {
		leaf, small = t.largest()
	}
	half := func(in bool) *ChoiceTree {
		choices := slices.Clone(t.choices)
		choices[leaf] = make([][]LeafChoice, len(t.choices[leaf]))
		for r, row := range t.choices[leaf] {
			for i := range row {
				if small(&row[i]) == in {
					choices[leaf][r] = append(choices[leaf][r], row[i])
				}
			}
		}
		n := newTree(t.plan, choices, t.rows, t.effort)
		for _, f := range t.found {
			if c := t.choice(leaf, f.Picks[leaf]); c != nil && small(c) == in {
				n.found = append(n.found, f)
			}
		}
		return n
	}
	return half(true), half(false)
}

// mostMixed returns the leaf and the kind whose amounts differ most, by price, among the solutions of the last game's
// mixture, and the mean amount. leaf is -1 if there is none.
func (t *ChoiceTree) mostMixed() (leaf, kind int, mean float64) {
	leaf = -1
	if len(t.mixed) == 0 || len(t.mixture) != len(t.found) && len(t.mixture) != len(t.found)-1 {
		return leaf, 0, 0
	}
	unit := &t.mixed[0].unit
	most := 0.0
	all := maxAmountKinds + len(unit.paths)
	sum, total := make([]float64, all), make([]float64, all)
	for l := range t.plan.Leaves {
		clear(sum)
		clear(total)
		var picks []*LeafChoice
		var weights []float64
		weight := 0.0
		for j, w := range t.mixture {
			if w < 1e-9 {
				continue
			}
			c := t.choice(l, t.found[j].Picks[l])
			if c == nil {
				continue
			}
			picks, weights, weight = append(picks, c), append(weights, w), weight+w
			for k := range sum {
				sum[k] += w * float64(c.amount(k))
			}
		}
		for k := range sum {
			for j, c := range picks {
				d := float64(c.amount(k)) - sum[k]/weight
				total[k] += weights[j] * max(d, -d)
			}
			if spread := total[k] * float64(amount(&unit.kinds, unit.paths, k)); spread > most {
				leaf, kind, mean, most = l, k, sum[k]/weight, spread
			}
		}
	}
	if leaf >= 0 && !t.divides(leaf, kind, mean) {
		leaf = -1
	}
	return leaf, kind, mean
}

// divides reports whether some choices of a leaf take more of a kind than the mean, and some do not.
func (t *parts) divides(leaf, kind int, mean float64) bool {
	more, less := false, false
	for _, row := range t.choices[leaf] {
		for i := range row {
			above := float64(row[i].amount(kind)) > mean
			more, less = more || above, less || !above
		}
	}
	return more && less
}

// amount returns the choice's amount of a kind, or of path k as kind maxAmountKinds+k.
func (c *LeafChoice) amount(kind int) int64 { return amount(&c.Cost, c.Paths, kind) }

// largest returns the leaf with the most choices, and a function that is true for the first half of them. It tells
// choices apart by address, so that equal ones count as different.
func (t *parts) largest() (leaf int, small func(*LeafChoice) bool) {
	most := 0
	for l := range t.plan.Leaves {
		n := 0
		for _, row := range t.choices[l] {
			n += len(row)
		}
		if n > most {
			leaf, most = l, n
		}
	}
	first := map[*LeafChoice]bool{}
	for _, row := range t.choices[leaf] {
		for i := range row {
			if len(first) < (most+1)/2 {
				first[&row[i]] = true
			}
		}
	}
	return leaf, func(c *LeafChoice) bool { return first[c] }
}
