package search

// What choices cost at some price is asked of all of them time and again, and of a choice only few kinds count. So
// amounts lie by kind, of one choice after the other: those of a tree, until another one's are asked for. Leaves that
// are the same (parts.same) have them once.

// columns is the amounts of a tree's choices.
type columns struct {
	of      *parts  // whose choices they are
	rows    []span  // per row of the leaves
	amounts []int64 // those of the tree's kinds, one after the other
	sums    []int64 // per choice: what it costs at the price that was asked for last
}

// A span is the numbers of a row's choices.
type span struct{ first, end int32 }

// columns are those of a tree.
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
	for leaf, rows := range t.choices { // one after the other, for they may be many
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

// sized is a list of so many numbers, which may be any, in the place of another one where that has room.
func sized(list []int64, n int) []int64 {
	if cap(list) < n {
		return make([]int64, n)
	}
	return list[:n]
}

// kind is the amounts of number j of the tree's kinds.
func (c *columns) kind(j int) []int64 { return c.amounts[j*len(c.sums):][:len(c.sums)] }

// row is those of some numbers, one per choice, that are of a row of the leaves.
func (c *columns) row(of []int64, row int) []int64 { return of[c.rows[row].first:c.rows[row].end] }

// price fills in the sums.
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
