package folding

import (
	"context"
	"fmt"
	"slices"

	"hlsgen/folding/search"
	"hlsgen/internal/dataflow"
)

// A folding is one option per layer, and how its FIFOs are built.
type folding struct {
	options []int32
	fifos   map[streamSide]dataflow.FIFO
	words   map[streamSide]int // that FIFOs hold at least; they may be built for more
	cost    search.Vector
}

// measures is what a folding measures.
func (f *folding) measures(m search.Measure) float64 { return m.Value(&search.Solution{Cost: f.cost}) }

// asGood is what may be taken within caps to measure as little as a folding, or less for less = 1.
func (f *folding) asGood(m search.Measure, caps search.Caps, less int64) search.Caps {
	return m.AsGood(&search.Solution{Cost: f.cost}, caps, less)
}

// class is the class of every layer.
func (s *space) class(options []int32) []int32 {
	list := make([]int32, len(options))
	for i, o := range options {
		list[i] = int32(s.layers[i].options[o].class)
	}
	return list
}

// folding is what a solution of a region's tree means.
func (s *space) folding(r *region, f *search.Solution) *folding {
	g := &folding{cost: f.Cost, words: r.words, fifos: map[streamSide]dataflow.FIFO{}}
	for i := range s.layers {
		g.options = append(g.options, f.Picks[i].ID)
	}
	for id := range s.streams {
		pick := f.Picks[len(s.layers)+id].ID
		s.eachFIFO(id, g.options, func(side streamSide, f form, only bool) {
			at := pick & (1<<wayBits - 1)
			if side.front {
				at = pick >> wayBits
			}
			list := s.fifoWays(side, r, f, only)
			g.fifos[side] = list[min(int(at), len(list)-1)].FIFO // of a stream that the plan leaves out, any
		})
	}
	return g
}

// eachFIFO gives the FIFOs of a stream between layers of some options, and the forms of their words.
func (s *space) eachFIFO(id int, options []int32, visit func(side streamSide, f form, only bool)) {
	in, out := s.ends(id, options)
	visit(streamSide{id, false}, in, in == out)
	if in != out {
		visit(streamSide{id, true}, out, false)
	}
}

// ends is the forms at the two ends of a stream; the host has its layer's.
func (s *space) ends(id int, options []int32) (in, out form) {
	st := &s.streams[id]
	if st.writer.layer >= 0 {
		in = s.layers[st.writer.layer].shape(int(options[st.writer.layer])).out[st.writer.port]
	}
	if st.reader.layer < 0 {
		return in, in
	}
	out = s.layers[st.reader.layer].shape(int(options[st.reader.layer])).in[st.reader.port]
	if st.writer.layer < 0 {
		in = out
	}
	return in, out
}

// A built is a design of a folding, with where its nodes and streams are from.
type built struct {
	*dataflow.Design
	layer []int        // per node: the layer; -1 of a width converter
	sides []streamSide // per stream
	conv  []int        // per node: the stream that a width converter is on
}

// build puts width converters where the words of neighbours differ. It is nil where none joins them.
func (s *space) build(f *folding) *built {
	g := s.graph
	var b dataflow.Builder
	made := &built{}
	var folds []dataflow.Fold
	stream := make([]int, len(g.Streams)) // in the new graph, where the reader finds it
	note := func(id int, side streamSide) {
		for len(made.sides) <= id {
			made.sides = append(made.sides, streamSide{})
		}
		made.sides[id] = side
	}
	for _, in := range g.In {
		stream[in] = b.Input(g.Streams[in].Name, g.Streams[in].Type)
		note(stream[in], streamSide{in, false})
	}
	for i := range s.layers {
		l := &s.layers[i]
		o := l.options[f.options[i]]
		var ins []int
		for _, id := range l.node.In {
			if in, out := s.ends(id, f.options); in != out {
				k := s.convert(id, in, out)
				if !k.ok {
					return nil
				}
				stream[id] = bind(&b, s.converter(in, out), []int{stream[id]}, nil, nil)[0]
				note(stream[id], streamSide{id, true})
				folds, made.layer, made.conv = append(folds, k.fold), append(made.layer, -1), append(made.conv, id)
			}
			ins = append(ins, stream[id])
		}
		var tensors []string
		var types []dataflow.Type
		for _, id := range l.node.Out {
			tensors, types = append(tensors, g.Streams[id].Name), append(types, g.Streams[id].Type)
		}
		for p, id := range b.Place(l.node.Op, ins, tensors, l.node.Origin, types) {
			stream[l.node.Out[p]] = id
			note(id, streamSide{l.node.Out[p], false})
		}
		folds, made.layer, made.conv = append(folds, o.fold), append(made.layer, i), append(made.conv, -1)
	}
	for _, out := range g.Out {
		b.Output(stream[out])
	}
	graph, err := b.Graph()
	if err != nil {
		panic(fmt.Sprintf("folding: the folded graph is malformed: %v", err))
	}
	folded := *s.model
	folded.Graph = graph
	made.Design = &dataflow.Design{Model: &folded, Target: s.target, Folds: folds, FIFO: make([]dataflow.FIFO, len(graph.Streams))}
	for id, side := range made.sides {
		if made.FIFO[id] = f.fifos[side]; made.FIFO[id].Depth == 0 {
			made.FIFO[id] = dataflow.FIFO{Depth: dataflow.Shallow, Memory: dataflow.SRL}
		}
	}
	return made
}

// bind adds a layer that has been bound to the same types before.
func bind(b *dataflow.Builder, op dataflow.Op, in []int, tensors, origin []string) (out []int) {
	out, err := b.Add(op, in, tensors, origin)
	if err != nil {
		panic(fmt.Sprintf("folding: %s does not bind again: %v", op.Kind(), err))
	}
	return out
}

// depths is the words of the design's FIFOs, and those that the user gives, by stream of the design.
func (s *space) depths(b *built) (from, fixed []int) {
	from, fixed = b.Depths(), make([]int, len(b.sides))
	converted := map[int]bool{}
	for _, id := range b.conv {
		converted[id] = true
	}
	for id, side := range b.sides {
		if words, exact := s.given(side, !converted[side.stream]); exact {
			fixed[id] = words
		}
	}
	return from, fixed
}

// assessNodes is how many nodes a search among the ways to build one folding looks at, and assessWork the work that it may
// do, whatever is left: a folding whose FIFOs took the last of that to size is still built in the best way.
const (
	assessNodes = 200
	assessWork  = 2_000_000
)

// assess is the best folding of some classes whose FIFOs hold so many words: where tables lie, what multiplies, where FIFOs
// lie; where only is not nil, with these options, which have the classes. It is nil where nothing is within caps.
func (s *space) assess(ctx context.Context, q *question, r *region, class, only []int32, m search.Measure,
	caps search.Caps) (*folding, error) {
	one := r.with(layersOf(class), class)
	options := make([]int32, len(class))
	for i, c := range class {
		options[i] = int32(slices.IndexFunc(s.layers[i].options, func(o option) bool { return int32(o.class) == c }))
	}
	n := s.beside() + 1
	choices := make([][][]search.Choice, n)
	for i := range s.layers {
		var list []search.Choice
		for o, opt := range s.layers[i].options {
			if int32(opt.class) == class[i] && (only == nil || only[i] == int32(o)) {
				list = append(list, search.Choice{Cost: opt.cost, ID: int32(o)})
			}
		}
		choices[i] = [][]search.Choice{search.Undominated(list)}
	}
	for id := range s.streams {
		in, out := s.ends(id, options)
		var list []search.Choice
		if s.streams[id].inner() {
			list = s.innerChoices(id, &one, in, out)
		} else {
			e := &s.streams[id].reader
			if e.layer < 0 {
				e = &s.streams[id].writer
			}
			list = s.hostChoices(id, &one, slices.Index(e.forms, in))
		}
		if len(list) == 0 {
			return nil, nil // no converter joins them
		}
		choices[len(s.layers)+id] = [][]search.Choice{list}
	}
	choices[n-1] = [][]search.Choice{{{Cost: q.host}}}
	effort := search.Effort{Limit: assessWork}
	t := search.NewTree(flat(n), choices, &effort)
	got, err := t.Minimise(ctx, m, nil, caps, assessNodes)
	q.effort.Done += effort.Done
	if err != nil || got.Best == nil {
		return nil, err
	}
	return s.folding(&one, got.Best), nil
}

// settled is a folding with its FIFOs built in the way that is settled on where several measure the same: who asks for these
// folds again gets these FIFOs.
func (s *space) settled(ctx context.Context, q *question, f *folding, limit int, order []Measure) (*folding, error) {
	r := region{limit: limit, words: f.words}
	caps := s.capsAt(q, limit)
	if !f.cost.Within(&caps.Vector) {
		caps = search.Unlimited
	}
	var measures []search.Measure
	for _, m := range order {
		measures = append(measures, m.of(&q.yard))
	}
	measures = append(measures, search.Measure{Kind: ff}, search.Measure{Kind: lutram})
	best := f
	for k, m := range measures {
		g, err := s.assess(ctx, q, &r, s.class(f.options), f.options, m, caps)
		if err != nil || g == nil || k < len(order) && g.measures(m) > f.measures(m) {
			return f, err
		}
		best, caps = g, g.asGood(m, caps, 0)
	}
	return best, nil
}

func layersOf(class []int32) []int {
	list := make([]int, len(class))
	for i := range list {
		list[i] = i
	}
	return list
}

// flat is a plan of leaves of one row each.
func flat(n int) *search.Plan {
	p := &search.Plan{Leaves: n}
	for range n {
		p.Tables = append(p.Tables, search.Table{Left: -1, Right: -1, Rows: 1})
	}
	for i := 1; i < n; i++ {
		left := n + i - 2
		if i == 1 {
			left = 0
		}
		p.Tables = append(p.Tables, search.Table{Left: left, Right: i, Rows: 1, First: []int32{0, 1}, Pairs: []search.Pair{{}}})
	}
	return p
}
