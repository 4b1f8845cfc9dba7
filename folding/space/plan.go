package space

import (
	"cmp"
	"math/bits"
	"slices"

	"hlsgen/folding/goal"
	"hlsgen/folding/search"
	"hlsgen/internal/dataflow"
)

// The limits of a plan's size. Chains, forks that join again, and nested forks stay far below them. A network whose
// every cut severs many streams does not, so its plan drops ends (planner.loosen). A plan that drops many ends proves
// little for its size, and would take all of a search's time; it is made again with smaller tables.
const (
	maxRows  = 20_000
	maxPairs = 1_000_000
	fewDrops = 32      // ends
	maxAll   = 400_000 // pairs of all tables, for a plan that drops more than fewDrops ends
	fewer    = 8       // divides the most rows when the plan is made again
)

// tables is the tree on which foldings are searched. Its leaves are one table per layer, one per stream, and one for
// everything else; the other tables join two. A table has a row for each combination of forms at the ends of streams in
// its scope. A join eliminates the ends that its two tables share. That is the elimination of variables from a
// constraint network (R. Dechter, Bucket elimination, 1999), whose variables are the forms at the ends. For example, a
// stream s joins layer a to layer b, and a stream t joins b to c:
//
//	a [a.out] with s [a.out, b.in]  =  as  [b.in]     a row for each form that b reads
//	as [b.in] with b [b.in, b.out]  =  asb [b.out]    a row for each form that b writes
//
// So a chain carries one form at a time, and a fork that joins again carries two. The smallest join is made first
// (next).
//
// Where a table would grow too large, the plan drops an end (planner.loosen). From then on, the rows of the two tables
// at that end need not agree there; their differences count only when a whole folding is priced. What the tree excludes
// stays excluded, because foldings whose rows agree everywhere are among those that the tree allows.
type tables struct {
	plan *search.JoinPlan
	rows []leafRows // per leaf
	Wide []int      // streams at whose ends tables need not agree, in increasing order
	like []int      // per stream: the first stream between layers with the same forms and choices, or the stream itself
	// least holds the choices of each stream between layers with FIFOs of the least depth. They are kept because
	// searches need them often.
	least [][][]search.LeafChoice
}

// A leafRows says to which forms the rows of a layer's or a stream's leaf belong.
type leafRows struct {
	scope  []int   // the ends of streams whose forms the rows fix
	values []int32 // rows x scope: indices into the forms of the end
	shapes []int32 // for a layer: the shape of each row
}

// beside returns the index of the leaf for everything other than layers and streams: the one behind them all.
func (s *FoldingSpace) beside() int { return len(s.Layers) + len(s.Streams) }

// writerEnd returns the number of the writer's end of a stream in scopes: 2s for stream s. The reader's end has the
// number 2s+1.
func writerEnd(stream int) int { return 2 * stream }
func readerEnd(stream int) int { return 2*stream + 1 }

func (p *planner) end(number int) *end {
	if number%2 == 0 {
		return &p.Streams[number/2].writer
	}
	return &p.Streams[number/2].reader
}

func (p *planner) formsAt(end int) []form { return p.end(end).forms }

// MakeSearchTables makes the space's tables anew, leaves first. Joined tables have at most the given number of rows.
// New has called it already; nobody may use the space meanwhile.
func (s *FoldingSpace) MakeSearchTables(rows int) {
	for id := range s.Streams {
		s.joints.list(id, s.Layers)
	}
	s.tables = tables{like: alike(s.Streams)}
	p := newPlanner(s, rows)
	for !p.run() {
		p = newPlanner(s, max(1, p.most/fewer))
	}
	s.plan = &search.JoinPlan{Leaves: s.beside() + 1}
	for i, t := range p.tables {
		s.plan.Tables = append(s.plan.Tables, t.PlanTable)
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

// leastChoices returns the choices of each stream between layers with FIFOs of the least depth.
func leastChoices(s *FoldingSpace) [][][]search.LeafChoice {
	type row struct {
		conversion
		given [2]dataflow.FIFO
	}
	list, known := make([][][]search.LeafChoice, len(s.Streams)), map[row][]search.LeafChoice{}
	m := menu{s, &FoldingRegion{Limit: goal.ClocksBeyondAnyInterval}}
	for id := range list {
		st := &s.Streams[id]
		switch like := s.like[id]; {
		case !st.inner():
		case like < id:
			list[id] = list[like]
		default:
			list[id] = m.rowsOf(id, func(in, out form) []search.LeafChoice {
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

// alike returns, for each stream, the first stream between layers with the same forms and choices. That is the stream
// itself if there is no earlier one.
func alike(streams []StreamEnds) []int {
	list, of := make([]int, len(streams)), map[int][]int{} // per class: the streams that differ from all before them
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

// A planner makes the plan of a space's tables: which two are joined, one pair after the other.
type planner struct {
	*FoldingSpace
	most   int // the most rows of a joined table
	tables []planTable
	order  []int  // per table: its place in the network
	joined []bool // per table: whether another table joins it
	meets  []pair // pairs of tables that share ends and that no table joins yet
	loose  []bool // per end: whether it is dropped, so that tables need not agree there
	drops  int    // the number of dropped ends
}

func newPlanner(s *FoldingSpace, rows int) *planner {
	return &planner{FoldingSpace: s, most: rows, loose: make([]bool, 2*len(s.Streams))}
}

// A planTable is a table of a plan under construction, with the form at each end that a row stands for.
type planTable struct {
	search.PlanTable
	leafRows
}

// A pair is two tables that may be joined. Table a comes first in the network.
type pair struct {
	a, b  int
	pairs int // the number of pairs of rows
	size  int // half the bits of the joined table's size: an order of magnitude
}

// run makes all tables of the plan. It returns false if they drop many ends and still have too many pairs of rows.
func (p *planner) run() bool {
	all := 0
	for i := range p.Layers {
		p.add(p.layerTable(i), 2*i)
	}
	for id := range p.Streams {
		p.add(p.streamTable(id), 2*p.Streams[id].writer.layer+1)
	}
	p.add(planTable{PlanTable: search.PlanTable{Left: -1, Right: -1, Rows: 1}}, 2*len(p.Layers))
	owner := map[int]int{} // per end: the first table that has it
	for t := range p.tables {
		p.meet(t, owner)
	}
	for range len(p.tables) - 1 {
		n := p.next()
		t := planTable{PlanTable: search.PlanTable{Left: n.a, Right: n.b}}
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

// scope returns the ends of the join of two tables. Only two tables have an end, so an end that both share disappears.
func (p *planner) scope(a, b int) []int {
	return slices.DeleteFunc(symmetric(p.tables[a].scope, p.tables[b].scope), func(e int) bool { return p.loose[e] })
}

// loosen drops an end. It makes the tables that have the end, and that no other table joins yet, again without it.
// Leaves keep the end; their joins ignore it.
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

// add appends a table that stands at the place at in the network.
func (p *planner) add(t planTable, at int) {
	p.tables, p.order, p.joined = append(p.tables, t), append(p.order, at), append(p.joined, false)
}

// before reports whether table a comes before table b. At the same place the table that was made first comes first.
func (p *planner) before(a, b int) bool {
	return p.order[a] < p.order[b] || p.order[a] == p.order[b] && a < b
}

// meet adds the pairs of a table with the earlier tables that share ends with it. Only two tables have an end.
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

// remeet removes the pairs of the two tables that were joined. It adds pairs of the joined table, which is the last
// one, with the tables that shared ends with either of the two.
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

// pair returns the pair of two tables, with the one earlier in the network first, and with the size of their join.
func (p *planner) pair(a, b int) pair {
	if p.before(b, a) {
		a, b = b, a
	}
	n := pair{a: a, b: b, pairs: p.pairs(a, b)}
	n.size = bits.Len(uint(min(n.pairs, p.product(a, b)))) / 2
	return n
}

// next returns the pair of tables to join next: that whose join is smallest, by order of magnitude. Among equals it
// takes the first in the network, so that it walks a chain from its beginning.
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

// aside returns the first two tables in the network, to be joined when no remaining tables share ends.
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

// product returns the number of combinations of forms at the ends of the join of tables a and b, at most maxPairs.
func (p *planner) product(a, b int) int {
	n := 1
	for _, e := range p.scope(a, b) {
		n = min(n*max(1, len(p.formsAt(e))), maxPairs)
	}
	return n
}

// widest returns the end of a scope with the most forms. It prefers ends without tiles, because a width converter joins
// almost any two forms without tiles.
func (p *planner) widest(scope []int) int {
	return slices.MaxFunc(scope, func(a, b int) int {
		return cmp.Or(cmp.Compare(p.tiled(b), p.tiled(a)), cmp.Compare(len(p.formsAt(a)), len(p.formsAt(b))))
	})
}

// tiled returns 1 if some form at an end has tiles, and 0 otherwise.
func (p *planner) tiled(end int) (tiled int) {
	for _, f := range p.formsAt(end) {
		tiled = max(tiled, min(1, f.tile))
	}
	return tiled
}

// layerTable returns the leaf of a layer: a row for each combination of forms at the layer's ends that an option has.
func (p *planner) layerTable(i int) planTable {
	l := &p.Layers[i]
	t := planTable{PlanTable: search.PlanTable{Left: -1, Right: -1}}
	for _, id := range l.Node.In {
		t.scope = append(t.scope, readerEnd(id))
	}
	for _, id := range l.Node.Out {
		t.scope = append(t.scope, writerEnd(id))
	}
	offered := make([]bool, len(l.shapes))
	for o := range l.Options {
		offered[l.Options[o].shape] = true
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

// streamTable returns the leaf of a stream: a row for each two forms that are equal or that a width converter joins.
// For a stream of the host it has a row for each form.
func (p *planner) streamTable(id int) planTable {
	t := planTable{PlanTable: search.PlanTable{Left: -1, Right: -1}}
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

// difference returns the elements of a that b does not contain.
func difference(a, b []int) []int {
	return slices.DeleteFunc(slices.Clone(a), func(e int) bool { return slices.Contains(b, e) })
}

// symmetric returns the elements that only one of the two lists contains.
func symmetric(a, b []int) []int { return append(difference(a, b), difference(b, a)...) }

// shared returns ia and ib, the indices of the common elements in a and in b, in the same order. It also returns ra and
// rb, the indices of the other elements.
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
