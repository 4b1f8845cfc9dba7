package search

import (
	"cmp"
	"context"
	"slices"
)

// beam is how many labels of a table are carried at most before its choices are halved.
const beam = 100

// A finding is what is known of the solutions of a tree within caps.
type finding struct {
	best  *Solution // one, nil where none was found
	exact bool      // where best is nil: there is none; else, where the least was asked for: none measures less
}

// within looks for a solution within caps: among those that turned up, by prices, by labels, and where these are too
// many in halves of the tree, of so many nodes at most. With least it goes on until none measures less.
func (t *Tree) within(ctx context.Context, caps Caps, m Measure, least bool, nodes int) (finding, error) {
	found := finding{exact: true}
	open := []*Tree{t}
	done := func(n *Tree) {
		if n != t {
			n.Dismiss()
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
			caps = m.AsGood(f, caps, 1)
		}
		if rest == nil {
			continue
		}
		if nodes <= 0 || t.effort.Spent() {
			found.exact = false
			return found, nil
		}
		if f != nil {
			open = append(open, rest) // once more, for less
			continue
		}
		a, b := rest.split()
		done(rest)
		open = append(open, b, a)
	}
	return found, nil
}

// decide looks for a solution of a node within caps. rest is what may hold one still, that measures less; nil where
// nothing does. Labels find the least of the prime kind.
func (t *Tree) decide(ctx context.Context, caps Caps, prime int) (f *Solution, rest *Tree, err error) {
	if !t.Possible() || t.Excludes(caps) {
		return nil, nil, nil
	}
	if f := t.leastOf(caps, prime); f != nil {
		return f, t, nil
	}
	t.Relax(caps)
	if t.Excludes(caps) {
		return nil, nil, nil
	}
	if f := t.leastOf(caps, prime); f != nil {
		return f, t, nil
	}
	n := t.Reduce(caps)
	if n == nil {
		return nil, nil, nil
	}
	f, whole, err := n.label(ctx, caps, prime, beam)
	if err != nil || whole && f == nil {
		n.Dismiss()
		return nil, nil, err
	}
	if f != nil {
		return f, n, nil
	}
	n.Relax(caps) // for the mixture
	return nil, n, nil
}

// A pool is the solutions that turned up.
type pool struct {
	found   []*Solution
	mixture []float64 // of found: the last game's
}

// keep adds a solution to those that turned up; it reports false where one of the same cost was there.
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

// leastOf is the solution with the least of the prime kind among those within caps that turned up.
func (p *pool) leastOf(caps Caps, prime int) (best *Solution) {
	for _, f := range p.found {
		if f.Within(&caps) && (best == nil || f.compare(best, prime) < 0) {
			best = f
		}
	}
	return best
}

// compare orders solutions: the least of the prime kind, then of the others in their order.
func (f *Solution) compare(o *Solution, prime int) int {
	return cmp.Or(cmp.Compare(f.Cost[prime], o.Cost[prime]), slices.Compare(f.Cost[:], o.Cost[:]))
}

// split halves the choices of one leaf: the one about which the solutions of the last game's mixture differ most, at
// the mean of what they take.
func (t *Tree) split() (a, b *Tree) {
	leaf, kind, mean := t.mostMixed()
	small := func(c *Choice) bool { return float64(c.amount(kind)) <= mean }
	if leaf < 0 {
		leaf, small = t.largest()
	}
	half := func(in bool) *Tree {
		choices := slices.Clone(t.choices)
		choices[leaf] = make([][]Choice, len(t.choices[leaf]))
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

// mostMixed is the leaf and the kind of which the mixture's solutions take the most different amounts, by price, and
// the mean of these; -1 where there is no mixture of several.
func (t *Tree) mostMixed() (leaf, kind int, mean float64) {
	leaf = -1
	if len(t.mixed) == 0 || len(t.mixture) != len(t.found) && len(t.mixture) != len(t.found)-1 {
		return leaf, 0, 0
	}
	unit := &t.mixed[0].unit
	most := 0.0
	all := Kinds + len(unit.paths)
	sum, total := make([]float64, all), make([]float64, all)
	for l := range t.plan.Leaves {
		clear(sum)
		clear(total)
		var picks []*Choice
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

// amount is what a choice takes of a kind, or of path k as kind Kinds+k.
func (c *Choice) amount(kind int) int64 { return amount(&c.Cost, c.Paths, kind) }

// largest is the leaf with the most choices, and the first half of them. Two choices are never the same.
func (t *parts) largest() (leaf int, small func(*Choice) bool) {
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
	first := map[*Choice]bool{}
	for _, row := range t.choices[leaf] {
		for i := range row {
			if len(first) < (most+1)/2 {
				first[&row[i]] = true
			}
		}
	}
	return leaf, func(c *Choice) bool { return first[c] }
}
