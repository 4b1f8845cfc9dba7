package lstm_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"hlsgen/hlslib/layertest"
	"hlsgen/hlslib/lstm"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// small is a cell of one unit whose numbers can be followed by hand.
func small() lstm.Params {
	pass := num.Requant{Multiplier: 1, Mode: num.Floor, Lo: -100, Hi: 100}
	c := lstm.Cell{CellFactors: [2]int64{1, 1}, Forget: pass, Input: pass,
		Cell:   num.Requant{Multiplier: 1, Mode: num.Floor, Lo: -5, Hi: 4},
		Hidden: num.Requant{Multiplier: 1, Shift: 1, Mode: num.HalfEven, Lo: -3, Hi: 3},
		Tanh:   []num.Step{{At: []int64{-1, 1}, Value: []int64{-1, 0, 1}}}}
	for g := range c.Gates {
		c.Recurrent[g] = [][]int64{{1}}
		c.Gates[g] = lstm.Gate{Factors: [2]int64{1, 1}, Steps: []num.Step{{At: []int64{1, 3}, Value: []int64{0, 1, 2}}}}
	}
	c.Gates[2].Steps = []num.Step{{At: []int64{-2, 0, 2}, Value: []int64{-2, -1, 1, 2}}}
	return lstm.Params{Cells: []lstm.Cell{c}, Sequence: true, States: true}
}

// TestEval follows three steps by hand: c grows, doubles into saturation, and falls.
func TestEval(t *testing.T) {
	t.Parallel()
	op, out, err := lstm.New(small()).Bind([]dataflow.Type{typ(intN(4), 3, 4)})
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
		out[0].Elem != intN(2) || out[1].Elem != intN(4) {
		t.Errorf("%v, want %v and %v", out, h, c)
	}
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	four := typ(intN(4), 3, 4)
	change := func(f func(*lstm.Cell)) lstm.Params {
		p := small()
		f(&p.Cells[0])
		return p
	}
	k := int64(2)
	two := small()
	two.Cells = append(two.Cells, change(func(c *lstm.Cell) {
		c.Product = &num.Requant{Multiplier: 1,
			Mode: num.Floor}
	}).Cells...)
	mixed := small()
	mixed.Cells = append(mixed.Cells, change(func(c *lstm.Cell) {
		c.CIFG, c.Recurrent[0], c.Gates[0] = &k, nil,
			lstm.Gate{}
	}).Cells...)
	fall := num.Step{At: []int64{0}, Value: []int64{1, 0}}
	for _, tt := range []struct {
		p    lstm.Params
		in   []dataflow.Type
		want string
	}{
		{small(), []dataflow.Type{four}, ""},
		{small(), []dataflow.Type{typ(intN(4), 4)}, "an input of shape [4] for 1 cells of 1 units, want [steps, 4]"},
		{small(), []dataflow.Type{typ(intN(4), 3, 8)}, "an input of shape [3 8]"},
		{small(), nil, "0 inputs"},
		{small(), []dataflow.Type{typ(intN(64), 3, 4)}, "leaves 63 bits"},
		{small(), []dataflow.Type{typ(intN(63), 3, 4)}, "a value needs 64 bits"},
		{lstm.Params{}, []dataflow.Type{four}, "no cells"},
		{change(func(c *lstm.Cell) { c.Recurrent[1] = nil }), []dataflow.Type{four}, "no units"},
		{change(func(c *lstm.Cell) { c.Recurrent[3] = [][]int64{{1, 2}} }), []dataflow.Type{four},
			"gate o: unit 0: 2 weights, want 1"},
		{change(func(c *lstm.Cell) { c.Recurrent[0] = nil }), []dataflow.Type{four},
			"gate i: 0 rows of weights, want 1"},
		{change(func(c *lstm.Cell) { c.Recurrent[2][0][0] = 1 << 50 }), []dataflow.Type{four}, "beyond 2^40"},
		{change(func(c *lstm.Cell) { c.CIFG = &k }), []dataflow.Type{four},
			"gate i: it is coupled, and has parameters"},
		{change(func(c *lstm.Cell) { c.Gates[2].Peephole = []int64{1} }), []dataflow.Type{four},
			"the candidate has peepholes"},
		{change(func(c *lstm.Cell) { c.Gates[1].Bias = []int64{1, 2} }), []dataflow.Type{four},
			"gate f: 2 biases for 1 units"},
		{change(func(c *lstm.Cell) { c.Gates[1].Steps = nil }), []dataflow.Type{four},
			"gate f: 0 step functions for 1 units"},
		{change(func(c *lstm.Cell) { c.Gates[3].Steps = []num.Step{fall} }), []dataflow.Type{four},
			"gate o: the step function of a unit falls"},
		{change(func(c *lstm.Cell) { c.Tanh = []num.Step{fall} }), []dataflow.Type{four},
			"tanh: the step function of a unit falls"},
		{change(func(c *lstm.Cell) { c.Tanh = []num.Step{{}} }), []dataflow.Type{four},
			"tanh: unit 0: step function has 0 breakpoints and 0 values"},
		{change(func(c *lstm.Cell) { c.H0 = []int64{1, 2} }), []dataflow.Type{four},
			"2 initial values of h for 1 units"},
		{change(func(c *lstm.Cell) { c.Forget = num.Requant{} }), []dataflow.Type{four}, "forget: unknown rounding"},
		{change(func(c *lstm.Cell) { c.Cell.Lo, c.Cell.Hi = math.MinInt64, math.MaxInt64 }), []dataflow.Type{four},
			"a value leaves 63 bits"},
		{two, []dataflow.Type{typ(intN(4), 3, 8)}, "cell 1: products are requantised in another way"},
		{mixed, []dataflow.Type{typ(intN(4), 3, 8)}, "cell 1: its input gate is coupled or not"},
	} {
		layertest.Refuses(t, lstm.New(tt.p), tt.in, tt.want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(small())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lstm.Layer.Decode(text); err != nil {
		t.Fatal(err)
	}
	for _, tt := range [][2]string{
		{``, ``}, {`"factors":[1,1]`, `"factors":[1]`}, {`"factors":[1,1]`, `"factors":[1,1,1]`},
		{`"cell_factors":[1,1]`, `"cell_factors":[1,1,1]`},
		{`"recurrent":[`, `"recurrent":[[[1]],`}, {`"gates":[`,
			`"gates":[{"factors":[1,1],"steps":[{"at":[],"value":[1]}]},`}, {`"gates"`, `"doors"`},
		{`"mode":"floor"`, `"mode":"down"`}, {`"cells":[`, `"cells":["x",`},
	} {
		bad := strings.Replace(string(text), tt[0], tt[1], 1)
		if tt[0] == "" {
			bad = "{}"
		}
		if op, err := lstm.Layer.Decode([]byte(bad)); err == nil || op != nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

// wide is a layer of many units whose weights are -1, 0 and 1.
func wide(t *testing.T, cells, units, steps int) dataflow.Op {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	o := recipe{cells: cells, units: units, sequence: true}
	p := o.layer(r)
	for d, c := range p.Cells {
		p.Cells[d].Input.Multiplier, p.Cells[d].Hidden.Multiplier = 1, 16
		for g := range c.Recurrent {
			for _, row := range c.Recurrent[g] {
				for k := range row {
					row[k] = r.Int64N(3) - 1
				}
			}
		}
	}
	op := layertest.Bind(t, lstm.New(p), typ(intN(8), steps, cells*units*4))
	return op
}

// TestLoop spells the clocks: a step takes what its cells do, or what the first one does and the latency; the last step
// of a frame waits for nothing.
func TestLoop(t *testing.T) {
	t.Parallel()
	const steps = 5
	for _, tt := range []struct {
		cells, units, pe, simd    int
		latency, step, iterations int
	}{
		{2, 128, 2, 128, 18, 128, 5 * 128},  // FINN-L's W2A2: two cells of 64 clocks cover the latency
		{2, 128, 1, 64, 17, 512, 5 * 512},   // its W4A4
		{1, 128, 2, 128, 18, 82, 4*82 + 64}, // a cell alone waits for itself
		{2, 128, 8, 128, 18, 34, 4*34 + 32}, // 2*16 clocks are less than 16+18
		{1, 8, 8, 8, 16, 17, 4*17 + 1},      // nothing but latency
		{3, 8, 4, 2, 15, 24, 5 * 24},        // 3*8 clocks are more than 8+15
		{1, 12, 4, 3, 15, 27, 4*27 + 12},    // words of 12
		{1, 12, 2, 2, 15, 51, 4*51 + 36},    // words of 2
	} {
		op := wide(t, tt.cells, tt.units, steps)
		l := op.Loop(dataflow.Fold{PE: tt.pe, SIMD: tt.simd}, dataflow.Target{})
		first := tt.units/tt.simd - 1 // the iteration of the first word
		if l.Latency != tt.latency || l.Iterations() != tt.iterations || l.FirstWrite(0) != first+tt.latency ||
			l.LastWrite(0) != tt.iterations-1+tt.latency {
			t.Errorf("%+v: %d iterations, latency %d, words from %d to %d", tt, l.Iterations(), l.Latency,
				l.FirstWrite(0), l.LastWrite(0))
		}
		i := op.Emit(dataflow.Fold{PE: tt.pe, SIMD: tt.simd, Memory: dataflow.BRAM, Compute: dataflow.LUT},
			dataflow.Target{})
		for _, f := range i.Config {
			if f.Name == "step" && f.Value != tt.step || f.Name == "h_distance" &&
				(f.Value != distance(tt.units, tt.pe, tt.simd, tt.step) || f.Value.(int) <= tt.latency) {
				t.Errorf("%+v: %s is %v", tt, f.Name, f.Value)
			}
		}
	}
}

// distance is the least number of iterations from where a word of h is complete to where the next step reads it first:
// a word is as many units as both PE and SIMD divide.
func distance(units, pe, simd, step int) int {
	word := pe
	for word%simd != 0 {
		word += pe
	}
	least, sf := step, units/simd
	for first := 0; first < units; first += word {
		complete := (first+word)/pe*sf - 1
		least = min(least, step+first/simd-complete)
	}
	return least
}

// TestLatency counts what options add.
func TestLatency(t *testing.T) {
	t.Parallel()
	k := int64(2)
	for _, tt := range []struct {
		name   string
		change func(*lstm.Cell)
		want   int
	}{
		{"plain", func(*lstm.Cell) {}, 14},
		{"products requantised", func(c *lstm.Cell) {
			c.Product = &num.Requant{Multiplier: 1, Mode: num.Floor, Lo: -9,
				Hi: 9}
		}, 15},
		{"scaled", func(c *lstm.Cell) { c.Gates[2].Factors[1] = 3 }, 15},
		{"coupled", func(c *lstm.Cell) { c.CIFG, c.Recurrent[0], c.Gates[0] = &k, nil, lstm.Gate{} }, 15},
		{"a multiplier", func(c *lstm.Cell) { c.Input.Multiplier = 3 }, 15},
		{"another for c", func(c *lstm.Cell) { c.CellFactors[0] = 4 }, 15},
		{"and for h", func(c *lstm.Cell) { c.Hidden.Multiplier = -1 }, 15},
		{"powers of two", func(c *lstm.Cell) { c.Input.Multiplier, c.Hidden.Multiplier = 4, 2 }, 14},
		{"a peephole on f", func(c *lstm.Cell) { c.Gates[1].Peephole = []int64{2} }, 15},
		{"a peephole on o", func(c *lstm.Cell) { c.Gates[3].Peephole = []int64{2} }, 17},
	} {
		p := small()
		tt.change(&p.Cells[0])
		op := layertest.Bind(t, lstm.New(p), typ(intN(4), 3, 4))
		if l := op.Loop(dataflow.Fold{PE: 1, SIMD: 1}, dataflow.Target{}); l.Latency != tt.want {
			t.Errorf("%s: %d clocks, want %d", tt.name, l.Latency, tt.want)
		}
	}
}

// TestReports looks at what reports say of a layer.
func TestReports(t *testing.T) {
	t.Parallel()
	op := wide(t, 2, 16, 3)
	counts := op.(dataflow.Counting).Counts()
	if n := counts["param_weight_INT2"]; n != 2*4*16*16 {
		t.Errorf("%v", counts)
	}
	if n := counts["op_mac_INT4_INT2"]; n != 3*2*4*16*16 {
		t.Errorf("%v", counts)
	}
	acc := op.(dataflow.Accumulating).Accumulator()
	if len(acc.Channels) != 2*4*16 || acc.Used > 4+5 || acc.Used < acc.Exact {
		t.Errorf("%+v", acc)
	}
	one := op.Cost(dataflow.Fold{PE: 1, SIMD: 16, Memory: dataflow.BRAM, Compute: dataflow.LUT},
		dataflow.Target{}).Total()
	four := op.Cost(dataflow.Fold{PE: 4, SIMD: 16, Memory: dataflow.BRAM, Compute: dataflow.LUT},
		dataflow.Target{}).Total()
	dsp := op.Cost(dataflow.Fold{PE: 1, SIMD: 16, Memory: dataflow.BRAM, Compute: dataflow.DSP},
		dataflow.Target{}).Total()
	if four.LUT < 3*one.LUT || four.LUT > 4*one.LUT || one.DSP != 0 || dsp.DSP != 4*16+3 || dsp.LUT >= one.LUT {
		t.Errorf("%+v with PE 1, %+v with PE 4, %+v in DSP slices", one, four, dsp)
	}
}

// What types are called above.
var typ, intN = layertest.Full, layertest.Int
