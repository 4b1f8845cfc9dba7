package report

import (
	"fmt"
	"math"

	"hlsgen/frontend"
	"hlsgen/hlslib/price/delay"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
)

// A LayerReport describes one layer in report/layers.json and `hlsgen check`.
type LayerReport struct {
	Name  string   `json:"name"`
	Kind  string   `json:"kind"`
	Nodes []string `json:"onnx_nodes"`
	// modules of the original network that contain the nodes, if the exporter's metadata name them
	Modules []string                 `json:"modules,omitempty"`
	In      []StreamReport           `json:"in"`
	Out     []StreamReport           `json:"out"`
	Acc     *AccumulatorWidthsReport `json:"accumulator,omitempty"`
	Fold    *FoldReport              `json:"fold,omitempty"`
	Clocks  int                      `json:"clocks,omitempty"`
	Delay   int                      `json:"pipeline_latency_clocks,omitempty"`
	Depths  *ValueRange              `json:"pipeline_latency_range_clocks,omitempty"` // until synthesised
	// latency by the built-in delay tables, if calibrated
	Table int `json:"table_latency_clocks,omitempty"`
	// what each step passes to the next one, and the effect on the schedule
	Steps []string                    `json:"recurrences,omitempty"`
	Parts []dataflow.CostContribution `json:"cost_parts,omitempty"`
	Total *dataflow.Resources         `json:"cost,omitempty"`
	Path  float64                     `json:"carried_path_ns,omitempty"`
	// Minutes is a rough estimate of the synthesis time of this layer alone.
	Minutes int `json:"synthesis_minutes,omitempty"`
}

// A ValueRange is a range of integers, with both ends included.
type ValueRange struct {
	Least int `json:"least"`
	Most  int `json:"most"`
}

// timed sets the range of the layer's latency, and the descriptions of its recurrences.
func (r *LayerReport) timed(op dataflow.Op, f dataflow.Fold, t dataflow.Target) {
	at := func(b delay.DelayRangeEnd) int {
		t := t
		t.Bound, t.Calibration = b, nil
		return op.Loop(f, t).Latency
	}
	if t.HasUserCalibration() {
		r.Table = at(delay.DelayRangeExpected)
	} else {
		r.Depths = &ValueRange{at(delay.DelayRangeMin), at(delay.DelayRangeMax)}
	}
	if recurrences := op.Describe().Recurrences; recurrences != nil {
		for _, s := range recurrences(f, t) {
			r.Steps = append(r.Steps, s.String())
		}
	}
}

// A StreamReport describes a stream at the input or output of a layer.
type StreamReport struct {
	Tensor string `json:"tensor,omitempty"`
	Shape  []int  `json:"shape"`
	Type   string `json:"type"`
	Lo     int64  `json:"min"`
	Hi     int64  `json:"max"`
	Width  int    `json:"word_bits,omitempty"`
	Words  int    `json:"words_per_frame,omitempty"`
	Depth  int    `json:"fifo_depth,omitempty"`
}

// An AccumulatorWidthsReport gives the width of a layer's accumulator by the four rules of docs/numbers.md, loosest
// first.
type AccumulatorWidthsReport struct {
	DataType    int    `json:"data_type_bound_bits"`
	L1          int    `json:"l1_bound_bits"`
	ZeroCentred int    `json:"zero_centred_bound_bits,omitempty"`
	Exact       int    `json:"exact_bits"`
	Used        int    `json:"used_bits"`
	Type        string `json:"type"`
}

// A FoldReport gives a layer's fold in FINN's terms.
type FoldReport struct {
	PE       int    `json:"PE"`
	SIMD     int    `json:"SIMD,omitempty"`
	RAMStyle string `json:"ram_style,omitempty"`
	ResType  string `json:"resType,omitempty"`
	Steps    string `json:"steps,omitempty"` // of step functions: parallel or serial
	// accumulator width of each PE, with --acc-per-pe, if the PEs differ from the layer
	AccBits []int `json:"accumulator_bits_per_pe,omitempty"`
}

// NewLayerReports returns a report on each layer of a graph. If d is not nil, the reports also have the folds, clocks
// and costs of the design.
func NewLayerReports(g *dataflow.Graph, d *dataflow.Design, im *frontend.ImportedModel) []LayerReport {
	out, modules := []LayerReport{}, im.NewNodeModulesFunc()
	for i, n := range g.Nodes {
		r := LayerReport{Name: n.Name, Kind: n.Op.Kind(), Nodes: n.Origin, Modules: modules(n.Origin),
			In: streamReports(g, d, n.In), Out: streamReports(g, d, n.Out)}
		if r.Nodes == nil {
			r.Nodes = []string{}
		}
		facts := n.Op.Describe()
		if facts.Accumulators != nil {
			b := facts.Accumulators()
			r.Acc = &AccumulatorWidthsReport{b.DataType, b.L1, b.ZeroCentred, b.Exact, b.Used, b.Type.String()}
		}
		if d != nil {
			f := d.Folds[i]
			fold := &FoldReport{PE: f.PE, SIMD: f.SIMD}
			if facts.PEAccumulators != nil {
				for _, lane := range facts.PEAccumulators(f, d.Target) {
					fold.AccBits = append(fold.AccBits, lane.Width)
				}
			}
			if f.Memory != dataflow.NoMemory {
				fold.RAMStyle = f.Memory.String()
			}
			if f.Compute != dataflow.NoMultiplier {
				fold.ResType = f.Compute.String()
			}
			if f.Steps != dataflow.NoStepEvaluation {
				fold.Steps = f.Steps.String()
			}
			loop := d.LoopOfNode(i)
			cost := n.Op.Cost(f, d.Target)
			total := cost.Total()
			if facts.CarriedDelayNS != nil {
				r.Path = math.Round(1000*facts.CarriedDelayNS(f, d.Target)) / 1000
			}
			r.timed(n.Op, f, d.Target)
			r.Minutes = int(math.Round(estimate.LayerSynthesisMinutes(n.Op, f)))
			r.Fold, r.Clocks, r.Delay, r.Parts, r.Total = fold, loop.IterationsPerFrame(), loop.Latency, cost, &total
		}
		out = append(out, r)
	}
	return out
}

// SynthesisTimeText returns text with an estimate of the time that the vendor's tools take to synthesise the layers one
// by one.
func (r *Build) SynthesisTimeText() string {
	all, longest := 0, LayerReport{}
	layers := r.LayerReports()
	for _, l := range layers {
		all += l.Minutes
		if l.Minutes > longest.Minutes {
			longest = l
		}
	}
	return fmt.Sprintf("layer by layer about %d minutes for the longest (%s), %d for all %d one after the other: "+
		"an order of magnitude", longest.Minutes, longest.Name, all, len(layers))
}

// LayerReports returns a report on each layer of the design, with its fold, clocks and cost.
func (r *Build) LayerReports() []LayerReport {
	return NewLayerReports(r.Design.Model.Graph, r.Design.Design, r.Imported)
}

// streamReports returns a report on each of the given streams. If d is not nil, the reports also have the words and
// FIFO depths of the design.
func streamReports(g *dataflow.Graph, d *dataflow.Design, streams []int) []StreamReport {
	list := []StreamReport{}
	for _, s := range streams {
		t := g.Streams[s].Type
		u := t.UnionOfRanges()
		r := StreamReport{Tensor: g.Streams[s].Name, Shape: append([]int{}, t.Shape...), Type: t.Elem.String(),
			Lo: u.Lo, Hi: u.Hi}
		if d != nil {
			p := d.PortOfStream(s)
			r.Width, r.Words, r.Depth = p.Width(), p.Words, d.FIFO[s].Depth
		}
		list = append(list, r)
	}
	return list
}

// FINNLayerCycles returns the content of FINN's estimate_layer_cycles.json.
func FINNLayerCycles(d *dataflow.Design) map[string]int {
	out := map[string]int{}
	for i, n := range d.Model.Graph.Nodes {
		out[n.Name] = d.LoopOfNode(i).IterationsPerFrame()
	}
	return out
}

// FINNLayerResources returns the content of FINN's estimate_layer_resources.json, with entries for FIFOs, host and
// total.
func (r *Build) FINNLayerResources() map[string]dataflow.Resources {
	e := r.Design.Estimate
	out := map[string]dataflow.Resources{"FIFOs": e.FIFOs.Total(), "host": e.Host.Total(), "total": e.Total}
	for i, n := range r.Design.Model.Graph.Nodes {
		out[n.Name] = e.Layers[i].Total()
	}
	return out
}

// A FINNPerformanceReport is the content of FINN's estimate_network_performance.json. FINN's critical path is the sum
// of all layers' cycles. This is a loose bound, because layers overlap. The simulated latency is given beside it.
type FINNPerformanceReport struct {
	CriticalPath int     `json:"critical_path_cycles"`
	Max          int     `json:"max_cycles"`
	MaxNode      string  `json:"max_cycles_node_name"`
	FPS          float64 `json:"estimated_throughput_fps"`
	LatencyNS    float64 `json:"estimated_latency_ns"`
	Simulated    int     `json:"simulated_latency_cycles,omitempty"`
	Interval     float64 `json:"simulated_interval_cycles,omitempty"`
	SimulatedFPS float64 `json:"simulated_throughput_fps,omitempty"`
}

// FINNPerformance returns the content of FINN's estimate_network_performance.json.
func (r *Build) FINNPerformance() FINNPerformanceReport {
	d := r.Design
	p := FINNPerformanceReport{Simulated: d.Clocks.Latency}
	p.SimulatedFPS, p.Interval = d.SamplesPerSecondAndInterval()
	for i := range r.Design.Model.Graph.Nodes {
		n := d.LoopOfNode(i).IterationsPerFrame()
		if p.CriticalPath += n; n > p.Max {
			p.Max, p.MaxNode = n, d.Model.Graph.Nodes[i].Name
		}
	}
	p.FPS = float64(d.Model.Turns.SamplesPerFrame()) * d.ReachedClockMHz() * 1e6 / float64(p.Max)
	p.LatencyNS = float64(p.CriticalPath) * 1000 / d.ReachedClockMHz()
	return p
}

// FINNOpAndParamCounts returns the content of FINN's op_and_param_counts.json: operations and parameters by type, per
// layer and in total.
func FINNOpAndParamCounts(g *dataflow.Graph) map[string]map[string]int64 {
	out, total := map[string]map[string]int64{}, map[string]int64{}
	for _, n := range g.Nodes {
		counts := n.Op.Describe().Counts
		if counts == nil {
			continue
		}
		out[n.Name] = counts()
		for k, v := range out[n.Name] {
			total[k] += v
		}
	}
	out["total"] = total
	return out
}
