package space

import (
	"fmt"
	"slices"
	"strconv"

	"hlsgen/folding/ask"
	"hlsgen/folding/search"
	"hlsgen/hlslib/dup"
	"hlsgen/hlslib/estimate"
	"hlsgen/hlslib/join"
	"hlsgen/internal/dataflow"
)

// A split is a fold of a layer as processes that each stay within the target's envelope: a fork gives every word to
// parts, each of which computes some elements of every output word, and a join puts these side by side. Parts do the
// same in the same clocks, so that the FIFOs between them hold two words, at any pace of the neighbours.
type split struct {
	nodes []piece // the fork, the parts, the join; or one behind the other
	chain bool    // which of these
	loop  dataflow.Loop
}

// A piece is a node of a split.
type piece struct {
	part string // its name within the layer
	op   dataflow.Op
	fold dataflow.Fold
	out  []dataflow.Type
}

// between is the FIFO of a stream inside of a split.
var between = dataflow.FIFO{Depth: dataflow.Shallow, Memory: dataflow.SRL}

// A splitter splits the folds of a layer.
type splitter struct {
	*Space
	node *dataflow.Node
	stages
	dealt map[[2]int]*deal // by PE and how many share it
	forks map[[2]int]piece // by elements in a word and how many read it
	fifos map[dataflow.Port]dataflow.Resources
}

func splitterOf(s *Space, n *dataflow.Node) *splitter {
	return &splitter{s, n, stagesOf(n, s.Streams[n.Out[0]].typ), map[[2]int]*deal{}, map[[2]int]piece{},
		map[dataflow.Port]dataflow.Resources{}}
}

// fifo is what the FIFO between two pieces takes.
func (s *splitter) fifo(p dataflow.Port) dataflow.Resources {
	r, known := s.fifos[p]
	if !known {
		r = estimate.FIFO(s.Target, between, p).Total()
		s.fifos[p] = r
	}
	return r
}

// A deal is the parts that share a layer's PE, and what joins them.
type deal struct {
	parts []part
	join  piece
}

// A part is one of them.
type part struct {
	op    dataflow.Op
	out   []dataflow.Type
	folds []dataflow.Fold // of its share of the PE
}

// split is a fold of the layer as so many parts, and what it takes.
func (s *splitter) split(f dataflow.Fold, parts int) (*split, search.Vector, bool) {
	in, out := s.node.Op.Ports(f)
	d := s.deal(f, parts, out[0])
	first, last := s.fork(in[0], parts), d.join
	made := &split{nodes: []piece{first}}
	latency := 0
	for k, p := range d.parts {
		share := f
		share.PE = f.PE / parts
		n := piece{strconv.Itoa(k), p.op, nearest(p.folds, share), p.out}
		if n.fold.PE != share.PE || n.fold.SIMD != share.SIMD {
			panic(fmt.Sprintf("folding: a part of %s has no fold of PE %d, SIMD %d", s.node.Name, share.PE, share.SIMD))
		}
		made.loop = p.op.Loop(n.fold, s.Target)
		latency, made.nodes = max(latency, made.loop.Latency), append(made.nodes, n)
	}
	made.nodes = append(made.nodes, last)
	made.loop.Latency = latency + first.op.Loop(first.fold, s.Target).Latency +
		last.op.Loop(last.fold, s.Target).Latency
	var sum dataflow.Resources
	for _, n := range made.nodes {
		sum = sum.Plus(n.op.Cost(n.fold, s.Target).Total())
		if _, ports := n.op.Ports(n.fold); n.part != last.part {
			for _, p := range ports {
				sum = sum.Plus(s.fifo(p))
			}
		}
	}
	return made, s.Board.Vector(sum), ask.Available(sum, s.Target.Board)
}

// deal deals a fold's PE out; its words are those of a port.
func (s *splitter) deal(f dataflow.Fold, parts int, out dataflow.Port) *deal {
	at := [2]int{f.PE, parts}
	if d := s.dealt[at]; d != nil {
		return d
	}
	d := &deal{}
	var types []dataflow.Type
	var folds []dataflow.Fold
	for k := range parts {
		op, typ, err := s.node.Op.(dataflow.Divisible).Part(f, k, parts)
		if err != nil {
			panic(fmt.Sprintf("folding: a part of %s does not bind: %v", s.node.Name, err))
		}
		folds = folds[:0]
		for share := range op.Folds() {
			if share.PE == f.PE/parts {
				folds = append(folds, share)
			}
		}
		p := part{op: op, out: []dataflow.Type{typ}}
		if k > 0 && slices.Equal(folds, d.parts[k-1].folds) { // as is usual
			p.folds = d.parts[k-1].folds
		} else {
			p.folds = slices.Clone(folds)
		}
		d.parts = append(d.parts, p)
		types = append(types, typ)
	}
	d.join = bound("join", join.New(join.Params{Inputs: parts, Block: f.PE / parts, Elem: out.Elem.String()}), types)
	s.dealt[at] = d
	return d
}

// fork gives every word to so many parts.
func (s *splitter) fork(p dataflow.Port, parts int) piece {
	at := [2]int{p.PerWord, parts}
	f, ok := s.forks[at]
	if !ok {
		f = bound("fork", dup.New(dup.Params{Copies: parts, Word: p.PerWord, Tile: p.Tile}),
			[]dataflow.Type{s.Streams[s.node.In[0]].typ})
		s.forks[at] = f
	}
	return f
}

// bound is a layer of a single fold.
func bound(part string, op dataflow.Op, in []dataflow.Type) piece {
	b, out, err := op.Bind(in)
	if err != nil {
		panic(fmt.Sprintf("folding: the %s of a layer's parts does not bind: %v", part, err))
	}
	for f := range b.Folds() {
		return piece{part, b, f, out}
	}
	panic("folding: " + op.Kind() + " has no fold")
}

// nearest is the fold that is wanted, or the one most like it: a part whose weights are signs alone has no multiplier
// to place.
func nearest(folds []dataflow.Fold, want dataflow.Fold) (best dataflow.Fold) {
	most := -1
	for _, f := range folds {
		alike := 0
		for _, same := range []bool{f.PE == want.PE && f.SIMD == want.SIMD, f.Memory == want.Memory,
			f.Compute == want.Compute, f.Steps == want.Steps} {
			alike *= 2
			if same {
				alike++
			}
		}
		if alike > most {
			best, most = f, alike
		}
	}
	return best
}

// within is a fold as the target's envelope has it: whole, or split. ok is false where no split is within it.
func (s *splitter) within(f dataflow.Fold) (made *split, cost search.Vector, ok bool) {
	bytes, carried := s.Target.WeightBytes(s.node.Op, f)
	switch parts := s.Target.Unroll.Parts(s.node.Op, f); {
	case parts == 0 || !carried || parts > 1 && bytes > 0: // a memory port is one layer's
		return nil, cost, false
	case parts == 1:
		c := s.node.Op.Cost(f, s.Target).Total()
		cost = s.Board.Vector(c)
		cost[ask.Traffic] = bytes
		return nil, cost, ask.Available(c, s.Target.Board)
	default:
		return s.split(f, parts)
	}
}

// place puts the nodes of a split in place of its layer, which reads a stream, and gives the stream that it writes.
func (s *split) place(b *dataflow.Builder, l *LayerOptions, f dataflow.Fold, in int, tensors []string) int {
	if !s.chain {
		f = l.single(f)
	}
	w := b.Whole(l.Node.Op, f)
	put := func(n piece, in []int, tensors []string) []int {
		return b.PlacePart(w, n.part, n.op, in, tensors, l.Node.Origin, n.out)
	}
	if s.chain {
		return put(s.nodes[1], put(s.nodes[0], []int{in}, nil), tensors)[0]
	}
	last := len(s.nodes) - 1
	var joined []int
	for k, id := range put(s.nodes[0], []int{in}, nil) {
		joined = append(joined, put(s.nodes[1+k], []int{id}, nil)...)
	}
	return put(s.nodes[last], joined, tensors)[0]
}
