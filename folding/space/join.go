package space

import "hlsgen/folding/search"

// pairs is the number of pairs of rows that joining two tables makes.
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

// join fills a table from the two that it joins. It reports false where it has too many rows.
func (p *planner) join(t *planTable) bool {
	x, y := &p.tables[t.Left], &p.tables[t.Right]
	ix, iy, kx, ky := shared(x.scope, y.scope)
	meet, left, right := p.keys(list{x, ix}, list{y, iy}), p.keys(list{x, kx}), p.keys(list{y, ky})
	match := make([][]int32, meet.n)
	for r, k := range meet.of[1] {
		match[k] = append(match[k], int32(r))
	}
	index := map[int]int32{}
	var of [][]search.Pair // per row
	for r, k := range meet.of[0] {
		for _, o := range match[k] {
			row, known := index[left.of[0][r]*right.n+right.of[0][o]]
			if !known {
				if t.Rows == p.most {
					return false
				}
				row = int32(t.Rows)
				index[left.of[0][r]*right.n+right.of[0][o]] = row
				t.Rows++
				of = append(of, nil)
				t.values = append(append(t.values, x.pick(r, kx)...), y.pick(int(o), ky)...)
			}
			of[row] = append(of[row], search.Pair{Left: int32(r), Right: o})
		}
	}
	for _, pairs := range of {
		t.First = append(t.First, int32(len(t.Pairs)))
		t.Pairs = append(t.Pairs, pairs...)
	}
	t.First = append(t.First, int32(len(t.Pairs)))
	return true
}

// pick is some of a row's values.
func (t *planTable) pick(row int, at []int) []int32 {
	v := make([]int32, len(at))
	for i, k := range at {
		v[i] = t.values[row*len(t.scope)+k]
	}
	return v
}

// A list is some of the ends in a table's scope, by their places in it.
type list struct {
	*planTable
	at []int
}

// A keys is numbers for the values of rows at some ends, below n: rows have the same number where they have the same
// values there.
type keys struct {
	of [][]int // per list and row
	n  int
}

// mostKeys is how large numbers become before they are numbered anew.
const mostKeys = 1 << 16

// keys numbers the rows of some lists of the same ends.
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

// renumber gives the numbers that there are others, from 0 on.
func (k *keys) renumber() {
	index := map[int]int{}
	for _, list := range k.of {
		for r, old := range list {
			n, known := index[old]
			if !known {
				n = len(index)
				index[old] = n
			}
			list[r] = n
		}
	}
	k.n = len(index)
}
