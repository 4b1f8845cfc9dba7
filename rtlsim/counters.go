package rtlsim

import "hlsgen/internal/dataflow"

// Counters are what an accelerator counts, and what the counters of one in SystemVerilog show after the frames of a run
// that begins with a reset, where the host gives and takes words as fast as its port does. The definition, of both:
//
// Clocks are counted from clock 0 on, the first in which a word of the host can be read. In such a clock a stream is
// starved where the layer that reads it is to read a word for its next iteration, and there is none; or, of an output,
// where the host would take one. It is stalled where the layer that writes it has every word for its next iteration,
// which is to take a place of the FIFO, and there is none; or, of an input, where the host has a word and TREADY is
// low. What counts is the waiting for the words of the frames that went by: it is published with the last word of a
// frame, of a step where frames are sequences. So what layers wait for when all frames are through counts for nothing.
//
// A layer that begins a frame without reading (a padding does) has done so before the first word comes where a reset is
// long over. Streams around it then wait a few clocks less than here.
type Counters struct {
	Frames  int              `json:"frames"` // that came out
	Clocks  int              `json:"clocks"` // from clock 0 up to the last word that came out, both included
	Streams []StreamCounters `json:"streams"`
}

// StreamCounters are the clocks in which a stream was waited at.
type StreamCounters struct {
	Stalled int `json:"stalled"` // its writer, for room
	Starved int `json:"starved"` // its reader, for a word
}

// Counters are those of a run of a design.
func (t *Trace) Counters(d *dataflow.Design) Counters {
	_, out := d.Target.Ends()
	c := Counters{Frames: len(t.Frames)}
	for _, f := range t.Frames {
		c.Clocks = max(c.Clocks, f.Last-out+1)
	}
	g := d.Model.Graph
	for s := range g.Streams {
		n := StreamCounters{t.Full[s], t.Empty[s]}
		if w, _ := g.Writer(s); w < 0 {
			// The FIFO of an input has one place more than this simulation has it: a word is given when the one before
			// takes its place here. So the waiting of the last word is none of the host's, and the second word comes
			// a clock earlier than the port is fast.
			h := t.Host[s]
			n.Stalled = max(0, h.Clocks-h.Last-(d.Target.HostEvery(d.Port(s))-1))
		}
		if r, _ := g.Reader(s); r < 0 {
			n.Starved = t.Host[s].Clocks
		}
		c.Streams = append(c.Streams, n)
	}
	return c
}

// A HostWait is the clocks in which the host would have moved a word of a stream and could not; Last is those in front
// of the last word.
type HostWait struct{ Clocks, Last int }

// held counts the clocks of the host from one up to, without, another one.
func (s *stream) held(g *gate, from, to int) {
	n := max(0, to-from)
	if g.stall > 0 {
		n = 0
		for c := from; c < to; c++ {
			if !g.stalled(c) {
				n++
			}
		}
	}
	s.host.Clocks += n
	s.host.Last = n
}
