// Package measured compares the estimated resources and delays of circuits with what Yosys makes of them. It has
// only tests. measured.csv is the table of what Yosys counted, for layers in many folds and for whole networks.
// `make measure` measures what is not in the table yet. In come layers in folds; it sees everything.
//
//	points_test.go   the points that are measured: layers in folds, FIFOs and networks
//	swept_test.go    more points: constant signs, factors and step functions
//	yosys_test.go    runs Yosys
//	netlist_test.go  counts cells and levels of logic in Yosys' netlists
//	carried_test.go  paths between registers that depend on each other, in layers
//	flags_test.go    the same in FIFOs, in other modules that are no layers, and in networks
//	measure_test.go  measures the points that the table does not have
//	table_test.go    reads the table, and fits the estimator's numbers to it
//	errors_test.go   checks the errors of the estimates, and the page that shows them
//	a2q_test.go      networks trained for narrow accumulators, and their page
//	formats_test.go  integer and minifloat formats, and their page
//	peers_test.go    shared adders beside those of another generator, on request
package measured

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/hlslib/add"
	"hlsgen/hlslib/dwc"
	"hlsgen/hlslib/labelselect"
	"hlsgen/hlslib/mul"
	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/pool"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/luts"
	"hlsgen/hlslib/requant"
	"hlsgen/hlslib/rnn"
	"hlsgen/hlslib/swg"
	"hlsgen/hlslib/threshold"
	"hlsgen/hlslib/vvau"
	"hlsgen/internal/check"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
	"hlsgen/templates/rtl"
)

// A point is something to be measured for a board: a layer in a fold, a circuit by itself, or a FIFO.
type point struct {
	name   string
	op     dataflow.Op // nil if not a layer
	fold   dataflow.Fold
	made   *circuit.Module // nil if not a circuit by itself
	fifo   luts.FIFOSize
	target dataflow.Target
}

// files returns the modules of a point; the one on top has its name.
func (p point) files() templates.ProjectFiles {
	switch {
	case p.made != nil:
		return rtl.GenerateLayerFiles(p.name, "", p.made)
	case p.op != nil:
		return rtl.GenerateLayerFiles(p.name, "", p.op.(dataflow.HasCircuit).Circuit(p.fold, p.target))
	}
	style := map[cost.MemoryStyle]string{cost.StyleShiftRegister: "srl", cost.StyleDistributedRAM: "lutram",
		cost.StyleBlockRAM: "bram"}[p.fifo.In]
	text := fmt.Sprintf(`module %s (input clk, input rst, output room, input claim, input [%d:0] din, input write,
    output [%[2]d:0] word, output valid, input read);
    hlsgen_stream #(.WIDTH(%d), .PLACES(%d), .STYLE("%s")) fifo (.*);
endmodule
`, p.name, p.fifo.Width-1, p.fifo.Width, p.fifo.Places, style)
	return templates.ProjectFiles{{Path: "rtl/layers/" + p.name + ".sv", Data: []byte(text)}}
}

// boardsMeasured lists a board of each family that Yosys synthesises for. Most networks are measured only for
// networkBoard.
var boardsMeasured = []string{networkBoard, "icebreaker", "ulx3s"}

const networkBoard = "pynq-z1"

// family returns Yosys' name for the target's devices.
func family(t dataflow.Target) string {
	switch t.Board.Family {
	case boards.FamilyICE40U:
		return "ice40"
	case boards.FamilyECP5:
		return "ecp5"
	}
	return "xilinx"
}

// key names the point in the table.
func (p point) key() string { return family(p.target) + " " + p.name }

func target(t testing.TB, name string) dataflow.Target {
	t.Helper()
	b, err := boards.FindBoard(name)
	if err != nil {
		t.Fatal(err)
	}
	return dataflow.Target{Board: b, ClockMHz: b.ClockMHz, Backend: dataflow.BackendRTL}
}

// bind binds a layer to the types of its inputs.
func bind(t testing.TB, op dataflow.Op, in ...dataflow.StreamType) dataflow.Op {
	t.Helper()
	bound, _, err := op.Bind(in)
	if err != nil {
		t.Fatal(err)
	}
	return bound
}

// element returns the type of weights or inputs of so many bits: signs (-1 and 1) for one bit.
func element(bits int, signed bool) num.Type {
	switch {
	case bits == 1:
		return layertest.Bipolar
	case signed:
		return layertest.Int(bits)
	}
	return layertest.UInt(bits)
}

func draw(r *rand.Rand, channels, n, bits int) [][]int64 {
	t := element(bits, true)
	w := make([][]int64, channels)
	for c := range w {
		for range n {
			if bits == 1 {
				w[c] = append(w[c], 2*r.Int64N(2)-1)
			} else {
				w[c] = append(w[c], t.Range().Lo+r.Int64N(1<<bits))
			}
		}
	}
	return w
}

// stairs returns a random step function per channel, each with 2^bits values over sums of about the given width.
func stairs(r *rand.Rand, n, bits int, width int64) []num.StepFunction {
	list := make([]num.StepFunction, n)
	for c := range list {
		at, v := int64(0), []int64{0}
		var ats []int64
		at = -width << (bits - 1)
		for s := range int64(1)<<bits - 1 {
			at += 1 + r.Int64N(2*width)
			ats, v = append(ats, at), append(v, s+1)
		}
		list[c] = num.StepFunction{At: ats, Value: v}
	}
	return list
}

// matrices returns matrix layers whose weights lie in a memory.
func matrices(t testing.TB, to dataflow.Target) (list []point) {
	for _, sweep := range []struct {
		weight, in int
		folds      [][2]int
	}{
		{4, 4, [][2]int{{1, 1}, {2, 2}, {1, 4}, {4, 4}, {8, 2}, {2, 8}, {1, 16}, {2, 16}, {4, 16}, {1, 32}, {2, 32},
			{4, 32}}},
		{2, 2, [][2]int{{1, 16}, {2, 8}, {4, 16}}},
		{1, 1, [][2]int{{1, 32}, {4, 64}}},
		{8, 8, [][2]int{{1, 4}, {2, 4}}},
	} {
		for _, fold := range sweep.folds {
			list = append(list, matrix(t, to, sweep.weight, sweep.in, fold[0], fold[1])...)
		}
	}
	return list
}

// wideSums returns matrix layers that add many products in a clock. On an ECP5, what synthesis adds to such a sum
// depends on its size.
func wideSums(t testing.TB, to dataflow.Target) (list []point) {
	for _, size := range [][4]int{{4, 4, 1, 32}, {4, 4, 4, 16}, {2, 2, 1, 64}, {8, 8, 1, 16}, {4, 8, 1, 16},
		{4, 8, 1, 64}} {
		list = append(list, matrix(t, to, size[0], size[1], size[2], size[3])...)
	}
	return list
}

// matrix returns a matrix layer in a fold, with weights and inputs of so many bits: one point for each memory in which
// the weights may lie.
func matrix(t testing.TB, to dataflow.Target, weight, in, pe, simd int) (list []point) {
	r := rand.New(rand.NewPCG(uint64(pe*100+simd), uint64(weight*10+in)))
	op := bind(t, mvau.New(mvau.Params{Weights: draw(r, 8*pe, 4*simd, weight)}),
		layertest.FullType(element(in, false), 2, 4*simd))
	for f := range withoutAdders(op) {
		if f.PE != pe || f.SIMD != simd || f.Compute == dataflow.MultiplierInDSPs || f.Memory == dataflow.MemoryURAM ||
			f.Steps == dataflow.SerialStepEvaluation ||
			f.Memory == dataflow.MemoryLUTRAM && (pe*simd != 16 || weight != 2) {
			continue
		}
		name := fmt.Sprintf("mvau_w%da%d_pe%d_simd%d_%v", weight, in, pe, simd, f.Memory)
		list = append(list, point{name: name, op: op, fold: f, target: to})
	}
	return list
}

// multiplied returns layers that multiply in DSP slices.
func multiplied(t testing.TB, to dataflow.Target) (list []point) {
	more := func(name string, op dataflow.Op, folds ...[2]int) {
		for _, fold := range folds {
			for f := range withoutAdders(op) {
				if f.PE == fold[0] && f.SIMD == fold[1] && f.Compute == dataflow.MultiplierInDSPs &&
					f.Memory != dataflow.MemoryURAM &&
					f.Memory != dataflow.MemoryLUTRAM && f.Steps != dataflow.SerialStepEvaluation {
					name := fmt.Sprintf("dsp_%s_pe%d_simd%d", name, f.PE, f.SIMD)
					list = append(list, point{name: name, op: op, fold: f, target: to})
					break
				}
			}
		}
	}
	r := rand.New(rand.NewPCG(2, 2))
	for _, bits := range [][2]int{{8, 8}, {8, 4}, {6, 6}, {5, 8}, {4, 4}} {
		op := bind(t, mvau.New(mvau.Params{Weights: draw(r, 48, 48, bits[0])}),
			layertest.FullType(element(bits[1], false), 2, 48))
		name := fmt.Sprintf("mvau_w%da%d", bits[0], bits[1])
		more(name, op, [][2]int{{1, 1}, {1, 4}, {1, 16}, {2, 2}, {3, 4}, {4, 1}, {4, 4}, {6, 2}, {2, 8}}...)
	}
	for _, bits := range []int{4, 8} {
		op := bind(t, mvau.New(mvau.Params{Weights: draw(r, 16, 32, bits), Steps: stairs(r, 16, 4, 1<<(2*bits))}),
			layertest.FullType(layertest.UInt(bits), 2, 32))
		more(fmt.Sprintf("mvau_steps_w%d", bits), op, [][2]int{{1, 4}, {4, 2}, {2, 8}}...)
		op = bind(t, vvau.New(vvau.Params{Weights: draw(r, 8, 9, bits)}), layertest.FullType(layertest.UInt(bits), 4,
			9, 8))
		more(fmt.Sprintf("vvau_w%d", bits), op, [][2]int{{1, 1}, {2, 3}, {4, 1}, {8, 1}, {1, 9}}...)
		in := layertest.FullType(layertest.Int(bits), 4, 16)
		more(fmt.Sprintf("mul_%d", bits), bind(t, mul.New(mul.Params{}), in, in), [][2]int{{1, 1}, {4, 1}, {16, 1}}...)
		more(fmt.Sprintf("add_factors_%d", bits), bind(t, add.New(add.Params{Factors: [2][]int64{{3}, {5}}}), in, in),
			[][2]int{{1, 1}, {8, 1}}...)
	}
	many := make([]int64, 16)
	for c := range many {
		many[c] = 40 + r.Int64N(87)
	}
	for _, m := range [][]int64{{77}, many} {
		op := bind(t, requant.New(requant.Params{Multiplier: m, Bias: []int64{13}, Shift: 9, Lo: 0, Hi: 15}),
			layertest.FullType(layertest.Int(12), 4, 16))
		more(fmt.Sprintf("requant_%d", len(m)), op, [][2]int{{1, 1}, {4, 1}, {16, 1}}...)
	}
	return list
}

// constant returns matrix layers whose weights are all constants, as they need them all in every clock.
func constant(t testing.TB, to dataflow.Target) (list []point) {
	for _, bits := range [][2]int{{4, 4}, {2, 2}, {1, 1}, {8, 8}} {
		for _, size := range [][2]int{{2, 4}, {4, 8}} {
			r := rand.New(rand.NewPCG(uint64(size[0]*100+size[1]), uint64(bits[0]*10+bits[1]+1)))
			op := bind(t, mvau.New(mvau.Params{Weights: draw(r, size[0], size[1], bits[0])}),
				layertest.FullType(element(bits[1], false), 2, size[1]))
			for f := range withoutAdders(op) {
				if f.PE == size[0] && f.SIMD == size[1] && f.Compute != dataflow.MultiplierInDSPs &&
					f.Memory == dataflow.MemoryLUTRAM &&
					f.Steps != dataflow.SerialStepEvaluation {
					name := fmt.Sprintf("const_w%da%d_pe%d_simd%d", bits[0], bits[1], f.PE, f.SIMD)
					list = append(list, point{name: name, op: op, fold: f, target: to})
				}
			}
		}
	}
	return list
}

// spread returns n folds of a layer, spread evenly over those with at most 16 products per clock.
func spread(name string, op dataflow.Op, n int, to dataflow.Target) (list []point) {
	var folds []dataflow.Fold
	for f := range withoutAdders(op) {
		if f.Memory != dataflow.MemoryURAM && f.Compute != dataflow.MultiplierInDSPs && f.PE*f.SIMD <= 16 {
			folds = append(folds, f)
		}
	}
	n = min(n, len(folds))
	for i := range n {
		f := folds[i*(len(folds)-1)/max(1, n-1)]
		name := fmt.Sprintf("%s_pe%d_simd%d_%v_%v_%v", name, f.PE, f.SIMD, f.Memory, f.Compute, f.Steps)
		list = append(list, point{name: name, op: op, fold: f, target: to})
	}
	return list
}

func others(t testing.TB, to dataflow.Target) (list []point) {
	r := rand.New(rand.NewPCG(1, 1))
	u4, u2, i8 := layertest.UInt(4), layertest.UInt(2), layertest.Int(8)
	i10, i12 := layertest.Int(10), layertest.Int(12)
	more := func(name string, n int, op dataflow.Op, in ...dataflow.StreamType) {
		list = append(list, spread(name, bind(t, op, in...), n, to)...)
	}
	more("vvau_w4a4", 4, vvau.New(vvau.Params{Weights: draw(r, 8, 9, 4)}), layertest.FullType(u4, 4, 9, 8))
	more("vvau_w2a2", 4, vvau.New(vvau.Params{Weights: draw(r, 16, 9, 2)}), layertest.FullType(u2, 4, 9, 16))
	more("swg_3x3", 5, swg.New(swg.Params{Kernel: [2]int{3, 3}, Stride: [2]int{1, 1}, Dilation: [2]int{1, 1},
		Before: [2]int{1, 1}, After: [2]int{1, 1}, Groups: 1}), layertest.FullType(u4, 16, 16, 8))
	more("swg_2x2", 4, swg.New(swg.Params{Kernel: [2]int{2, 2}, Stride: [2]int{2, 2}, Dilation: [2]int{1, 1},
		Groups: 1}), layertest.FullType(u2, 28, 28, 16))
	more("pool_max", 2, pool.New(pool.Params{Op: pool.PoolingMax}), layertest.FullType(u4, 4, 4, 16))
	more("pool_sum", 2, pool.New(pool.Params{Op: pool.PoolingSum}), layertest.FullType(u4, 4, 9, 8))
	more("threshold_one", 2, threshold.New(threshold.Params{Steps: stairs(r, 1, 4, 20)}), layertest.FullType(i10, 4,
		16))
	more("threshold_each", 5, threshold.New(threshold.Params{Steps: stairs(r, 32, 4, 20)}), layertest.FullType(i10, 4,
		32))
	more("threshold_two", 4, threshold.New(threshold.Params{Steps: stairs(r, 16, 2, 50)}), layertest.FullType(i12, 4,
		16))
	more("add", 2, add.New(add.Params{}), layertest.FullType(u4, 4, 16), layertest.FullType(i8, 4, 16))
	more("add_factors", 2, add.New(add.Params{Factors: [2][]int64{{3}, {5}}}),
		layertest.FullType(u4, 4, 16), layertest.FullType(i8, 4, 16))
	for _, w := range [][2]int{{1, 8}, {8, 2}, {3, 4}, {16, 1}, {2, 32}} {
		more(fmt.Sprintf("dwc_%d_%d", w[0], w[1]), 1, dwc.New(dwc.Params{In: w[0], Out: w[1]}),
			layertest.FullType(u4, 4, 96))
	}
	more("label", 2, labelselect.New(labelselect.Params{Labels: 10, K: 1, First: labelselect.RankOrderLargestFirst,
		Ties: labelselect.TieBreakLowerIndexWins}), layertest.FullType(layertest.Int(12), 10))
	more("requant", 2, requant.New(requant.Params{Multiplier: []int64{77}, Bias: []int64{13}, Shift: 9, Lo: 0, Hi: 15}),
		layertest.FullType(i12, 4, 16))
	for _, bits := range []int{2, 4} {
		op := bind(t, mvau.New(mvau.Params{Weights: draw(r, 16, 32, bits), Steps: stairs(r, 16, bits, 1<<(2*bits))}),
			layertest.FullType(layertest.UInt(bits), 2, 32))
		list = append(list, spread(fmt.Sprintf("mvau_steps%d", bits), op, 4, to)...)
	}
	return list
}

// fifos returns FIFOs in each kind of memory that the board has.
func fifos(to dataflow.Target) (list []point) {
	for _, q := range []luts.FIFOSize{{Places: 3, Width: 8, In: cost.StyleShiftRegister}, {Places: 16, Width: 4,
		In: cost.StyleShiftRegister},
		{Places: 32, Width: 16, In: cost.StyleShiftRegister}, {Places: 40, Width: 8, In: cost.StyleDistributedRAM},
		{Places: 64, Width: 24, In: cost.StyleDistributedRAM}, {Places: 520, Width: 8, In: cost.StyleBlockRAM},
		{Places: 1024, Width: 16, In: cost.StyleBlockRAM}} {
		if q.In == cost.StyleDistributedRAM && !to.Board.CanStoreInLUTs() {
			continue
		}
		list = append(list, point{name: fmt.Sprintf("fifo_%d_of_%d_bits", q.Places, q.Width), fifo: q, target: to})
	}
	return list
}

// recurrent returns the smallest folds of the recurrent layers of a model.
func recurrent(t testing.TB, to dataflow.Target) (list []point) {
	m := model(t, "internal/testsupport/models/lstm-h16-w8a8-pot/model.onnx")
	for i, n := range m.Graph.Nodes {
		if n.Op.Kind() == rnn.KindName {
			list = append(list, spread(fmt.Sprintf("lstm%d_w8a8", i), n.Op, 40, to)...)
		}
	}
	return slices.DeleteFunc(list, func(p point) bool {
		return p.fold.PE*p.fold.SIMD > 1 || p.fold.Memory != dataflow.MemoryBRAM
	})
}

// On boards other than AMD's, layers are measured up to mostLUT4 products per clock, or up to mostMultiplied if
// they multiply in DSP slices.
const mostLUT4, mostMultiplied = 16, 4

// points returns the points to measure for a board: all for AMD's, and no large layers for the others, but sums of many
// products for an ECP5.
func points(t testing.TB, to dataflow.Target) (list []point) {
	for _, p := range slices.Concat(matrices(t, to), constant(t, to), constantSigns(t, to), constantSteps(t, to),
		multiplied(t, to), others(t, to), fifos(to), recurrent(t, to)) {
		most := mostLUT4
		if p.fold.Compute == dataflow.MultiplierInDSPs {
			most = mostMultiplied
		}
		if family(to) == "xilinx" || p.op == nil || p.fold.PE*p.fold.SIMD <= most {
			list = append(list, p)
		}
	}
	if family(to) == "ecp5" {
		list = append(list, wideSums(t, to)...)
	}
	return list
}

// The groups of points whose errors are summed up together.
const (
	inMemories  = "tables in memories"
	inTables    = "tables in LUTs"
	ofConstants = "constant weights"
	ofSteps     = "step functions"
	inSlices    = "products in DSP slices"
	ofFIFOs     = "FIFOs"
)

var groups = []string{inMemories, inTables, ofConstants, ofSteps, inSlices, ofFIFOs}

// prefixed reports whether the name of the point begins with one of the list.
func (p point) prefixed(list ...string) bool {
	return slices.ContainsFunc(list, func(prefix string) bool { return strings.HasPrefix(p.name, prefix) })
}

// group returns the group that the errors of a point belong to.
func (p point) group() string {
	switch {
	case p.op == nil:
		return ofFIFOs
	case p.fold.Compute == dataflow.MultiplierInDSPs:
		return inSlices
	case p.prefixed("const", "signs"):
		return ofConstants
	case p.prefixed("requant", "scaled", "stepped"):
		return ofSteps
	case p.fold.Memory == dataflow.MemoryLUTRAM:
		return inTables
	}
	return inMemories
}

// A network is the design of a whole model.
type network struct {
	name   string
	design *dataflow.Design
}

// model imports a model of this repository.
func model(t testing.TB, path string) *dataflow.Model {
	t.Helper()
	var d diag.List
	c, err := check.Run(context.Background(),
		check.Options{Source: options.Source{Model: filepath.Join(tier.Root(t), path)}}, &d)
	if err != nil || c.Imported.Model == nil {
		t.Fatal(path, err, d.Diags)
	}
	return c.Imported.Model
}

// networks returns designs of whole models, each folded for a number of clocks per frame.
func networks(t testing.TB, to dataflow.Target) (list []network) {
	for _, n := range []struct {
		name, model string
		interval    int
		amd         bool // measured only for AMD's devices
	}{
		{"iris", "internal/examples/iris-mlp-w3a3/model.onnx", 100, false},
		{"digits-mlp-w2a2", "internal/examples/digits-mlp-w2a2/model.onnx", 400, true},
		{"digits-cnn-w4a4", "internal/testsupport/models/digits-cnn-w4a4/model.onnx", 5000, true},
	} {
		if n.amd && to.Board.Family != boards.FamilyAMD {
			continue
		}
		var d diag.List
		by := to // so that the folds do not change with the measurements here
		by.Formula = dataflow.FINNCostFormula
		made, err := folding.FindBestDesign(context.Background(), model(t, n.model), by,
			folding.Goal{Interval: float64(n.interval)}, &d)
		if err != nil || made == nil {
			t.Fatal(n.name, err, d.Diags)
		}
		made.Design.Target = to
		key := "network " + n.name
		if to.Board.Family != boards.FamilyAMD {
			key = "network " + family(to) + " " + n.name
		}
		list = append(list, network{key, made.Design})
	}
	return list
}

// withoutAdders yields the folds of a layer whose outputs share no adders.
func withoutAdders(op dataflow.Op) dataflow.FoldIterator {
	return func(yield func(dataflow.Fold) bool) {
		for f := range op.Folds() {
			if f.Compute != dataflow.SharedAdders && !yield(f) {
				return
			}
		}
	}
}
