package rtlsim

import "hlsgen/internal/dataflow"

// A Trace is what a run showed.
type Trace struct {
	Outputs [][]dataflow.Tensor // per frame and graph output; nil in a run without data
	Start   int                 // the clock in which the host gave the first word; before clock 0 by the input's end
	Cycles  int                 // clocks up to the last iteration and the last word that left its FIFO, both included
	Frames  []Frame
	Nodes   []Node // per node of the graph
	High    []int  // per stream: most places of its FIFO that were taken in a clock; that depth holds up nothing
	Empty   []int  // per stream: clocks in which the layer that reads it waited for a word on it
	Full    []int  // per stream: clocks in which the layer that writes it had every word and was held up by this
	Host    []HostWait
	Period  Period // the steady state, where the run came to it
	Steady  []Node // the clocks of one period; nil where none was found

	Bottleneck Bottleneck
	Record     *Record // nil without Options.Record and Layers; that of a known run may have more
}

// A Frame is when one frame came out.
type Frame struct {
	First, Last int // clocks in which the host took the first and the last word, behind the ends of all outputs
}

// A Node counts the clocks of a layer from clock 0 to its last iteration: their sum is that iteration's clock plus 1.
type Node struct {
	Name    string `json:"name"`
	Busy    int    `json:"busy"`    // an iteration started
	Starved int    `json:"starved"` // a word was missing
	Blocked int    `json:"blocked"` // every word was there, room was missing
}

func newTrace(d *dataflow.Design, frames int) *Trace {
	in, _ := d.Target.Ends()
	g := d.Model.Graph
	t := &Trace{Start: -in, Frames: make([]Frame, frames), Nodes: make([]Node, len(g.Nodes))}
	for i := range t.Frames {
		t.Frames[i] = Frame{-1, -1}
	}
	for i, n := range g.Nodes {
		t.Nodes[i].Name = n.Name
	}
	return t
}

// Latency is the clocks from the first input word to the last output word of the first frame, both included.
func (t *Trace) Latency() int { return t.Clocks(t.Frames[0].Last) }

// Clocks is those from the one in which the host gave the first word up to another one, both included.
func (t *Trace) Clocks(to int) int { return to - t.Start + 1 }

// Interval is the clocks between frames: exactly, of the steady state that the run came to; else the mean over the last
// half of the run, in which FIFOs in front of the slowest layer may still fill; 0 for a single frame, which has none.
func (t *Trace) Interval() float64 {
	if t.Period.Frames > 0 {
		return float64(t.Period.Clocks) / float64(t.Period.Frames)
	}
	last := len(t.Frames) - 1
	if last == 0 {
		return 0
	}
	from := last / 2
	return float64(t.Frames[last].Last-t.Frames[from].Last) / float64(last-from)
}

// Out is the clock in which the last word of a frame comes out, if frames go on for ever: of those beyond the run by
// the steady state that it came to; ok is false where it came to none.
func (t *Trace) Out(frame int) (clock int, ok bool) {
	beyond := frame - len(t.Frames) + 1
	if beyond <= 0 {
		return t.Frames[frame].Last, true
	}
	p := t.Period
	if p.Frames == 0 {
		return 0, false
	}
	periods := (beyond + p.Frames - 1) / p.Frames
	return t.Frames[frame-periods*p.Frames].Last + periods*p.Clocks, true
}

// finish fills in what the streams hold.
func (e *engine) finish() *Trace {
	t := e.trace
	t.Cycles = e.clock()
	for _, l := range e.workers {
		if l.log != nil {
			l.log.record(Busy, l.at+1)
		}
	}
	for _, s := range e.streams {
		t.High = append(t.High, s.high)
		t.Empty = append(t.Empty, s.empty)
		t.Full = append(t.Full, s.full)
		t.Host = append(t.Host, s.host)
	}
	return t
}
