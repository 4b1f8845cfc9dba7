package dataflow

import (
	"fmt"
	"slices"

	"hlsgen/internal/num"
)

// Holding is implemented by layers that may take in a whole sequence before they give anything; Holds tells whether
// this one does.
type Holding interface{ Holds() bool }

// An End is a FIFO that tells a layer, or an output, where the sequences end that it reads: a bit per step, 1 for the
// last one. An input that the reader's words come from writes it with the last word of the step; the reader takes it
// when all words of the step there have come.
type End struct {
	Node   int // that reads it; -1 for an output
	Stream int // whose steps it counts
	Input  int // stream of the input that writes it
	FIFO   FIFO
}

// EndPort is the words of an End.
func (l *Lengths) EndPort() Port {
	return Port{Elem: num.Type{Kind: num.UInt, Width: 1}, PerWord: 1, Words: l.Max}
}

// Ends is the FIFOs that tell where sequences end, of nodes in their order and then of outputs. There are none where
// all frames are alike.
func (m *Model) Ends() (list []End) { return m.ends(m.EachEnd()) }

// Ends is those of a design. Where FIFOs hold what is on its way through a pipeline, as those of RTL do, there is room
// for the steps that they hold.
func (d *Design) Ends() []End {
	if d.Model.Lengths == nil || d.Target.Stalls != Credit {
		return d.Model.Ends()
	}
	const layer = 2 // steps that a layer has begun, but not given
	return d.Model.ends(d.Model.eachEnd(func(s int) int {
		words := d.Port(s).Words / d.Model.Lengths.Max
		return d.FIFO[s].Depth/words + 1 + layer
	}))
}

func (m *Model) ends(each []End) (list []End) {
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

// EachEnd is, per stream, what a layer would have that stood on it alone; its Input is -1 where the stream has no
// steps.
func (m *Model) EachEnd() []End { return m.eachEnd(func(int) int { return 0 }) }

// eachEnd is EachEnd where a stream and what writes it hold so many steps.
func (m *Model) eachEnd(held func(stream int) int) []End {
	g, l := m.Graph, m.Lengths
	list := slices.Repeat([]End{{Node: -1, Input: -1}}, len(g.Streams))
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
	holds := make([]int, len(g.Streams))   // layers in front of a stream that hold a whole sequence each
	between := make([]int, len(g.Streams)) // steps that all others hold, and FIFOs
	for _, s := range g.In {
		if g.Timed(at, s) {
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
		if h, ok := n.Op.(Holding); ok && h.Holds() {
			behind++
		}
		for _, s := range n.Out {
			if g.Timed(at, s) {
				holds[s], between[s] = behind, between[from.Stream]+held(s)
				list[s].Input, list[s].FIFO = from.Input, l.end(behind, between[s])
			}
		}
	}
	return list
}

// latest is the one of streams that is furthest behind the inputs; its Input is -1 where none has steps.
func latest(each []End, streams []int) End {
	most := End{Node: -1, Input: -1}
	for _, s := range streams {
		if e := each[s]; e.Input >= 0 && (most.Input < 0 || e.FIFO.Depth > most.FIFO.Depth) {
			most = e
		}
	}
	return most
}

// end is the FIFO of a reader behind so many layers that hold a whole sequence. It has room for all of these, for the
// sequence that the reader is in, and for steps between: these, or as many as FIFOs are taken to hold.
func (l *Lengths) end(holding, between int) FIFO {
	const least, most = 32, 64 * ShiftRegister // most of what shift registers are made
	f := FIFO{Depth: (holding+1)*l.Max + max(least, between), Memory: SRL}
	f.Depth = (f.Depth + ShiftRegister - 1) / ShiftRegister * ShiftRegister
	if f.Depth > most {
		f.Memory = BRAM
	}
	return f
}
