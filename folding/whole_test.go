package folding

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"hlsgen/boards"
	"hlsgen/folding/goal"
	"hlsgen/hlslib/dwc"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
	"hlsgen/rtlsim"
)

// figures holds the figures of one design of the enumeration: any fold of every layer, width converters where words
// differ, and every FIFO of two words, or as deep as its memory. The design is simulated.
type figures struct {
	interval  float64 // in clocks, at least those of the processor's memory for a frame
	simulated float64 // the same without the processor's memory
	latency   int
	slowest   int // clocks of the slowest layer or end of the host
	cost      dataflow.Resources
	few       bool // whether a DSP slice multiplies few bits
	blocks    bool // whether FIFOs of few words lie in block RAM
}

// An enumeration visits the designs of a graph on a target. fifo is the user's choice of FIFO depths.
type enumeration struct {
	g          *dataflow.Graph
	t          dataflow.Target
	fifo       FIFODepthPolicy
	folds      [][]dataflow.Fold
	pick       []dataflow.Fold
	converters map[string]dataflow.Op
	designs    []figures
}

// enumerate returns every design that no other beats in everything.
func enumerate(g *dataflow.Graph, t dataflow.Target, fifo FIFODepthPolicy) []figures {
	e := &enumeration{g: g, t: t, fifo: fifo, pick: make([]dataflow.Fold, len(g.Nodes)),
		converters: map[string]dataflow.Op{}}
	for _, n := range g.Nodes {
		var folds []dataflow.Fold
		for f := range n.Op.Folds() {
			lacks := n.Op.Cost(f, t).Total().URAM > 0 && t.Board.URAM == 0
			if !lacks && e.rowMajorEnds(n, f) && (f.Memory != dataflow.MemoryURAM || t.Board.CanInitialiseURAM()) {
				folds = append(folds, f)
			}
		}
		e.folds = append(e.folds, folds)
	}
	e.layer(0)
	return e.designs
}

// rowMajorEnds reports whether the host can send and take the words of a fold.
func (e *enumeration) rowMajorEnds(n *dataflow.Node, f dataflow.Fold) bool {
	in, out := n.Op.Ports(f)
	for k, s := range n.In {
		if slices.Contains(e.g.In, s) && in[k].Tile != 0 {
			return false
		}
	}
	for k, s := range n.Out {
		if slices.Contains(e.g.Out, s) && out[k].Tile != 0 {
			return false
		}
	}
	return true
}

func (e *enumeration) layer(i int) {
	if i == len(e.g.Nodes) {
		if d := e.design(); d != nil {
			e.deepen(d)
		}
		return
	}
	for _, e.pick[i] = range e.folds[i] {
		e.layer(i + 1)
	}
}

// design joins the picked folds; it returns nil if words do not fit.
func (e *enumeration) design() *dataflow.Design {
	var b dataflow.GraphBuilder
	var folds []dataflow.Fold
	stream, ports := make([]int, len(e.g.Streams)), make([]dataflow.Port, len(e.g.Streams))
	host := map[int]bool{}
	for _, s := range e.g.In {
		stream[s], host[s] = b.AddInput(e.g.Streams[s].Name, e.g.Streams[s].Type), true
	}
	for i, n := range e.g.Nodes {
		in, out := n.Op.Ports(e.pick[i])
		var ins []int
		for k, s := range n.In {
			from, to := ports[s], in[k]
			if host[s] {
				from = dataflow.Port{PerWord: e.border(s, to)}
			}
			switch {
			case from.Tile != to.Tile:
				return nil
			case from.PerWord != to.PerWord:
				op := e.converter(s, from.PerWord, to)
				bound, _, err := op.Bind([]dataflow.StreamType{b.TypeOfStream(stream[s])})
				for f := range must(bound, err).Folds() {
					folds = append(folds, f)
				}
				stream[s] = must(b.BindAndAddLayer(op, []int{stream[s]}, nil, nil))[0]
			}
			ins = append(ins, stream[s])
		}
		for k, s := range must(b.BindAndAddLayer(n.Op, ins, nil, nil)) {
			id := n.Out[k]
			stream[id], ports[id] = s, out[k]
			if slices.Contains(e.g.Out, id) && out[k].Tile != 0 {
				return nil
			}
		}
		folds = append(folds, e.pick[i])
	}
	for _, s := range e.g.Out {
		if n := e.border(s, ports[s]); n != ports[s].PerWord {
			op := e.converter(s, ports[s].PerWord, dataflow.Port{PerWord: n})
			bound, _, err := op.Bind([]dataflow.StreamType{b.TypeOfStream(stream[s])})
			for f := range must(bound, err).Folds() {
				folds = append(folds, f)
			}
			stream[s] = must(b.BindAndAddLayer(op, []int{stream[s]}, nil, nil))[0]
		}
		b.MarkOutput(stream[s])
	}
	g := must(b.VerifiedGraph())
	return &dataflow.Design{Model: &dataflow.Model{Graph: g}, Target: e.t, Folds: folds, FIFO: make([]dataflow.FIFO,
		len(g.Streams))}
}

// border returns the elements in a word of the host: the most that fit its port if the layer's word does not.
func (e *enumeration) border(s int, p dataflow.Port) int {
	size, bits := e.g.Streams[s].Type.Shape.ElementCount(), e.g.Streams[s].Type.Elem.Width
	for n := p.PerWord; e.t.HostPortBits() > 0 && n > 0; n-- {
		whole := p.PerWord * n / dataflow.GCD(p.PerWord, n)
		if n*bits <= e.t.HostPortBits() && size%whole == 0 {
			return n
		}
	}
	return p.PerWord
}

func (e *enumeration) converter(s, from int, to dataflow.Port) dataflow.Op {
	k := fmt.Sprint(s, from, to)
	if e.converters[k] == nil {
		e.converters[k] = dwc.New(dwc.Params{In: from, Out: to.PerWord, Tile: to.Tile})
	}
	return e.converters[k]
}

// levels lists the FIFO depths to try: depths between them cost no less.
var levels = []int{2, 32, 64}

// deepen adds the designs of a folding with every choice of depths. If FIFOs of least depth are as good as the deepest,
// it adds only these.
func (e *enumeration) deepen(d *dataflow.Design) {
	n := len(d.FIFO)
	if e.fifo.Words > 0 {
		e.add(d, slices.Repeat([]int{e.fifo.Words}, n))
		return
	}
	low, ok := e.simulate(d, slices.Repeat(levels[:1], n))
	high, _ := e.simulate(d, slices.Repeat([]int{1000}, n))
	top := 1
	for ; ; top++ {
		if top == len(levels) {
			panic("the enumeration's FIFOs are too shallow")
		}
		if p, ok := e.simulate(d, slices.Repeat(levels[top:top+1], n)); ok && p == high {
			break
		}
	}
	if ok && low == high {
		e.add(d, slices.Repeat(levels[:1], n))
		return
	}
	depths := make([]int, n)
	var visit func(s int)
	visit = func(s int) {
		if s == n {
			e.add(d, depths)
			return
		}
		for _, depths[s] = range levels[:top+1] {
			visit(s + 1)
		}
	}
	visit(0)
}

// simulate returns the clocks of a design with the given depths; ok is false if it can deadlock.
func (e *enumeration) simulate(d *dataflow.Design, depths []int) (p figures, ok bool) {
	d.FIFO = dataflow.NewShiftRegisterFIFOs(depths...)
	if _, err := rtlsim.ProveDeadlockFree(context.Background(), d); err != nil {
		return p, false
	}
	trace, err := rtlsim.RunFrames(context.Background(), d, nil, rtlsim.Options{Frames: 16 + 2*len(d.Folds)})
	if err != nil {
		return p, false
	}
	p.interval, p.simulated, p.latency = trace.IntervalClocks(), trace.IntervalClocks(), trace.FirstFrameLatencyClocks()
	p.slowest, _ = d.BottleneckInterval()
	if b := e.t.Board; b.MemoryGBps > 0 && e.t.HostPortBits() > 0 {
		bytes := 0
		for _, s := range slices.Concat(d.Model.Graph.In, d.Model.Graph.Out) {
			bytes += d.PortOfStream(s).FrameBytes()
		}
		p.interval = max(p.interval, math.Ceil(float64(bytes)*e.t.ClockMHz/(1000*b.MemoryGBps)))
	}
	return p, true
}

// add adds the designs of the given depths with every choice of memories.
func (e *enumeration) add(d *dataflow.Design, depths []int) {
	p, ok := e.simulate(d, depths)
	if !ok {
		return
	}
	p.few = e.spends()
	_, total := d.CostPerNode()
	for _, p.blocks = range []bool{false, true} {
		costs := []dataflow.Resources{total.Plus(estimate.HostInterfaceCost(e.t, d.Model.Graph).Total())}
		for s, words := range depths {
			var next []dataflow.Resources
			port := d.PortOfStream(s)
			for _, f := range e.memories(words, port.Width()) {
				const few = 32
				if !p.blocks && words <= few && (f.Memory == dataflow.MemoryBRAM || f.Memory == dataflow.MemoryURAM) {
					continue
				}
				r := estimate.FIFOCost(e.t, f, port).Total()
				for _, c := range costs {
					next = append(next, c.Plus(r))
				}
			}
			costs = undominated(next)
		}
		for _, p.cost = range costs {
			e.designs = append(e.designs, p)
		}
	}
}

// spends reports whether a picked layer multiplies few bits in DSP slices and could do so in LUTs.
func (e *enumeration) spends() bool {
	for i, n := range e.g.Nodes {
		bits := n.Op.Describe().NarrowerFactorBits
		inLUTs := func(f dataflow.Fold) bool { return n.Op.Cost(f, e.t).Total().DSP == 0 }
		if bits != nil && bits() <= goal.MaxNarrowFactorBits && !inLUTs(e.pick[i]) &&
			slices.ContainsFunc(e.folds[i],
				inLUTs) {
			return true
		}
	}
	return false
}

// memories returns the ways to hold the given words: as deep as the memory is, or exactly that deep if the user says
// so.
func (e *enumeration) memories(words, width int) (list []dataflow.FIFO) {
	for _, f := range estimate.CostModelOf(e.t).FIFOOptions(words, width) {
		if f.Memory == cost.StyleBlockRAM && e.t.Board.BRAM36 == 0 || f.Memory == cost.StyleUltraRAM &&
			e.t.Board.URAM == 0 {
			continue
		}
		if e.fifo.Words > 0 {
			f.Depth = words
		}
		list = append(list, dataflow.FIFO{Depth: f.Depth, Memory: estimate.MemoryOfStyle(f.Memory)})
	}
	return list
}

func undominated(list []dataflow.Resources) []dataflow.Resources {
	var kept []dataflow.Resources
	for i, c := range list {
		beaten := slices.ContainsFunc(kept, func(k dataflow.Resources) bool { return k.IsWithin(c) }) ||
			slices.ContainsFunc(list[i+1:], func(o dataflow.Resources) bool { return o != c && o.IsWithin(c) })
		if !beaten {
			kept = append(kept, c)
		}
	}
	return kept
}

// tight returns a board on which few of a random net's designs fit. Some have a port to a processor's memory.
func tight(r *rand.Rand, g *dataflow.Graph) boards.Board {
	b := boards.Board{Name: "tight", LUT: 200 + r.IntN(1000), FF: 250 + r.IntN(1000), BRAM36: 1 + r.IntN(8),
		URAM: r.IntN(8), DSP: 1 + r.IntN(16), DSPType: "DSP58"}
	b.LUTRAM = 30 + r.IntN(b.LUT/2)
	if r.IntN(3) == 0 {
		b.HostPortBits = 8 << r.IntN(2)
		b.MemoryGBps = []float64{0, 0.07, 0.2, 1}[r.IntN(4)]
		host := estimate.HostInterfaceCost(dataflow.Target{Board: b}, g).Total()
		b.LUT, b.FF, b.BRAM36 = b.LUT+host.LUT, b.FF+host.FF, b.BRAM36+(host.BRAM+1)/2
	}
	return b
}
