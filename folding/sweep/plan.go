package sweep

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/hlslib/price/delay"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
)

// A spec describes one search of a sweep. Its JSON is a part of the key under which the journal keeps the result.
type spec struct {
	Board    boards.Board
	ClockMHz float64
	IO       dataflow.HostIO
	FIFO     folding.FIFODepthPolicy
	FPS      float64 // samples per second; 0: as many as possible
	Interval float64 // clocks per frame; 0: not given
	Latency  bool
	// the most clocks of latency; 0: not given
	MaxLatency int `json:",omitempty"`
	Least      folding.ResourceMeasure
	Front      int // if not 0: find up to Front designs of the front, none slower than FPS or Interval
	Bound      bool
	Memory     dataflow.Memory
	Compute    dataflow.MultiplierKind
	MaxUse     folding.MaxUseFractions // as given; zero means the default
	Formula    dataflow.CostFormulaChoice
	Samples    int // samples that take turns in a frame
	// the name of the precision that the model is quantised to again; empty if the model stays as it is
	Precision string                `json:",omitempty"`
	Unroll    dataflow.UnrollLimits `json:",omitzero"`

	Calibration *delay.DelayCalibration `json:",omitempty"` // the calibration of delays
	// the back end that decides latencies, even if others make files, too; empty for the first of the table
	Backend  options.Backend `json:",omitempty"`
	AccPerPE bool            `json:",omitempty"` // whether accumulators are as wide as each PE's channels need
}

func (s *spec) target() dataflow.Target {
	mhz, _ := s.Board.NearestClock(s.ClockMHz)
	t := dataflow.Target{Board: s.Board, ClockMHz: mhz, Formula: s.Formula, IO: s.IO,
		Unroll: s.Unroll, Calibration: s.Calibration, AccPerPE: s.AccPerPE}
	s.Backend.SetIn(&t)
	return t
}

func (s *spec) goal() folding.Goal {
	return folding.Goal{FPS: s.FPS, Interval: s.Interval, Latency: s.Latency, MaxLatency: s.MaxLatency,
		Least: s.Least, MaxUse: s.MaxUse, FIFO: s.FIFO}
}

// maxSpecs is the most searches of a sweep.
const maxSpecs = 1_000_000

// plan returns the searches: every combination of the values on the axes, boards first. A repeated value counts once.
// It returns nil after adding errors to d.
func (o *Options) plan(d *diag.List) (specs []spec) {
	var found []boards.Board
	for _, name := range o.Boards {
		b, ok := options.FindBoardOrAddDiag(name, d)
		if ok && !slices.ContainsFunc(found, func(x boards.Board) bool {
			return x.Name == b.Name &&
				x.Part == b.Part
		}) {
			found = append(found, b)
			if hls := o.Backend.CheckForBoard(b, d).IncludesHLS(); o.Synthesise && !hls {
				d.AddError(diag.BackendUnfitForBoard, "", b.Name+": --jobs slurm synthesises with Vitis HLS, but this "+
					"board is built in SystemVerilog",
					"leave --jobs slurm out, or --backend rtl, and boards that are not AMD's")
			}
		}
	}
	type rate struct {
		fps      float64
		interval float64
	}
	var rates []rate
	for _, fps := range or(o.FPS, 0) {
		rates = append(rates, rate{fps: fps})
	}
	if len(o.Intervals) > 0 {
		rates = nil
		for _, clocks := range or(o.Intervals, 0) {
			rates = append(rates, rate{interval: clocks})
		}
	}
	if o.Front > 0 { // a front goes down to the slowest rate
		rates = []rate{slices.MaxFunc(rates, func(a, b rate) int {
			return cmp.Or(cmp.Compare(b.fps, a.fps),
				cmp.Compare(a.interval, b.interval))
		})}
	}
	clocks, memories, computes, uses, samples := or(o.Clocks, 0), or(o.Memories, 0), or(o.Computes, 0),
		or(o.MaxUses, folding.MaxUseFractions{}), or(o.Samples, 1)
	precisions := []string{""}
	for i, p := range o.Precisions {
		if precisions = append(precisions, p.String()); i == 0 {
			precisions = precisions[1:]
		}
	}
	precisions = or(precisions, "")
	n := len(precisions) * len(found) * len(clocks) * len(rates) * len(memories) * len(computes) * len(uses) *
		len(samples)
	if n > maxSpecs {
		d.AddError(diag.ModelTooLarge, "", fmt.Sprintf("the sweep has %d points, at most %d are possible", n, maxSpecs),
			"leave values out, or sweep several times")
	}
	if d.HasErrors() {
		return nil
	}
	one := spec{IO: o.IO, FIFO: o.FIFO, Latency: o.Latency, MaxLatency: o.MaxLatency, Least: o.Least, Front: o.Front,
		Bound: o.Bound, Formula: o.Formula, Unroll: o.MaxUnroll, Calibration: o.LoadDelayCalibration(d),
		AccPerPE: o.AccPerPE}
	if d.HasErrors() {
		return nil
	}
	for _, one.Board = range found {
		t := dataflow.Target{Unroll: o.MaxUnroll}
		o.Backend.ForBoard(one.Board).SetIn(&t)
		one.Backend, one.Unroll = options.BackendNamed(t.Backend.Name), t.Unroll
		for _, one.ClockMHz = range clocks {
			one.ClockMHz = cmp.Or(one.ClockMHz, one.Board.ClockMHz)
			for _, one.Memory = range memories {
				for _, one.Compute = range computes {
					for _, one.MaxUse = range uses {
						for _, one.Samples = range samples {
							for _, one.Precision = range precisions {
								for _, r := range rates {
									one.FPS, one.Interval = r.fps, r.interval
									specs = append(specs, one)
								}
							}
						}
					}
				}
			}
		}
	}
	return specs
}

// or returns the values in order, each once. If there are no values, it returns the value one alone.
func or[T comparable](values []T, one T) (unique []T) {
	for _, v := range values {
		if !slices.Contains(unique, v) {
			unique = append(unique, v)
		}
	}
	if unique == nil {
		unique = []T{one}
	}
	return unique
}

// key returns a hash that identifies a search of a model: its result depends on nothing else. model is the hash of
// everything that shapes the import.
func (s spec) key(model string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // numbers and texts can always be encoded
	}
	sum := sha256.Sum256(append([]byte(model+"\n"), b...))
	return hex.EncodeToString(sum[:16])
}

// seriesName returns the name of the series in which points of a board at a clock are drawn.
func seriesName(board string, clockMHz float64) string {
	return fmt.Sprintf("%s, %s MHz", board, number(clockMHz))
}

// whole formats an integer with commas between groups of three digits.
func whole(n int) string { return humanize.Comma(int64(n)) }

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// style returns the name of a memory or compute style, and "auto" if the search chooses it.
func style(s fmt.Stringer) string { return strings.Replace(s.String(), "none", "auto", 1) }

// restrict returns a folding file that asks for a memory and a compute style in every layer that has the choice. It
// returns nil if both are left to the search.
func restrict(g *dataflow.Graph, memory dataflow.Memory, compute dataflow.MultiplierKind) (*folding.FoldingFile,
	error) {
	if memory == dataflow.NoMemory && compute == dataflow.NoMultiplier {
		return nil, nil
	}
	layers := map[string]map[string]string{}
	for _, n := range g.Nodes {
		ask := map[string]string{}
		for f := range n.Op.Folds() {
			if memory != dataflow.NoMemory && f.Memory == memory {
				ask["ram_style"] = memory.String()
			}
			if compute != dataflow.NoMultiplier && f.Compute == compute {
				ask["resType"] = compute.String()
			}
		}
		if len(ask) > 0 {
			layers[n.Name] = ask
		}
	}
	b, err := json.Marshal(layers)
	if err != nil {
		return nil, err
	}
	var d diag.List
	f := folding.ParseFoldingFile(b, &d)
	if f == nil {
		return nil, fmt.Errorf("styles of a sweep: %s", d.Diags[0].Msg)
	}
	return f, nil
}
