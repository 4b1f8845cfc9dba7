package rtlsim

import "hlsgen/internal/dataflow"

// AcceleratorCounters hold the values that an accelerator's counters show after the frames of a run. The definition
// holds for the simulation and for accelerators in SystemVerilog. The run begins with a reset, and the host gives and
// takes words as fast as its port allows.
//
// Clocks are counted from clock 0 on, the first clock in which a word of the host can be read. A stream is starved
// in a clock if the layer that reads it needs a word for its next iteration and there is none. An output is starved
// if the host would take a word and there is none. A stream is stalled in a clock if the layer that writes it has
// every word for its next iteration and needs a place in the FIFO, but there is none. An input is stalled if the
// host has a word and TREADY is low. Only waiting for words of finished frames counts. The counters are published
// with the last word of a frame, or of a time step where frames are sequences. So waiting after the last frame does
// not count.
//
// A layer that begins a frame without reading, such as a padding, does so long before the first word if the reset
// was long ago. Streams around it then wait a few clocks less than in this simulation.
type AcceleratorCounters struct {
	Frames  int                `json:"frames"` // frames that came out
	Clocks  int                `json:"clocks"` // clocks from clock 0 to the last word that came out, both included
	Streams []StreamWaitClocks `json:"streams"`
}

// StreamWaitClocks count the clocks of waits at a stream.
type StreamWaitClocks struct {
	Stalled int `json:"stalled"` // clocks that its writer waited for room
	Starved int `json:"starved"` // clocks that its reader waited for a word
}

// AcceleratorCounters returns the counters that the accelerator of design d shows after this run.
func (t *RunTrace) AcceleratorCounters(d *dataflow.Design) AcceleratorCounters {
	_, out := d.Target.IOLatencyClocks()
	c := AcceleratorCounters{Frames: len(t.Frames)}
	for _, f := range t.Frames {
		c.Clocks = max(c.Clocks, f.Last-out+1)
	}
	g := d.Model.Graph
	for s := range g.Streams {
		n := StreamWaitClocks{t.Full[s], t.Empty[s]}
		if w, _ := g.WriterOfStream(s); w < 0 {
			// In hardware the FIFO of an input has one place more than here: the host gives a word when the word
			// before takes its place here. So the waiting of the last word does not count, and the second word
			// comes one clock before the port would allow it.
			h := t.Host[s]
			n.Stalled = max(0, h.Clocks-h.Last-(d.Target.HostClocksPerWord(d.PortOfStream(s))-1))
		}
		if r, _ := g.ReaderOfStream(s); r < 0 {
			n.Starved = t.Host[s].Clocks
		}
		c.Streams = append(c.Streams, n)
	}
	return c
}

// A HostWaitClocks counts the clocks in which the host would have moved a word of a stream and could not. Last counts
// those in front of the last word.
type HostWaitClocks struct{ Clocks, Last int }

// held counts, in the stream's HostWaitClocks, the clocks from from to to-1 in which the host waited at the stream.
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
