package mac_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/mac"
	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
)

// TestUnit tries every input of small units whose channels have inputs of their own. Ranges and widths must be exact,
// and the outputs those of the step functions.
func TestUnit(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		in := layertest.RandomType(r, dataflow.Shape{6}, 3)
		ranges := func(c int) []num.Range {
			if len(in.Range) == 1 {
				return in.Range
			}
			return in.Range[2*c : 2*c+2]
		}
		weights := make([][]int64, 3)
		var steps []num.StepFunction
		for c := range weights {
			for range 2 {
				weights[c] = append(weights[c], []int64{-1, 1, 3, -2, 0}[r.IntN(2+int(seed%4))])
			}
			if in.Elem.Kind != num.KindBipolar && r.IntN(6) == 0 {
				clear(weights[c])
			}
			sum, _ := num.DotProductRange(weights[c], ranges(c))
			if seed%3 > 0 {
				steps = append(steps, layertest.RandomStepFunction(r, sum, 4, 3, true))
			}
		}
		u, err := mac.BindUnit(weights, steps, nil, in.Elem, ranges)
		if err != nil {
			t.Fatal(err)
		}
		dot := field[num.Type](u, "dot_t", 2)
		for c, w := range weights {
			var sums, seen []int64
			x := ranges(c)
			outputs := u.NewHardwareOutputFunc(dataflow.Fold{PE: 1, SIMD: 1})
			for a := x[0].Lo; a <= x[0].Hi; a++ {
				for b := x[len(x)-1].Lo; b <= x[len(x)-1].Hi; b++ {
					if !in.Elem.Holds(a) || !in.Elem.Holds(b) {
						continue
					}
					sum := w[0]*a + w[1]*b
					want := sum
					if len(steps) > 0 {
						want = steps[c].Apply(sum)
					}
					if got := outputs(c, []int64{sum})[0]; got != want {
						t.Fatalf("seed %d, channel %d: %d of %d, want %d", seed, c, got, sum, want)
					}
					acc := sum
					if u.XNOR {
						acc = (sum + 2) / 2
					} else if got := outputs(c, []int64{sum - 3<<u.Acc.Width})[0]; got != want {
						t.Fatalf("seed %d, channel %d: %d of %d wrapped around, want %d", seed, c, got, sum, want)
					}
					if dot.Width > u.Acc.Width || dot.Width < u.Acc.Width && !dot.Holds(acc) {
						t.Errorf("seed %d: %s does not hold %d of %s", seed, dot, acc, u.Acc)
					}
					sums, seen = append(sums, acc), append(seen, want)
				}
			}
			if want := (num.Range{Lo: slices.Min(seen), Hi: slices.Max(seen)}); u.Range[c] != want {
				t.Errorf("seed %d, channel %d: range %v, seen %v", seed, c, u.Range[c], want)
			}
			if want := num.NarrowestIntTypeFor(num.Range{Lo: slices.Min(sums),
				Hi: slices.Max(sums)}).Width; u.AccumulatorWidthsByRule().Channels[c] != want {
				t.Errorf("seed %d, channel %d: %d bits, want %d", seed, c, u.AccumulatorWidthsByRule().Channels[c],
					want)
			}
		}
	}
}

// field returns the config value that the unit emits under the name, for one output and simd products per clock.
func field[T any](u *mac.Unit, name string, simd int) T {
	config := u.EmitInstance(dataflow.Fold{PE: 1, SIMD: simd, Memory: dataflow.MemoryBRAM,
		Compute: dataflow.MultiplierInLUTs},
		cost.DSPPacking{},
		"", "", "").Config
	i := slices.IndexFunc(config, func(f dataflow.ConfigField) bool { return f.Name == name })
	return config[i].Value.(T)
}

func TestEmit(t *testing.T) {
	t.Parallel()
	weights := [][]int64{{1, 2, 3, 4}, {5, 6, 7, 0}, {-1, -2, -3, -4}, {-5, -6, -7, -8}}
	in := []num.Range{{Lo: 0, Hi: 3}}
	elem := num.Type{Kind: num.KindUInt, Width: 2}
	same := num.StepFunction{At: []int64{0}, Value: []int64{0, 1}}
	bind := func(steps ...num.StepFunction) *mac.Unit {
		u, err := mac.BindUnit(weights, steps, nil, elem, func(int) []num.Range { return in })
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	f := dataflow.Fold{PE: 2, SIMD: 2, Memory: dataflow.MemoryURAM, Compute: dataflow.MultiplierInDSPs}
	i := bind().EmitInstance(f, cost.DSPPacking{}, "unit", "outputs", "inputs")
	tables, dsp := i.Tables, slices.IndexFunc(i.Config,
		func(f dataflow.ConfigField) bool { return f.Name == "use_dsp" })
	if want := [][]int64{{1, 2, 5, 6}, {3, 4, 7, 0}, {-1, -2, -5, -6}, {-3, -4, -7, -8}}; len(tables) != 1 ||
		!slices.EqualFunc(tables[0].Rows, want, slices.Equal) {
		t.Errorf("tables %+v, want weights %v", tables, want)
	}
	if tables[0].Elem != (num.Type{Kind: num.KindInt, Width: 4}) || i.Config[dsp].Value != true {
		t.Errorf("%+v", i)
	}
	for _, tt := range []struct {
		name   string
		unit   *mac.Unit
		tables int
		shared bool
	}{
		{"no steps", bind(), 1, true},
		{"one constant for all", bind(num.StepFunction{Value: []int64{4}}), 2, true},
		// The first two are never negative: their table has one code.
		{"live in some channels", bind(same), 2, false},
	} {
		tables := tt.unit.EmitInstance(f, cost.DSPPacking{}, "", "", "").Tables
		storage := tt.unit.Storage(f)
		if len(storage) != len(tables) || storage[0].In != dataflow.MemoryURAM {
			t.Errorf("%s: storage %+v", tt.name, storage)
			continue
		}
		for i, table := range tables {
			if want := table.StorageForCostPart(storage[i].Part).MovedToMemory(storage[i].In); storage[i] != want {
				t.Errorf("%s: storage %+v, want %+v", tt.name, storage[i], want)
			}
		}
		if shared := field[bool](tt.unit, "shared", 2); len(tables) != tt.tables || shared != tt.shared {
			t.Errorf("%s: %d tables, shared %t", tt.name, len(tables), shared)
		}
	}
}

func TestFits(t *testing.T) {
	t.Parallel()
	weights := make([][]int64, 64)
	for c := range weights {
		weights[c] = make([]int64, 4096)
		weights[c][c], weights[c][64] = 7, int64(c%7) // which take three bits, as codes too
	}
	u, err := mac.BindUnit(weights, nil, nil, num.Type{Kind: num.KindUInt, Width: 8},
		func(int) []num.Range { return []num.Range{{Lo: 0, Hi: 255}} })
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		word, pe, simd, vectors int
		want                    bool
	}{
		{1, 1, 1, 1, true},
		{512, 1, 512, 1, true},
		{1024, 1, 1024, 1, false}, // words of 8192 bits
		{512, 32, 512, 1, true},   // rows of 32*512*3 bits
		{512, 64, 512, 1, false},
		{1, 64, 1, 1 << 19, false}, // 2^31 iterations
		{1, 64, 1, 1<<19 - 1, true},
	} {
		if got := u.IsFoldWithinHLSLimits(tt.word, dataflow.Fold{PE: tt.pe, SIMD: tt.simd},
			tt.vectors); got != tt.want {
			t.Errorf("%+v: %t", tt, got)
		}
	}
}

// TestChain checks that packed products have one addition more than products in slices of their own.
func TestChain(t *testing.T) {
	t.Parallel()
	elem := num.Type{Kind: num.KindUInt, Width: 4}
	u, err := mac.BindUnit([][]int64{{7, -8}, {-8, 7}}, nil, nil, elem,
		func(int) []num.Range { return []num.Range{elem.Range()} })
	if err != nil {
		t.Fatal(err)
	}
	f := dataflow.Fold{PE: 2, SIMD: 2, Memory: dataflow.MemoryLUTRAM, Compute: dataflow.MultiplierInDSPs}
	target := dataflow.Target{Board: boards.Board{DSPType: "DSP48E2"}, ClockMHz: 700}
	p := u.DSPPackingForChannels(f.PE, f, target)
	if !p.HasMultipleLanes() {
		t.Fatalf("nothing is packed: %+v", p)
	}
	clocks := func(p cost.DSPPacking) int {
		c := layer.NewIterationChain(target)
		u.AppendToChain(&c, f, p)
		return c.DoStreamWrite()
	}
	if own, packed := clocks(cost.DSPPacking{}), clocks(p); packed != own+1 {
		t.Errorf("%d clocks where slices are shared, %d where not", packed, own)
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	ones := [][]int64{{1, 1}}
	for _, tt := range []struct {
		weights [][]int64
		steps   []num.StepFunction
		want    string
	}{
		{nil, nil, "no weights"},
		{[][]int64{{}}, nil, "no weights"},
		{[][]int64{{1, 2}, {1}}, nil, "row 1 of the weights has 1 elements"},
		{[][]int64{{mac.MaxWeightMagnitude + 1}}, nil, "beyond 2^40"},
		{[][]int64{{math.MinInt64}}, nil, "beyond 2^40"},
		{ones, make([]num.StepFunction, 2), "2 step functions for 1 channels"},
		{ones, make([]num.StepFunction, 1), "channel 0: step function has 0 breakpoints and 0 values"},
		{[][]int64{{mac.MaxWeightMagnitude, -mac.MaxWeightMagnitude}}, nil, ""},
	} {
		err := mac.VerifyWeightsAndSteps(tt.weights, tt.steps, nil)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%v, %v: %v, want %q", tt.weights, tt.steps, err, tt.want)
		}
	}
	int64s := num.Type{Kind: num.KindInt, Width: 64}
	for _, tt := range []struct {
		weights [][]int64
		steps   []num.StepFunction
		want    string
	}{
		{ones, nil, "more than 63 bits"},
		{[][]int64{{1, 0}}, nil, "takes 64 bits"},
		{[][]int64{{0, 0}}, nil, ""},
		// what never occurs may do anything
		{[][]int64{{0, 0}}, []num.StepFunction{{At: []int64{1}, Value: []int64{1, 0}}}, ""},
	} {
		_, err := mac.BindUnit(tt.weights, tt.steps, nil, int64s,
			func(int) []num.Range { return []num.Range{int64s.Range()} })
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%v, %v: %v, want %q", tt.weights, tt.steps, err, tt.want)
		}
	}
}
