package search

import (
	"context"
	"slices"
)

// A parts holds the plan and the choices of a tree, which do not change.
type parts struct {
	plan    *JoinPlan
	choices [][][]LeafChoice // per leaf and row
	rows    [][]int32        // per leaf: the caller's number of each row
	same    []int            // per leaf: the first leaf with the same list of choices, or itself
	count   int              // the number of choices
	// per table: the number of its first row when the rows of all tables are counted; one more entry for the end
	start   []int
	kinds   []int        // the kinds in use: kind 0, and each kind of which some choice takes any
	dearest AmountVector // per kind: no solution takes more
	longest []int64      // per path: no solution takes more
	widest  []int64      // per path: the amount of any part of a solution lies between -widest and widest
	effort  *StepCounter
}

func newParts(plan *JoinPlan, choices [][][]LeafChoice, rows [][]int32, e *StepCounter) *parts {
	if e.room == nil {
		e.room = &room{}
	}
	t := &parts{plan: plan, choices: choices, rows: rows, effort: e, start: make([]int, len(plan.Tables)+1)}
	for i := range plan.Tables {
		t.start[i+1] = t.start[i] + plan.Tables[i].Rows
	}
	t.same = sameLists(choices)
	t.findMost()
	for k, most := range t.dearest {
		if k == 0 || most > 0 {
			t.kinds = append(t.kinds, k)
		}
	}
	return t
}

// sameLists returns for each leaf the first leaf whose list of choices is the same slice. Equal lists in other memory
// do not count.
func sameLists(choices [][][]LeafChoice) []int {
	same, first := make([]int, len(choices)), map[*[]LeafChoice]int{}
	for leaf, rows := range choices {
		same[leaf] = leaf
		if len(rows) == 0 {
			continue
		}
		if other, known := first[&rows[0]]; !known {
			first[&rows[0]] = leaf
		} else if len(choices[other]) == len(rows) {
			same[leaf] = other
		}
	}
	return same
}

// A most holds the largest amounts that any choice of a leaf takes, by kind.
type most struct {
	cost            AmountVector
	longest, widest []int64
	count           int // the number of choices
}

// findMost computes the amounts, per kind and path, that no solution exceeds.
func (t *parts) findMost() {
	list := make([]most, len(t.choices))
	for leaf := range list {
		m := &list[leaf]
		if same := t.same[leaf]; same < leaf {
			*m = list[same]
		} else {
			m.find(t.choices[leaf])
		}
		t.dearest, t.count = t.dearest.Plus(m.cost), t.count+m.count
		if t.longest == nil {
			t.longest, t.widest = slices.Clone(m.longest), slices.Clone(m.widest)
			continue
		}
		for k := range m.longest {
			t.longest[k] += m.longest[k]
			t.widest[k] += m.widest[k]
		}
	}
}

func (m *most) find(leaf [][]LeafChoice) {
	for _, row := range leaf {
		for i := range row {
			c := &row[i]
			for k, amount := range &c.Cost {
				m.cost[k] = max(m.cost[k], amount)
			}
			if m.longest == nil {
				m.longest, m.widest = slices.Clone(c.Paths), make([]int64, len(c.Paths))
			}
			for k, p := range c.Paths {
				m.longest[k], m.widest[k] = max(m.longest[k], p), max(m.widest[k], p, -p)
			}
		}
		m.count += len(row)
	}
}

// perRow returns a list with a number per row of all tables, one table after the other. The numbers are arbitrary.
func (t *parts) perRow() []int64 { return t.effort.room.list(t.start[len(t.start)-1]) }

// of returns the part of a list from perRow that belongs to a table.
func (t *parts) of(table int, list []int64) []int64 { return list[t.start[table]:t.start[table+1]] }

// choice returns the choice of a leaf that a pick names, or nil if the tree no longer contains it.
func (t *parts) choice(leaf int, p LeafPick) *LeafChoice {
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

// done counts the given steps of work, and returns ctx's error if ctx has ended.
func (t *parts) done(ctx context.Context, steps int) error {
	t.effort.Done += steps
	return ctx.Err()
}

// blank returns a solution to which no leaf's choice has been added yet.
func (t *parts) blank() *Solution {
	return &Solution{Picks: make([]LeafPick, t.plan.Leaves), Paths: make([]int64, len(t.longest))}
}

// pick adds a leaf's choice c, of the given row, to a solution and its cost.
func (t *parts) pick(f *Solution, leaf int, row int32, c *LeafChoice) {
	f.Cost = f.Cost.Plus(c.Cost)
	for i, p := range c.Paths {
		f.Paths[i] += p
	}
	f.Picks[leaf] = LeafPick{t.rows[leaf][row], c.ID}
}

// limit returns the cost of the caps at the price u. A path's cap counts at most as the largest value of that path.
func (t *parts) limit(u *unit, caps *Caps) int64 {
	sum := u.kinds.dot(&caps.AmountVector)
	for i, p := range u.paths {
		sum += p * min(caps.Path, t.longest[i])
	}
	return sum
}

// capped returns the caps, each lowered to the most that any solution takes of its kind.
func (t *parts) capped(caps Caps) Caps {
	caps.AmountVector = caps.AmountVector.minPerKind(t.dearest)
	return caps
}

// capOf returns the cap of a kind, or of path k as kind maxAmountKinds+k, and the most that any solution takes of it.
func (t *parts) capOf(kind int, caps *Caps) (cap, most int64) {
	most = amount(&t.dearest, t.longest, kind)
	if cap = caps.of(kind); kind >= maxAmountKinds {
		cap = min(cap, most)
	}
	return cap, most
}

// amount returns the amount of a kind, or of path k as kind maxAmountKinds+k. It is 0 for a path that does not exist.
func amount(kinds *AmountVector, paths []int64, kind int) int64 {
	switch {
	case kind < maxAmountKinds:
		return kinds[kind]
	case kind-maxAmountKinds < len(paths):
		return paths[kind-maxAmountKinds]
	}
	return 0
}

// of returns the cap of a kind; for numbers from maxAmountKinds on, it returns the cap of the paths.
func (c *Caps) of(kind int) int64 {
	if kind < maxAmountKinds {
		return c.AmountVector[kind]
	}
	return c.Path
}

// negative reports whether some cap is below 0.
func (c *Caps) negative() bool {
	return slices.ContainsFunc(c.AmountVector[:], func(n int64) bool { return n < 0 })
}
