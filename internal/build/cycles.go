package build

import (
	"hlsgen/internal/dataflow"
	"hlsgen/internal/estimate"
	"hlsgen/rtlsim"
)

// A cycleReport is report/cycle_simulation.json. The first keys are those of FINN's rtlsim_performance.json.
type cycleReport struct {
	Latency    int            `json:"latency_cycles"`
	Interval   float64        `json:"interval_cycles"`
	Throughput float64        `json:"throughput[images/s]"`
	Clock      float64        `json:"fclk[mhz]"`
	Period     *periodReport  `json:"steady_state,omitempty"`
	Bottleneck bottleneck     `json:"bottleneck"`
	Deadlock   deadlockReport `json:"deadlock"`
	Layers     []rtlsim.Node  `json:"layers"`
	FIFOs      []fifoReport   `json:"fifos"`
}

// A periodReport is a state that comes back: so many frames in so many clocks, for ever.
type periodReport struct {
	Frames int           `json:"frames"`
	Clocks int           `json:"clocks"`
	Layers []rtlsim.Node `json:"layers"`
}

type bottleneck struct {
	Layer  string `json:"layer"`
	Reason string `json:"reason"`
}

type deadlockReport struct {
	Free       bool   `json:"free"`
	Statement  string `json:"statement"`
	Frames     int    `json:"frames_until_the_state_recurs"`
	Iterations int    `json:"iterations"`
	Words      int    `json:"words"`
	Room       int    `json:"pipeline_words_counted_on"`
}

type fifoReport struct {
	Stream    string             `json:"stream"`
	To        string             `json:"to"`
	Width     int                `json:"word_bits"`
	Depth     int                `json:"depth"`
	Words     int                `json:"words_needed,omitempty"`
	Used      int                `json:"most_words"`
	Memory    string             `json:"memory"`
	Reason    string             `json:"reason,omitempty"`
	Empty     int                `json:"reader_waited_cycles"`
	Full      int                `json:"writer_waited_cycles"`
	Resources dataflow.Resources `json:"cost"`
}

func (r *Result) cycleReport() cycleReport {
	c, t := r.Cycles, r.Cycles.Trace
	out := cycleReport{Latency: c.Latency, Interval: c.Interval, Throughput: r.FPS(), Clock: r.ClockMHz(), Layers: t.Nodes,
		Bottleneck: bottleneck{t.Bottleneck.Node, t.Bottleneck.Reason},
		Deadlock:   deadlockReport{true, c.Proof.String(), c.Proof.Frames, c.Proof.Iterations, c.Proof.Words, c.Proof.Room}}
	if p := t.Period; p.Frames > 0 {
		out.Period = &periodReport{p.Frames, p.Clocks, t.Steady}
	}
	g := r.Design.Model.Graph
	for s, fifo := range r.Design.FIFO {
		port := r.Design.Port(s)
		f := fifoReport{Stream: streamName(g, s), To: "output", Width: port.Width(), Depth: fifo.Depth, Used: t.High[s], Memory: fifo.String(),
			Empty: t.Empty[s], Full: t.Full[s], Resources: estimate.FIFO(r.Design.Target, fifo, port).Total()}
		if i, _ := g.Reader(s); i >= 0 {
			f.To = g.Nodes[i].Name
		}
		if c.Sizing != nil {
			f.Words, f.Reason = c.Sizing.Words[s], c.Sizing.Reason[s]
		}
		out.FIFOs = append(out.FIFOs, f)
	}
	return out
}
