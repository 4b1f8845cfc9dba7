package threshold_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"hlsgen/hlslib/layertest"
	"hlsgen/hlslib/threshold"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

func typ(elem num.Type, shape ...int) dataflow.Type {
	return dataflow.Type{Shape: shape, Range: []num.Range{elem.Range()}, Elem: elem}
}

func uintN(n int) num.Type { return num.Type{Kind: num.UInt, Width: n} }
func intN(n int) num.Type  { return num.Type{Kind: num.Int, Width: n} }

var bipolar = num.Type{Kind: num.Bipolar, Width: 1}

func random(r *rand.Rand) layertest.Case {
	channels := []int{1, 2, 3, 5, 6, 8}[r.IntN(6)]
	shape := []dataflow.Shape{{channels}, {4, channels}, {2, 2, channels}}[r.IntN(3)]
	in := layertest.Type(r, shape, 10)
	n := []int{1, channels}[r.IntN(2)]
	rising := r.IntN(2) == 0
	var p threshold.Params
	for c := range n {
		p.Steps = append(p.Steps, layertest.Step(r, in.Channel(c), 9, 1+r.IntN(9), rising))
	}
	c := layertest.Case{Op: threshold.New(p), In: []dataflow.Type{in}}
	if in.Elem.Kind == num.Bipolar {
		c.Loose = "what a step gives for 0 counts, which lies between a bipolar input's two values"
	}
	return c
}

func TestContract(t *testing.T) {
	t.Parallel()
	relu := num.Step{At: []int64{1, 3, 6}, Value: []int64{0, 1, 2, 3}}
	fall := num.Step{At: []int64{-3, 0, 4}, Value: []int64{2, -1, 7, -8}}
	sign := num.Step{At: []int64{0}, Value: []int64{-1, 1}}
	wide := num.Step{At: []int64{math.MinInt64 + 1, math.MaxInt64}, Value: []int64{-1 << 40, 3, 1 << 50}}
	cases := []layertest.Case{
		{Name: "one for all", Op: threshold.New(threshold.Params{Steps: []num.Step{relu}}), In: []dataflow.Type{typ(intN(4), 3, 6)}},
		{Name: "one per channel", Op: threshold.New(threshold.Params{Steps: []num.Step{relu, sign}}), In: []dataflow.Type{typ(intN(4), 3, 2)}},
		{Name: "the same per channel", Op: threshold.New(threshold.Params{Steps: []num.Step{relu, relu}}), In: []dataflow.Type{typ(uintN(4), 3, 2)}},
		{Name: "falling", Op: threshold.New(threshold.Params{Steps: []num.Step{fall}}), In: []dataflow.Type{typ(intN(5), 4)}},
		{Name: "one falls", Op: threshold.New(threshold.Params{Steps: []num.Step{fall, relu}}), In: []dataflow.Type{typ(intN(5), 4, 2)}},
		{Name: "bipolar both", Op: threshold.New(threshold.Params{Steps: []num.Step{sign}}), In: []dataflow.Type{typ(bipolar, 6)}},
		{Name: "bipolar turned round", Op: threshold.New(threshold.Params{Steps: []num.Step{{At: []int64{1}, Value: []int64{1, -1}}}}), In: []dataflow.Type{typ(bipolar, 6)}},
		{Name: "constants", Op: threshold.New(threshold.Params{Steps: []num.Step{{Value: []int64{-3}}, {Value: []int64{9}}}}), In: []dataflow.Type{typ(uintN(1), 2, 2)}},
		{Name: "all of 64 bits", Op: threshold.New(threshold.Params{Steps: []num.Step{wide}}), In: []dataflow.Type{typ(intN(64), 2)}},
		{Name: "a base beyond an int", Op: threshold.New(threshold.Params{Steps: []num.Step{{At: []int64{1}, Value: []int64{1 << 40, 1<<40 + 1}}}}), In: []dataflow.Type{typ(uintN(2), 2)}},
		{Name: "thresholds at the ends", Op: threshold.New(threshold.Params{Steps: []num.Step{{At: []int64{-8, -7, 7, 8}, Value: []int64{0, 1, 2, 3, 4}}}}), In: []dataflow.Type{typ(intN(4), 2)}},
		{Name: "scalar", Op: threshold.New(threshold.Params{Steps: []num.Step{relu}}), In: []dataflow.Type{typ(intN(4))}},
	}
	for i := range 60 {
		c := random(rand.New(rand.NewPCG(uint64(i), 11)))
		c.Name = fmt.Sprintf("random %d", i)
		cases = append(cases, c)
	}
	layertest.Check(t, 120, cases...)
}

// TestForms looks at how step functions are written as tables.
func TestForms(t *testing.T) {
	t.Parallel()
	relu := num.Step{At: []int64{1, 3, 6}, Value: []int64{0, 1, 2, 3}}
	fall := num.Step{At: []int64{2}, Value: []int64{1, 0}}
	jump := num.Step{At: []int64{2, 4}, Value: []int64{0, 1, 100}}
	tests := []struct {
		name  string
		steps []num.Step
		pe    int
		want  string
	}{
		{"shared", []num.Step{relu}, 2, "thresholds UINT3 none [[0 2 5]]"},
		{"found to be shared", []num.Step{relu, relu}, 1, "thresholds UINT3 none [[0 2 5]]"},
		{"by channel", []num.Step{relu, {At: []int64{4}, Value: []int64{0, 1}}}, 1, "thresholds UINT3 distributed [[0 2 5] [3 7 7]]"},
		{"side by side", []num.Step{relu, {At: []int64{4}, Value: []int64{0, 1}}}, 2, "thresholds UINT3 none [[0 2 5 3 7 7]]"},
		{"bases", []num.Step{relu, {At: []int64{4}, Value: []int64{-2, -1}}}, 2, "thresholds UINT3 none [[0 2 5 3 7 7]], base INT2 none [[0 -2]]"},
		{"deltas", []num.Step{fall, jump}, 1, "thresholds UINT3 distributed [[1 7] [1 3]], base BINARY distributed [[1] [0]], deltas INT8 distributed [[-1 0] [1 99]]"},
		{"a jump", []num.Step{jump}, 1, "thresholds UINT3 none [[1 3]], base BINARY none [[0]], deltas UINT7 none [[1 99]]"},
	}
	for _, tt := range tests {
		op, _, err := threshold.New(threshold.Params{Steps: tt.steps}).Bind([]dataflow.Type{typ(uintN(3), 2)})
		if err != nil {
			t.Fatal(err)
		}
		var tables []string
		i := op.Emit(dataflow.Fold{PE: tt.pe, SIMD: 1, Memory: dataflow.LUTRAM}, dataflow.Target{})
		for _, x := range i.Tables {
			tables = append(tables, fmt.Sprintf("%s %s %s %v", x.Name, x.Elem, i.StorageOf(x.Name).In, x.Rows))
		}
		if got := strings.Join(tables, ", "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	s := num.Step{At: []int64{1}, Value: []int64{0, 1}}
	var long num.Step
	for i := range int64(5000) {
		long.At, long.Value = append(long.At, i), append(long.Value, i%7)
	}
	long.Value = append(long.Value, 0)
	in := typ(uintN(4), 2, 3)
	tests := []struct {
		steps []num.Step
		in    []dataflow.Type
		want  string
	}{
		{nil, []dataflow.Type{in}, "no step functions"},
		{[]num.Step{{}}, []dataflow.Type{in}, "0 breakpoints and 0 values"},
		{[]num.Step{s, s}, []dataflow.Type{in}, "2 step functions for an input of shape [2 3], want one or 3"},
		{[]num.Step{s}, nil, "0 inputs"},
		{[]num.Step{s}, []dataflow.Type{in, in}, "2 inputs"},
		{[]num.Step{long}, []dataflow.Type{typ(uintN(14), 3)}, "has 4999 thresholds"},
		{[]num.Step{long}, []dataflow.Type{in}, ""},
	}
	for _, tt := range tests {
		_, _, err := threshold.New(threshold.Params{Steps: tt.steps}).Bind(tt.in)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("Bind of %d steps to %v: %v, want %q", len(tt.steps), tt.in, err, tt.want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{``, `null`, `{}`, `[]`, `{"steps":[]}`, `{"steps":[{}]}`, `{"steps":[{"at":[2,1],"value":[1,2,3]}]}`, `{"steps":[{"at":[1],"value":[0.5,1]}]}`} {
		if op, err := threshold.Layer.Decode([]byte(text)); err == nil || op != nil {
			t.Errorf("%s is taken", text)
		}
	}
}

func TestLoop(t *testing.T) {
	t.Parallel()
	op, _, err := threshold.New(threshold.Params{Steps: []num.Step{{Value: []int64{1}}}}).Bind([]dataflow.Type{typ(uintN(8), 5, 12)})
	if err != nil {
		t.Fatal(err)
	}
	for pe, iterations := range map[int]int{1: 60, 3: 20, 12: 5} {
		l := op.Loop(dataflow.Fold{PE: pe, SIMD: 1}, dataflow.Target{})
		if l.Iterations() != iterations || l.FirstWrite(0) != 2 || l.LastWrite(0) != iterations+1 {
			t.Errorf("PE %d: %+v, want %d iterations and a latency of 2", pe, l, iterations)
		}
	}
}

// TestCost follows FINN's formula: a LUT per bit compared, and a table unless there is one row.
func TestCost(t *testing.T) {
	t.Parallel()
	steps := make([]num.Step, 128)
	for c := range steps {
		steps[c] = num.Step{At: []int64{int64(c)}, Value: []int64{0, 1}}
	}
	for _, tt := range []struct {
		steps []num.Step
		fold  dataflow.Fold
		want  dataflow.Resources
	}{
		{steps[:1], dataflow.Fold{PE: 4, SIMD: 1, Memory: dataflow.LUTRAM}, dataflow.Resources{LUT: 32}},
		{steps, dataflow.Fold{PE: 1, SIMD: 1, Memory: dataflow.LUTRAM}, dataflow.Resources{LUT: 8 + 16}},
		{steps, dataflow.Fold{PE: 4, SIMD: 1, Memory: dataflow.BRAM}, dataflow.Resources{LUT: 32, BRAM: 2}},
	} {
		op, _, err := threshold.New(threshold.Params{Steps: tt.steps}).Bind([]dataflow.Type{typ(uintN(8), 128)})
		if err != nil {
			t.Fatal(err)
		}
		if got := op.Cost(tt.fold, dataflow.Target{Formula: dataflow.FINN}).Total(); got != tt.want {
			t.Errorf("%+v: %+v, want %+v", tt.fold, got, tt.want)
		}
	}
}
