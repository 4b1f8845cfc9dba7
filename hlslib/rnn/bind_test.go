package rnn_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hlsgen/hlslib/rnn"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
)

// small is an LSTM of one unit whose numbers can be followed by hand.
func small() rnn.Params {
	pass := num.Requant{Multiplier: 1, Mode: num.RoundingFloor, Lo: -100, Hi: 100}
	c := lstmCell{factors: [2]int64{1, 1}, forget: pass, input: pass,
		cell:   num.Requant{Multiplier: 1, Mode: num.RoundingFloor, Lo: -5, Hi: 4},
		hidden: num.Requant{Multiplier: 1, Shift: 1, Mode: num.RoundingHalfEven, Lo: -3, Hi: 3},
		tanh:   []num.StepFunction{{At: []int64{-1, 1}, Value: []int64{-1, 0, 1}}}}
	for g := range c.gates {
		c.recurrent[g] = [][]int64{{1}}
		c.gates[g] = lstmGate{factors: [2]int64{1, 1}, steps: []num.StepFunction{{At: []int64{1, 3}, Value: []int64{0,
			1, 2}}}}
	}
	c.gates[2].steps = []num.StepFunction{{At: []int64{-2, 0, 2}, Value: []int64{-2, -1, 1, 2}}}
	cell := c.program()
	return rnn.Params{Cells: []rnn.Cell{cell}, Sequence: true, Outputs: []rnn.ValueRef{cell.States[0].Next,
		cell.States[1].Next}}
}

// TestEval follows three steps by hand: c grows, doubles into saturation, and falls.
func TestEval(t *testing.T) {
	t.Parallel()
	op, out, err := rnn.New(small()).Bind([]dataflow.StreamType{layertest.FullType(layertest.Int(4), 3, 4)})
	if err != nil {
		t.Fatal(err)
	}
	x := []int64{
		3, 0, 2, 3, // i=2, f=0, g=2: c=4; o=2, tanh=1: h=1
		0, 2, 0, 0, // with h: i=1, f=2, g=1: 8+1, c=4; o=1: h = round(1/2) = 0
		1, 0, -8, 7, // i=1, f=0, g=-2: c=-2; o=2, tanh=-1: h=-1
	}
	got := op.Eval([]dataflow.Tensor{{Shape: dataflow.Shape{3, 4}, Data: x}})
	want := []dataflow.Tensor{{Shape: dataflow.Shape{3, 1}, Data: []int64{1, 0, -1}},
		{Shape: dataflow.Shape{3, 1}, Data: []int64{4, 4, -2}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if h, c := (num.Range{Lo: -1, Hi: 1}), (num.Range{Lo: -5, Hi: 4}); out[0].Range[0] != h || out[1].Range[0] != c ||
		out[0].Elem != layertest.Int(2) || out[1].Elem != layertest.Int(4) {
		t.Errorf("%v, want %v and %v", out, h, c)
	}
}

// counter returns a program of two cells for two sequences. A cell adds its input to its state, and keeps the sum
// within 0 and 9. An initial state arrives.
func counter() rnn.Params {
	q := num.Requant{Multiplier: 1, Mode: num.RoundingFloor, Lo: 0, Hi: 9}
	c := rnn.Cell{States: []rnn.StateDefinition{{Next: rnn.ValueRef{Value: 3}}}, Phases: []rnn.CellPhase{{Units: 1,
		Values: []rnn.CellOperation{
			{Op: rnn.OpInput}, {Op: rnn.OpState},
			{Op: rnn.OpLinear, Of: []int{0, 1}, Factors: [][]int64{{1}, {1}}},
			{Op: rnn.OpRequant, Of: []int{2}, Requant: &q}}}}}
	return rnn.Params{Cells: []rnn.Cell{c, c}, Sequences: 2, Sequence: true, Outputs: []rnn.ValueRef{{Value: 3}},
		Starts: []int{0}}
}

// TestTurns checks that sequences and cells take turns, first the cells of one sequence, and that each has a state of
// its own.
func TestTurns(t *testing.T) {
	t.Parallel()
	p := counter()
	double := p.Cells[1]
	double.Phases = slices.Clone(double.Phases)
	double.Phases[0].Values = slices.Clone(double.Phases[0].Values)
	double.Phases[0].Values[2].Factors = [][]int64{{2}, {1}}
	p.Cells = []rnn.Cell{p.Cells[0], double}
	types := []dataflow.StreamType{layertest.FullType(layertest.Int(3), 2, 4), layertest.FullType(layertest.UInt(3), 4)}
	op := layertest.Bind(t, rnn.New(p), types...)
	got := op.Eval([]dataflow.Tensor{{Shape: dataflow.Shape{2, 4}, Data: []int64{1, 1, -4, 3, 1, 2, 3, 3}},
		{Shape: dataflow.Shape{4}, Data: []int64{0, 1, 2, 7}}})
	want := []dataflow.Tensor{{Shape: dataflow.Shape{2, 4}, Data: []int64{1, 3, 0, 9, 2, 7, 3, 9}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	four := layertest.FullType(layertest.Int(4), 3, 4)
	change := func(f func(*rnn.Params, *rnn.Cell)) rnn.Params {
		p := small()
		f(&p, &p.Cells[0])
		return p
	}
	value := func(k int, v rnn.CellOperation) rnn.Params {
		return change(func(_ *rnn.Params, c *rnn.Cell) { c.Phases[0].Values[k] = v })
	}
	steps := []num.StepFunction{{At: []int64{0}, Value: []int64{0, 1}}}
	for _, tt := range []struct {
		p    rnn.Params
		in   []dataflow.StreamType
		want string
	}{
		{small(), []dataflow.StreamType{four}, ""},
		{small(), []dataflow.StreamType{layertest.FullType(layertest.Int(4), 4)}, ""}, // one step
		{small(), []dataflow.StreamType{layertest.FullType(layertest.Int(4), 5)},
			"an input of shape [5] for 1 turns of 1 units with 4 lanes, want [steps, 4]"},
		{small(), []dataflow.StreamType{layertest.FullType(layertest.Int(4), 3, 8)}, "an input of shape [3 8]"},
		{small(), nil, "0 inputs, want 1"},
		{counter(), []dataflow.StreamType{four}, "1 inputs, want 2"},
		{counter(), []dataflow.StreamType{four, four}, "input 1 of shape [3 4] for state 0, want [4]"},
		{small(), []dataflow.StreamType{layertest.FullType(layertest.Int(64), 3, 4)},
			"cell 0, phase 0, value 3 (linear), unit 0: it leaves 63 bits, state 0 in [-"},
		{small(), []dataflow.StreamType{layertest.FullType(layertest.Int(63), 3, 4)},
			"value 3 (linear): it needs 64 bits"},
		{rnn.Params{}, []dataflow.StreamType{four}, "0 cells, 0 sequences and 0 outputs"},
		{change(func(p *rnn.Params, _ *rnn.Cell) { p.Outputs = append(p.Outputs, p.Outputs[0]) }),
			[]dataflow.StreamType{four}, "output 2 is no value of a phase, or goes out twice"},
		{change(func(p *rnn.Params, _ *rnn.Cell) { p.Starts = []int{2} }), []dataflow.StreamType{four},
			"input 1 starts state 2"},
		{change(func(p *rnn.Params, _ *rnn.Cell) { p.Starts, p.Keeps = []int{0}, true }), []dataflow.StreamType{four},
			"kept from frame to frame, and arrives"},
		{change(func(_ *rnn.Params, c *rnn.Cell) { c.States = nil }), []dataflow.StreamType{four},
			"no phases or no states"},
		{change(func(_ *rnn.Params, c *rnn.Cell) { c.States[1].Next.Value = 3 }), []dataflow.StreamType{four},
			`state 1 becomes a value of "linear", which does not bound it`},
		{change(func(_ *rnn.Params, c *rnn.Cell) { c.States[1].Next.Phase = 3 }), []dataflow.StreamType{four},
			"state 1 becomes no value"},
		{change(func(_ *rnn.Params, c *rnn.Cell) { c.States[0].Start = []int64{1, 2} }), []dataflow.StreamType{four},
			"state 0 starts with 2 values for 1 units"},
		{change(func(_ *rnn.Params, c *rnn.Cell) { c.Phases[0].State = nil }), []dataflow.StreamType{four},
			"4 dots; they look at a state, or at a value"},
		{change(func(_ *rnn.Params, c *rnn.Cell) { *c.Phases[0].State = 2 }), []dataflow.StreamType{four},
			"it looks at state 2 of 2"},
		{change(func(_ *rnn.Params, c *rnn.Cell) { c.Phases[0].State, c.Phases[0].Of = nil, &rnn.ValueRef{} }),
			[]dataflow.StreamType{four}, "it looks at no value of an earlier phase"},
		{change(func(_ *rnn.Params, c *rnn.Cell) { c.Phases[0].Dots[2].Weights = [][]int64{{1, 2}} }),
			[]dataflow.StreamType{four}, "dot 2, unit 0: 2 weights, want 1"},
		{change(func(_ *rnn.Params, c *rnn.Cell) { c.Phases[0].Dots[2].Weights = nil }), []dataflow.StreamType{four},
			"dot 2: 0 rows of weights, want 1"},
		{change(func(_ *rnn.Params, c *rnn.Cell) { c.Phases[0].Dots[2].Weights[0][0] = 1 << 50 }),
			[]dataflow.StreamType{four}, "dot 2, unit 0: weight 0 is 1125899906842624, beyond 2^40"},
		{change(func(_ *rnn.Params, c *rnn.Cell) { c.Phases[0].Dots[2].Product = &num.Requant{} }),
			[]dataflow.StreamType{four}, "dot 2: products are requantised in another way"},
		{value(3, rnn.CellOperation{Op: "sort"}), []dataflow.StreamType{four}, "value 3 (sort): unknown operation"},
		{value(3, rnn.CellOperation{Op: rnn.OpDot, At: 4}), []dataflow.StreamType{four}, "it is of number 4, of 4"},
		{value(3, rnn.CellOperation{Op: rnn.OpProduct, Of: []int{1, 3}}), []dataflow.StreamType{four},
			"made of the values [1 3], want 2 earlier ones"},
		{value(3, rnn.CellOperation{Op: rnn.OpLinear, Of: []int{1}}), []dataflow.StreamType{four},
			"0 factors for 1 values"},
		{value(3, rnn.CellOperation{Op: rnn.OpLinear, Of: []int{1}, Factors: [][]int64{{1, 2}}}),
			[]dataflow.StreamType{four},
			"2 factors for 1 units"},
		{value(3, rnn.CellOperation{Op: rnn.OpProduct, Of: []int{1, 1}, Steps: steps}), []dataflow.StreamType{four},
			"parameters of another operation"},
		{value(3, rnn.CellOperation{Op: rnn.OpEarlierPhaseValue}), []dataflow.StreamType{four},
			"phase 0 is no earlier one"},
		{value(4, rnn.CellOperation{Op: rnn.OpStepFunction, Of: []int{3}, Steps: make([]num.StepFunction, 1)}),
			[]dataflow.StreamType{four},
			"unit 0: step function has 0 breakpoints and 0 values"},
		{value(4, rnn.CellOperation{Op: rnn.OpStepFunction, Of: []int{3},
			Steps: []num.StepFunction{layertest.Stairs(5000, 1)}}),
			[]dataflow.StreamType{layertest.FullType(layertest.Int(20), 3, 4)},
			"a unit has 5000 thresholds, at most 4096"},
		{change(func(p *rnn.Params, c *rnn.Cell) {
			other := small().Cells[0]
			other.Phases[0].Values[4], p.Cells = rnn.CellOperation{Op: rnn.OpRequant, Of: []int{3},
				Requant: &num.Requant{Mode: num.RoundingFloor}}, append(p.Cells, other)
		}), []dataflow.StreamType{four}, "cell 1: its program is another one"},
		{change(func(_ *rnn.Params, c *rnn.Cell) {
			for k, v := range c.Phases[0].Values {
				if v.Op == rnn.OpInput {
					c.Phases[0].Values[k] = rnn.CellOperation{Op: rnn.OpState}
				}
			}
		}), []dataflow.StreamType{four}, "no value of the first phase reads the input"},
	} {
		layertest.CheckRefused(t, rnn.New(tt.p), tt.in, tt.want)
	}
	layertest.CheckTextRefused(t, rnn.LayerKind, "{}", `{"cells":[`, `{"cells":[{}],"outputs":[{}]}`)
}

// TestUnbounded checks that the range of a state without limits follows from its operations.
func TestUnbounded(t *testing.T) {
	t.Parallel()
	p := small()
	for k := range p.Cells[0].Phases[0].Values {
		if q := p.Cells[0].Phases[0].Values[k].Requant; q != nil && q.Lo == -3 {
			q.Lo, q.Hi = math.MinInt64, math.MaxInt64
		}
	}
	_, out, err := rnn.New(p).Bind([]dataflow.StreamType{layertest.FullType(layertest.Int(4), 3, 4)})
	if err != nil || out[0].Range[0] != (num.Range{Lo: -1, Hi: 1}) {
		t.Errorf("%v, %v", out, err)
	}
}

// TestDead checks that values that cannot change, and values that nothing depends on, are left out.
func TestDead(t *testing.T) {
	t.Parallel()
	f := dataflow.Fold{PE: 1, SIMD: 1, Memory: dataflow.MemoryLUTRAM, Compute: dataflow.MultiplierInDSPs}
	four := layertest.FullType(layertest.Int(4), 3, 4)
	whole := layertest.Bind(t, rnn.New(small()), four)
	cost := func(op dataflow.Op, f dataflow.Fold) dataflow.Resources { return op.Cost(f, dataflow.Target{}).Total() }

	one := small()
	one.Cells[0].Phases[0].Dots[1].Weights[0][0] = 0
	if a, b := cost(whole, f), cost(layertest.Bind(t, rnn.New(one), four), f); b.DSP != a.DSP || b.LUT >= a.LUT {
		t.Errorf("without a dot, of which four share a DSP slice, %+v, with it %+v", b, a)
	}
	none := small()
	for _, d := range none.Cells[0].Phases[0].Dots {
		d.Weights[0][0] = 0
	}
	op := layertest.Bind(t, rnn.New(none), four)
	for f := range op.Folds() {
		tables := layertest.DescribeTables(op.Emit(f, dataflow.Target{}))
		if f.Memory != dataflow.NoMemory || strings.Contains(tables, "weights") {
			t.Errorf("%+v has weights", f)
		}
	}
	short := small()
	short.Outputs = []rnn.ValueRef{{Value: 4}} // the code of the forget gate, which needs h, and so all
	if a, b := cost(whole, f), cost(layertest.Bind(t, rnn.New(short), four), f); b.DSP != a.DSP {
		t.Errorf("%+v and %+v", a, b)
	}
	short.Outputs = []rnn.ValueRef{{Value: 1}} // an input
	op = layertest.Bind(t, rnn.New(short), four)
	for f := range op.Folds() {
		if c := cost(op, f); c.DSP > 0 || op.Emit(f, dataflow.Target{}).Tables != nil {
			t.Errorf("a wire takes %+v", c)
		}
	}
}

// TestReports checks the reports about a layer.
func TestReports(t *testing.T) {
	t.Parallel()
	op := wide(t, recipe{cells: 2, units: 16, sequences: 2}, 3)
	counts := op.Describe().Counts()
	if n := counts["param_weight_INT2"]; n != 2*4*16*16 {
		t.Errorf("%v", counts)
	}
	if n := counts["op_mac_INT4_INT2"]; n != 2*3*2*4*16*16 {
		t.Errorf("%v", counts)
	}
	acc := op.Describe().Accumulators()
	if len(acc.Channels) != 2*4*16 || acc.Used > 4+5 || acc.Used < acc.Exact {
		t.Errorf("%+v", acc)
	}
	of := func(pe int, c dataflow.MultiplierKind) dataflow.Resources {
		return op.Cost(dataflow.Fold{PE: pe, SIMD: 16, Memory: dataflow.MemoryBRAM, Compute: c},
			dataflow.Target{}).Total()
	}
	one, four, dsp := of(1, dataflow.MultiplierInLUTs), of(4, dataflow.MultiplierInLUTs), of(1,
		dataflow.MultiplierInDSPs)
	if four.LUT < 3*one.LUT || four.LUT > 4*one.LUT || one.DSP != 0 || dsp.DSP != 16+3 || // four dots share a slice
		dsp.LUT >= one.LUT {
		t.Errorf("%+v with PE 1, %+v with PE 4, %+v in DSP slices", one, four, dsp)
	}
}
