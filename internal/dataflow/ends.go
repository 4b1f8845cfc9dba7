package dataflow

import (
	"fmt"
	"slices"

	"hlsgen/internal/num"
)

// A SequenceEndFIFO is a FIFO that tells a layer, or an output, where sequences end: one bit per time step, 1 for the
// last step. The input that the reader's words come from writes the bit with the last word of the step. The reader
// takes it when all words of the step have arrived.
type SequenceEndFIFO struct {
	Node   int // the node that reads it; -1 for an output
	Stream int // the stream whose time steps it counts
	Input  int // the stream of the input that writes it
	FIFO   FIFO
}

// SequenceEndPort returns the word format of a SequenceEndFIFO.
func (l *SequenceLengths) SequenceEndPort() Port {
	return Port{Elem: num.Type{Kind: num.KindUInt, Width: 1}, PerWord: 1, Words: l.Max}
}

// SequenceEndFIFOs returns the FIFOs that tell where sequences end: those of nodes in their order, then those of
// outputs. It returns none if all frames have one length.
func (m *Model) SequenceEndFIFOs() (list []SequenceEndFIFO) {
	return m.ends(m.SequenceEndFIFOPerStream())
}

// SequenceEndFIFOs returns the FIFOs of the design that tell where sequences end. With RTL, a stream's FIFO also holds
// words that are on their way through its writer's pipeline. So a SequenceEndFIFO has room for the time steps that all
// FIFOs hold.
func (d *Design) SequenceEndFIFOs() []SequenceEndFIFO {
	if d.Model.Lengths == nil || !d.Target.Backend.Stalls.TakesPlacesEarly() {
		return d.Model.SequenceEndFIFOs()
	}
	const layer = 2 // time steps that a layer has begun but not written
	return d.Model.ends(d.Model.eachEnd(func(s int) int {
		words := d.PortOfStream(s).Words / d.Model.Lengths.Max
		return d.FIFO[s].Depth/words + 1 + layer
	}))
}

// ends returns the FIFOs of nodes and outputs that tell where sequences end. each has one FIFO per stream, as
// SequenceEndFIFOPerStream returns them.
func (m *Model) ends(each []SequenceEndFIFO) (list []SequenceEndFIFO) {
	for i, n := range m.Graph.Nodes {
		if e := latest(each, n.In); e.Input >= 0 && NeedsSequenceEnds(n.Op, m.Lengths.Max) {
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

// SequenceEndFIFOPerStream returns, per stream, the SequenceEndFIFO of a layer that would read only this stream; its
// Input is -1 if the stream has no time steps.
func (m *Model) SequenceEndFIFOPerStream() []SequenceEndFIFO {
	return m.eachEnd(func(int) int { return 0 })
}

// eachEnd returns the result of SequenceEndFIFOPerStream, with room for the time steps that streams hold. held returns
// the number that a stream and its writer hold.
func (m *Model) eachEnd(held func(stream int) int) []SequenceEndFIFO {
	g, l := m.Graph, m.Lengths
	list := slices.Repeat([]SequenceEndFIFO{{Node: -1, Input: -1}}, len(g.Streams))
	for s := range list {
		list[s].Stream = s
	}
	if l == nil {
		return list
	}
	at, err := g.AtSequenceLength(l, l.Min)
	if err != nil {
		panic(fmt.Sprintf("dataflow: a graph of sequences has no form for %d steps: %v", l.Min, err))
	}
	holds := make([]int, len(g.Streams))   // per stream: the layers before it that hold a whole sequence each
	between := make([]int, len(g.Streams)) // per stream: the time steps that all other layers, and FIFOs, hold
	for _, s := range g.In {
		if g.StreamHasTimeSteps(at, s) {
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
		if n.Op.Describe().HoldsFrame {
			behind++
		}
		for _, s := range n.Out {
			if g.StreamHasTimeSteps(at, s) {
				holds[s], between[s] = behind, between[from.Stream]+held(s)
				list[s].Input, list[s].FIFO = from.Input, l.end(behind, between[s])
			}
		}
	}
	return list
}

// latest returns the SequenceEndFIFO of the stream that is furthest behind the inputs; its Input is -1 if none has time
// steps.
func latest(each []SequenceEndFIFO, streams []int) SequenceEndFIFO {
	most := SequenceEndFIFO{Node: -1, Input: -1}
	for _, s := range streams {
		if e := each[s]; e.Input >= 0 && (most.Input < 0 || e.FIFO.Depth > most.FIFO.Depth) {
			most = e
		}
	}
	return most
}

// end returns the FIFO of a reader behind layers of which holding ones hold a whole sequence each. It has room for
// these sequences, for the one that the reader is in, and for the time steps between, at least 32.
func (l *SequenceLengths) end(holding, between int) FIFO {
	const least, most = 32, 64 * MaxShiftRegisterWords // the most words that lie in shift registers
	f := FIFO{Depth: (holding+1)*l.Max + max(least, between), Memory: MemorySRL}
	f.Depth = (f.Depth + MaxShiftRegisterWords - 1) / MaxShiftRegisterWords * MaxShiftRegisterWords
	if f.Depth > most {
		f.Memory = MemoryBRAM
	}
	return f
}
