package vvau_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/vvau"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/randomtest"
)

// weights are [channels][positions] between lo and hi, without 0 where they are signs.
func weights(r *rand.Rand, channels, positions int, lo, hi int64) [][]int64 {
	return layertest.Weights(r, channels, positions, num.Range{Lo: lo, Hi: hi}, lo != -1)
}

func TestContract(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 5))
	relu := num.StepFunction{At: []int64{1, 3, 6}, Value: []int64{0, 1, 2, 3}}
	sign := num.StepFunction{At: []int64{0}, Value: []int64{-1, 1}}
	cases := []layertest.Case{
		{Name: "one by one", Op: vvau.New(vvau.Params{Weights: [][]int64{{3}}}),
			In: []dataflow.StreamType{typ(intN(4), 1, 1)}},
		{Name: "four by six", Op: vvau.New(vvau.Params{Weights: weights(r, 6, 4, -4, 3),
			Steps: []num.StepFunction{relu}}),
			In: []dataflow.StreamType{typ(uintN(3), 2, 4, 6)}},
		{Name: "nine by four", Op: vvau.New(vvau.Params{Weights: weights(r, 4, 9, -4, 3)}),
			In: []dataflow.StreamType{typ(uintN(4), 2, 3, 9, 4)}},
		{Name: "bipolar weights", Op: vvau.New(vvau.Params{Weights: weights(r, 2, 9, -1, 1),
			Steps: []num.StepFunction{sign}}),
			In: []dataflow.StreamType{typ(intN(3), 2, 9, 2)}},
		{Name: "bipolar inputs", Op: vvau.New(vvau.Params{Weights: weights(r, 2, 6, -3, 4)}),
			In: []dataflow.StreamType{typ(bipolar, 2, 6, 2)}},
		{Name: "both bipolar", Op: vvau.New(vvau.Params{Weights: weights(r, 4, 9, -1, 1),
			Steps: []num.StepFunction{sign}}),
			In: []dataflow.StreamType{typ(bipolar, 2, 9, 4)}},
		{Name: "both bipolar, no activation", Op: vvau.New(vvau.Params{Weights: weights(r, 4, 4, -1, 1)}),
			In: []dataflow.StreamType{typ(bipolar, 2, 4, 4)}},
		{Name: "one position", Op: vvau.New(vvau.Params{Weights: weights(r, 6, 1, -4, 3),
			Steps: []num.StepFunction{relu}}),
			In: []dataflow.StreamType{typ(uintN(3), 2, 1, 6)}},
		{Name: "one channel", Op: vvau.New(vvau.Params{Weights: weights(r, 1, 6, -4, 3)}),
			In: []dataflow.StreamType{typ(uintN(3), 2, 6, 1)}},
		{Name: "bases that differ", Op: vvau.New(vvau.Params{Weights: [][]int64{{1, 1}, {-1, 2}},
			Steps: []num.StepFunction{
				{At: []int64{1}, Value: []int64{-7, 2}}, {At: []int64{0}, Value: []int64{1, 10}}}}),
			In: []dataflow.StreamType{typ(uintN(2), 2, 2)}},
		{Name: "wide", Op: vvau.New(vvau.Params{Weights: [][]int64{{1 << 39, -1 << 39}, {1, 1}}}),
			In: []dataflow.StreamType{typ(intN(22), 2, 2)}},
		{Name: "many", Op: vvau.New(vvau.Params{Weights: weights(r, 48, 9, -7, 7)}),
			In: []dataflow.StreamType{typ(uintN(4), 9, 48)}, Folds: 10},
	}
	layertest.Check(t, append(cases, layertest.RandomCases(40, 8, randomtest.VVAU)...)...)
}

// TestIsAGroupPerChannel checks that a depthwise convolution equals a matrix with one group per channel.
func TestIsAGroupPerChannel(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 6))
	in := dataflow.StreamType{Shape: dataflow.Shape{2, 3, 9, 4}, Elem: intN(4),
		Range: []num.Range{{Lo: -8, Hi: 7}, {Lo: 0, Hi: 3}, {Lo: 2, Hi: 2}, {Lo: -1, Hi: 0}}}
	w := weights(r, 4, 9, -4, 3)
	x := dataflow.Tensor{Shape: in.Shape}
	for i := range in.Shape.ElementCount() {
		x.Data = append(x.Data, layertest.RandomInRange(r, in.ChannelRange(i%4)))
	}
	deep, deepOut, err1 := vvau.New(vvau.Params{Weights: w}).Bind([]dataflow.StreamType{in})
	group, groupOut, err2 := mvau.New(mvau.Params{Weights: w, Groups: 4}).Bind([]dataflow.StreamType{in})
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if fmt.Sprint(deepOut) != fmt.Sprint(groupOut) {
		t.Errorf("outputs %v, as groups %v", deepOut, groupOut)
	}
	if got, want := deep.Eval([]dataflow.Tensor{x})[0].Data,
		group.Eval([]dataflow.Tensor{x})[0].Data; !slices.Equal(got, want) {
		t.Errorf("got %v, as groups %v", got, want)
	}
	if got, want := deep.Describe().Accumulators(),
		group.Describe().Accumulators(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("accumulator %+v, as groups %+v", got, want)
	}
	if got, want := deep.Describe().Counts(),
		group.Describe().Counts(); fmt.Sprint(got) != fmt.Sprint(want) ||
		got["op_mac_INT4_INT3"] != 6*4*9 {
		t.Errorf("counts %v, as groups %v", got, want)
	}
}

// TestEval has figures worked out by hand: two positions of three channels.
func TestEval(t *testing.T) {
	t.Parallel()
	op, out, err := vvau.New(vvau.Params{Weights: [][]int64{{1, 2}, {-1, 3},
		{0, 5}}}).Bind([]dataflow.StreamType{typ(uintN(3), 1, 2, 3)})
	if err != nil {
		t.Fatal(err)
	}
	if want := (dataflow.Shape{1, 3}); !slices.Equal(out[0].Shape, want) {
		t.Errorf("shape %v, want %v", out[0].Shape, want)
	}
	if want := []num.Range{{Lo: 0, Hi: 21}, {Lo: -7, Hi: 21}, {Lo: 0, Hi: 35}}; !slices.Equal(out[0].Range, want) {
		t.Errorf("ranges %v, want %v", out[0].Range, want)
	}
	y := op.Eval([]dataflow.Tensor{{Shape: dataflow.Shape{1, 2, 3}, Data: []int64{7, 1, 2, 3, 4, 5}}})[0]
	if want := []int64{7 + 6, -1 + 12, 25}; !slices.Equal(y.Data, want) {
		t.Errorf("%v, want %v", y.Data, want)
	}
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	p := vvau.Params{Weights: [][]int64{{1, 1}, {1, 2}, {3, 4}}}
	in := typ(uintN(4), 2, 3)
	for _, tt := range []struct {
		p    vvau.Params
		in   []dataflow.StreamType
		want string
	}{
		{vvau.Params{}, []dataflow.StreamType{in}, "no weights"},
		{vvau.Params{Weights: [][]int64{{1, 2}, {1}}}, []dataflow.StreamType{in},
			"row 1 of the weights has 1 elements"},
		{p, nil, "0 inputs"},
		{p, []dataflow.StreamType{typ(uintN(4))}, "an input of shape []"},
		{p, []dataflow.StreamType{typ(uintN(4), 3)}, "an input of shape [3]"},
		{p, []dataflow.StreamType{typ(uintN(4), 3, 2)},
			"an input of shape [3 2] for weights of 3 channels by 2 positions, want [..., 2, 3]"},
		{p, []dataflow.StreamType{typ(uintN(4), 6)}, "want [..., 2, 3]"},
		{p, []dataflow.StreamType{typ(intN(64), 2, 3)}, "more than 63 bits"},
		{vvau.Params{Weights: p.Weights, Steps: []num.StepFunction{{At: []int64{5}, Value: []int64{1, 0}}}},
			[]dataflow.StreamType{in}, "channel 0: the step function falls"},
		{p, []dataflow.StreamType{in}, ""},
	} {
		layertest.CheckRefused(t, vvau.New(tt.p), tt.in, tt.want)
	}
	layertest.CheckTextRefused(t, vvau.LayerKind, ``, `null`, `{}`, `{"weights":[]}`, `{"weights":[[1],[1,2]]}`,
		`{"weights":[[1]],"steps":[{}]}`)
}

// TestSchedule spells folds, words, clocks and rows of weights: FINN's cycles are C*K/(PE*SIMD) a window.
func TestSchedule(t *testing.T) {
	t.Parallel()
	w := weights(rand.New(rand.NewPCG(7, 7)), 6, 9, -4, 3)
	op := layertest.Bind(t, vvau.New(vvau.Params{Weights: w}), typ(uintN(4), 5, 9, 6))
	folds := 0
	for f := range op.Folds() {
		folds++
		in, out := op.Ports(f)
		tile := f.PE % 6 // all six are row-major order
		if want := (dataflow.Port{Elem: uintN(4), PerWord: f.PE * f.SIMD, Words: 5 * 54 / (f.PE * f.SIMD),
			Tile: tile}); in[0] != want {
			t.Errorf("%+v: input %+v, want %+v", f, in[0], want)
		}
		if out[0].PerWord != f.PE || out[0].Words != 30/f.PE || out[0].Tile != 0 {
			t.Errorf("%+v: output %+v", f, out[0])
		}
		sf := 9 / f.SIMD
		latency := 3 // and more with the registers of slices and of UltraRAM
		if f.Compute == dataflow.MultiplierInDSPs {
			latency += 3
		}
		if rows := 54 / (f.PE * f.SIMD); rows == 1 && f.Compute == dataflow.MultiplierInDSPs {
			latency-- // no memory
		} else if rows > 1 && f.Memory == dataflow.MemoryURAM {
			latency++
		}
		l := op.Loop(f, dataflow.Target{})
		if got, want := []int{l.IterationsPerFrame(), l.FirstWriteClock(0), l.LastWriteClock(0)},
			[]int{5 * 54 / (f.PE * f.SIMD), sf - 1 + latency, 5*54/(f.PE*f.SIMD) - 1 + latency}; !slices.Equal(got,
			want) {
			t.Errorf("%+v: iterations, first and last clock %v, want %v", f, got, want)
		}
	}
	if folds != 4*3*6 {
		t.Errorf("%d folds, want %d", folds, 4*3*6)
	}
	rows := op.Emit(dataflow.Fold{PE: 2, SIMD: 3, Memory: dataflow.MemoryBRAM, Compute: dataflow.MultiplierInLUTs},
		dataflow.Target{}).Tables[0].Rows
	if want := slices.Concat(w[2][3:6], w[3][3:6]); len(rows) != 9 || !slices.Equal(rows[4], want) {
		t.Errorf("%d rows, row 4 is %v, want %v", len(rows), rows[4], want)
	}
}

// TestCost is FINN's formula worked out for 32 channels of 9 positions, 4 by 4 bits, 15 thresholds, PE 8 and SIMD 3.
func TestCost(t *testing.T) {
	t.Parallel()
	w := make([][]int64, 32)
	for c := range w {
		w[c] = []int64{-8, 7, 1, 0, 0, 0, 0, 0, 0} // [-120,120]: 8 bits
	}
	p := vvau.Params{Weights: w, Steps: []num.StepFunction{layertest.Stairs(15, 8)}}
	op := layertest.Bind(t, vvau.New(p), typ(uintN(4), 7, 7, 9, 32))
	// Per PE: multipliers 3*3*8, adder tree 8*5, accumulator 8, comparators 15*8, thresholds 15*8*4/64.
	// 300 + 1.1*8*(72+40+8+120+7.5) = 2478; 12 rows of 96 bits.
	for f, want := range map[dataflow.Fold]dataflow.Resources{
		{PE: 8, SIMD: 3, Memory: dataflow.MemoryBRAM, Compute: dataflow.MultiplierInLUTs}:   {LUT: 2478, BRAM: 3},
		{PE: 8, SIMD: 3, Memory: dataflow.MemoryLUTRAM, Compute: dataflow.MultiplierInLUTs}: {LUT: 2478 + 96},
		// without the multipliers 1844.4
		{PE: 8, SIMD: 3, Memory: dataflow.MemoryURAM, Compute: dataflow.MultiplierInDSPs}: {LUT: 1844, URAM: 2,
			DSP: 24},
	} {
		layertest.CheckFINNCost(t, op, f, want)
	}
}

// BenchmarkVVAU is a layer in the middle of MobileNet: 128 channels of 14 by 14 pixels and 3 by 3 positions.
func BenchmarkVVAU(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	p := vvau.Params{Weights: weights(r, 128, 9, -8, 7), Steps: []num.StepFunction{layertest.Stairs(15, 40)}}
	in := typ(uintN(4), 14, 14, 9, 128)
	x := dataflow.Tensor{Shape: in.Shape, Data: make([]int64, in.Shape.ElementCount())}
	for i := range x.Data {
		x.Data[i] = layertest.RandomInRange(r, in.Range[0])
	}
	op, _, err := vvau.New(p).Bind([]dataflow.StreamType{in})
	if err != nil {
		b.Fatal(err)
	}
	report := func(b *testing.B) {
		b.ReportMetric(float64(len(x.Data))*float64(b.N)/b.Elapsed().Seconds()/1e6, "MMAC/s")
	}
	b.Run("search", func(b *testing.B) { layertest.BenchSearch(b, op) })
	b.Run("eval", func(b *testing.B) {
		for b.Loop() {
			op.Eval([]dataflow.Tensor{x})
		}
		report(b)
	})
	b.Run("simulation", func(b *testing.B) {
		layertest.BenchSimulation(b, op, in, x,
			dataflow.Fold{PE: 16, SIMD: 9, Memory: dataflow.MemoryBRAM, Compute: dataflow.MultiplierInLUTs})
		report(b)
	})
}

// What types are called above.
var typ, uintN, intN, bipolar = layertest.FullType, layertest.UInt, layertest.Int, layertest.Bipolar
