package space

import (
	"cmp"
	"math/bits"
	"slices"

	"hlsgen/folding/ask"
	"hlsgen/folding/search"
	"hlsgen/internal/dataflow"
)

// What a plan may grow to. Chains, forks that join again, and forks within forks stay far below; a network whose every
// cut severs many streams does not, and its plan drops ends (planner.loosen). One that drops many says little for its
// size, and a search would do nothing but go over it: it is made again, of smaller tables.
const (
	maxRows  = 20_000
	maxPairs = 1_000_000
	fewDrops = 32      // ends
	maxAll   = 400_000 // pairs of all tables of a plan that drops more
	fewer    = 8       // times fewer rows, when it is made again
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
// A table that would grow too large drops an end (planner.loosen): from then on its rows and those of the table on the
// other side of the end need not agree there. What is between them is priced when a folding is looked at as a whole.
// What the tree excludes is excluded all the same, for a folding that agrees everywhere is one of those that need not.
type tables struct {
	plan *search.Plan
	rows []leafRows // per leaf
	Wide []int      // streams at whose ends tables need not agree, increasing
	like []int      // per stream: the first one between layers that has the same forms and choices, or itself
	// least is the choices of every stream between layers where FIFOs hold the least: they are asked for time and
	// again.
	least [][][]search.Choice
}

// leafRows is what the rows of a leaf are.
type leafRows struct {
	scope  []int   // ends of streams, each of which has a form
	values []int32 // rows x scope: indices into the forms of the end
	shapes []int32 // of a layer: the shape of each row
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

// Plan lists the tables, leaves first, none of more rows than so many but for leaves. It is called before the space is
// used.
func (s *Space) Plan(rows int) {
	for id := range s.Streams {
		s.joints.list(id, s.Layers)
	}
	s.tables = tables{like: alike(s.Streams)}
	p := newPlanner(s, rows)
	for !p.run() {
		p = newPlanner(s, max(1, p.most/fewer))
	}
	s.plan = &search.Plan{Leaves: s.beside() + 1}
	for i, t := range p.tables {
		s.plan.Tables = append(s.plan.Tables, t.Table)
		if i < s.plan.Leaves {
			s.rows = append(s.rows, t.leafRows)
		}
	}
	for id := range s.Streams {
		if p.loose[writerEnd(id)] || p.loose[readerEnd(id)] {
			s.Wide = append(s.Wide, id)
		}
	}
	s.least = leastChoices(s)
}

// leastChoices is those of every stream between layers where FIFOs hold the least.
func leastChoices(s *Space) [][][]search.Choice {
	type row struct {
		conversion
		given [2]dataflow.FIFO
	}
	list, known := make([][][]search.Choice, len(s.Streams)), map[row][]search.Choice{}
	m := menu{s, &Region{Limit: ask.MostClocks}}
	for id := range list {
		st := &s.Streams[id]
		switch like := s.like[id]; {
		case !st.inner():
		case like < id:
			list[id] = list[like]
		default:
			list[id] = m.rowsOf(id, func(in, out form) []search.Choice {
				r := row{conversion{st.class, in, out}, [2]dataflow.FIFO{st.in, st.out}}
				choices, ok := known[r]
				if !ok {
					choices = m.joint(id, in, out)
					known[r] = choices
				}
				return choices
			})
		}
	}
	return list
}

// alike finds for every stream the first one between layers that has the same forms and choices; the stream itself
// where there is none.
func alike(streams []Stream) []int {
	list, of := make([]int, len(streams)), map[int][]int{} // of a class, those that are not alike
	for id := range streams {
		s := &streams[id]
		list[id] = id
		if !s.inner() {
			continue
		}
		at := slices.IndexFunc(of[s.class], func(o int) bool { return streams[o].alike(s) })
		if at < 0 {
			of[s.class] = append(of[s.class], id)
		} else {
			list[id] = of[s.class][at]
		}
	}
	return list
}

// A planner is a plan under way.
type planner struct {
	*Space
	most   int // rows
	tables []planTable
	order  []int  // per table, in the network
	joined []bool // per table: another one has joined it
	meets  []pair // tables that no other has joined yet and that share ends
	loose  []bool // per end: it is dropped, and tables need not agree there
	drops  int    // how many these are
}

func newPlanner(s *Space, rows int) *planner {
	return &planner{Space: s, most: rows, loose: make([]bool, 2*len(s.Streams))}
}

// A planTable is a table with what its rows mean.
type planTable struct {
	search.Table
	leafRows
}

// A pair is two tables that may be joined, the first one of which comes first in the network.
type pair struct {
	a, b  int
	pairs int // of rows
	size  int // of the table that they make, by magnitude
}

// run makes the tables. It reports false where these drop many ends and have too many pairs of rows.
func (p *planner) run() bool {
	all := 0
	for i := range p.Layers {
		p.add(p.layerTable(i), 2*i)
	}
	for id := range p.Streams {
		p.add(p.streamTable(id), 2*p.Streams[id].writer.layer+1)
	}
	p.add(planTable{Table: search.Table{Left: -1, Right: -1, Rows: 1}}, 2*len(p.Layers))
	owner := map[int]int{} // of an end, the first table that has it
	for t := range p.tables {
		p.meet(t, owner)
	}
	for range len(p.tables) - 1 {
		n := p.next()
		t := planTable{Table: search.Table{Left: n.a, Right: n.b}}
		t.scope = p.scope(n.a, n.b)
		for n.pairs > maxPairs && len(t.scope) > 0 || !p.join(&t, n.pairs) {
			p.loosen(p.widest(t.scope))
			n, t.scope = p.pair(n.a, n.b), p.scope(n.a, n.b)
		}
		if all += len(t.Pairs); all > maxAll && p.drops > fewDrops && p.most > 1 {
			return false
		}
		p.joined[n.a], p.joined[n.b] = true, true
		p.add(t, min(p.order[n.a], p.order[n.b]))
		p.remeet(n)
	}
	return true
}

// scope is the ends of the table that two tables make: an end has two sides, so that what both share is inside.
func (p *planner) scope(a, b int) []int {
	return slices.DeleteFunc(symmetric(p.tables[a].scope, p.tables[b].scope), func(e int) bool { return p.loose[e] })
}

// loosen drops an end: of the tables that no other has joined yet, those that have it are made again without it, but
// for leaves, of which joins drop it.
func (p *planner) loosen(end int) {
	p.loose[end] = true
	p.drops++
	for i := p.beside() + 1; i < len(p.tables); i++ {
		t := &p.tables[i]
		if p.joined[i] || !slices.Contains(t.scope, end) {
			continue
		}
		t.scope = p.scope(t.Left, t.Right)
		p.join(t, len(t.Pairs))
		for k, m := range p.meets {
			if m.a == i || m.b == i {
				p.meets[k] = p.pair(m.a, m.b)
			}
		}
	}
}

// add adds a table at a place in the network.
func (p *planner) add(t planTable, at int) {
	p.tables, p.order, p.joined = append(p.tables, t), append(p.order, at), append(p.joined, false)
}

// before reports whether a table comes before another one: of tables at the same place the one that was made first.
func (p *planner) before(a, b int) bool {
	return p.order[a] < p.order[b] || p.order[a] == p.order[b] && a < b
}

// meet adds the pairs of a table with those before it that share ends with it. An end is of two tables.
func (p *planner) meet(table int, owner map[int]int) {
	var with []int
	for _, e := range p.tables[table].scope {
		if other, ok := owner[e]; !ok {
			owner[e] = table
		} else if !slices.Contains(with, other) {
			with = append(with, other)
		}
	}
	for _, other := range with {
		p.meets = append(p.meets, p.pair(other, table))
	}
}

// remeet takes away the pairs of two tables that were joined, and adds those of the table that they make, which is the
// last one: with the tables that one of the two met.
func (p *planner) remeet(n pair) {
	made, kept := len(p.tables)-1, p.meets[:0]
	var with []int
	for _, m := range p.meets {
		switch {
		case !p.joined[m.a] && !p.joined[m.b]:
			kept = append(kept, m)
			continue
		case !p.joined[m.a]:
			with = append(with, m.a)
		case !p.joined[m.b]:
			with = append(with, m.b)
		}
	}
	p.meets = kept
	slices.Sort(with)
	for _, other := range slices.Compact(with) {
		if ix, _, _, _ := shared(p.tables[other].scope, p.tables[made].scope); len(ix) > 0 {
			p.meets = append(p.meets, p.pair(other, made))
		}
	}
}

// pair is two tables that share ends.
func (p *planner) pair(a, b int) pair {
	if p.before(b, a) {
		a, b = b, a
	}
	n := pair{a: a, b: b, pairs: p.pairs(a, b)}
	n.size = bits.Len(uint(min(n.pairs, p.product(a, b)))) / 2
	return n
}

// next chooses the two tables to join: the ones that make the smallest table, by magnitude; of these the first in the
// network, so that a chain is walked from its beginning.
func (p *planner) next() pair {
	if len(p.meets) == 0 {
		return p.aside()
	}
	best := p.meets[0]
	for _, n := range p.meets[1:] {
		switch {
		case n.size != best.size:
			if n.size < best.size {
				best = n
			}
		case n.a == best.a && p.before(n.b, best.b) || p.before(n.a, best.a):
			best = n
		}
	}
	return best
}

// aside is the first two tables in the network, where none that are left share ends.
func (p *planner) aside() pair {
	var open []int
	for t, joined := range p.joined {
		if !joined {
			open = append(open, t)
		}
	}
	slices.SortFunc(open, func(a, b int) int { return cmp.Or(cmp.Compare(p.order[a], p.order[b]), cmp.Compare(a, b)) })
	return p.pair(open[0], open[1])
}

// product is the number of combinations of forms at the ends of a join.
func (p *planner) product(a, b int) int {
	n := 1
	for _, e := range p.scope(a, b) {
		n = min(n*max(1, len(p.formsAt(e))), maxPairs)
	}
	return n
}

// widest is the end that has the most forms, if it can be one without tiles, for which there is a converter between
// almost any two forms.
func (p *planner) widest(scope []int) int {
	return slices.MaxFunc(scope, func(a, b int) int {
		return cmp.Or(cmp.Compare(p.tiled(b), p.tiled(a)), cmp.Compare(len(p.formsAt(a)), len(p.formsAt(b))))
	})
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
	offered := make([]bool, len(l.shapes))
	for o := range l.Options {
		offered[l.Classes[l.Options[o].Class].shape] = true
	}
	for k := range l.shapes {
		if !offered[k] {
			continue
		}
		for _, e := range t.scope {
			f := l.shapes[k].port(e%2 == 0, p.end(e).port)
			t.values = append(t.values, int32(slices.Index(p.formsAt(e), f)))
		}
		t.shapes = append(t.shapes, int32(k))
		t.Rows++
	}
	return t
}

// streamTable has a row for every two forms that are equal or that a width converter joins; of a stream of the host for
// every form.
func (p *planner) streamTable(id int) planTable {
	t := planTable{Table: search.Table{Left: -1, Right: -1}}
	st := &p.Streams[id]
	switch {
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
	case p.like[id] < id:
		t = p.tables[len(p.Layers)+p.like[id]]
		t.scope = []int{writerEnd(id), readerEnd(id)}
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

// difference is what one list has and the other has not.
func difference(a, b []int) []int {
	return slices.DeleteFunc(slices.Clone(a), func(e int) bool { return slices.Contains(b, e) })
}

// symmetric is what only one of the lists has.
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
