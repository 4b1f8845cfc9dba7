package search

// What choices cost at some price is asked of all of them time and again, and of a choice only few kinds count. So
// amounts lie by kind, of one choice after the other: those of a tree, until another one's are asked for.

// columns is the amounts of a tree's choices.
type columns struct {
	of      *parts  // whose choices they are
	first   []int32 // per row of the leaves: the number of its first choice; and the end
	amounts []int64 // those of the tree's kinds, one after the other
	sums    []int64 // per choice: what it costs at the price that was asked for last
}

// columns are those of a tree.
func (t *parts) columns() *columns {
	c := &t.effort.room.columns
	if c.of == t {
		return c
	}
	c.of, c.first = t, c.first[:0]
	n := int32(0)
	for _, rows := range t.choices {
		for _, row := range rows {
			c.first = append(c.first, n)
			n += int32(len(row))
		}
	}
	c.first = append(c.first, n)
	c.amounts, c.sums = sized(c.amounts, int(n)*len(t.kinds)), sized(c.sums, int(n))
	for leaf, rows := range t.choices { // one after the other, for they may be many
		from := c.first[t.start[leaf]]
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
func (c *columns) row(of []int64, row int) []int64 { return of[c.first[row]:c.first[row+1]] }

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
	for _, rows := range c.of.choices {
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
