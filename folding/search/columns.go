package search

// A search needs the cost of all choices at some price again and again, and only few kinds matter to a choice. So the
// amounts are stored by kind, one choice after the other. Only one tree has them at a time. Leaves with the same
// choices (parts.same) share them.

// A columns stores the amounts of a tree's choices, kind by kind, for fast pricing.
type columns struct {
	of      *parts  // the tree whose choices these are
	rows    []span  // per row of each leaf: its choices
	amounts []int64 // the amounts of each of the tree's kinds, one kind after the other
	sums    []int64 // per choice: its cost at the last price
}

// A span is a range of numbers of choices, from first to end-1.
type span struct{ first, end int32 }

// columns returns the amounts of the tree's choices by kind. It computes them anew if those of another tree have
// replaced them.
func (t *parts) columns() *columns {
	c := &t.effort.room.columns
	if c.of == t {
		return c
	}
	c.of, c.rows = t, c.rows[:0]
	n := int32(0)
	for leaf, rows := range t.choices {
		if same := t.same[leaf]; same < leaf {
			c.rows = append(c.rows, c.rows[t.start[same]:t.start[same+1]]...)
			continue
		}
		for _, row := range rows {
			c.rows = append(c.rows, span{n, n + int32(len(row))})
			n += int32(len(row))
		}
	}
	c.amounts, c.sums = sized(c.amounts, int(n)*len(t.kinds)), sized(c.sums, int(n))
	for leaf, rows := range t.choices { // one leaf after the other, to save memory traffic
		if t.same[leaf] < leaf || len(rows) == 0 {
			continue
		}
		from := c.rows[t.start[leaf]].first
		for j, k := range t.kinds {
			list := c.kind(j)[from:]
			for _, row := range rows {
				for i := range row {
					list[i] = row[i].Cost[k]
				}
				list = list[len(row):]
			}
		}
	}
	return c
}

// sized returns a list of n numbers with arbitrary values. It reuses the given list if that has room.
func sized(list []int64, n int) []int64 {
	if cap(list) < n {
		return make([]int64, n)
	}
	return list[:n]
}

// kind returns the amounts of all choices of the j-th kind that the tree uses.
func (c *columns) kind(j int) []int64 { return c.amounts[j*len(c.sums):][:len(c.sums)] }

// row returns the part of a list, which has a number for each choice, that belongs to a row of a leaf.
func (c *columns) row(of []int64, row int) []int64 { return of[c.rows[row].first:c.rows[row].end] }

// price computes the cost of each choice at the price u, and stores it in sums.
func (c *columns) price(u *unit) {
	clear(c.sums)
	for j, k := range c.of.kinds {
		if price := u.kinds[k]; price != 0 {
			sums := c.sums
			for i, amount := range c.kind(j)[:len(sums)] {
				sums[i] += price * amount
			}
		}
	}
	if u.paths == nil {
		return
	}
	at := 0
	for leaf, rows := range c.of.choices {
		if c.of.same[leaf] < leaf {
			continue
		}
		for _, row := range rows {
			for i := range row {
				for k, p := range row[i].Paths {
					c.sums[at] += u.paths[k] * p
				}
				at++
			}
		}
	}
}
