package folding

import (
	"cmp"
	"math/bits"
	"slices"
)

// What a plan may grow to. Chains, forks that join again, and forks within forks stay far below; a network whose every
// cut severs many streams does not, and its plan leaves streams out (wide).
const (
	maxRows  = 20_000
	maxPairs = 1_000_000
)

// A table is a part of the network: some layers and streams, and a row for every combination of forms that they may have
// at the ends where the part meets the rest. Leaves are single layers and single streams; the others join two parts that
// meet, with the ends at which they meet no longer visible. The last table is the whole network, with one row.
//
// This is the elimination of variables from a constraint network (R. Dechter, Bucket elimination, 1999), written as
// pairs of tables: what a chain needs is one form, a fork that joins again two, wherever it stands.
type table struct {
	layer, stream int // of a leaf; -1
	left, right   int // tables that a join joins; -1
	scope         []int
	values        []int32   // rows x scope: indices into the forms of the end
	shapes        [][]int32 // of a layer's leaf: the shapes of each row, which differ at the host and at ends that the plan leaves out
	first         []int32   // of a join: the pairs of row i are pairs[first[i]:first[i+1]]
	pairs         []pair
	rows          int
}

// A pair is a row of the left table and one of the right that agree where these meet.
type pair struct{ left, right int32 }

// The ends in a scope are numbered by stream.
func writerEnd(stream int) int { return 2 * stream }
func readerEnd(stream int) int { return 2*stream + 1 }

func (s *space) formsAt(end int) []form {
	if end%2 == 0 {
		return s.streams[end/2].writer.forms
	}
	return s.streams[end/2].reader.forms
}

// makePlan lists the tables, leaves first. Where one grows too large, it takes a stream out of the plan and begins anew.
func (s *space) makePlan() {
	s.wide = nil
	for {
		p := planner{space: s}
		if cut := p.run(); cut >= 0 {
			s.wide = append(s.wide, cut)
			continue
		}
		s.plan = p.tables
		return
	}
}

type planner struct {
	*space
	tables []table
	open   []int          // tables that no other has joined yet, in the order of the network
	sizes  map[[2]int]int // pairs that joining two tables makes
}

// run makes the tables. cut is a stream to leave out of the plan, or -1.
func (p *planner) run() (cut int) {
	p.sizes = map[[2]int]int{}
	var place []int // of a table in the network
	for i := range p.layers {
		p.open, place = append(p.open, len(p.tables)), append(place, 2*i)
		p.tables = append(p.tables, p.layerTable(i))
	}
	for _, id := range p.inner {
		if !slices.Contains(p.wide, id) {
			p.open, place = append(p.open, len(p.tables)), append(place, 2*p.streams[id].writer.layer+1)
			p.tables = append(p.tables, p.streamTable(id))
		}
	}
	for len(p.open) > 1 {
		slices.SortStableFunc(p.open, func(a, b int) int { return cmp.Compare(place[a], place[b]) })
		a, b := p.next()
		t := &table{layer: -1, stream: -1, left: a, right: b, scope: symmetric(p.tables[a].scope, p.tables[b].scope)}
		if p.size(a, b) > maxPairs || !p.join(t) {
			return p.widest(t.scope, p.tables[a].scope)
		}
		p.open = slices.DeleteFunc(p.open, func(i int) bool { return i == a || i == b })
		p.open, place = append(p.open, len(p.tables)), append(place, min(place[a], place[b]))
		p.tables = append(p.tables, *t)
	}
	return -1
}

// next chooses the two tables to join: the ones that make the smallest table, by magnitude; of these the first in the
// network, so that a chain is walked from its beginning.
func (p *planner) next() (a, b int) {
	a, b = -1, -1
	best := 0
	for i, x := range p.open {
		for _, y := range p.open[i+1:] {
			if !meet(p.tables[x].scope, p.tables[y].scope) {
				continue
			}
			if size := bits.Len(uint(min(p.size(x, y), p.product(x, y)))) / 2; a < 0 || size < best {
				a, b, best = x, y, size
			}
		}
	}
	if a < 0 {
		return p.open[0], p.open[1] // networks side by side
	}
	return a, b
}

// product is the number of combinations of forms at the ends of a join.
func (p *planner) product(a, b int) int {
	n := 1
	for _, e := range symmetric(p.tables[a].scope, p.tables[b].scope) {
		n = min(n*max(1, len(p.formsAt(e))), maxPairs)
	}
	return n
}

// widest is the stream, of the first list that has one, whose end has the most forms; if it can be one without tiles, for
// which there is a converter between almost any two forms.
func (p *planner) widest(lists ...[]int) int {
	for _, scope := range lists {
		if len(scope) == 0 {
			continue
		}
		return slices.MaxFunc(scope, func(a, b int) int {
			return cmp.Or(cmp.Compare(p.tileless(a), p.tileless(b)), cmp.Compare(len(p.formsAt(a)), len(p.formsAt(b))))
		}) / 2
	}
	panic("folding: a table of one row is too large")
}

func (p *planner) tileless(end int) int {
	if slices.ContainsFunc(p.formsAt(end), func(f form) bool { return f.tile != 0 }) {
		return 0
	}
	return 1
}

// layerTable has a row for every combination of forms at the layer's inner ends.
func (p *planner) layerTable(i int) table {
	l := &p.layers[i]
	t := table{layer: i, stream: -1, left: -1, right: -1}
	var ports []func(shape) form
	for k, id := range l.node.In {
		if p.planned(id) {
			t.scope, ports = append(t.scope, readerEnd(id)), append(ports, func(sh shape) form { return sh.in[k] })
		}
	}
	for k, id := range l.node.Out {
		if p.planned(id) {
			t.scope, ports = append(t.scope, writerEnd(id)), append(ports, func(sh shape) form { return sh.out[k] })
		}
	}
	index := map[string]int{}
	for k, sh := range l.shapes {
		if !l.offers(k) {
			continue
		}
		at := make([]form, len(ports))
		for j, port := range ports {
			at[j] = port(sh)
		}
		r, ok := index[key(at)]
		if !ok {
			r = t.rows
			index[key(at)] = r
			t.rows++
			t.shapes = append(t.shapes, nil)
			for j, f := range at {
				t.values = append(t.values, int32(slices.Index(p.formsAt(t.scope[j]), f)))
			}
		}
		t.shapes[r] = append(t.shapes[r], int32(k))
	}
	return t
}

func (s *space) planned(id int) bool { return s.streams[id].inner() && !slices.Contains(s.wide, id) }

// streamTable has a row for every two forms that are equal or that a width converter joins.
func (p *planner) streamTable(id int) table {
	t := table{layer: -1, stream: id, left: -1, right: -1, scope: []int{writerEnd(id), readerEnd(id)}}
	for i, in := range p.streams[id].writer.forms {
		for j, out := range p.streams[id].reader.forms {
			if p.convert(id, in, out).ok {
				t.values = append(t.values, int32(i), int32(j))
				t.rows++
			}
		}
	}
	return t
}

// size is the number of pairs that joining two tables makes.
func (p *planner) size(a, b int) int {
	if n, ok := p.sizes[[2]int{a, b}]; ok {
		return n
	}
	count := map[string]int{}
	x, y := &p.tables[a], &p.tables[b]
	ix, iy := shared(x.scope, y.scope)
	for r := range x.rows {
		count[x.key(r, ix)]++
	}
	n := 0
	for r := range y.rows {
		n += count[y.key(r, iy)]
	}
	p.sizes[[2]int{a, b}] = n
	return n
}

// join fills a table from the two that it joins. It reports false where it has too many rows.
func (p *planner) join(t *table) bool {
	x, y := &p.tables[t.left], &p.tables[t.right]
	ix, iy := shared(x.scope, y.scope)
	match := map[string][]int32{}
	for r := range y.rows {
		k := y.key(r, iy)
		match[k] = append(match[k], int32(r))
	}
	kx, ky := without(len(x.scope), ix), without(len(y.scope), iy)
	index := map[string]int{}
	var of [][]pair // per row
	for r := range x.rows {
		for _, o := range match[x.key(r, ix)] {
			k := x.key(r, kx) + y.key(int(o), ky)
			row, ok := index[k]
			if !ok {
				if row = t.rows; row == p.rows {
					return false
				}
				index[k] = row
				t.rows++
				of = append(of, nil)
				t.values = append(append(t.values, x.pick(r, kx)...), y.pick(int(o), ky)...)
			}
			of[row] = append(of[row], pair{int32(r), o})
		}
	}
	for _, pairs := range of {
		t.first = append(t.first, int32(len(t.pairs)))
		t.pairs = append(t.pairs, pairs...)
	}
	t.first = append(t.first, int32(len(t.pairs)))
	return true
}

// pick is some of a row's values.
func (t *table) pick(row int, at []int) []int32 {
	v := make([]int32, len(at))
	for i, k := range at {
		v[i] = t.values[row*len(t.scope)+k]
	}
	return v
}

func (t *table) key(row int, at []int) string {
	b := make([]byte, 0, 4*len(at))
	for _, k := range at {
		v := t.values[row*len(t.scope)+k]
		b = append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	return string(b)
}

func meet(a, b []int) bool {
	return slices.ContainsFunc(a, func(e int) bool { return slices.Contains(b, e) })
}

// symmetric is what one list has and the other has not: an end has two sides, so that what two parts share is inside.
func symmetric(a, b []int) []int {
	var list []int
	for _, e := range a {
		if !slices.Contains(b, e) {
			list = append(list, e)
		}
	}
	for _, e := range b {
		if !slices.Contains(a, e) {
			list = append(list, e)
		}
	}
	return list
}

// shared is where each of two lists has what both have.
func shared(a, b []int) (ia, ib []int) {
	for i, e := range a {
		if j := slices.Index(b, e); j >= 0 {
			ia, ib = append(ia, i), append(ib, j)
		}
	}
	return ia, ib
}

// without is the indices below n that are not in a list.
func without(n int, list []int) (rest []int) {
	for i := range n {
		if !slices.Contains(list, i) {
			rest = append(rest, i)
		}
	}
	return rest
}
