package space

import (
	"fmt"
	"slices"
	"strconv"

	"hlsgen/folding/search"
	"hlsgen/hlslib/dup"
	"hlsgen/hlslib/join"
	"hlsgen/internal/dataflow"
	"hlsgen/rtlsim"
)

// A split computes a fold of a layer as several processes that each stay within the target's envelope. A fork gives
// every word to all parts, each part computes some elements of every output word, and a join puts these side by side.
// Or the split is a chain of two processes. The FIFOs between the processes are sized like all others.
type split struct {
	nodes []piece               // the fork, the parts, the join; or the two processes of a chain
	chain bool                  // whether the nodes are a chain
	inner []inner               // the streams between the nodes, in the order of their writers
	fifos []search.AmountVector // the cost of the FIFOs on inner at their least depth, one entry per memory in insides
	loop  dataflow.Loop
}

// A piece is a node of a split, with its fold.
type piece struct {
	part string // the node's name within the layer
	op   dataflow.Op
	fold dataflow.Fold
	out  []dataflow.StreamType
}

// inner is a stream between two nodes of a split. Each word occupies its place in the FIFO for at least kept clocks.
type inner struct {
	port dataflow.Port
	kept int
}

// innerOf returns the stream behind a loop.
func innerOf(t dataflow.Target, p dataflow.Port, l dataflow.Loop) inner {
	return inner{p, t.Backend.Stalls.PlaceClocks(l.Latency)}
}

// least returns the least depth in words with which the FIFO can keep the interval: the number of places that are
// occupied at a time.
func (i *inner) least(interval int) int {
	return rtlsim.RoundUpFIFODepth((i.port.Words*i.kept + interval - 1) / interval)
}

// A splitter splits the folds of one layer.
type splitter struct {
	*FoldingSpace
	node *dataflow.Node
	stages
	dealt map[[2]int]*deal  // by PE and number of parts
	forks map[[2]int]border // by elements per word and number of readers
}

func splitterOf(s *FoldingSpace, n *dataflow.Node) *splitter {
	return &splitter{s, n, stagesOf(n, s.Streams[n.Out[0]].typ), map[[2]int]*deal{}, map[[2]int]border{}}
}

// A border is the layer at one side of a split's parts: the fork in front of them, or the join behind them.
type border struct {
	piece
	loop dataflow.Loop
	cost dataflow.Resources
}

// A deal holds the parts that share a layer's PE, and the join behind them.
type deal struct {
	parts []part
	join  border
}

// A part is one of the processes of a split: it computes a share of the layer's PE.
type part struct {
	op    dataflow.Op
	out   []dataflow.StreamType
	folds []dataflow.Fold // its folds that have its share of the PE
	like  int             // the first part with equal costs and loops, or the part itself
}

// A pricedFold is a fold with its loop and its cost. made is nil if one process computes it.
type pricedFold struct {
	made *split
	loop dataflow.Loop
	cost dataflow.Resources
}

// split returns the split of a fold into the given number of parts, and its cost without the FIFOs between the nodes.
func (s *splitter) split(f dataflow.Fold, parts int) pricedFold {
	in, out := s.node.Op.Ports(f)
	d := s.deal(f, parts, out[0])
	first, last := s.fork(in[0], parts), d.join
	made := &split{nodes: make([]piece, 1, parts+2)}
	made.nodes[0] = first.piece
	_, copies := first.op.Ports(first.fold)
	for _, p := range copies {
		made.inner = append(made.inner, innerOf(s.Target, p, first.loop))
	}
	share, latency, sum := f, 0, first.cost.Plus(last.cost)
	share.PE = f.PE / parts
	costs, behind := make([]dataflow.Resources, parts), make([]inner, parts)
	for k, p := range d.parts {
		n := piece{part: strconv.Itoa(k), op: p.op, out: p.out}
		if p.like == k {
			n.fold = nearest(p.folds, share)
			if n.fold.PE != share.PE || n.fold.SIMD != share.SIMD {
				panic(fmt.Sprintf("folding: a part of %s has no fold of PE %d, SIMD %d", s.node.Name, share.PE,
					share.SIMD))
			}
			made.loop = p.op.Loop(n.fold, s.prices)
			latency = max(latency, made.loop.Latency)
			_, ports := p.op.Ports(n.fold)
			costs[k], behind[k] = p.op.Cost(n.fold, s.prices).Total(), innerOf(s.Target, ports[0], made.loop)
		} else {
			n.fold = made.nodes[1+p.like].fold
			costs[k], behind[k] = costs[p.like], behind[p.like]
		}
		sum = sum.Plus(costs[k])
		made.nodes, made.inner = append(made.nodes, n), append(made.inner, behind[k])
	}
	made.nodes = append(made.nodes, last.piece)
	made.loop.Latency = latency + first.loop.Latency + last.loop.Latency
	return pricedFold{made, made.loop, sum}
}

// deal divides a fold's PE among parts. out is the layer's output port.
func (s *splitter) deal(f dataflow.Fold, parts int, out dataflow.Port) *deal {
	at := [2]int{f.PE, parts}
	if d := s.dealt[at]; d != nil {
		return d
	}
	d := &deal{}
	var types []dataflow.StreamType
	share, whole := f, s.node.Op.(dataflow.HasDivisiblePE)
	share.PE = f.PE / parts
	for k := range parts {
		op, typ, err := whole.Part(f, k, parts)
		if err != nil {
			panic(fmt.Sprintf("folding: a part of %s does not bind: %v", s.node.Name, err))
		}
		p := part{op: op, out: []dataflow.StreamType{typ}, like: k}
		for i, other := range d.parts {
			if other.like == i && op.(dataflow.HasDivisiblePE).Alike(other.op, share, s.Target) {
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
	d.join = s.border(joined)
	s.dealt[at] = d
	return d
}

// fork returns the layer that gives every word of port p to all parts.
func (s *splitter) fork(p dataflow.Port, parts int) border {
	at := [2]int{p.PerWord, parts}
	f, ok := s.forks[at]
	if !ok {
		fork := bound("fork", dup.New(dup.Params{Copies: parts, Word: p.PerWord, Tile: p.Tile}),
			[]dataflow.StreamType{s.Streams[s.node.In[0]].typ})
		f = s.border(fork)
		s.forks[at] = f
	}
	return f
}

func (s *splitter) border(p piece) border {
	return border{p, p.op.Loop(p.fold, s.Target), p.op.Cost(p.fold, s.Target).Total()}
}

// bound returns the operation op bound to its inputs, with its only fold. It panics if the types do not fit, which is a
// fault of this package.
func bound(part string, op dataflow.Op, in []dataflow.StreamType) piece {
	b, out, err := op.Bind(in)
	if err != nil {
		panic(fmt.Sprintf("folding: the %s of a layer's parts does not bind: %v", part, err))
	}
	for f := range b.Folds() {
		return piece{part: part, op: b, fold: f, out: out}
	}
	panic("folding: " + op.Kind() + " has no fold")
}

// nearest returns the fold that is most like want: PE and SIMD count most, then memory, multiplier and steps. A part
// may not have want itself: a part whose weights are signs alone has no multiplier to place.
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

// within returns into how many processes the fold is split so that it fits the target's unroll limits, 0 if it does not
// fit, and the bytes of weights that it reads from memory in a frame.
func (s *splitter) within(f dataflow.Fold) (parts int, bytes int64) {
	bytes, carried := s.Target.ExternalWeightBytesPerFrame(s.node.Op, f)
	parts = s.Target.MinProcesses(s.node.Op, f)
	if !carried || parts > 1 && bytes > 0 { // several parts cannot share a memory port
		return 0, 0
	}
	return parts, bytes
}

// priced returns the fold with its loop and its cost, as one process or split into several.
func (s *splitter) priced(f dataflow.Fold, parts int) pricedFold {
	if parts > 1 { // do not ask the whole layer: it is not built, and its circuit would be large
		return s.split(f, parts)
	}
	return pricedFold{nil, s.node.Op.Loop(f, s.prices), s.node.Op.Cost(f, s.prices).Total()}
}

// place adds the nodes of the split to b in place of layer l, which reads stream in. It returns the streams between the
// nodes, and the stream that the layer writes.
func (s *split) place(b *dataflow.GraphBuilder, l *LayerFoldOptions, f dataflow.Fold, in int, tensors []string) (inner,
	out []int) {
	if !s.chain {
		f = l.single(f)
	}
	w := b.BeginSplitLayer(l.Node.Op, f)
	put := func(n piece, in []int, tensors []string) []int {
		return b.AddBoundPart(w, n.part, n.op, in, tensors, l.Node.Origin, n.out)
	}
	first, last := put(s.nodes[0], []int{in}, nil), len(s.nodes)-1
	if s.chain {
		return first, put(s.nodes[last], first, tensors)
	}
	var joined []int
	for k, id := range first {
		joined = append(joined, put(s.nodes[1+k], []int{id}, nil)...)
	}
	return slices.Concat(first, joined), put(s.nodes[last], joined, tensors)
}

// insides lists the memories for FIFOs inside a split. All FIFOs of a split lie in the same memory, where it has room.
var insides = []dataflow.Memory{dataflow.MemorySRL, dataflow.MemoryLUTRAM, dataflow.MemoryBRAM}

// between returns the FIFO on stream k inside a split, preferably in memory in. stream is the one that the split's
// layer writes.
func (m menu) between(stream, k int, i *inner, in dataflow.Memory) way {
	words, exact := m.given(FIFOPlace{stream: stream, inside: 1 + k}, false)
	if !exact {
		words = max(i.least(m.Limit), m.words[FIFOPlace{stream: stream, inside: 1 + k}])
	}
	list := m.joints.ways(fifoKind{words: words, exact: exact}, i.port)
	if at := slices.IndexFunc(list, func(w way) bool { return w.Memory == in }); at >= 0 {
		return list[at]
	}
	if len(list) == 0 { // the device has no room for it: make the split too expensive
		return way{FIFO: dataflow.FIFO{Depth: words, Memory: dataflow.MemorySRL},
			cost: search.UnlimitedCaps.AmountVector}
	}
	return list[0]
}

// inside returns the cost of the FIFOs between the nodes of a split in this region, one entry per memory in insides.
// stream is the one that the split's layer writes.
func (m menu) inside(stream int, s *split) []search.AmountVector {
	list := make([]search.AmountVector, len(insides))
	for at, in := range insides {
		for k := range s.inner {
			list[at] = list[at].Plus(m.between(stream, k, &s.inner[k], in).cost)
		}
	}
	return list
}
