package space

import (
	"fmt"
	"strconv"

	"hlsgen/folding/ask"
	"hlsgen/folding/search"
	"hlsgen/hlslib/dup"
	"hlsgen/hlslib/estimate"
	"hlsgen/hlslib/join"
	"hlsgen/internal/dataflow"
	"hlsgen/rtlsim"
)

// A split is a fold of a layer as processes that each stay within the target's envelope: a fork gives every word to
// parts, each of which computes some elements of every output word, and a join puts these side by side. Parts do the
// same in the same clocks, so that the FIFOs between them hold few words (between), at any pace of the neighbours.
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

	behind dataflow.FIFO // of its streams inside of the split
}

// between is the FIFO of a stream inside of a split, behind pieces of a latency: two words where pipelines freeze. With
// credits a word has its place from the start of its iteration on, and a piece that starts one in every clock needs a
// place for each that is under way.
func between(t dataflow.Target, latency int) dataflow.FIFO {
	words := dataflow.Shallow
	if t.Stalls == dataflow.Credit {
		words = rtlsim.Step(latency + 1)
	}
	return dataflow.FIFO{Depth: words, Memory: dataflow.SRL}
}

// A splitter splits the folds of a layer.
type splitter struct {
	*Space
	node *dataflow.Node
	stages
	dealt map[[2]int]*deal  // by PE and how many share it
	forks map[[2]int]border // by elements in a word and how many read it
	fifos map[bounded]dataflow.Resources
}

// bounded is a FIFO and what its words are.
type bounded struct {
	dataflow.FIFO
	dataflow.Port
}

func splitterOf(s *Space, n *dataflow.Node) *splitter {
	return &splitter{s, n, stagesOf(n, s.Streams[n.Out[0]].typ), map[[2]int]*deal{}, map[[2]int]border{},
		map[bounded]dataflow.Resources{}}
}

// fifo is what the FIFO between two pieces takes.
func (s *splitter) fifo(f dataflow.FIFO, p dataflow.Port) dataflow.Resources {
	r, known := s.fifos[bounded{f, p}]
	if !known {
		r = estimate.FIFO(s.Target, f, p).Total()
		s.fifos[bounded{f, p}] = r
	}
	return r
}

// A border is the fork or the join of a split.
type border struct {
	piece
	latency int
	cost    dataflow.Resources // with the FIFOs behind it
}

// A deal is the parts that share a layer's PE, and what joins them.
type deal struct {
	parts []part
	join  border
}

// A part is one of them.
type part struct {
	op    dataflow.Op
	out   []dataflow.Type
	folds []dataflow.Fold // of its share of the PE
	like  int             // the first part that is alike, or this one
}

// split is a fold of the layer as so many parts, and what it takes.
func (s *splitter) split(f dataflow.Fold, parts int) (*split, search.Vector, bool) {
	in, out := s.node.Op.Ports(f)
	d := s.deal(f, parts, out[0])
	first, last := s.fork(in[0], parts), d.join
	made := &split{nodes: make([]piece, 1, parts+2)}
	made.nodes[0] = first.piece
	share, latency, sum := f, 0, first.cost.Plus(last.cost)
	share.PE = f.PE / parts
	costs := make([]dataflow.Resources, parts)
	for k, p := range d.parts {
		n := piece{part: strconv.Itoa(k), op: p.op, out: p.out}
		if p.like == k {
			n.fold = nearest(p.folds, share)
			if n.fold.PE != share.PE || n.fold.SIMD != share.SIMD {
				panic(fmt.Sprintf("folding: a part of %s has no fold of PE %d, SIMD %d", s.node.Name, share.PE,
					share.SIMD))
			}
			made.loop = p.op.Loop(n.fold, s.Target)
			latency = max(latency, made.loop.Latency)
		} else {
			n.fold = made.nodes[1+p.like].fold
		}
		made.nodes = append(made.nodes, n)
	}
	for k, p := range d.parts {
		n := &made.nodes[1+k]
		n.behind = between(s.Target, latency) // words wait for those of the slowest part
		if costs[k] = costs[p.like]; p.like == k {
			costs[k] = s.cost(n)
		}
		sum = sum.Plus(costs[k])
	}
	made.nodes = append(made.nodes, last.piece)
	made.loop.Latency = latency + first.latency + last.latency
	return made, s.Board.Vector(sum), ask.Available(sum, s.Target.Board)
}

// cost is what a piece takes, with the FIFOs behind it.
func (s *splitter) cost(p *piece) dataflow.Resources {
	sum := p.op.Cost(p.fold, s.Target).Total()
	_, ports := p.op.Ports(p.fold)
	for _, port := range ports {
		sum = sum.Plus(s.fifo(p.behind, port))
	}
	return sum
}

// deal deals a fold's PE out; its words are those of a port.
func (s *splitter) deal(f dataflow.Fold, parts int, out dataflow.Port) *deal {
	at := [2]int{f.PE, parts}
	if d := s.dealt[at]; d != nil {
		return d
	}
	d := &deal{}
	var types []dataflow.Type
	share, whole := f, s.node.Op.(dataflow.Divisible)
	share.PE = f.PE / parts
	for k := range parts {
		op, typ, err := whole.Part(f, k, parts)
		if err != nil {
			panic(fmt.Sprintf("folding: a part of %s does not bind: %v", s.node.Name, err))
		}
		p := part{op: op, out: []dataflow.Type{typ}, like: k}
		for i, other := range d.parts {
			if other.like == i && op.(dataflow.Divisible).Alike(other.op, share, s.Target) {
				p.like, p.folds = i, other.folds
				break
			}
		}
		if p.like == k {
			for own := range op.Folds() {
				if own.PE == share.PE {
					p.folds = append(p.folds, own)
				}
			}
		}
		d.parts, types = append(d.parts, p), append(types, typ)
	}
	joined := bound("join", join.New(join.Params{Inputs: parts, Block: share.PE, Elem: out.Elem.String()}), types)
	d.join = border{joined, joined.op.Loop(joined.fold, s.Target).Latency,
		joined.op.Cost(joined.fold, s.Target).Total()}
	s.dealt[at] = d
	return d
}

// fork gives every word to so many parts.
func (s *splitter) fork(p dataflow.Port, parts int) border {
	at := [2]int{p.PerWord, parts}
	f, ok := s.forks[at]
	if !ok {
		fork := bound("fork", dup.New(dup.Params{Copies: parts, Word: p.PerWord, Tile: p.Tile}),
			[]dataflow.Type{s.Streams[s.node.In[0]].typ})
		latency := fork.op.Loop(fork.fold, s.Target).Latency
		fork.behind = between(s.Target, latency)
		f = border{fork, latency, s.cost(&fork)}
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
		return piece{part: part, op: b, fold: f, out: out}
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
