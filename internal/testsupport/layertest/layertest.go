// Package layertest checks the contract that every layer must fulfil. Eval, the simulated Kernel, the compiled C++ and
// the RTL give the same, in every fold. Words and clocks are those of Ports and Loop, and Bind keeps its promises.
//
// In come cases, out come failures, each under the name of its check.
//
//	layertest.go  Check: the cases, and each of their folds
//	failure.go    the names of the checks
//	text.go       Parse: a graph from its text form
//	random.go     random types, step functions and frames
//	bind.go       for tests of layers: types, random cases, inputs that Bind must accept or refuse
//	computation.go the layer's Computation, in the compiled engine
//	dependence.go the layer's Dependence, against Eval
//	ranges.go     inputs that attain the bounds of the output types
//	simulate.go   a fold in the clock simulator
//	project.go    several folds in one project, and its lint
//	cover.go      which folds are compiled: covering sets of what folds differ in
//	compile.go    the compiled project, and the words that it writes
//	probe.go      the moves of the compiled C++ in each iteration, against Loop; probe/probe.hpp counts
//	stages.go     latencies, against the pipeline stages that words and rows must pass
//	work.go       latencies and costs, against the work of the compiled C++
//	memory.go     CheckStorage for a layer, and CheckMemories for whole designs
//	rtl.go        folds in SystemVerilog, in Verilator, against Eval and the simulator
//	circuit.go    the circuit of every fold, iteration by iteration, against Kernel and Eval
//	operators.go  the operator graph of every fold, for the kinds that have one
//	instances.go  many layers, each in one random fold
//	reset.go      the compiled C++ after a reset
//	carried.go    CompileKernelPaths, SequencePaths: the path from one clock to the next, in a second compiler
//	synth.go      some folds in a second compiler
//	steps.go      CheckSequences: layers for sequences of any length
//	defective.go  CheckMutants: C++ with a defect that tests must find
//	bench.go      benchmarks of layers
package layertest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"hlsgen/boards"
	"hlsgen/hlslib"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

// A Case is a layer with the types of its inputs. Folds is the number of folds that are tried, evenly spread over the
// layer's folds, or over those that satisfy Only; 0 tries all of them, as the long tier always does. Loose is the
// reason if no input may attain some bounds of the output's ranges. Board and MHz are the target; MHz defaults to
// 200. A layer that is not in hlslib comes with its row in the table of kinds, and with its C++.
type Case struct {
	Name    string
	Op      dataflow.Op // not yet bound
	In      []dataflow.StreamType
	Folds   int
	Only    func(dataflow.Fold) bool
	Loose   string
	Board   boards.Board
	MHz     float64
	PerPE   bool // accumulators have individual widths per PE
	Kinds   []dataflow.LayerKind
	Headers []hlslib.EmbeddedLibraryFile
}

// frames is the number of frames that each engine runs.
const frames = 4

// target returns the target for which folds are scheduled.
func (c Case) target() dataflow.Target {
	return dataflow.Target{Board: c.Board, ClockMHz: cmp.Or(c.MHz, 200), AccPerPE: c.PerPE}
}

// Check checks every case against the contract. Below the full tier only Go runs. From there on, covering sets of the
// folds go through compilers, in subtests: those of the C++, of its form and of the circuits. Sets of the form leave
// out what other tests of the package have covered. In the long tier all folds are compiled.
func Check(t *testing.T, cases ...Case) {
	t.Helper()
	programs, errs := examine(t.Context(), cases)
	for _, err := range errs {
		t.Error(err)
	}
	if len(programs) == 0 {
		return
	}
	t.Run("circuit", func(t *testing.T) {
		for _, err := range runCircuits(programs) {
			t.Error(err)
		}
	})
	t.Run("operators", func(t *testing.T) {
		for _, err := range runOperators(programs) {
			t.Error(err)
		}
	})
	t.Run("C++", func(t *testing.T) {
		gxx := tier.Needs(t, "g++")[0]
		some := programs
		if !tier.Long() {
			some = cover(programs, program.options)
		}
		if err := run(t.Context(), gxx, t.TempDir(), some); err != nil {
			t.Error(err)
		}
	})
	t.Run("RTL", func(t *testing.T) {
		checkRTL(t, programs)
	})
	t.Run("synthesis", func(t *testing.T) {
		tier.Needs(t, "clang++", "opt", "nm")
		checkSynthesis(t, left(t, programs, program.formOptions))
	})
	t.Run("reset", func(t *testing.T) {
		tier.Needs(t, "clang++", "nm")
		if err := runReset(t.Context(), t.TempDir(), left(t, programs, program.formOptions)); err != nil {
			t.Error(err)
		}
	})
}

// examine checks the cases against all of the contract except the checks of compiled text. It returns the programs
// for these.
func examine(ctx context.Context, cases []Case) (programs []program, errs []error) {
	for i, c := range cases {
		b, err := check(ctx, c, rand.New(rand.NewPCG(uint64(i), 1)))
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", c.Name, err))
			continue
		}
		for _, f := range b.folds {
			programs = append(programs, program{b, f})
		}
	}
	if err := lint(programs); err != nil {
		errs = append(errs, err)
	}
	return programs, errs
}

// bound is a bound case, with the frames that the engines run.
type bound struct {
	Case
	op     dataflow.Op
	out    []dataflow.StreamType
	frames [][]dataflow.Tensor // by frame and input
	want   [][]dataflow.Tensor // by frame and output
	folds  []dataflow.Fold     // the folds to be tried
}

// check checks a case against all of the contract, except the checks of the text and of the compiled C++.
func check(ctx context.Context, c Case, r *rand.Rand) (*bound, error) {
	b := &bound{Case: c}
	var err error
	if b.op, b.out, err = c.Op.Bind(c.In); err != nil {
		return nil, named(checkBind, err)
	}
	for n := range frames {
		b.frames = append(b.frames, frame(r, c.In, n))
	}
	if err := b.listFolds(); err != nil {
		return nil, named(checkFolds, err)
	}
	if err := b.checkEval(); err != nil {
		return nil, named(checkEval, err)
	}
	if err := b.checkDependence(rand.New(rand.NewPCG(3, 3))); err != nil {
		return nil, named(checkDependence, err)
	}
	if err := b.checkComputation(); err != nil {
		return nil, named(checkComputation, err)
	}
	if err := b.checkRanges(rand.New(rand.NewPCG(2, 2))); err != nil {
		return nil, named(checkRanges, err)
	}
	if err := b.checkParams(); err != nil {
		return nil, named(checkParameters, err)
	}
	for _, f := range b.folds {
		if err := b.checkFold(ctx, f, r); err != nil {
			return nil, fmt.Errorf("fold PE=%d SIMD=%d memory=%s compute=%s: %w", f.PE, f.SIMD, f.Memory, f.Compute,
				err)
		}
	}
	return b, nil
}

// listFolds sets the folds to be tried. It fails if folds are missing, repeated, or differ from call to call.
func (b *bound) listFolds() error {
	b.folds = slices.Collect(b.op.Folds())
	if again := slices.Collect(b.op.Folds()); len(again) == 0 || !slices.Equal(b.folds, again) {
		return fmt.Errorf("folds %v, and then %v", b.folds, again)
	}
	seen := map[dataflow.Fold]bool{}
	for _, f := range b.folds {
		if seen[f] {
			return fmt.Errorf("fold %+v comes twice", f)
		}
		seen[f] = true
	}
	if b.Only != nil {
		b.folds = slices.DeleteFunc(b.folds, func(f dataflow.Fold) bool { return !b.Only(f) })
	}
	if b.Folds > 0 && !tier.Long() {
		b.folds = spread(b.folds, b.Folds)
	}
	return nil
}

// checkEval computes the expected outputs of the other engines, and checks them against the output types. If the
// layer keeps a state, the frames form a run, and a second run must give the same.
func (b *bound) checkEval() error {
	evaluate := b.op.Eval
	if k, ok := b.op.(dataflow.KeepsState); ok && k.Begin() != nil {
		evaluate = k.Begin()
		if first := b.op.Eval(b.frames[0]); !reflect.DeepEqual(k.Begin()(b.frames[0]), first) {
			return fmt.Errorf("the first frame of a run is not what Eval gives: %v", first)
		}
	}
	for n, in := range b.frames {
		before := clone(in)
		want := evaluate(in)
		if !reflect.DeepEqual(in, before) {
			return fmt.Errorf("frame %d: Eval changes its arguments", n)
		}
		if len(want) != len(b.out) {
			return fmt.Errorf("frame %d: Eval gives %d outputs, Bind %d", n, len(want), len(b.out))
		}
		for i, typ := range b.out {
			if err := typ.CheckFrame(want[i]); err != nil {
				return fmt.Errorf("frame %d, output %d: %w", n, i, err)
			}
		}
		if err := b.checkRows(in, want); err != nil {
			return fmt.Errorf("frame %d: %w", n, err)
		}
		b.want = append(b.want, want)
	}
	return nil
}

// checkRows compares EvalRows with Eval, if the layer can compute single rows.
func (b *bound) checkRows(in, want []dataflow.Tensor) error {
	evalRows := b.op.Describe().EvalRows
	if evalRows == nil {
		return nil
	}
	if len(in) != 1 || len(want) != 1 {
		return fmt.Errorf("rows of %d inputs and %d outputs", len(in), len(want))
	}
	rows, size := b.In[0].Shape[0], len(in[0].Data)/b.In[0].Shape[0]
	row := func(i int) []int64 {
		if i < 0 || i >= rows {
			panic(fmt.Sprintf("row %d of %d", i, rows))
		}
		return slices.Clone(in[0].Data[i*size:][:size])
	}
	count := b.out[0].Shape[0]
	each := len(want[0].Data) / count
	for from := range count {
		for _, to := range slices.Compact([]int{from + 1, min(from+2, count)}) {
			if got := evalRows(row, from, to); !slices.Equal(got, want[0].Data[from*each:to*each]) {
				return fmt.Errorf("rows %d to %d are %v, Eval gives %v", from, to-1, got,
					want[0].Data[from*each:to*each])
			}
		}
	}
	return nil
}

// checkParams makes the layer again, from its parameters and from its text form.
func (b *bound) checkParams() error {
	data, err := json.Marshal(b.Op.Params())
	if err != nil {
		return fmt.Errorf("parameters: %w", err)
	}
	kinds := slices.Concat(hlslib.LayerKinds, b.Kinds)
	at := slices.IndexFunc(kinds, func(k dataflow.LayerKind) bool { return k.Name == b.Op.Kind() })
	if at < 0 {
		return fmt.Errorf("kind %s is not in the table", b.Op.Kind())
	}
	again, err := kinds[at].Decode(data)
	if err != nil {
		return fmt.Errorf("its own parameters: %w", err)
	}
	if !reflect.DeepEqual(again.Params(), b.Op.Params()) {
		return fmt.Errorf("parameters %v come back as %v", b.Op.Params(), again.Params())
	}
	op, out, err := again.Bind(b.In)
	if err == nil {
		for range op.Folds() { // fills the same caches as in b.op
			continue
		}
	}
	if err != nil || !reflect.DeepEqual(op, b.op) || !reflect.DeepEqual(out, b.out) {
		return fmt.Errorf("the decoded layer differs: %v %v, %v", op, out, err)
	}
	text := b.design(b.folds[0], 1).Model.Graph.String()
	g, err := Parse(text, kinds)
	if err != nil {
		return fmt.Errorf("its own text form: %w\n%s", err, text)
	}
	if g.String() != text {
		return fmt.Errorf("text form\n%scomes back as\n%s", text, g)
	}
	return nil
}

// design returns the layer alone between the host's streams.
func (b *bound) design(f dataflow.Fold, depth int) *dataflow.Design {
	g := &dataflow.Graph{}
	n := &dataflow.Node{Name: b.op.Kind() + "_0", Op: b.op}
	add := func(t dataflow.StreamType) int {
		id := len(g.Streams)
		g.Streams = append(g.Streams, &dataflow.Stream{ID: id, Type: t})
		return id
	}
	for _, t := range b.In {
		n.In = append(n.In, add(t))
	}
	for _, t := range b.out {
		n.Out = append(n.Out, add(t))
	}
	g.Nodes, g.In, g.Out = []*dataflow.Node{n}, n.In, n.Out
	d := &dataflow.Design{Model: &dataflow.Model{Name: b.Name, Graph: g}, Target: b.target(), Folds: []dataflow.Fold{f}}
	for range g.Streams {
		d.FIFO = append(d.FIFO, dataflow.FIFO{Depth: depth, Memory: dataflow.MemorySRL})
	}
	return d
}

// checkFold checks one fold against the contract. Design.Verify checks ports and loops: they must move whole frames
// of words.
func (b *bound) checkFold(ctx context.Context, f dataflow.Fold, r *rand.Rand) error {
	if err := b.design(f, 1).Verify(); err != nil {
		return named(checkPorts, err)
	}
	if err := b.simulate(ctx, f, r); err != nil {
		return named(checkKernel, err)
	}
	if err := b.checkCost(f); err != nil {
		return named(checkCost, err)
	}
	if err := b.checkStages(f); err != nil {
		return named(checkLatency, err)
	}
	t := b.target()
	if err := CheckStorage(t, b.op.Cost(f, t), b.op.Emit(f, t).Storage); err != nil {
		return named(checkStorage, err)
	}
	return named(checkInstance, b.checkInstance(f))
}

// checkCost checks the costs by both formulas. The fitted formula must count registers, which every layer has.
func (b *bound) checkCost(f dataflow.Fold) error {
	for _, formula := range []dataflow.CostFormulaChoice{dataflow.FittedCostFormula, dataflow.FINNCostFormula} {
		t := b.target()
		t.Formula = formula
		if err := b.checkParts(f, t); err != nil {
			return fmt.Errorf("by %v: %w", formula, err)
		}
	}
	if b.op.Cost(f, b.target()).Total().FF == 0 {
		return fmt.Errorf("no flip-flops")
	}
	if carried := b.op.Describe().CarriedDelayNS; carried != nil && !(carried(f, b.target()) > 0) {
		return fmt.Errorf("a delay of %v ns", carried(f, b.target()))
	}
	return nil
}

// checkParts checks that the cost of a fold consists of parts with names of their own and without negative amounts, the
// same in every call.
func (b *bound) checkParts(f dataflow.Fold, t dataflow.Target) error {
	c := b.op.Cost(f, t)
	if again := b.op.Cost(f, t); !slices.Equal(c, again) {
		return fmt.Errorf("%v, and then %v", c, again)
	}
	names := map[string]bool{}
	for _, p := range c {
		if p.Name == "" || names[p.Name] {
			return fmt.Errorf("part %q has no name of its own", p.Name)
		}
		names[p.Name] = true
		if !(dataflow.Resources{}).IsWithin(p.Resources) {
			return fmt.Errorf("part %s is negative: %+v", p.Name, p.Resources)
		}
	}
	return nil
}

// checkInstance checks assumptions of the templates: fields have known types, and tables have full rows of fitting
// values.
func (b *bound) checkInstance(f dataflow.Fold) error {
	i := b.op.Emit(f, b.target())
	if !reflect.DeepEqual(i, b.op.Emit(f, b.target())) {
		return fmt.Errorf("two that differ")
	}
	for _, c := range i.Config {
		switch v := c.Value.(type) {
		case int, bool, num.Type, []num.Type, []int, []int64:
		default:
			return fmt.Errorf("%s is a %T", c.Name, v)
		}
	}
	for _, table := range i.Tables {
		if len(table.Rows) == 0 || len(table.Rows[0]) == 0 {
			return fmt.Errorf("table %s is empty", table.Name)
		}
		for n, row := range table.Rows {
			if len(row) != len(table.Rows[0]) {
				return fmt.Errorf("table %s: row %d has %d elements, row 0 has %d", table.Name, n, len(row),
					len(table.Rows[0]))
			}
			for _, v := range row {
				if !table.Elem.Holds(v) {
					return fmt.Errorf("table %s: %s does not hold %d", table.Name, table.Elem, v)
				}
			}
		}
		if bits := len(table.Rows[0]) * table.Elem.Width; bits > dataflow.MaxTableRowBits {
			return fmt.Errorf("table %s: a row of %d bits", table.Name, bits)
		}
	}
	return nil
}

// spread returns n items at even distances, or all if there are no more.
func spread[T any](items []T, n int) []T {
	if n >= len(items) {
		return items
	}
	var some []T
	for i := range n {
		some = append(some, items[(2*i+1)*len(items)/(2*n)])
	}
	return some
}

// clone returns a copy of a frame.
func clone(frame []dataflow.Tensor) []dataflow.Tensor {
	c := make([]dataflow.Tensor, len(frame))
	for i, v := range frame {
		c[i] = dataflow.Tensor{Shape: slices.Clone(v.Shape), Data: slices.Clone(v.Data)}
	}
	return c
}
