package threshold_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hlsgen/hlslib/threshold"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/randomtest"
	"hlsgen/internal/testsupport/tier"
)

func TestContract(t *testing.T) {
	t.Parallel()
	relu := num.StepFunction{At: []int64{1, 3, 6}, Value: []int64{0, 1, 2, 3}}
	fall := num.StepFunction{At: []int64{-3, 0, 4}, Value: []int64{2, -1, 7, -8}}
	sign := num.StepFunction{At: []int64{0}, Value: []int64{-1, 1}}
	wide := num.StepFunction{At: []int64{math.MinInt64 + 1, math.MaxInt64}, Value: []int64{-1 << 40, 3, 1 << 50}}
	cases := []layertest.Case{
		{Name: "one for all", Op: threshold.New(threshold.Params{Steps: []num.StepFunction{relu}}),
			In: []dataflow.StreamType{typ(intN(4), 3, 6)}},
		{Name: "one per channel", Op: threshold.New(threshold.Params{Steps: []num.StepFunction{relu, sign}}),
			In: []dataflow.StreamType{typ(intN(4), 3, 2)}},
		{Name: "the same per channel", Op: threshold.New(threshold.Params{Steps: []num.StepFunction{relu, relu}}),
			In: []dataflow.StreamType{typ(uintN(4), 3, 2)}},
		{Name: "falling", Op: threshold.New(threshold.Params{Steps: []num.StepFunction{fall}}),
			In: []dataflow.StreamType{typ(intN(5), 4)}},
		{Name: "one falls", Op: threshold.New(threshold.Params{Steps: []num.StepFunction{fall, relu}}),
			In: []dataflow.StreamType{typ(intN(5), 4, 2)}},
		{Name: "bipolar both", Op: threshold.New(threshold.Params{Steps: []num.StepFunction{sign}}),
			In: []dataflow.StreamType{typ(bipolar, 6)}},
		{Name: "bipolar turned round", Op: threshold.New(threshold.Params{Steps: []num.StepFunction{{At: []int64{1},
			Value: []int64{1, -1}}}}), In: []dataflow.StreamType{typ(bipolar, 6)}},
		{Name: "constants", Op: threshold.New(threshold.Params{Steps: []num.StepFunction{{Value: []int64{-3}},
			{Value: []int64{9}}}}), In: []dataflow.StreamType{typ(uintN(1), 2, 2)}},
		{Name: "all of 64 bits", Op: threshold.New(threshold.Params{Steps: []num.StepFunction{wide}}),
			In: []dataflow.StreamType{typ(intN(64), 2)}},
		{Name: "a base beyond an int", Op: threshold.New(threshold.Params{Steps: []num.StepFunction{{At: []int64{1},
			Value: []int64{1 << 40, 1<<40 + 1}}}}), In: []dataflow.StreamType{typ(uintN(2), 2)}},
		{Name: "thresholds at the ends", Op: threshold.New(threshold.Params{Steps: []num.StepFunction{{At: []int64{-8,
			-7, 7,
			8}, Value: []int64{0, 1, 2, 3, 4}}}}), In: []dataflow.StreamType{typ(intN(4), 2)}},
		{Name: "one per pixel and channel", Op: threshold.New(threshold.Params{Steps: []num.StepFunction{relu, sign,
			fall, relu,
			relu, sign}}), In: []dataflow.StreamType{typ(intN(4), 4, 3, 2)}},
		{Name: "scalar", Op: threshold.New(threshold.Params{Steps: []num.StepFunction{relu}}),
			In: []dataflow.StreamType{typ(intN(4))}},
	}
	layertest.Check(t, append(cases, layertest.RandomCases(60, 11, randomtest.Threshold)...)...)
}

// TestTables has functions of more steps than a value can be compared with: tables of all values, one for all channels
// or one each, that rise or turn, on as many lanes as these have room for.
func TestTables(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(17, 9))
	draw := func(in num.Type, turns bool) (s num.StepFunction) {
		s.Value = []int64{r.Int64N(100)}
		for v := in.Range().Lo + 1; v <= in.Range().Hi; v += 1 + r.Int64N(2) {
			jump := 1 + r.Int64N(3)
			if turns && r.IntN(2) == 0 {
				jump = -jump
			}
			s.At, s.Value = append(s.At, v), append(s.Value, s.Value[len(s.Value)-1]+jump)
		}
		return s
	}
	wide, narrow := intN(16), uintN(13)
	cases := []layertest.Case{
		{Name: "turns", Loose: "values are too many to meet the least",
			Folds: 1, Op: threshold.New(threshold.Params{Steps: []num.StepFunction{draw(narrow, true), draw(narrow,
				false)}}),
			In: []dataflow.StreamType{typ(narrow, 4, 2)}},
	}
	most := layertest.Bind(t, threshold.New(threshold.Params{Steps: []num.StepFunction{draw(wide, true)}}), typ(wide,
		2, 64))
	pe := 0
	for f := range most.Folds() {
		pe = max(pe, f.PE)
	}
	if pe != 16 {
		t.Errorf("up to %d lanes have tables of 16 bits, want 16", pe)
	}
	if tier.Full() {
		layertest.Check(t, cases...)
	}
	for _, c := range cases {
		op := layertest.Bind(t, c.Op, c.In...)
		for f := range op.Folds() {
			if f.Steps == dataflow.SerialStepEvaluation {
				continue
			}
			for _, table := range op.Emit(f, dataflow.Target{}).Tables {
				if len(table.Rows) < 1<<10 {
					t.Errorf("%s, %+v: a table of %d rows", c.Name, f, len(table.Rows))
				}
			}
		}
	}
}

// TestForms has step functions of many steps, in all forms, through the contract: even and uneven ones, that rise and
// fall, one for all channels or one each, of few bits and of many.
func TestForms(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	r := rand.New(rand.NewPCG(41, 4))
	steps := func(n int, in num.Type, gap, spread int64, jump func() int64) (list []num.StepFunction) {
		for range n {
			var s num.StepFunction
			at, value := -20*gap, int64(-3)
			for range 40 {
				s.At, s.Value = append(s.At, at), append(s.Value, value)
				at, value = at+gap+r.Int64N(spread), value+jump()
			}
			list = append(list, num.StepFunction{At: s.At, Value: append(s.Value, value)}.RestrictedTo(in.Range()))
		}
		return list
	}
	one := func() int64 { return 1 }
	any := func() int64 { return r.Int64N(7) - 3 }
	var cases []layertest.Case
	seen := map[string]bool{}
	for _, tt := range []struct {
		name        string
		in          num.Type
		gap, spread int64
		jump        func() int64
	}{
		{"byte", intN(8), 5, 3, any}, {"even", intN(15), 256, 1, one},
		{"down", intN(15), 300, 90, func() int64 { return -1 }}, {"uneven", intN(16), 700, 90, any},
		{"unsigned", uintN(14), 200, 20, one}, {"wide", intN(61), 1 << 54, 1 << 53, one},
		{"wide and uneven", intN(61), 1 << 54, 1 << 53, any}, {"crowded", intN(20), 2, 9, one},
		{"crowded and uneven", intN(20), 2, 9, any},
	} {
		for _, n := range []int{1, 6} {
			p := threshold.Params{Steps: steps(n, tt.in, tt.gap, tt.spread, tt.jump)}
			c := layertest.Case{Name: fmt.Sprint(tt.name, n), Loose: "functions of values that no frame has",
				Op: threshold.New(p),
				In: []dataflow.StreamType{typ(tt.in, 3, 6)}}
			cases = append(cases, c)
			op := layertest.Bind(t, threshold.New(p), c.In...)
			for f := range op.Folds() {
				var tables []string
				i := op.Emit(f, dataflow.Target{})
				for _, table := range i.Tables {
					tables = append(tables, table.Name)
				}
				seen[strings.Join(tables, " ")] = true
			}
		}
	}
	const search = "stagea stageb stagec staged stagee stagef"
	for _, want := range []string{"codes", "codes thresholds", "codes thresholds deltas", search, search + " codes"} {
		if !seen[want] {
			t.Errorf("no form has the tables %s: %v", want, seen)
		}
	}
	layertest.Check(t, cases...)
}

// TestMultiplied has step functions that are lines through the contract: one for all channels, with biases or
// multipliers of their own, rising and falling, clipped and not, rounded down and half to even.
func TestMultiplied(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	in := intN(20)
	line := func(m, bias int64, shift int, mode num.Rounding, lo, hi int64) num.StepFunction {
		code := func(x int64) int64 { return min(max(mode.DivideByPowerOfTwo(m*x+bias, shift), lo), hi) }
		s := num.StepFunction{Value: []int64{code(in.Range().Lo)}}
		for x := in.Range().Lo; x <= in.Range().Hi; x++ {
			if v := code(x); v != s.Value[len(s.Value)-1] {
				s.At, s.Value = append(s.At, x), append(s.Value, v)
			}
		}
		return s
	}
	var cases []layertest.Case
	seen := map[string]bool{}
	for _, tt := range []struct {
		name        string
		multipliers []int64
		biases      []int64
		shift       int
		mode        num.Rounding
		lo, hi      int64
	}{
		{"one for all", []int64{5}, []int64{77}, 15, num.RoundingFloor, -100, 155},
		{"biases", []int64{5}, []int64{77, -3000, 100000, 0, 1, 99999}, 14, num.RoundingFloor, 0, 255},
		{"multipliers", []int64{1, 2, 3, 4, 5, 7}, []int64{0}, 13, num.RoundingFloor, -128, 127},
		{"falling", []int64{-5, -6, -8, -4, -3, -2}, []int64{500}, 13, num.RoundingFloor, -128, 127},
		{"never clipped", []int64{3}, []int64{0, 77, 0, 5000, -5, 2}, 14, num.RoundingFloor, -1 << 20, 1 << 20},
		{"half to even", []int64{1}, []int64{0}, 12, num.RoundingHalfEven, -128, 127},
		{"up and down", []int64{1, -1, 4, -4, 0, 1}, []int64{0}, 12, num.RoundingFloor, -128, 127},
	} {
		var p threshold.Params
		for c := range max(len(tt.multipliers), len(tt.biases)) {
			m, b := tt.multipliers[min(c, len(tt.multipliers)-1)], tt.biases[min(c, len(tt.biases)-1)]
			p.Steps = append(p.Steps, line(m, b, tt.shift, tt.mode, tt.lo, tt.hi))
		}
		c := layertest.Case{Name: tt.name, Op: threshold.New(p), In: []dataflow.StreamType{typ(in, 3, 6)}}
		cases = append(cases, c)
		op := layertest.Bind(t, threshold.New(p), c.In...)
		for f := range op.Folds() {
			tables := ""
			for _, table := range op.Emit(f, dataflow.Target{}).Tables {
				tables += table.Name + " "
			}
			seen[tt.name+": "+tables] = true
		}
	}
	for _, want := range []string{"one for all: biases ", "biases: biases ", "multipliers: biases exponents ",
		"falling: biases exponents ", "never clipped: biases ", "half to even: biases ",
		"up and down: biases exponents "} {
		if !seen[want] {
			t.Errorf("no fold has %s: %v", want, seen)
		}
	}
	layertest.Check(t, cases...)
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	s := num.StepFunction{At: []int64{1}, Value: []int64{0, 1}}
	var long num.StepFunction
	for i := range int64(5000) {
		long.At, long.Value = append(long.At, i), append(long.Value, i%7)
	}
	long.Value = append(long.Value, 0)
	apart := slices.Repeat([]num.StepFunction{long}, 17)
	for c := range apart {
		apart[c].At = slices.Clone(long.At)
		apart[c].At[len(long.At)-1] += int64(c)
	}
	in := typ(uintN(4), 2, 3)
	tests := []struct {
		steps []num.StepFunction
		in    []dataflow.StreamType
		want  string
	}{
		{nil, []dataflow.StreamType{in}, "no step functions"},
		{[]num.StepFunction{{}}, []dataflow.StreamType{in}, "0 breakpoints and 0 values"},
		{[]num.StepFunction{s, s}, []dataflow.StreamType{in},
			"2 step functions for an input of shape [2 3], want one or 3"},
		{[]num.StepFunction{s}, nil, "0 inputs"},
		{[]num.StepFunction{s}, []dataflow.StreamType{in, in}, "2 inputs"},
		{[]num.StepFunction{long}, []dataflow.StreamType{typ(uintN(17), 3)}, "has 4999 thresholds"},
		// one table for all
		{slices.Repeat([]num.StepFunction{long}, 17), []dataflow.StreamType{typ(uintN(16), 17)}, ""},
		{apart, []dataflow.StreamType{typ(uintN(16), 17)},
			"17 functions of 4999 thresholds take tables of 1114112 rows"},
		{[]num.StepFunction{long}, []dataflow.StreamType{in}, ""},
	}
	for _, tt := range tests {
		layertest.CheckRefused(t, threshold.New(threshold.Params{Steps: tt.steps}), tt.in, tt.want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	layertest.CheckTextRefused(t, threshold.LayerKind, ``, `null`, `{}`, `[]`, `{"steps":[]}`, `{"steps":[{}]}`,
		`{"steps":[{"at":[2,1],"value":[1,2,3]}]}`, `{"steps":[{"at":[1],"value":[0.5,1]}]}`)
}

func TestLoop(t *testing.T) {
	t.Parallel()
	op := layertest.Bind(t, threshold.New(threshold.Params{Steps: []num.StepFunction{{Value: []int64{1}}}}),
		typ(uintN(8), 5, 12))
	for pe, iterations := range map[int]int{1: 60, 3: 20, 12: 5} {
		l := op.Loop(dataflow.Fold{PE: pe, SIMD: 1, Memory: dataflow.MemoryLUTRAM}, dataflow.Target{})
		if l.IterationsPerFrame() != iterations || l.FirstWriteClock(0) != 2 || l.LastWriteClock(0) != iterations+1 {
			t.Errorf("PE %d: %+v, want %d iterations and a latency of 2", pe, l, iterations)
		}
	}
}

// TestCost compares the cost with FINN's formula: a LUT per compared bit, and a table unless there is one row.
func TestCost(t *testing.T) {
	t.Parallel()
	steps := make([]num.StepFunction, 128)
	for c := range steps {
		steps[c] = num.StepFunction{At: []int64{int64(c)}, Value: []int64{0, 1}}
	}
	for _, tt := range []struct {
		steps []num.StepFunction
		fold  dataflow.Fold
		want  dataflow.Resources
	}{
		{steps[:1], dataflow.Fold{PE: 4, SIMD: 1, Memory: dataflow.MemoryLUTRAM}, dataflow.Resources{LUT: 32}},
		{steps, dataflow.Fold{PE: 1, SIMD: 1, Memory: dataflow.MemoryLUTRAM}, dataflow.Resources{LUT: 8 + 16}},
		{steps, dataflow.Fold{PE: 4, SIMD: 1, Memory: dataflow.MemoryBRAM}, dataflow.Resources{LUT: 32, BRAM: 2}},
	} {
		op := layertest.Bind(t, threshold.New(threshold.Params{Steps: tt.steps}), typ(uintN(8), 128))
		layertest.CheckFINNCost(t, op, tt.fold, tt.want)
	}
}

// What types are called above.
var typ, uintN, intN, bipolar = layertest.FullType, layertest.UInt, layertest.Int, layertest.Bipolar
