package folding

import (
	"slices"

	"hlsgen/folding/search"
)

// A region is a part of the space: what foldings are searched among.
type region struct {
	limit int                // clocks per frame of every layer and of the host's port, at most
	class []int32            // per layer: the class that it has; -1 where that is open; nil: all are open
	not   []exclusion        // classes that layers do not have
	words map[streamSide]int // of FIFOs that hold more than two, at least
	paths []path             // whose clocks are counted
}

// An exclusion is a layer and a class that it does not have.
type exclusion struct {
	layer int
	class int32
}

// A streamSide is one of the two FIFOs of a stream that has a width converter; of a stream without one there is only the one
// behind its writer, which then holds what either is to hold.
type streamSide struct {
	stream int
	front  bool // in front of the reader
}

// compare orders FIFOs along the network.
func (s streamSide) compare(o streamSide) int {
	if s.stream != o.stream || s.front == o.front {
		return s.stream - o.stream
	}
	if o.front {
		return -1
	}
	return 1
}

// allows reports whether a layer may have a class.
func (r *region) allows(s *space, layer int, class int) bool {
	switch {
	case s.layers[layer].classes[class].clocks > r.limit:
		return false
	case r.class != nil && r.class[layer] >= 0:
		return r.class[layer] == int32(class)
	}
	return !slices.Contains(r.not, exclusion{layer, int32(class)})
}

// fixed reports whether the class of a layer is decided.
func (r *region) fixed(layer int) bool { return r.class != nil && r.class[layer] >= 0 }

// with is the region in which some layers have these classes.
func (r region) with(layers []int, class []int32) region {
	if r.class == nil {
		r.class = slices.Repeat([]int32{-1}, len(class))
	} else {
		r.class = slices.Clone(r.class)
	}
	for _, l := range layers {
		r.class[l] = class[l]
	}
	return r
}

// without is the region in which a layer does not have a class.
func (r region) without(layer int, class int32) region {
	r.not = append(slices.Clip(r.not), exclusion{layer, class})
	return r
}

// deeper is the region in which a FIFO holds so many words at least.
func (r region) deeper(s streamSide, words int) region {
	was := r.words
	r.words = map[streamSide]int{s: words}
	for k, w := range was {
		r.words[k] = max(w, r.words[k])
	}
	return r
}

// tree is the tree of a region. It is what foldings take at least: FIFOs are as deep as the region has them.
func (s *space) tree(r *region, q *question) *search.Tree {
	choices := make([][][]search.Choice, s.beside()+1)
	for i := range s.layers {
		choices[i] = s.layerChoices(i, r)
	}
	for id := range s.streams {
		choices[len(s.layers)+id] = s.streamChoices(id, r)
	}
	choices[s.beside()] = [][]search.Choice{{{Cost: q.host, Paths: make([]int64, len(r.paths))}}}
	return search.NewTree(s.plan, choices, &q.effort)
}

// layerChoices is the choices of a layer's rows: options.
func (s *space) layerChoices(i int, r *region) [][]search.Choice {
	l, rows := &s.layers[i], &s.planned.rows[i]
	of := make([][]search.Choice, len(l.shapes))
	for o := range l.options {
		if c := l.options[o].class; r.allows(s, i, c) {
			choice := search.Choice{Cost: l.options[o].cost, ID: int32(o)}
			for p := range r.paths {
				choice.Paths = append(choice.Paths, r.paths[p].layer[i][c])
			}
			shape := l.classes[c].shape
			of[shape] = append(of[shape], choice)
		}
	}
	choices := make([][]search.Choice, len(rows.shapes))
	for row, shapes := range rows.shapes {
		for _, k := range shapes {
			choices[row] = append(choices[row], of[k]...)
		}
		choices[row] = search.Undominated(choices[row])
	}
	return choices
}

// streamChoices is the choices of a stream's rows: the FIFOs, with the width converter between them where there is one. The
// identity of a choice is that of the way of the FIFO behind the writer, and above it that of the one in front of the
// reader.
func (s *space) streamChoices(id int, r *region) [][]search.Choice {
	st, rows := &s.streams[id], &s.planned.rows[len(s.layers)+id]
	if len(rows.scope) == 0 {
		return [][]search.Choice{{{Paths: make([]int64, len(r.paths))}}} // left out of the plan
	}
	_, behind := r.words[streamSide{id, false}]
	_, front := r.words[streamSide{id, true}]
	plain := !behind && !front && len(r.paths) == 0
	if plain && st.inner() && s.least != nil {
		return s.least[id]
	}
	n := len(rows.values) / len(rows.scope)
	choices := make([][]search.Choice, n)
	for row := range n {
		if !st.inner() {
			f := rows.values[row]
			if h := st.host[f]; h.clocks <= r.limit {
				choices[row] = s.hostChoices(id, r, int(f))
			}
			continue
		}
		in, out := st.writer.forms[rows.values[2*row]], st.reader.forms[rows.values[2*row+1]]
		choices[row] = s.innerChoices(id, r, in, out)
	}
	return choices
}

// wayBits is the bits of a choice's identity that a FIFO's way takes.
const wayBits = 4

func (s *space) hostChoices(id int, r *region, f int) (list []search.Choice) {
	st := &s.streams[id]
	e := &st.reader
	if e.layer < 0 {
		e = &st.writer
	}
	for i, w := range s.fifoWays(streamSide{id, false}, r, e.forms[f], true) {
		c := search.Choice{Cost: w.cost, Paths: make([]int64, len(r.paths)), ID: int32(i)}
		c.Cost[traffic] += st.host[f].bytes
		list = append(list, c)
	}
	return list
}

func (s *space) innerChoices(id int, r *region, in, out form) (list []search.Choice) {
	k := s.convert(id, in, out)
	if !k.ok {
		return nil
	}
	cost := k.cost
	var clocks []int64
	for p := range r.paths {
		clocks = append(clocks, r.paths[p].converter(s, id, in, out))
	}
	for i, a := range s.fifoWays(streamSide{id, false}, r, in, in == out) {
		if in == out {
			list = append(list, search.Choice{Cost: cost.Plus(a.cost), Paths: clocks, ID: int32(i)})
			continue
		}
		for j, b := range s.fifoWays(streamSide{id, true}, r, out, false) {
			list = append(list, search.Choice{Cost: cost.Plus(a.cost).Plus(b.cost), Paths: clocks, ID: int32(i | j<<wayBits)})
		}
	}
	return search.Undominated(list)
}

// fifoWays is the ways to build a FIFO of the region. The only FIFO of a stream holds what either is to hold.
func (s *space) fifoWays(side streamSide, r *region, f form, only bool) []way {
	words, exact := s.given(side, only)
	if !exact {
		words = max(2, r.words[side])
		if only {
			words = max(words, r.words[streamSide{side.stream, true}])
		}
	}
	return s.ways(words, exact, s.streams[side.stream].port(f))
}

// given is the words that the user gives a FIFO; exact is false where it is sized.
func (s *space) given(side streamSide, only bool) (words int, exact bool) {
	st := &s.streams[side.stream]
	words = st.out
	if side.front {
		words = st.in
	}
	if only {
		words = max(st.out, st.in)
	}
	if words == 0 {
		words = s.fifo.Words
	}
	return words, words > 0
}
