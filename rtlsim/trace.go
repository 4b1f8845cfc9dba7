package rtlsim

import "hlsgen/internal/dataflow"

// A RunTrace is the result of a run: when frames came out, what layers and streams waited for, and how full FIFOs
// became.
type RunTrace struct {
	Outputs [][]dataflow.Tensor // per frame and graph output; nil in a run without data
	Start   int                 // clock when the host gave the first word; negative because of the input's end
	Cycles  int                 // clocks up to the last iteration and the last word that left its FIFO, both included
	Frames  []FrameOutputClocks
	Nodes   []NodeStateClocks // counts per node of the graph
	High    []int             // per stream: the most places of its FIFO taken in a clock; this depth delays nothing
	Empty   []int             // per stream: clocks in which its reader waited for a word on it
	Full    []int             // per stream: clocks in which its writer had every word but waited for room on it
	Host    []HostWaitClocks
	Period  SteadyState       // the steady state, if the run reached it
	Steady  []NodeStateClocks // counts of one period; nil if none was found

	Bottleneck IntervalCause
	Record     *RunRecord // nil without Options.Record and Layers; in a reused run it may hold more
}

// A FrameOutputClocks holds the clocks when one frame came out.
type FrameOutputClocks struct {
	First, Last int // clocks when the host took its first and last word, behind the ends of all outputs
}

// A NodeStateClocks counts the clocks of a layer from clock 0 to its last iteration. Their sum is the clock of that
// iteration plus 1.
type NodeStateClocks struct {
	Name    string `json:"name"`
	Busy    int    `json:"busy"`    // clocks in which an iteration started
	Starved int    `json:"starved"` // clocks in which a word was missing
	Blocked int    `json:"blocked"` // clocks in which every word was there and room was missing
}

func newTrace(d *dataflow.Design, frames int) *RunTrace {
	in, _ := d.Target.IOLatencyClocks()
	g := d.Model.Graph
	t := &RunTrace{Start: -in, Frames: make([]FrameOutputClocks, frames), Nodes: make([]NodeStateClocks, len(g.Nodes))}
	for i := range t.Frames {
		t.Frames[i] = FrameOutputClocks{-1, -1}
	}
	for i, n := range g.Nodes {
		t.Nodes[i].Name = n.Name
	}
	return t
}

// FirstFrameLatencyClocks returns the clocks from the first input word to the last output word of the first frame, both
// included.
func (t *RunTrace) FirstFrameLatencyClocks() int {
	return t.ClocksFromFirstInputUntil(t.Frames[0].Last)
}

// ClocksFromFirstInputUntil returns the clocks from the one when the host gave the first word to the given one, both
// included.
func (t *RunTrace) ClocksFromFirstInputUntil(to int) int { return to - t.Start + 1 }

// IntervalClocks returns the clocks between frames. It is exact if the run reached a steady state. Otherwise it is the
// mean over the last half of the run, in which FIFOs in front of the slowest layer may still fill. It is 0 for a
// single frame.
func (t *RunTrace) IntervalClocks() float64 {
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

// LastOutputClockOfFrame returns the clock in which the last word of a frame comes out. For frames beyond the run it
// continues the steady state; ok is false if the run reached none.
func (t *RunTrace) LastOutputClockOfFrame(frame int) (clock int, ok bool) {
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

// finish completes the trace with the counts of layers and streams.
func (e *engine) finish() *RunTrace {
	t := e.trace
	t.Cycles = e.clock()
	for _, l := range e.workers {
		if l.log != nil {
			l.log.record(StateBusy, l.at+1)
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
