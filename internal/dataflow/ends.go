package dataflow

import (
	"fmt"
	"slices"

	"hlsgen/internal/num"
)

// HoldsSequence is implemented by layers that may take in a whole sequence before they give their first word. Holds
// reports whether this layer does.
type HoldsSequence interface{ Holds() bool }

// A SequenceEnd is a FIFO that tells a layer, or an output, where sequences end: one bit per time step, 1 for the last
// step. The input that the reader's words come from writes the bit with the last word of the step. The reader takes it
// when all words of the step have arrived.
type SequenceEnd struct {
	Node   int // the node that reads it; -1 for an output
	Stream int // the stream whose time steps it counts
	Input  int // the stream of the input that writes it
	FIFO   FIFO
}

// EndPort returns the word format of a SequenceEnd.
func (l *Lengths) EndPort() Port {
	return Port{Elem: num.Type{Kind: num.UInt, Width: 1}, PerWord: 1, Words: l.Max}
}

// SequenceEndFIFOs returns the FIFOs that tell where sequences end: those of nodes in their order, then those of
// outputs. It returns none if all frames have one length.
func (m *Model) SequenceEndFIFOs() (list []SequenceEnd) { return m.ends(m.EndPerStream()) }

// SequenceEndFIFOs returns the FIFOs of the design that tell where sequences end. With RTL, a stream's FIFO also holds
// words that are on their way through its writer's pipeline. So a SequenceEnd has room for the time steps that all
// FIFOs hold.
func (d *Design) SequenceEndFIFOs() []SequenceEnd {
	if d.Model.Lengths == nil || d.Target.Stalls != StallByCredit {
		return d.Model.SequenceEndFIFOs()
	}
	const layer = 2 // time steps that a layer has begun but not written
	return d.Model.ends(d.Model.eachEnd(func(s int) int {
		words := d.Port(s).Words / d.Model.Lengths.Max
		return d.FIFO[s].Depth/words + 1 + layer
	}))
}

// ends returns the FIFOs that tell where sequences end, where each has one per stream as EndPerStream returns them.
func (m *Model) ends(each []SequenceEnd) (list []SequenceEnd) {
	for i, n := range m.Graph.Nodes {
		if e := latest(each, n.In); e.Input >= 0 && ReadsEnds(n.Op, m.Lengths.Max) {
			e.Node = i
			list = append(list, e)
		}
	}
	for _, s := range m.Graph.Out {
		if each[s].Input >= 0 {
			list = append(list, each[s])
		}
	}
	return list
}

// EndPerStream returns, per stream, the SequenceEnd of a layer that would read only this stream; its Input is -1 if the
// stream has no time steps.
func (m *Model) EndPerStream() []SequenceEnd { return m.eachEnd(func(int) int { return 0 }) }

// eachEnd computes EndPerStream; held returns the time steps that a stream and its writer hold.
func (m *Model) eachEnd(held func(stream int) int) []SequenceEnd {
	g, l := m.Graph, m.Lengths
	list := slices.Repeat([]SequenceEnd{{Node: -1, Input: -1}}, len(g.Streams))
	for s := range list {
		list[s].Stream = s
	}
	if l == nil {
		return list
	}
	at, err := g.At(l, l.Min)
	if err != nil {
		panic(fmt.Sprintf("dataflow: a graph of sequences has no form for %d steps: %v", l.Min, err))
	}
	holds := make([]int, len(g.Streams))   // per stream: the layers before it that hold a whole sequence each
	between := make([]int, len(g.Streams)) // per stream: the time steps that all other layers, and FIFOs, hold
	for _, s := range g.In {
		if g.HasTimeSteps(at, s) {
			between[s] = held(s)
			list[s].Input, list[s].FIFO = s, l.end(0, between[s])
		}
	}
	for _, n := range g.Nodes {
		from := latest(list, n.In)
		if from.Input < 0 {
			continue
		}
		behind := holds[from.Stream]
		if h, ok := n.Op.(HoldsSequence); ok && h.Holds() {
			behind++
		}
		for _, s := range n.Out {
			if g.HasTimeSteps(at, s) {
				holds[s], between[s] = behind, between[from.Stream]+held(s)
				list[s].Input, list[s].FIFO = from.Input, l.end(behind, between[s])
			}
		}
	}
	return list
}

// latest returns the SequenceEnd of the stream that is furthest behind the inputs; its Input is -1 if none has time
// steps.
func latest(each []SequenceEnd, streams []int) SequenceEnd {
	most := SequenceEnd{Node: -1, Input: -1}
	for _, s := range streams {
		if e := each[s]; e.Input >= 0 && (most.Input < 0 || e.FIFO.Depth > most.FIFO.Depth) {
			most = e
		}
	}
	return most
}

// end returns the FIFO of a reader behind that many layers that hold a whole sequence each. It has room for these
// sequences, for the one that the reader is in, and for the time steps between, at least 32.
func (l *Lengths) end(holding, between int) FIFO {
	const least, most = 32, 64 * ShiftRegister // the most words that lie in shift registers
	f := FIFO{Depth: (holding+1)*l.Max + max(least, between), Memory: SRL}
	f.Depth = (f.Depth + ShiftRegister - 1) / ShiftRegister * ShiftRegister
	if f.Depth > most {
		f.Memory = BRAM
	}
	return f
}
