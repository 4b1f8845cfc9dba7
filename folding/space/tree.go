package space

import (
	"slices"

	"hlsgen/folding/goal"
	"hlsgen/folding/search"
	"hlsgen/internal/dataflow"
)

// A menu makes the choices, for package search, of a space's layers and streams within a region.
type menu struct {
	*FoldingSpace
	*FoldingRegion
}

// NewRegionChoiceTree returns the tree of a region. host is what the network takes in addition to its layers and
// streams. The costs are lower bounds, because FIFOs are only as deep as the region says.
func (s *FoldingSpace) NewRegionChoiceTree(r *FoldingRegion, host search.AmountVector,
	e *search.StepCounter) *search.ChoiceTree {
	m := menu{s, r}
	return m.tree(s.plan, host, e, m.layer, m.stream)
}

// NewGivenClassesChoiceTree returns the tree of the foldings that have the given classes, with FIFOs as deep as the
// region says. Choices are left of memories, and of LUTs or DSP slices. only, if not nil, names each layer's option. It
// returns nil if neighbours cannot be joined.
func (s *FoldingSpace) NewGivenClassesChoiceTree(r *FoldingRegion, class, only []int32, host search.AmountVector,
	e *search.StepCounter) *search.ChoiceTree {
	m, options, joined := menu{s, r}, make([]int32, len(class)), true
	layer := func(i int) [][]search.LeafChoice {
		var list []search.LeafChoice
		l := &s.Layers[i]
		clocks := l.Classes[class[i]].Clocks
		if only == nil {
			askAll(s, l, clocks, m.Spares)
		}
		for o := range l.Options {
			opt := &l.Options[o]
			if given := only != nil; given && only[i] != int32(o) || !given && m.Spares && l.isNarrow(opt) {
				continue
			}
			if opt.clocks != clocks || opt.left || opt.over || int32(opt.Class) != class[i] {
				continue
			}
			list = m.option(list, i, o)
			options[i] = int32(o) // any option of the class has the same words
		}
		return [][]search.LeafChoice{search.PruneDominatedChoices(list)}
	}
	stream := func(id int) [][]search.LeafChoice {
		in, out := s.ends(id, options)
		var list []search.LeafChoice
		if st := &s.Streams[id]; st.inner() {
			list = m.joint(id, in, out)
		} else {
			layer, _ := st.orient(in, out)
			list = m.host(id, slices.Index(st.layerEnd().forms, layer))
		}
		joined = joined && len(list) > 0
		return [][]search.LeafChoice{list}
	}
	t := m.tree(flat(s.beside()+1), host, e, layer, stream)
	if !joined {
		return nil
	}
	return t
}

// tree builds a search tree from the plan p and the choices of each row of each leaf.
func (m menu) tree(p *search.JoinPlan, host search.AmountVector, e *search.StepCounter, layer,
	stream func(int) [][]search.LeafChoice) *search.ChoiceTree {
	var choices [][][]search.LeafChoice
	for i := range m.Layers {
		choices = append(choices, layer(i))
	}
	for id := range m.Streams {
		choices = append(choices, stream(id))
	}
	choices = append(choices, [][]search.LeafChoice{{{Cost: host, Paths: m.nowhere()}}})
	return search.NewChoiceTree(p, choices, e)
}

// nowhere returns a list of zero clocks, one for each path of the region.
func (m menu) nowhere() []int64 { return make([]int64, len(m.Paths)) }

// layer returns the choices of each row of a layer's leaf: the options that the region allows.
func (m menu) layer(i int) [][]search.LeafChoice {
	l, rows := &m.Layers[i], &m.rows[i]
	of, count := make([][]search.LeafChoice, len(l.shapes)), make([]int, len(l.shapes))
	askAll(m.FoldingSpace, l, m.Limit, m.Spares)
	var allowed []int
	for k := range l.Options {
		o := &l.Options[k]
		if o.clocks <= m.Limit && !(m.Spares && l.isNarrow(o)) && !o.left && !o.over && !o.absent &&
			m.allows(m.FoldingSpace, i, o.Class) {
			allowed = append(allowed, k)
			count[o.shape]++
		}
	}
	for _, k := range allowed {
		shape := l.Options[k].shape
		if of[shape] == nil {
			of[shape] = make([]search.LeafChoice, 0, count[shape])
		}
		of[shape] = m.option(of[shape], i, k)
	}
	choices := make([][]search.LeafChoice, len(rows.shapes))
	for row, k := range rows.shapes {
		choices[row] = search.PruneDominatedChoices(of[k])
	}
	return choices
}

// HasAnyFolding reports whether neighbours can be joined where layers take at most the given clocks per frame, whatever
// that costs.
func HasAnyFolding(s *FoldingSpace, clocks int, e *search.StepCounter) bool {
	m := menu{s, &FoldingRegion{Limit: clocks}}
	layer := func(i int) [][]search.LeafChoice {
		l, rows := &m.Layers[i], &m.rows[i]
		choices := make([][]search.LeafChoice, len(rows.shapes))
		for row, k := range rows.shapes {
			fits := func(o FoldOption) bool { return o.shape == int(k) && o.clocks <= clocks }
			if slices.ContainsFunc(l.Options, fits) {
				choices[row] = []search.LeafChoice{{}}
			}
		}
		return choices
	}
	t := m.tree(s.plan, search.AmountVector{}, e, layer, m.stream)
	defer t.Free()
	return t.HasAnySolution()
}

// insideShift is the position of an index into insides in a choice's ID. The bits below it hold the option.
const insideShift = 24

// option appends the choices of an option: one choice, or one per memory of its FIFOs for a split.
func (m menu) option(list []search.LeafChoice, layer, option int) []search.LeafChoice {
	l := &m.Layers[layer]
	o := &l.Options[option]
	c := search.LeafChoice{Cost: o.Cost, ID: int32(option)}
	for p := range m.Paths {
		c.Paths = append(c.Paths, m.Paths[p].Clocks[layer][o.Class])
	}
	if o.split == nil {
		return append(list, c)
	}
	fifos := o.split.fifos
	if len(m.words) > 0 || m.Target.Backend.Stalls.TakesPlacesEarly() {
		fifos = m.inside(l.Node.Out[0], o.split)
	}
	for at, cost := range fifos {
		if slices.Index(fifos, cost) == at {
			c.Cost, c.ID = o.Cost.Minus(o.split.fifos[0]).Plus(cost), int32(option|at<<insideShift)
			list = append(list, c)
		}
	}
	return list
}

// stream returns the choices of each row of a stream's leaf: FIFOs, with a width converter between them where the forms
// differ. The low bits of a choice's ID select the FIFO behind the writer, and the bits above them the FIFO in front of
// the reader.
func (m menu) stream(id int) [][]search.LeafChoice {
	_, behind := m.words[FIFOPlace{stream: id}]
	_, front := m.words[FIFOPlace{stream: id, front: true}]
	if !behind && !front && m.Streams[id].inner() && m.least != nil {
		return m.along(id, m.least[id])
	}
	return m.rowsOf(id, func(in, out form) []search.LeafChoice { return m.joint(id, in, out) })
}

// rowsOf returns the choices of each row of a stream's leaf. For a stream between layers, joint gives the choices of
// two forms.
func (m menu) rowsOf(id int, joint func(in, out form) []search.LeafChoice) [][]search.LeafChoice {
	st, rows := &m.Streams[id], &m.rows[len(m.Layers)+id]
	choices := make([][]search.LeafChoice, len(rows.values)/len(rows.scope))
	for row := range choices {
		if st.inner() {
			choices[row] = joint(st.writer.forms[rows.values[2*row]], st.reader.forms[rows.values[2*row+1]])
		} else if f := rows.values[row]; st.host[f].clocks <= m.Limit {
			choices[row] = m.host(id, int(f))
		}
	}
	return choices
}

// along returns the choices in rows with the clocks of the region's paths added.
func (m menu) along(id int, rows [][]search.LeafChoice) [][]search.LeafChoice {
	if len(m.Paths) == 0 {
		return rows
	}
	st, values := &m.Streams[id], m.rows[len(m.Layers)+id].values
	list := make([][]search.LeafChoice, len(rows))
	for row := range rows {
		clocks := m.converter(id, st.writer.forms[values[2*row]], st.reader.forms[values[2*row+1]])
		list[row] = slices.Clone(rows[row])
		for i := range list[row] {
			list[row][i].Paths = clocks
		}
	}
	return list
}

// converter returns the clocks that each path of the region takes through the width converter from form in to form out.
func (m menu) converter(id int, in, out form) (clocks []int64) {
	for p := range m.Paths {
		clocks = append(clocks, m.Paths[p].converter(m.FoldingSpace, id, in, out))
	}
	return clocks
}

// wayBits is the number of bits in a choice's ID for one FIFO.
const wayBits = 4

// host returns the choices of a stream of the host, at which the layer has its form number f.
func (m menu) host(id, f int) []search.LeafChoice {
	st := &m.Streams[id]
	layer := st.layerEnd().forms[f]
	in, out := st.orient(layer, m.border(id, layer))
	list := m.joint(id, in, out)
	for i := range list {
		list[i].Cost[goal.KindMemoryBytesPerFrame] += st.host[f].bytes
	}
	return list
}

// joint returns the choices of a stream whose ends have forms in and out: FIFOs, and a width converter if the forms
// differ.
func (m menu) joint(id int, in, out form) (list []search.LeafChoice) {
	k := m.convert(id, in, out)
	if !k.ok {
		return nil
	}
	clocks := m.converter(id, in, out)
	add := func(cost search.AmountVector, id int) {
		list = append(list, search.LeafChoice{Cost: cost, Paths: clocks, ID: int32(id)})
	}
	for i, a := range m.ways(FIFOPlace{stream: id}, in, in == out) {
		if in == out {
			add(a.cost, i)
			continue
		}
		for j, b := range m.ways(FIFOPlace{stream: id, front: true}, out, false) {
			add(k.cost.Plus(a.cost).Plus(b.cost), i|j<<wayBits)
		}
	}
	return search.PruneDominatedChoices(list)
}

// ways returns the ways to build a FIFO in the region. If only is true, it is the stream's only FIFO, and must hold
// what either of two would.
func (m menu) ways(side FIFOPlace, f form, only bool) []way {
	words, exact := m.given(side, only)
	if !exact {
		words = max(fewest, m.words[side])
		if only {
			words = max(words, m.words[FIFOPlace{stream: side.stream, front: true}])
		}
	}
	st := &m.Streams[side.stream]
	k := fifoKind{words: words, exact: exact, memory: st.memory(side.front, only)}
	k.host = !side.front && st.writer.layer < 0
	k.read = (only || side.front) && st.reader.layer < 0
	return m.joints.ways(k, st.port(f))
}

// given returns the depth that the user gives a FIFO. exact is false if the user gives none, so that the depth is
// computed.
func (s *FoldingSpace) given(side FIFOPlace, only bool) (words int, exact bool) {
	st := &s.Streams[side.stream]
	switch {
	case side.inside > 0: // a folding file cannot name it
	case only:
		words = max(st.out.Depth, st.in.Depth)
	case side.front:
		words = st.in.Depth
	default:
		words = st.out.Depth
	}
	if words == 0 {
		words = s.fifo.Words
	}
	return words, words > 0
}

// memory returns the memory that the user chose for the stream's FIFO in front of the reader, or behind the writer. It
// returns NoMemory if the user chose none.
func (s *StreamEnds) memory(front, only bool) dataflow.Memory {
	if front || only && s.out.Memory == dataflow.NoMemory {
		return s.in.Memory
	}
	return s.out.Memory
}

// flat returns a plan of n leaves with one row each, joined one after the other.
func flat(n int) *search.JoinPlan {
	p := &search.JoinPlan{Leaves: n}
	for range n {
		p.Tables = append(p.Tables, search.PlanTable{Left: -1, Right: -1, Rows: 1})
	}
	for i := 1; i < n; i++ {
		left := n + i - 2
		if i == 1 {
			left = 0
		}
		p.Tables = append(p.Tables, search.PlanTable{Left: left, Right: i, Rows: 1, First: []int32{0, 1},
			Pairs: []search.RowPair{{}}})
	}
	return p
}
