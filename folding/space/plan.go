package space

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"hlsgen/folding/ask"
	"hlsgen/folding/search"
)

// What a plan may grow to. Chains, forks that join again, and forks within forks stay far below; a network whose every
// cut severs many streams does not, and its plan leaves streams out (wide).
const (
	maxRows  = 20_000
	maxPairs = 1_000_000
)

// tables is the tree on which foldings are searched: a leaf per layer, then one per stream, then one of what is beside
// them; and the joins of them. A table has a row for every combination of forms at the ends of streams in its scope; a
// join eliminates the ends that its two tables share. That is the elimination of variables from a constraint network
// (R. Dechter, Bucket elimination, 1999), of which the forms at the ends are the variables. For example, a stream s
// joins layer a to layer b, and a stream t joins b to c:
//
//	a [a.out] with s [a.out, b.in]  =  as  [b.in]     a row for each form that b reads
//	as [b.in] with b [b.in, b.out]  =  asb [b.out]    and for each that it writes
//
// So a chain carries one form at a time, and a fork that joins again two. The smallest join is made first (next).
//
// A stream that the plan leaves out is a leaf that meets nothing: its ends need not agree there, and what joins them is
// priced when a folding is looked at as a whole. What the tree excludes is excluded all the same.
type tables struct {
	plan *search.Plan
	rows []leafRows // per leaf
	Wide []int      // streams that are left out
	// least is the choices of every stream between layers where FIFOs hold the least: they are asked for time and
	// again.
	least [][][]search.Choice
}

// leafRows is what the rows of a leaf are.
type leafRows struct {
	scope  []int     // ends of streams, each of which has a form
	values []int32   // rows x scope: indices into the forms of the end
	shapes [][]int32 // of a layer: the shapes of each row, which differ at ends that the plan leaves out
}

// beside is the leaf of what is beside layers and streams.
func (s *Space) beside() int { return len(s.Layers) + len(s.Streams) }

// The ends in a scope are numbered by stream.
func writerEnd(stream int) int { return 2 * stream }
func readerEnd(stream int) int { return 2*stream + 1 }

func (p *planner) end(number int) *end {
	if number%2 == 0 {
		return &p.Streams[number/2].writer
	}
	return &p.Streams[number/2].reader
}

func (p *planner) formsAt(end int) []form { return p.end(end).forms }

// Plan lists the tables, leaves first, none of more rows than so many. Where one grows too large, it takes a stream out
// of the plan and begins anew. It is called before the space is used.
func (s *Space) Plan(rows int) {
	for id := range s.Streams {
		s.joints.list(id, s.Layers)
	}
	s.tables = tables{}
	for {
		p := planner{Space: s, most: rows, sizes: map[[2]int]int{}}
		cut := p.run()
		if cut < 0 {
			s.plan = &search.Plan{Leaves: s.beside() + 1}
			for i, t := range p.tables {
				s.plan.Tables = append(s.plan.Tables, t.Table)
				if i < s.plan.Leaves {
					s.rows = append(s.rows, t.leafRows)
				}
			}
			break
		}
		s.Wide = append(s.Wide, cut)
	}
	least := make([][][]search.Choice, len(s.Streams))
	for id := range least {
		if s.Streams[id].inner() {
			least[id] = menu{s, &Region{Limit: ask.MostClocks}}.stream(id)
		}
	}
	s.least = least
}

// A planner is a plan under way.
type planner struct {
	*Space
	most   int // rows
	tables []planTable
	open   []int          // tables that no other has joined yet, in the order of the network
	sizes  map[[2]int]int // pairs that joining two tables makes
}

// A planTable is a table with what its rows mean.
type planTable struct {
	search.Table
	leafRows
}

// run makes the tables. cut is a stream to leave out of the plan, or -1.
func (p *planner) run() (cut int) {
	var order []int // per table, in the network
	add := func(t planTable, at int) {
		p.open, order = append(p.open, len(p.tables)), append(order, at)
		p.tables = append(p.tables, t)
	}
	for i := range p.Layers {
		add(p.layerTable(i), 2*i)
	}
	for id := range p.Streams {
		add(p.streamTable(id), 2*p.Streams[id].writer.layer+1)
	}
	add(planTable{Table: search.Table{Left: -1, Right: -1, Rows: 1}}, 2*len(p.Layers))
	for len(p.open) > 1 {
		slices.SortStableFunc(p.open, func(a, b int) int { return cmp.Compare(order[a], order[b]) })
		a, b := p.next()
		t := planTable{Table: search.Table{Left: a, Right: b}}
		t.scope = symmetric(p.tables[a].scope, p.tables[b].scope)
		if p.size(a, b) > maxPairs || !p.join(&t) {
			return p.widest(t.scope, p.tables[a].scope)
		}
		p.open = slices.DeleteFunc(p.open, func(i int) bool { return i == a || i == b })
		add(t, min(order[a], order[b]))
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
		return p.open[0], p.open[1] // parts side by side
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

// widest is the stream, of the first list that has one, whose end has the most forms; if it can be one without tiles,
// for which there is a converter between almost any two forms.
func (p *planner) widest(lists ...[]int) int {
	for _, scope := range lists {
		if len(scope) == 0 {
			continue
		}
		return slices.MaxFunc(scope, func(a, b int) int {
			return cmp.Or(cmp.Compare(p.tiled(b), p.tiled(a)), cmp.Compare(len(p.formsAt(a)), len(p.formsAt(b))))
		}) / 2
	}
	panic("folding: a table of one row is too large")
}

// tiled is 1 where some form at an end has tiles, else 0.
func (p *planner) tiled(end int) (tiled int) {
	for _, f := range p.formsAt(end) {
		tiled = max(tiled, min(1, f.tile))
	}
	return tiled
}

// layerTable has a row for every combination of forms at the layer's ends.
func (p *planner) layerTable(i int) planTable {
	l := &p.Layers[i]
	t := planTable{Table: search.Table{Left: -1, Right: -1}}
	for _, id := range l.Node.In {
		t.scope = append(t.scope, readerEnd(id))
	}
	for _, id := range l.Node.Out {
		t.scope = append(t.scope, writerEnd(id))
	}
	t.scope = slices.DeleteFunc(t.scope, func(e int) bool { return slices.Contains(p.Wide, e/2) })
	offered := make([]bool, len(l.shapes))
	for o := range l.Options {
		offered[l.Classes[l.Options[o].Class].shape] = true
	}
	index := map[string]int{}
	for k := range l.shapes {
		if !offered[k] {
			continue
		}
		var at []form
		for _, e := range t.scope {
			at = append(at, l.shapes[k].port(e%2 == 0, p.end(e).port))
		}
		r := number(index, key(at))
		if r == t.Rows {
			t.Rows++
			t.shapes = append(t.shapes, nil)
			for j, f := range at {
				t.values = append(t.values, int32(slices.Index(p.formsAt(t.scope[j]), f)))
			}
		}
		t.shapes[r] = append(t.shapes[r], int32(k))
	}
	return t
}

// streamTable has a row for every two forms that are equal or that a width converter joins; of a stream of the host for
// every form, and of one that is left out a single one.
func (p *planner) streamTable(id int) planTable {
	t := planTable{Table: search.Table{Left: -1, Right: -1}}
	st := &p.Streams[id]
	switch {
	case slices.Contains(p.Wide, id):
		t.Rows = 1
	case !st.inner():
		e := writerEnd(id)
		if st.writer.layer < 0 {
			e = readerEnd(id)
		}
		t.scope = []int{e}
		for i := range p.formsAt(e) {
			t.values = append(t.values, int32(i))
			t.Rows++
		}
	default:
		t.scope = []int{writerEnd(id), readerEnd(id)}
		for i, in := range st.writer.forms {
			for j, out := range st.reader.forms {
				if p.convert(id, in, out).ok {
					t.values = append(t.values, int32(i), int32(j))
					t.Rows++
				}
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
	ix, iy, _, _ := shared(x.scope, y.scope)
	for r := range x.Rows {
		count[x.key(r, ix)]++
	}
	n := 0
	for r := range y.Rows {
		n += count[y.key(r, iy)]
	}
	p.sizes[[2]int{a, b}] = n
	return n
}

// join fills a table from the two that it joins. It reports false where it has too many rows.
func (p *planner) join(t *planTable) bool {
	x, y := &p.tables[t.Left], &p.tables[t.Right]
	ix, iy, kx, ky := shared(x.scope, y.scope)
	match := map[string][]int32{}
	for r := range y.Rows {
		k := y.key(r, iy)
		match[k] = append(match[k], int32(r))
	}
	index := map[string]int{}
	var of [][]search.Pair // per row
	for r := range x.Rows {
		for _, o := range match[x.key(r, ix)] {
			row := number(index, x.key(r, kx)+y.key(int(o), ky))
			if row == t.Rows {
				if row == p.most {
					return false
				}
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

// key is a map key for some of a row's values.
func (t *planTable) key(row int, at []int) string {
	b := make([]byte, 0, 4*len(at))
	for _, k := range at {
		b = binary.LittleEndian.AppendUint32(b, uint32(t.values[row*len(t.scope)+k]))
	}
	return string(b)
}

// difference is what one list has and the other has not.
func difference(a, b []int) []int {
	return slices.DeleteFunc(slices.Clone(a), func(e int) bool { return slices.Contains(b, e) })
}

func meet(a, b []int) bool {
	return slices.ContainsFunc(a, func(e int) bool { return slices.Contains(b, e) })
}

// symmetric is what only one of the lists has: an end has two sides, so that what two parts share is inside.
func symmetric(a, b []int) []int { return append(difference(a, b), difference(b, a)...) }

// shared is where each of two lists has what both have, and where each has the rest.
func shared(a, b []int) (ia, ib, ra, rb []int) {
	for i, e := range a {
		if j := slices.Index(b, e); j >= 0 {
			ia, ib = append(ia, i), append(ib, j)
		} else {
			ra = append(ra, i)
		}
	}
	for j := range b {
		if !slices.Contains(ib, j) {
			rb = append(rb, j)
		}
	}
	return ia, ib, ra, rb
}
