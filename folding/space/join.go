package space

import (
	"slices"

	"hlsgen/folding/search"
)

// pairs returns the number of pairs of rows that the join of tables a and b has.
func (p *planner) pairs(a, b int) (n int) {
	x, y := &p.tables[a], &p.tables[b]
	ix, iy, _, _ := shared(x.scope, y.scope)
	keys := p.keys(list{x, ix}, list{y, iy})
	count := make([]int, keys.n)
	for _, k := range keys.of[0] {
		count[k]++
	}
	for _, k := range keys.of[1] {
		n += count[k]
	}
	return n
}

// join fills t with the join of its two tables, which have count pairs of rows. It returns false if t gets more than
// p.most rows.
func (p *planner) join(t *planTable, count int) bool {
	x, y := &p.tables[t.Left], &p.tables[t.Right]
	ix, iy, kx, ky := shared(x.scope, y.scope)
	loose := func(t *planTable) func(int) bool { return func(k int) bool { return p.loose[t.scope[k]] } }
	kx, ky = slices.DeleteFunc(kx, loose(x)), slices.DeleteFunc(ky, loose(y))
	meet, left, right := p.keys(list{x, ix}, list{y, iy}), p.keys(list{x, kx}), p.keys(list{y, ky})
	match := group(meet.of[1], meet.n)
	index := numbering{}
	t.Rows, t.values = 0, nil
	// rows: the row of t that each pair belongs to
	pairs, rows := make([]search.RowPair, 0, count), make([]int, 0, count)
	for r, k := range meet.of[0] {
		for _, o := range match.of(k) {
			row := index.of(left.of[0][r]*right.n+right.of[0][o], left.n*right.n)
			if row == t.Rows {
				if row == p.most {
					return false
				}
				t.Rows++
				t.values = y.pick(x.pick(t.values, r, kx), int(o), ky)
			}
			pairs, rows = append(pairs, search.RowPair{Left: int32(r), Right: o}), append(rows, row)
		}
	}
	by := group(rows, t.Rows)
	t.First = by.first
	t.Pairs = make([]search.RowPair, count)
	for i, n := range by.list {
		t.Pairs[i] = pairs[n]
	}
	return true
}

// A groups holds numbers that are grouped by key. Within a group they are in increasing order.
type groups struct {
	first []int32 // per group: its beginning in list; one more entry for the end
	list  []int32
}

// group groups the numbers 0 to len(keys)-1 by their keys, which are below n.
func group(keys []int, n int) groups {
	g := groups{make([]int32, n+1), make([]int32, len(keys))}
	for _, k := range keys {
		g.first[k+1]++
	}
	for k := range n {
		g.first[k+1] += g.first[k]
	}
	at := slices.Clone(g.first)
	for i, k := range keys {
		g.list[at[k]] = int32(i)
		at[k]++
	}
	return g
}

func (g *groups) of(key int) []int32 { return g.list[g.first[key]:g.first[key+1]] }

// A numbering numbers keys in the order of their first use.
type numbering struct {
	few  []int32 // by key, for at most mostKeys keys: its number plus 1, or 0
	many map[int]int
	n    int
}

// of returns the number of a key, which must be below keys. A new key gets the next number.
func (x *numbering) of(key, keys int) int {
	if keys > mostKeys {
		if x.many == nil {
			x.many = map[int]int{}
		}
		return number(x.many, key)
	}
	if x.few == nil {
		x.few = make([]int32, keys)
	}
	if x.few[key] == 0 {
		x.n++
		x.few[key] = int32(x.n)
	}
	return int(x.few[key]) - 1
}

// pick appends to list the row's values at the given places of the table's scope.
func (t *planTable) pick(list []int32, row int, at []int) []int32 {
	for _, k := range at {
		list = append(list, t.values[row*len(t.scope)+k])
	}
	return list
}

// A list names some ends in the scope of a table, by their places there.
type list struct {
	*planTable
	at []int
}

// A keys holds, for several tables, a number for each row: equal exactly for rows with the same forms at some ends. All
// numbers are below n.
type keys struct {
	of [][]int // per list and row
	n  int
}

// mostKeys is the largest range of numbers. Beyond it, keys renumbers, and numbering uses a map.
const mostKeys = 1 << 16

// keys numbers the rows of the lists, which all name the same ends. Rows with the same forms there get the same number.
func (p *planner) keys(lists ...list) keys {
	k := keys{n: 1}
	for _, l := range lists {
		k.of = append(k.of, make([]int, l.Rows))
	}
	for i := range lists[0].at {
		forms := len(p.formsAt(lists[0].scope[lists[0].at[i]]))
		for j, l := range lists {
			for r := range k.of[j] {
				k.of[j][r] = k.of[j][r]*forms + int(l.values[r*len(l.scope)+l.at[i]])
			}
		}
		if k.n *= forms; k.n > mostKeys {
			k.renumber()
		}
	}
	return k
}

// renumber replaces the numbers in use by 0, 1, 2 and so on.
func (k *keys) renumber() {
	index := map[int]int{}
	for _, list := range k.of {
		for r, old := range list {
			list[r] = number(index, old)
		}
	}
	k.n = len(index)
}
