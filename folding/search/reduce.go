package search

import "slices"

// withoutExcludedChoices returns the tree without the choices, rows and pairs of rows that prices prove to be in no
// solution within caps. The solutions within caps stay the same. It returns nil if nothing is left.
func (t *ChoiceTree) withoutExcludedChoices(caps Caps) *ChoiceTree {
	caps = t.capped(caps)
	if !t.HasAnySolution() || t.Excludes(caps) {
		return nil
	}
	r := reducer{ChoiceTree: t}
	for k := range maxAmountKinds + len(t.longest) {
		if cap, most := t.capOf(k, &caps); most > cap || k >= maxAmountKinds && most > caps.Path || k == 0 {
			r.prices, r.limits = append(r.prices, t.around1(k)), append(r.limits, cap)
		}
	}
	mixed, limits := t.sharpest(&caps)
	r.prices, r.limits = append(r.prices, mixed...), append(r.limits, limits...)
	n := r.tree(mixed)
	leaveRests(t.parts, r.prices)
	return n
}

// A reducer makes a tree without what prices prove to be in no solution within caps.
type reducer struct {
	*ChoiceTree
	prices []*price
	limits []int64
	number [][]int32 // per table and row: its number in the new tree, or -1 if it is removed
	over   []bool    // per choice: whether it is removed
	first  []int     // per row of the leaves: the number of its first choice
}

func (r *reducer) tree(mixed []*price) *ChoiceTree {
	tables := r.plan.Tables
	plan := &JoinPlan{Tables: make([]PlanTable, len(tables)), Leaves: r.plan.Leaves}
	r.number = make([][]int32, len(tables))
	for i := range tables {
		tb := &plan.Tables[i]
		tb.Left, tb.Right = tables[i].Left, tables[i].Right
		r.number[i] = slices.Repeat([]int32{-1}, tables[i].Rows)
		for row := range tables[i].Rows {
			if r.hopeful(i, row) {
				r.number[i][row] = int32(tb.Rows)
				tb.Rows++
			}
		}
		if tb.Rows == 0 {
			return nil
		}
	}
	choices, rows := make([][][]LeafChoice, plan.Leaves), make([][]int32, plan.Leaves)
	r.findOver()
	for i := range plan.Leaves {
		for row, n := range r.number[i] {
			if n >= 0 {
				choices[i] = append(choices[i], r.choicesOf(i, row))
				rows[i] = append(rows[i], r.rows[i][row])
			}
		}
	}
	for i := plan.Leaves; i < len(tables); i++ {
		r.join(&plan.Tables[i], i)
	}
	r.effort.Done += len(tables)
	n := newTree(plan, choices, rows, r.effort)
	if !n.HasAnySolution() {
		return nil
	}
	for _, p := range mixed {
		n.mixed = append(n.mixed, n.priced(p.unit))
	}
	for _, f := range r.found {
		if r.within(f) {
			n.found = append(n.found, f)
		}
	}
	return n
}

// hopeful reports whether no price proves that a row of a table is in no solution within the caps.
func (r *reducer) hopeful(table, row int) bool {
	at := r.start[table] + row
	for i, p := range r.prices {
		inside, rest := p.inside[at], p.rest[at]
		if inside >= none || rest >= none || inside+rest > r.limits[i] {
			return false
		}
	}
	return true
}

// findOver marks the choices that some price proves to be in no solution within the caps.
func (r *reducer) findOver() {
	c := r.columns()
	r.over = make([]bool, 0, r.count)
	for _, rows := range r.ChoiceTree.choices {
		for _, row := range rows {
			r.first = append(r.first, len(r.over))
			r.over = r.over[:len(r.over)+len(row)]
		}
	}
	for k, p := range r.prices {
		c.price(&p.unit)
		for row, first := range r.first {
			left := r.limits[k] - p.rest[row]
			for i, cost := range c.row(c.sums, row) {
				if cost > left {
					r.over[first+i] = true
				}
			}
		}
	}
}

// choicesOf returns the remaining choices of a row.
func (r *reducer) choicesOf(leaf, row int) []LeafChoice {
	all := r.ChoiceTree.choices[leaf][row]
	over := r.over[r.first[r.start[leaf]+row]:][:len(all)]
	first := slices.Index(over, true)
	if first < 0 {
		return all
	}
	left := slices.Clone(all[:first])
	for i := first + 1; i < len(all); i++ {
		if !over[i] {
			left = append(left, all[i])
		}
	}
	return left
}

// join fills table tb, a join, with the pairs whose rows remain.
func (r *reducer) join(tb *PlanTable, table int) {
	old := &r.plan.Tables[table]
	atL, atR := r.start[old.Left], r.start[old.Right]
	tb.First = make([]int32, 1, tb.Rows+1)
	for row, n := range r.number[table] {
		if n < 0 {
			continue
		}
		for _, q := range old.pairs(row) {
			left, right := r.number[old.Left][q.Left], r.number[old.Right][q.Right]
			if left < 0 || right < 0 {
				continue
			}
			over := false
			for k, p := range r.prices {
				inside := p.inside[atL+int(q.Left)] + p.inside[atR+int(q.Right)]
				over = over || inside+p.rest[r.start[table]+row] > r.limits[k]
			}
			if !over {
				tb.Pairs = append(tb.Pairs, RowPair{left, right})
			}
		}
		tb.First = append(tb.First, int32(len(tb.Pairs)))
	}
}

// within reports whether a solution stays below the caps' cost at all prices. If so, all its choices remain in the new
// tree.
func (r *reducer) within(f *Solution) bool {
	for i, p := range r.prices {
		if p.unit.of(&f.Cost, f.Paths) > r.limits[i] {
			return false
		}
	}
	return true
}
