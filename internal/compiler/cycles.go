package compiler

import (
	"math"

	"hlsgen/folding"
	"hlsgen/hlslib/estimate"
	"hlsgen/internal/dataflow"
	"hlsgen/rtlsim"
)

// A cycleReport is report/cycle_simulation.json. Throughput and Clock have the keys of FINN's rtlsim_performance.json.
type cycleReport struct {
	Latency    int            `json:"latency_clocks"`
	At         folding.Ends   `json:"latency_at_ends_clocks"` // of these: at the ends of the network
	Interval   float64        `json:"interval_clocks"`
	Throughput float64        `json:"throughput[images/s]"`
	Clock      float64        `json:"fclk[mhz]"`
	Period     *periodReport  `json:"steady_state,omitempty"`
	Bottleneck Bottleneck     `json:"bottleneck"`
	Port       *PortReport    `json:"host_port,omitempty"`
	Deadlock   deadlockReport `json:"deadlock"`
	Series     SeriesReport   `json:"series"`

	Sequences *SequencesReport `json:"sequences,omitempty"`
	Layers    []rtlsim.Node    `json:"layers"`
	FIFOs     []fifoReport     `json:"fifos"`
	Ends      []endReport      `json:"ends,omitempty"` // of sequences of different lengths
}

// A periodReport is a state that comes back: so many frames in so many clocks, for ever.
type periodReport struct {
	Frames int           `json:"frames"`
	Clocks int           `json:"clocks"`
	Layers []rtlsim.Node `json:"layers"`
}

// A SeriesReport is what many frames take that follow each other, in numbers and in words.
type SeriesReport struct {
	folding.Series
	Text []string `json:"text"`
}

// SeriesOf tells of many frames of a design.
func SeriesOf(d *folding.Design) SeriesReport { return SeriesReport{d.Series, d.Series.Lines()} }

// A Bottleneck is what the interval comes from.
type Bottleneck struct {
	Layers []string `json:"layers"`                     // that are as slow as the interval
	Host   bool     `json:"host_is_slow"`               // the host's port or the processor's memory is as slow
	State  bool     `json:"state_comes_back,omitempty"` // before the next frame: one a latency
	Reason string   `json:"reason"`
	Cure   string   `json:"what_would_change_it"` // flags that were tried, and the rate that they give
	Tried  []string `json:"tried_in_vain"`        // flags that give no higher rate
}

type deadlockReport struct {
	Free       bool   `json:"free"`
	Statement  string `json:"statement"`
	Frames     int    `json:"frames_until_the_state_recurs"`
	Iterations int    `json:"iterations"`
	Words      int    `json:"words"`
}

// An endReport is a FIFO that tells a layer or an output where sequences end, by a bit per step.
type endReport struct {
	Input     string             `json:"from"`
	To        string             `json:"to"`
	Depth     int                `json:"depth"`
	Memory    string             `json:"memory"`
	Resources dataflow.Resources `json:"cost"`
}

type fifoReport struct {
	Stream    string             `json:"stream"`
	To        string             `json:"to"`
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

func (r *Result) cycleReport() cycleReport {
	c, t := r.Design.Clocks, r.Design.Clocks.Trace
	fps, every := r.Design.Pace()
	out := cycleReport{Latency: c.Latency, At: c.Ends, Interval: every, Throughput: fps,
		Clock: r.Design.ClockMHz(), Layers: t.Nodes, Bottleneck: r.Bottleneck(), Series: SeriesOf(r.Design),
		Port: r.Port(), Sequences: SequencesOf(r.Design),
		Deadlock: deadlockReport{true, c.Proof.String(), c.Proof.Frames, c.Proof.Iterations, c.Proof.Words}}
	if p := t.Period; p.Frames > 0 {
		out.Period = &periodReport{p.Frames, p.Clocks, t.Steady}
	}
	g := r.Design.Model.Graph
	for s, fifo := range r.Design.FIFO {
		port := r.Design.Port(s)
		f := fifoReport{Stream: streamName(g, s), To: "output", Width: port.Width(), Depth: fifo.Depth, Used: t.High[s],
			Memory: fifo.String(), Empty: t.Empty[s], Full: t.Full[s],
			Resources: estimate.FIFO(r.Design.Target, fifo, port).Total()}
		if i, _ := g.Reader(s); i >= 0 {
			f.To = g.Nodes[i].Name
		}
		f.Given, f.Reason = r.Design.Given[s], r.Design.Reasons[s]
		out.FIFOs = append(out.FIFOs, f)
	}
	for _, e := range r.Design.Ends() {
		f := endReport{Input: streamName(g, e.Input), To: "output", Depth: e.FIFO.Depth, Memory: e.FIFO.String(),
			Resources: estimate.End(r.Design.Target, e, r.Design.Model.Lengths).Total()}
		if e.Node >= 0 {
			f.To = g.Nodes[e.Node].Name
		}
		out.Ends = append(out.Ends, f)
	}
	return out
}

// Bottleneck is what the design's interval comes from.
func (r *Result) Bottleneck() Bottleneck {
	b := Bottleneck(r.Design.Bottleneck)
	b.Layers, b.Tried = append([]string{}, b.Layers...), append([]string{}, b.Tried...)
	return b
}

// A PortReport is the roofline of the host's port: what frames at the simulated rate move, and what there is for it.
type PortReport struct {
	Bits     int     `json:"port_bits"`
	PortGB   float64 `json:"port_gb_per_s"`             // of every stream, at the design's clock
	MemoryGB float64 `json:"memory_gb_per_s,omitempty"` // of all together; 0 where that is not known
	Moved    float64 `json:"moved_gb_per_s"`
	Bytes    int     `json:"bytes_per_frame"`
	Bound    float64 `json:"frames_per_s_at_most"` // samples, where frames hold several
}

// Port is the roofline of the host's port; nil where the design is fed from inside the FPGA.
func (r *Result) Port() *PortReport {
	d := r.Design
	bits := d.Target.PortBits()
	if bits == 0 {
		return nil
	}
	clocks, bytes := d.PortClocks(), d.FrameBytes()
	hz, samples := d.ClockMHz()*1e6, float64(d.Model.Turns.PerFrame())
	p := &PortReport{Bits: bits, PortGB: rounded(float64(bits) / 8 * hz / 1e9), MemoryGB: d.Target.Board.MemoryGBps,
		Moved: rounded(d.Traffic()), Bytes: bytes, Bound: samples * hz / float64(clocks)}
	if p.MemoryGB > 0 {
		p.Bound = min(p.Bound, samples*p.MemoryGB*1e9/float64(bytes))
	}
	p.Bound = math.Floor(p.Bound)
	return p
}

// rounded keeps four decimals.
func rounded(f float64) float64 { return math.Round(1e4*f) / 1e4 }
