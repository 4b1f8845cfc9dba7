package search

import (
	"context"
	"slices"
)

// parts is what there is to choose from. It does not change.
type parts struct {
	plan    *Plan
	choices [][][]Choice // per leaf and row
	rows    [][]int32    // per leaf: the caller's number of each row
	dearest Vector       // no solution takes more of a kind
	longest []int64      // per path: no solution takes more
	widest  []int64      // per path: no part of a solution takes more, nor less than as much below 0
	effort  *Effort
}

func newParts(plan *Plan, choices [][][]Choice, rows [][]int32, e *Effort) *parts {
	t := &parts{plan: plan, choices: choices, rows: rows, effort: e}
	for _, leaf := range choices {
		var most Vector
		var longest, widest []int64
		for _, row := range leaf {
			for i := range row {
				for k := range most {
					most[k] = max(most[k], row[i].Cost[k])
				}
				if longest == nil {
					longest, widest = slices.Clone(row[i].Paths), make([]int64, len(row[i].Paths))
				}
				for k, p := range row[i].Paths {
					longest[k], widest[k] = max(longest[k], p), max(widest[k], p, -p)
				}
			}
		}
		t.dearest = t.dearest.Plus(most)
		if t.longest == nil {
			t.longest, t.widest = longest, widest
			continue
		}
		for k := range longest {
			t.longest[k] += longest[k]
			t.widest[k] += widest[k]
		}
	}
	return t
}

// perRow is a number for each row of each table.
func (t *parts) perRow() [][]int64 {
	rows := 0
	for i := range t.plan.Tables {
		rows += t.plan.Tables[i].Rows
	}
	all, list := make([]int64, rows), make([][]int64, len(t.plan.Tables))
	for i := range list {
		n := t.plan.Tables[i].Rows
		list[i], all = all[:n:n], all[n:]
	}
	return list
}

// choice is the one that a pick means; nil where it is not in the tree.
func (t *parts) choice(leaf int, p Pick) *Choice {
	for r, row := range t.rows[leaf] {
		if row != p.Row {
			continue
		}
		for i := range t.choices[leaf][r] {
			if c := &t.choices[leaf][r][i]; c.ID == p.ID {
				return c
			}
		}
	}
	return nil
}

// done adds to the effort, and reports the context's error.
func (t *parts) done(ctx context.Context, steps int) error {
	t.effort.Done += steps
	return ctx.Err()
}

// blank is a solution in which nothing is picked yet.
func (t *parts) blank() *Solution {
	return &Solution{Picks: make([]Pick, t.plan.Leaves), Paths: make([]int64, len(t.longest))}
}

// pick adds a leaf's choice to a solution.
func (t *parts) pick(f *Solution, leaf int, row int32, c *Choice) {
	f.Cost = f.Cost.Plus(c.Cost)
	for i, p := range c.Paths {
		f.Paths[i] += p
	}
	f.Picks[leaf] = Pick{t.rows[leaf][row], c.ID}
}

// limit is the price of caps, none of which is more than can be taken.
func (t *parts) limit(u *unit, caps *Caps) int64 {
	sum := u.kinds.dot(&caps.Vector)
	for i, p := range u.paths {
		sum += p * min(caps.Path, t.longest[i])
	}
	return sum
}

// capped is caps that are not more than can be taken.
func (t *parts) capped(caps Caps) Caps {
	caps.Vector = caps.Vector.Least(t.dearest)
	return caps
}

// capOf is the cap of a kind, or of path k as kind Kinds+k, and the most that a solution takes of it.
func (t *parts) capOf(kind int, caps *Caps) (cap, most int64) {
	most = amount(&t.dearest, t.longest, kind)
	if cap = caps.of(kind); kind >= Kinds {
		cap = min(cap, most)
	}
	return cap, most
}

// amount is what there is of a kind, or of path k as kind Kinds+k; 0 of a path where there are none.
func amount(kinds *Vector, paths []int64, kind int) int64 {
	switch {
	case kind < Kinds:
		return kinds[kind]
	case kind-Kinds < len(paths):
		return paths[kind-Kinds]
	}
	return 0
}

// of is the cap of a kind, or of path k as kind Kinds+k.
func (c *Caps) of(kind int) int64 {
	if kind < Kinds {
		return c.Vector[kind]
	}
	return c.Path
}

// negative reports whether the caps leave nothing of some kind.
func (c *Caps) negative() bool {
	return slices.ContainsFunc(c.Vector[:], func(n int64) bool { return n < 0 })
}
