package rtlsim

import (
	"math/rand/v2"
	"slices"

	"hlsgen/internal/dataflow"
)

// An oracleStream is a FIFO: its visible words, its places taken, and the most places taken during a clock.
type oracleStream struct{ visible, taken, high int }

// An oracleLayer is a layer with a stage per clock of its latency. A nil stage is a bubble. In the clock when an
// iteration is at the last stage, it writes. In the clock when it starts, it is at the first stage.
type oracleLayer struct {
	next   int // iteration, over all frames
	stages []*dataflow.PortMoves
}

// oracle does what the package comment says about a clock, in the plainest code. It walks every clock, takes all
// decisions of a clock on a copy of the state, and visits layers in random order. It returns the trace, with a
// record of layers in all frames if the options ask for a record, and whether the design deadlocked.
func oracle(d *dataflow.Design, frames int, opt Options, rng *rand.Rand) (*RunTrace, bool) {
	g := d.Model.Graph
	streams, layers := make([]oracleStream, len(g.Streams)), make([]oracleLayer, len(g.Nodes))
	t := newTrace(d, frames)
	t.High, t.Empty, t.Full = make([]int, len(streams)), make([]int, len(streams)), make([]int, len(streams))
	t.Host = make([]HostWaitClocks, len(streams))
	if opt.Layers > 0 {
		t.Record = &RunRecord{Layers: make([]StateSpans, len(layers))}
	}
	waits := make([]int, len(g.In)+len(g.Out)) // by the next word
	for i := range layers {
		layers[i].stages = make([]*dataflow.PortMoves, d.LoopOfNode(i).Latency)
	}
	_, end := d.Target.IOLatencyClocks()
	given, taken := make([]int, len(g.In)), make([]int, len(g.Out))
	free := make([]int, len(g.In)+len(g.Out))
	open := func(p HostSlowdown, i, clock int) bool {
		gate := p.gate(i, 1)
		return clock >= free[i] && !gate.stalled(clock)
	}
	for clock, quiet := 0, 0; quiet < 1000; clock++ {
		quiet++
		for i, s := range g.In {
			if given[i] < frames*d.PortOfStream(s).Words && streams[s].taken < d.FIFO[s].Depth && open(opt.In, i,
				clock) {
				streams[s].visible++
				streams[s].taken++
				streams[s].high++
				given[i]++
				free[i] = clock + max(1, opt.In.Every)
				t.Host[s].Last, waits[i] = waits[i], 0
			} else if given[i] < frames*d.PortOfStream(s).Words && open(opt.In, i, clock) {
				t.Host[s].Clocks++
				waits[i]++
			}
		}
		was := slices.Clone(streams)
		done := true
		for _, i := range rng.Perm(len(g.Nodes)) {
			k, all := &layers[i], frames*d.LoopOfNode(i).IterationsPerFrame()
			if k.clock(d, i, all, was, streams, t) {
				quiet = 0
			}
			done = done && k.next == all
		}
		for i, s := range g.Out {
			words := d.PortOfStream(s).Words
			if was[s].visible > 0 && open(opt.Out, len(g.In)+i, clock) {
				f := &t.Frames[taken[i]/words]
				if taken[i]%words == 0 && (f.First < 0 || clock+end < f.First) {
					f.First = clock + end
				}
				if taken[i]%words == words-1 {
					f.Last = max(f.Last, clock+end)
				}
				streams[s].read()
				taken[i]++
				free[len(g.In)+i] = clock + max(1, opt.Out.Every)
				t.Host[s].Last, waits[len(g.In)+i] = waits[len(g.In)+i], 0
				quiet = 0
			} else if taken[i] < frames*words && was[s].visible == 0 && open(opt.Out, len(g.In)+i, clock) {
				t.Host[s].Clocks++
				waits[len(g.In)+i]++
			}
			done = done && taken[i] == frames*words
		}
		if quiet == 0 {
			t.Cycles = clock + 1
		}
		for s := range streams {
			t.High[s] = max(t.High[s], streams[s].high)
			streams[s].high = streams[s].taken
		}
		if done {
			return t, false
		}
	}
	return t, true
}

// clock does a layer's work of one clock. It reports whether an iteration starts.
func (k *oracleLayer) clock(d *dataflow.Design, i, all int, was, streams []oracleStream, t *RunTrace) (starts bool) {
	n, l, c := d.Model.Graph.Nodes[i], d.LoopOfNode(i), &t.Nodes[i]
	last := len(k.stages) - 1
	var empty, full []int // streams that hold up the layer
	var m dataflow.PortMoves
	if k.next < all {
		m = l.MovesOfIteration(k.next % l.IterationsPerFrame())
		for p, s := range n.In {
			if m.Read>>p&1 != 0 && was[s].visible == 0 {
				empty = append(empty, s)
			}
		}
	}
	if starts = k.next < all && len(empty) == 0; starts {
		k.stages[0] = &m
	}
	credit := d.Target.Backend.Stalls == dataflow.StallByCredit
	asks := k.stages[last] // moves that need room
	if credit {
		asks = k.stages[0]
	}
	if asks != nil {
		for p, s := range n.Out {
			if asks.Write>>p&1 != 0 && was[s].taken == d.FIFO[s].Depth {
				full = append(full, s)
			}
		}
	}
	if len(full) > 0 {
		starts = false
		k.stages[0] = nil
	}
	switch {
	case k.next == all:
	case len(empty) > 0:
		c.Starved++
		t.did(i, StateStarved)
		for _, s := range empty {
			t.Empty[s]++
		}
	case len(full) > 0:
		c.Blocked++
		t.did(i, StateBlocked)
		for _, s := range full {
			t.Full[s]++
		}
	default:
		c.Busy++
		t.did(i, StateBusy)
		k.next++
		for p, s := range n.In {
			if m.Read>>p&1 != 0 {
				streams[s].read()
			}
		}
	}
	if len(full) > 0 && !credit {
		return false // nothing moves
	}
	for p, s := range n.Out {
		if asks != nil && len(full) == 0 && asks.Write>>p&1 != 0 {
			streams[s].taken++
			streams[s].high++
		}
		if w := k.stages[last]; w != nil && w.Write>>p&1 != 0 {
			streams[s].visible++
		}
	}
	copy(k.stages[1:], k.stages)
	k.stages[0] = nil
	return starts
}

// did records the state of a layer in a clock that was counted.
func (t *RunTrace) did(layer int, s LayerState) {
	if n := t.Nodes[layer]; t.Record != nil {
		t.Record.Layers[layer].record(s, n.Busy+n.Starved+n.Blocked)
	}
}

// read takes a word. Its place counts as taken until the end of the clock.
func (s *oracleStream) read() {
	s.visible--
	s.taken--
}
