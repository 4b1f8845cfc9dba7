package mvau_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"hlsgen/hlslib/mvau"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/randomtest"
)

// TestContract has layers of all forms through the contract, with one covering set of them all.
func TestContract(t *testing.T) {
	t.Parallel()
	var cases []layertest.Case
	for _, group := range []struct {
		name string
		of   func(*testing.T) []layertest.Case
	}{{"layers", layers}, {"wide", wide}, {"floats", floats}, {"groups", groups}, {"lanes", lanes}, {"packed", packed},
		{"loaded", loaded}, {"external", external}} {
		for _, c := range group.of(t) {
			c.Name = group.name + ": " + c.Name
			cases = append(cases, c)
		}
	}
	layertest.Check(t, cases...)
}

// layers returns layers of all parameters, and layers that round.
func layers(*testing.T) []layertest.Case {
	relu := num.StepFunction{At: []int64{1, 3, 6}, Value: []int64{0, 1, 2, 3}}
	sign := num.StepFunction{At: []int64{0}, Value: []int64{-1, 1}}
	cases := []layertest.Case{
		{Name: "one by one", Op: mvau.New(mvau.Params{Weights: [][]int64{{3}}}), In: []dataflow.StreamType{typ(intN(4),
			1)}},
		{Name: "six by four", Op: mvau.New(mvau.Params{
			Weights: [][]int64{{1, -2, 3, 0}, {0, 1, 1, -4}, {3, 3, -3, 3}, {-1, -1, 2, 2}, {0, 0, 0, 0},
				{1, 2, -4, 3}}, Steps: []num.StepFunction{relu}}),
			In: []dataflow.StreamType{typ(uintN(3), 2, 4)}},
		{Name: "bipolar weights", Op: mvau.New(mvau.Params{Weights: [][]int64{{1, -1, 1}, {-1, -1, -1}},
			Steps: []num.StepFunction{sign}}), In: []dataflow.StreamType{typ(intN(3), 3)}},
		{Name: "bipolar inputs", Op: mvau.New(mvau.Params{Weights: [][]int64{{1, -2, 3}, {-4, 0, 1}}}),
			In: []dataflow.StreamType{typ(bipolar, 2, 3)}},
		{Name: "xnor", Op: mvau.New(mvau.Params{Weights: [][]int64{{1, -1, 1, 1, -1}, {-1, -1, -1, 1, 1},
			{1, 1, 1, 1, 1}}, Steps: []num.StepFunction{sign}}), In: []dataflow.StreamType{typ(bipolar, 2, 5)}},
		{Name: "xnor without activation", Op: mvau.New(mvau.Params{Weights: [][]int64{{1, -1, 1, 1}, {-1, -1, -1, 1}}}),
			In: []dataflow.StreamType{typ(bipolar, 4)}},
		{Name: "thresholds at the ends of the accumulator", Op: mvau.New(mvau.Params{Weights: [][]int64{{1, 1}},
			Steps: []num.StepFunction{
				{At: []int64{-4, -3, 3, 4}, Value: []int64{0, 1, 2, 3, 4}}}}), In: []dataflow.StreamType{typ(intN(2),
			2)}},
		{Name: "bases that differ", Op: mvau.New(mvau.Params{Weights: [][]int64{{1, 1}, {-1, 2}},
			Steps: []num.StepFunction{
				{At: []int64{1}, Value: []int64{-7, 2}}, {At: []int64{0}, Value: []int64{1, 10}}}}),
			In: []dataflow.StreamType{typ(uintN(2), 2)}},
		{Name: "a base beyond an int", Op: mvau.New(mvau.Params{Weights: [][]int64{{1}}, Steps: []num.StepFunction{
			{At: []int64{1}, Value: []int64{1 << 40, 1<<40 + 1}}}}), In: []dataflow.StreamType{typ(uintN(2), 1)}},
		{Name: "a constant", Op: mvau.New(mvau.Params{Weights: [][]int64{{1, 1}},
			Steps: []num.StepFunction{{At: []int64{100}, Value: []int64{5, 6}}}}),
			In: []dataflow.StreamType{typ(uintN(2), 2)}},
		{Name: "wide", Op: mvau.New(mvau.Params{Weights: [][]int64{{1 << 39, -1 << 39}, {1, 1}}}),
			In: []dataflow.StreamType{typ(intN(22), 2)}},
		{Name: "many", Op: mvau.New(mvau.Params{Weights: many(64, 48)}), In: []dataflow.StreamType{typ(uintN(4), 48)},
			Folds: 10},
	}
	for i := range 20 {
		c := randomtest.DrawRequantMVAU(rand.New(rand.NewPCG(uint64(i), 8)))
		c.Name = fmt.Sprintf("rounding %d", i)
		cases = append(cases, c)
	}
	return append(cases, layertest.RandomCases(60, 7, randomtest.MVAU)...)
}

// wide returns layers that sum more products of a clock than one function of the circuit does.
func wide(*testing.T) []layertest.Case {
	signs := many(2, 131)
	for _, row := range signs {
		for i, w := range row {
			row[i] = 1 - 2*(w&1)
		}
	}
	of := func(name string, weights [][]int64, in num.Type) layertest.Case {
		return layertest.Case{Name: name, Op: mvau.New(mvau.Params{Weights: weights}),
			In: []dataflow.StreamType{typ(in, 131)}, Folds: 12}
	}
	return []layertest.Case{of("numbers", many(2, 131), uintN(4)), of("signs", signs, intN(3)),
		of("matches", signs, bipolar), of("constants", many(1, 131), uintN(3))}
}

func many(mh, mw int) [][]int64 {
	r := rand.New(rand.NewPCG(3, 3))
	w := make([][]int64, mh)
	for c := range w {
		for range mw {
			w[c] = append(w[c], r.Int64N(15)-7)
		}
	}
	return w
}

// TestRanges finds every output that occurs by trying all inputs: the promise must be exact.
func TestRanges(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 5))
		mh, mw := 1+r.IntN(2), 1+r.IntN(3)
		in := layertest.RandomType(r, dataflow.Shape{mw}, 3)
		p := mvau.Params{Weights: make([][]int64, mh)}
		for c := range p.Weights {
			for range mw {
				p.Weights[c] = append(p.Weights[c], []int64{-1, 1, 3, -2, 0}[r.IntN(2+int(seed%4))])
			}
			if r.IntN(6) == 0 {
				clear(p.Weights[c])
			}
			acc, _ := num.DotProductRange(p.Weights[c], in.Range)
			if seed%3 > 0 {
				p.Steps = append(p.Steps, layertest.RandomStepFunction(r, acc, 4, 3, true))
			}
		}
		op, out, err := mvau.New(p).Bind([]dataflow.StreamType{in})
		if err != nil {
			t.Fatal(err)
		}
		sums, seen := make([]num.Range, mh), make([]num.Range, mh)
		first := true
		x := make([]int64, mw)
		var try func(k int)
		try = func(k int) {
			if k < mw {
				for x[k] = in.ChannelRange(k).Lo; x[k] <= in.ChannelRange(k).Hi; x[k]++ {
					if in.Elem.Holds(x[k]) {
						try(k + 1)
					}
				}
				return
			}
			y := op.Eval([]dataflow.Tensor{{Shape: in.Shape, Data: x}})[0]
			for c, v := range y.Data {
				sum := int64(0)
				for i, w := range p.Weights[c] {
					sum += w * x[i]
				}
				if first {
					sums[c], seen[c] = num.SingleValueRange(sum), num.SingleValueRange(v)
				}
				sums[c], seen[c] = sums[c].Union(num.SingleValueRange(sum)), seen[c].Union(num.SingleValueRange(v))
			}
			first = false
		}
		try(0)
		acc := op.Describe().Accumulators()
		for c := range seen {
			if out[0].Range[c] != seen[c] {
				t.Errorf("seed %d, channel %d: range %v, seen %v", seed, c, out[0].Range[c], seen[c])
			}
			need := sums[c]
			if in.Elem == bipolar && allSigns(p.Weights) {
				need = num.Range{Lo: (need.Lo + int64(mw)) / 2, Hi: (need.Hi + int64(mw)) / 2}
			}
			if got, want := acc.Channels[c], num.NarrowestIntTypeFor(need).Width; got != want {
				t.Errorf("seed %d, channel %d: %d bits, seen %v takes %d", seed, c, got, need, want)
			}
		}
	}
}

func allSigns(weights [][]int64) bool {
	return num.NarrowestTypeOfValues(weights...) == bipolar
}

func TestAccumulator(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		weights [][]int64
		in      dataflow.StreamType
		want    dataflow.AccumulatorWidthsByRule
	}{
		{"four rules", [][]int64{{3, -3, 2, -2}, {1, -1, 0, 0}}, typ(uintN(4), 4), // sums in [-75,75] and [-15,15]
			dataflow.AccumulatorWidthsByRule{DataType: 10, L1: 9, ZeroCentred: 8, Exact: 8, Used: 8, Type: intN(8),
				Channels: []int{8, 5}}},
		{"not centred", [][]int64{{3, 1}, {1, -1}}, typ(uintN(4), 2), // [0,60], [-15,15]: the union is signed
			dataflow.AccumulatorWidthsByRule{DataType: 9, L1: 8, Exact: 6, Used: 7, Type: intN(7), Channels: []int{6,
				5}}},
		{"unsigned weights", [][]int64{{2, 3}}, typ(intN(4), 2), // [-40,35]
			dataflow.AccumulatorWidthsByRule{DataType: 8, L1: 7, Exact: 7, Used: 7, Type: intN(7), Channels: []int{7}}},
		{"xnor", [][]int64{{1, -1, 1, -1}, {1, 1, 1, -1}}, typ(bipolar, 4), // 0 to 4 matches
			dataflow.AccumulatorWidthsByRule{DataType: 4, L1: 4, Exact: 3, Used: 3, Type: uintN(3), Channels: []int{3,
				3}}},
		{"centred signs", [][]int64{{1, -1, 1, -1}}, typ(intN(2), 4), // [-6,6]
			dataflow.AccumulatorWidthsByRule{DataType: 5, L1: 5, ZeroCentred: 4, Exact: 4, Used: 4, Type: intN(4),
				Channels: []int{4}}},
	} {
		op := layertest.Bind(t, mvau.New(mvau.Params{Weights: tt.weights}), tt.in)
		if got := op.Describe().Accumulators(); fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	ones, pair := [][]int64{{1, 1}}, [][]int64{{1, 1}, {1, 2}}
	in := typ(uintN(4), 2)
	fall := num.StepFunction{At: []int64{5}, Value: []int64{1, 0}}
	wide := dataflow.StreamType{Shape: dataflow.Shape{2}, Range: []num.Range{{Lo: math.MinInt64, Hi: math.MaxInt64}},
		Elem: intN(64)}
	tests := []struct {
		p    mvau.Params
		in   []dataflow.StreamType
		want string
	}{
		{mvau.Params{}, []dataflow.StreamType{in}, "no weights"},
		{mvau.Params{Weights: [][]int64{{}}}, []dataflow.StreamType{in}, "no weights"},
		{mvau.Params{Weights: [][]int64{{1, 2}, {1}}}, []dataflow.StreamType{in},
			"row 1 of the weights has 1 elements, row 0 has 2"},
		{mvau.Params{Weights: [][]int64{{1, math.MinInt64}}}, []dataflow.StreamType{in}, "beyond 2^40"},
		{mvau.Params{Weights: [][]int64{{1}, {1}, {1}}, Steps: make([]num.StepFunction, 2)}, []dataflow.StreamType{in},
			"2 step functions for 3 channels"},
		{mvau.Params{Weights: ones, Steps: make([]num.StepFunction, 1)}, []dataflow.StreamType{in},
			"0 breakpoints and 0 values"},
		{mvau.Params{Weights: ones, Product: &num.Requant{}}, []dataflow.StreamType{in},
			"the products: unknown rounding"},
		{mvau.Params{Weights: ones, Product: &num.Requant{Multiplier: 1 << 60, Mode: num.RoundingFloor}},
			[]dataflow.StreamType{in},
			"a product that is requantised leaves 63 bits"},
		{mvau.Params{Weights: ones}, nil, "0 inputs"},
		{mvau.Params{Weights: ones}, []dataflow.StreamType{typ(uintN(4))}, "an input of shape []"},
		{mvau.Params{Weights: ones}, []dataflow.StreamType{typ(uintN(4), 2, 3)},
			"an input of shape [2 3] for weights of 1 by 2"},
		{mvau.Params{Weights: ones, Steps: []num.StepFunction{fall}}, []dataflow.StreamType{in},
			"channel 0: the step function falls"},
		{mvau.Params{Weights: ones}, []dataflow.StreamType{wide}, "more than 63 bits"},
		{mvau.Params{Weights: [][]int64{{1, 0}}}, []dataflow.StreamType{wide}, "takes 64 bits"},
		{mvau.Params{Weights: ones, Steps: []num.StepFunction{{At: []int64{5, 6}, Value: []int64{0, 1, 5000}}}},
			[]dataflow.StreamType{in}, "more than 4096 thresholds"},
		{mvau.Params{Weights: ones}, []dataflow.StreamType{typ(uintN(4), 1<<28, 2)}, ""},
		{mvau.Params{Weights: ones, Groups: -1}, []dataflow.StreamType{in}, "-1 groups of 1 outputs"},
		{mvau.Params{Weights: ones, Groups: 2}, []dataflow.StreamType{in}, "2 groups of 1 outputs"},
		{mvau.Params{Weights: pair, Groups: 2}, []dataflow.StreamType{in},
			"an input of shape [2] for weights of 2 by 2, want vectors of 4"},
		{mvau.Params{Weights: pair, Groups: 2}, []dataflow.StreamType{typ(uintN(4), 4, 1)},
			"an input of shape [4 1] for 2 groups of 2 inputs"},
		{mvau.Params{Weights: [][]int64{{1}, {1}, {1}, {1}}, Groups: 4}, []dataflow.StreamType{typ(uintN(4), 2, 2)},
			"want [..., positions, channels] with channels for every group"},
		{mvau.Params{Weights: pair, Groups: 2}, []dataflow.StreamType{typ(uintN(4), 2, 2, 1)},
			"an input of shape [2 2 1] for 2 groups of 2 inputs"},
		{mvau.Params{Weights: pair, Groups: 2}, []dataflow.StreamType{typ(uintN(4), 2, 2)}, ""},
		{mvau.Params{Weights: pair, Groups: 2}, []dataflow.StreamType{typ(uintN(4), 4)}, ""},
	}
	for _, tt := range tests {
		layertest.CheckRefused(t, mvau.New(tt.p), tt.in, tt.want)
	}
	// What never occurs may do anything.
	if _, _, err := mvau.New(mvau.Params{Weights: ones, Steps: []num.StepFunction{{At: []int64{31},
		Value: []int64{1, 0}}}}).Bind([]dataflow.StreamType{in}); err != nil {
		t.Error(err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	layertest.CheckTextRefused(t, mvau.LayerKind, ``, `null`, `{}`, `[]`, `{"weights":null}`, `{"weights":[]}`,
		`{"weights":[[]]}`, `{"weights":[[1],[1,2]]}`, `{"weights":[[1.5]]}`,
		`{"weights":[[1e30]]}`, `{"weights":[["1"]]}`, `{"weights":[[1]],"steps":[{}]}`,
		`{"weights":[[1]],"steps":[{"at":[1,1],"value":[1,2,3]}]}`,
		`{"weights":[[1]],"steps":[{"at":[1],"value":[1,2]},{"at":[1],"value":[1,2]}]}`, `{"weights":[[1]]} x`,
		`{"weights":[[1],[1]],"groups":3}`, `{"weights":[[1],[1]],"groups":-1}`, `{"weights":[[1]],"product":{}}`,
		`{"weights":[[1]],"product":{"mode":"nearest"}}`)
}

// TestFolds counts the folds, and those that Vitis HLS would refuse. The fold with all weights in one row may also
// share adders.
func TestFolds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		weights [][]int64
		in      dataflow.StreamType
		want    int
	}{
		{"all", many(6, 4), typ(uintN(4), 4), 4*3*6 + 1},
		{"no multiplier", [][]int64{{1, -1}, {1, 1}}, typ(uintN(4), 2), 2*2*3 + 1},
		// SIMD 128 is 8192 bits
		{"words of 64 bit elements", [][]int64{make([]int64, 128)}, typ(intN(64), 128), 7 * 6},
		// 2^29*4 iterations
		{"frames too long for PE 1", [][]int64{{2, 2}, {2, 2}}, typ(uintN(1), 1<<29, 2), 4*6 - 1*6 + 1},
		// 4*2^16, twice 4*2^15
		{"rows of weights too wide", many(256, 256), typ(uintN(4), 256), 9*9*6 - 3*6},
		{"rows of weights", [][]int64{make([]int64, 512), make([]int64, 512)}, typ(uintN(4), 512), 121}, // 1 bit each
	}
	for _, tt := range tests {
		op := layertest.Bind(t, mvau.New(mvau.Params{Weights: tt.weights}), tt.in)
		n := 0
		for f := range op.Folds() {
			in, out := op.Ports(f)
			if in[0].Width() > 4096 || out[0].Width() > 4096 {
				t.Errorf("%s: %+v has words of %d and %d bits", tt.name, f, in[0].Width(), out[0].Width())
			}
			n++
		}
		if n != tt.want {
			t.Errorf("%s: %d folds, want %d", tt.name, n, tt.want)
		}
	}
}

// TestLoop spells the clocks: NF*SF a vector, and a latency that grows with the adder tree.
func TestLoop(t *testing.T) {
	t.Parallel()
	op := layertest.Bind(t, mvau.New(mvau.Params{Weights: many(6, 12)}), typ(uintN(2), 5, 12))
	for _, tt := range []struct{ pe, simd, iterations, first, last int }{
		{1, 1, 360, 11 + 3, 359 + 3},
		{3, 4, 30, 2 + 3, 29 + 3},
		{2, 3, 60, 3 + 3, 59 + 3},
		{6, 12, 5, 0 + 3, 4 + 3},
	} {
		l := op.Loop(dataflow.Fold{PE: tt.pe, SIMD: tt.simd}, dataflow.Target{})
		if got := []int{l.IterationsPerFrame(), l.FirstWriteClock(0), l.LastWriteClock(0)}; got[0] != tt.iterations ||
			got[1] != tt.first || got[2] != tt.last {
			t.Errorf("PE %d SIMD %d: %v, want %v", tt.pe, tt.simd, got, tt)
		}
	}
}

// TestCost takes FINN's own figures for layers of TFC_2W2A and TFC_1W1A.
func TestCost(t *testing.T) {
	t.Parallel()
	ternary := make([][]int64, 64)
	binary := make([][]int64, 64)
	for c := range ternary {
		ternary[c], binary[c] = make([]int64, 784), make([]int64, 784)
		for k := range ternary[c] {
			ternary[c][k], binary[c][k] = int64((c+k)%3-1), int64((c+k)%2*2-1)
		}
	}
	int2 := dataflow.StreamType{Shape: dataflow.Shape{784}, Range: []num.Range{{Lo: -1, Hi: 1}}, Elem: intN(2)}
	f := dataflow.Fold{PE: 16, SIMD: 49, Memory: dataflow.MemoryBRAM, Compute: dataflow.MultiplierInLUTs}
	for _, tt := range []struct {
		weights [][]int64
		in      dataflow.StreamType
		fold    dataflow.Fold
		acc     int
		want    dataflow.Resources
	}{
		{ternary, int2, f, 11, dataflow.Resources{LUT: 10772, BRAM: 44}}, // FINN: 10754 with an accumulator of 10 bits
		{binary, typ(bipolar, 784), f, 10, dataflow.Resources{LUT: 5615, BRAM: 22}},
		{ternary, int2, dataflow.Fold{PE: 16, SIMD: 49, Memory: dataflow.MemoryURAM,
			Compute: dataflow.MultiplierInDSPs}, 11,
			dataflow.Resources{LUT: 7322, URAM: 22, DSP: 784}},
		{ternary, int2, dataflow.Fold{PE: 16, SIMD: 49, Memory: dataflow.MemoryLUTRAM,
			Compute: dataflow.MultiplierInLUTs}, 11,
			dataflow.Resources{LUT: 10772 + 1568}},
	} {
		op := layertest.Bind(t, mvau.New(mvau.Params{Weights: tt.weights}), tt.in)
		if got := op.Describe().Accumulators().Used; got != tt.acc {
			t.Errorf("accumulator of %d bits, want %d", got, tt.acc)
		}
		layertest.CheckFINNCost(t, op, tt.fold, tt.want)
	}
}

// big is the widest layer of a CNV: 256 by 2304 ternary weights, 2 bit activations.
func big(b *testing.B, windows int) (mvau.Params, dataflow.Op, dataflow.StreamType) {
	r := rand.New(rand.NewPCG(1, 1))
	p := mvau.Params{Weights: make([][]int64, 256), Steps: []num.StepFunction{{At: []int64{-20, 1, 20},
		Value: []int64{0, 1, 2, 3}}}}
	for c := range p.Weights {
		p.Weights[c] = make([]int64, 2304)
		for k := range p.Weights[c] {
			p.Weights[c][k] = r.Int64N(3) - 1
		}
	}
	in := typ(uintN(2), windows, 9, 256)
	op, _, err := mvau.New(p).Bind([]dataflow.StreamType{in})
	if err != nil {
		b.Fatal(err)
	}
	return p, op, in
}

func input(in dataflow.StreamType) dataflow.Tensor {
	r := rand.New(rand.NewPCG(2, 1))
	x := dataflow.Tensor{Shape: in.Shape, Data: make([]int64, in.Shape.ElementCount())}
	for i := range x.Data {
		x.Data[i] = layertest.RandomInRange(r, in.ChannelRange(i%in.Shape.ChannelCount()))
	}
	return x
}

func reportMACs(b *testing.B, op dataflow.Op) {
	var macs int64
	for name, n := range op.Describe().Counts() {
		if name[:3] == "op_" {
			macs += n
		}
	}
	b.ReportMetric(float64(macs)*float64(b.N)/b.Elapsed().Seconds()/1e6, "MMAC/s")
}

func BenchmarkBind(b *testing.B) {
	p, _, in := big(b, 4)
	for b.Loop() {
		if _, _, err := mvau.New(p).Bind([]dataflow.StreamType{in}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSearch measures the work of a search of foldings for one layer: the iterations and the cost of every fold.
func BenchmarkSearch(b *testing.B) {
	_, op, _ := big(b, 4)
	layertest.BenchSearch(b, op)
}

func BenchmarkEval(b *testing.B) {
	_, op, in := big(b, 4)
	x := []dataflow.Tensor{input(in)}
	for b.Loop() {
		op.Eval(x)
	}
	reportMACs(b, op)
}

// BenchmarkSimulation runs the layer clock by clock.
func BenchmarkSimulation(b *testing.B) {
	for _, f := range []struct {
		name     string
		pe, simd int
	}{{"PE 16 SIMD 32", 16, 32}, {"PE 1 SIMD 1", 1, 1}} {
		b.Run(f.name, func(b *testing.B) {
			_, op, in := big(b, 4)
			x := input(in)
			fold := dataflow.Fold{PE: f.pe, SIMD: f.simd, Memory: dataflow.MemoryBRAM,
				Compute: dataflow.MultiplierInLUTs}
			layertest.BenchSimulation(b, op, in, x, fold)
			reportMACs(b, op)
		})
	}
}

// BenchmarkEmit makes the tables of the layer.
func BenchmarkEmit(b *testing.B) {
	_, op, _ := big(b, 4)
	for b.Loop() {
		op.Emit(dataflow.Fold{PE: 16, SIMD: 32, Memory: dataflow.MemoryBRAM, Compute: dataflow.MultiplierInLUTs},
			dataflow.Target{})
	}
}

// What types are called above.
var typ, uintN, intN, bipolar = layertest.FullType, layertest.UInt, layertest.Int, layertest.Bipolar
