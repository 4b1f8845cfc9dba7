package report

import (
	"math"

	"hlsgen/folding"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/engines"
	"hlsgen/rtlsim"
)

// A CycleSimulationReport is the content of report/cycle_simulation.json. Throughput and Clock use the keys of FINN's
// rtlsim_performance.json.
type CycleSimulationReport struct {
	Latency int `json:"latency_clocks"`
	// the part of Latency that is spent at the ends of the network
	At         folding.IOLatencyClocks `json:"latency_at_ends_clocks"`
	Interval   float64                 `json:"interval_clocks"`
	Throughput float64                 `json:"throughput[images/s]"`
	Clock      float64                 `json:"fclk[mhz]"`
	Period     *periodReport           `json:"steady_state,omitempty"`
	Bottleneck BottleneckReport        `json:"bottleneck"`
	Port       *HostPortReport         `json:"host_port,omitempty"`
	Deadlock   deadlockReport          `json:"deadlock"`
	Series     FrameSeriesReport       `json:"series"`

	Sequences *SequenceRatesReport     `json:"sequences,omitempty"`
	Layers    []rtlsim.NodeStateClocks `json:"layers"`
	FIFOs     []fifoReport             `json:"fifos"`
	Ends      []endReport              `json:"ends,omitempty"` // FIFOs that carry the ends of sequences
}

// A periodReport describes the steady state: the state of the simulation recurs after Frames frames, which take Clocks
// clocks.
type periodReport struct {
	Frames int                      `json:"frames"`
	Clocks int                      `json:"clocks"`
	Layers []rtlsim.NodeStateClocks `json:"layers"`
}

// A FrameSeriesReport gives the time of many frames in a row, in numbers and in words.
type FrameSeriesReport struct {
	folding.FrameSeriesTiming
	Text []string `json:"text"`
}

// NewFrameSeriesReport returns the FrameSeriesReport of a design.
func NewFrameSeriesReport(d *folding.Design) FrameSeriesReport {
	return FrameSeriesReport{d.Series, d.Series.DescribeInLines()}
}

// A BottleneckReport says which part of the design determines the interval.
type BottleneckReport struct {
	Layers []string `json:"layers"` // the layers that are as slow as the interval
	// the host's port or the processor's memory is as slow as the interval
	Host bool `json:"host_is_slow"`
	// the next frame needs the state of this one, so a frame starts once per latency
	State  bool     `json:"state_comes_back,omitempty"`
	Reason string   `json:"reason"`
	Cure   string   `json:"what_would_change_it"` // flags that raise the rate, with the rate that they gave when tried
	Tried  []string `json:"tried_in_vain"`        // flags that were tried and give no higher rate
}

// A deadlockReport says whether the design is free of deadlocks, and what proves it.
type deadlockReport struct {
	Free       bool   `json:"free"`
	Statement  string `json:"statement"`
	Frames     int    `json:"frames_until_the_state_recurs"`
	Iterations int    `json:"iterations"`
	Words      int    `json:"words"`
}

// An endReport describes a FIFO that tells a layer or an output where sequences end. It carries a bit per step.
type endReport struct {
	Input     string             `json:"from"`
	To        string             `json:"to"`
	Depth     int                `json:"depth"`
	Memory    string             `json:"memory"`
	Resources dataflow.Resources `json:"cost"`
}

// A fifoReport describes the FIFO of a stream: its size, its memory, and how full it became in the simulation.
type fifoReport struct {
	Stream    string             `json:"stream"`
	From      string             `json:"from"` // the layer that writes, or input
	To        string             `json:"to"`   // the layer that reads, or output
	Tensor    string             `json:"tensor,omitempty"`
	Width     int                `json:"word_bits"`
	Depth     int                `json:"depth"`
	Given     int                `json:"words_given,omitempty"`
	Used      int                `json:"most_words"`
	Memory    string             `json:"memory"`
	Reason    string             `json:"reason,omitempty"`
	Empty     int                `json:"reader_waited_clocks"`
	Full      int                `json:"writer_waited_clocks"`
	Resources dataflow.Resources `json:"cost"`
}

// CycleSimulationReport returns the content of report/cycle_simulation.json.
func (r *Build) CycleSimulationReport() CycleSimulationReport {
	c, t := r.Design.Clocks, r.Design.Clocks.Trace
	fps, every := r.Design.SamplesPerSecondAndInterval()
	out := CycleSimulationReport{Latency: c.Latency, At: c.Ends, Interval: every, Throughput: fps,
		Clock: r.Design.ReachedClockMHz(), Layers: t.Nodes, Bottleneck: r.BottleneckReport(),
		Series: NewFrameSeriesReport(r.Design),
		Port:   r.HostPortReport(), Sequences: NewSequenceRatesReport(r.Design),
		Deadlock: deadlockReport{true, c.Proof.String(), c.Proof.Frames, c.Proof.Iterations, c.Proof.Words}}
	if p := t.Period; p.Frames > 0 {
		out.Period = &periodReport{p.Frames, p.Clocks, t.Steady}
	}
	g := r.Design.Model.Graph
	for s, fifo := range r.Design.FIFO {
		port := r.Design.PortOfStream(s)
		f := fifoReport{Stream: engines.StreamNameInMessages(g, s), From: "input", To: "output",
			Tensor: g.Streams[s].Name, Width: port.Width(),
			Depth:  fifo.Depth,
			Used:   t.High[s],
			Memory: fifo.String(), Empty: t.Empty[s], Full: t.Full[s],
			Resources: estimate.FIFOCost(r.Design.Target, fifo, port).Total()}
		if i, _ := g.WriterOfStream(s); i >= 0 {
			f.From = g.Nodes[i].Name
		}
		if i, _ := g.ReaderOfStream(s); i >= 0 {
			f.To = g.Nodes[i].Name
		}
		f.Given, f.Reason = r.Design.Given[s], r.Design.Reasons[s]
		out.FIFOs = append(out.FIFOs, f)
	}
	for _, e := range r.Design.SequenceEndFIFOs() {
		f := endReport{Input: engines.StreamNameInMessages(g, e.Input), To: "output", Depth: e.FIFO.Depth,
			Memory:    e.FIFO.String(),
			Resources: estimate.SequenceEndFIFOCost(r.Design.Target, e, r.Design.Model.Lengths).Total()}
		if e.Node >= 0 {
			f.To = g.Nodes[e.Node].Name
		}
		out.Ends = append(out.Ends, f)
	}
	return out
}

// BottleneckReport returns the report on the part of the design that determines the interval. For JSON, its lists are
// empty instead of nil.
func (r *Build) BottleneckReport() BottleneckReport {
	b := BottleneckReport(r.Design.Bottleneck)
	b.Layers, b.Tried = append([]string{}, b.Layers...), append([]string{}, b.Tried...)
	return b
}

// A HostPortReport compares the traffic at the host's port, at the simulated frame rate, with the available bandwidth.
type HostPortReport struct {
	Bits     int     `json:"port_bits"`
	PortGB   float64 `json:"port_gb_per_s"`             // bandwidth of each stream at the design's clock
	MemoryGB float64 `json:"memory_gb_per_s,omitempty"` // bandwidth that all streams share; 0 if unknown
	Moved    float64 `json:"moved_gb_per_s"`
	Bytes    int     `json:"bytes_per_frame"`
	Bound    float64 `json:"frames_per_s_at_most"` // counts samples where a frame holds several
}

// HostPortReport returns the report on the host's port, or nil if the design is fed from inside the FPGA.
func (r *Build) HostPortReport() *HostPortReport {
	d := r.Design
	bits := d.Target.HostPortBits()
	if bits == 0 {
		return nil
	}
	clocks, bytes := d.HostPortClocksPerFrame(), d.MemoryBytesPerFrame()
	hz, samples := d.ReachedClockMHz()*1e6, float64(d.Model.Turns.SamplesPerFrame())
	p := &HostPortReport{Bits: bits, PortGB: rounded(float64(bits) / 8 * hz / 1e9), MemoryGB: d.Target.Board.MemoryGBps,
		Moved: rounded(d.HostMemoryTrafficGBPerSecond()), Bytes: bytes, Bound: samples * hz / float64(clocks)}
	if p.MemoryGB > 0 {
		p.Bound = min(p.Bound, samples*p.MemoryGB*1e9/float64(bytes))
	}
	p.Bound = math.Floor(p.Bound)
	return p
}
