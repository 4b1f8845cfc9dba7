package mvau_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"hlsgen/boards"
	"hlsgen/hlslib/mvau"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

// TestParts deals the PE of layers out, and puts the words of the parts side by side again.
func TestParts(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	r := rand.New(rand.NewPCG(5, 6))
	perChannel := grouped(r, 2, 6, 3, 2, num.Range{Lo: -4, Hi: 3})
	for c := range perChannel.Weights {
		perChannel.Steps = append(perChannel.Steps, num.StepFunction{At: []int64{int64(c - 5), int64(c)},
			Value: []int64{int64(c - 2), int64(c), int64(2 * c)}})
	}
	shared := grouped(r, 1, 12, 2, 3, num.Range{Lo: -4, Hi: 3})
	shared.Steps = []num.StepFunction{{At: []int64{1, 3, 6}, Value: []int64{0, 1, 2, 3}}}
	rounded := grouped(r, 1, 6, 2, 2, num.Range{Lo: -8, Hi: 7})
	rounded.Product = &num.Requant{Multiplier: 1, Shift: 2, Mode: num.RoundingFloor, Lo: -100, Hi: 100}
	uneven := mvau.Params{Weights: [][]int64{{1, 1}, {100, -90}, {0, 0}, {-1, 1}}}
	for _, tt := range []struct {
		name string
		p    mvau.Params
		in   dataflow.StreamType
	}{
		{"groups, steps per channel", perChannel, typ(intN(3), 2, 3, 4)},
		{"one step function", shared, typ(uintN(3), 3, 6)},
		{"requantised products", rounded, typ(intN(4), 4)},
		{"xnor", grouped(r, 1, 8, 1, 5, num.Range{Lo: -1, Hi: 1}), typ(bipolar, 3, 5)},
		{"parts of other widths", uneven, typ(uintN(2), 2, 2)},
	} {
		op, _, err := mvau.New(tt.p).Bind([]dataflow.StreamType{tt.in})
		if err != nil {
			t.Fatal(tt.name, err)
		}
		x := []dataflow.Tensor{input(tt.in)}
		want := op.Eval(x)[0]
		for f := range op.Folds() {
			for _, n := range dataflow.Divisors(f.PE)[1:] {
				if got := joined(t, op, f, n, tt.in, x); !slices.Equal(got, want.Data) {
					t.Fatalf("%s: %+v in %d parts: %v, want %v", tt.name, f, n, got, want.Data)
				}
			}
		}
	}
}

// joined computes the n parts of a fold and joins their outputs word by word, as the whole layer writes them. It also
// checks that each part is an ordinary layer of its own parameters with the loop of the whole.
func joined(t *testing.T, op dataflow.Op, f dataflow.Fold, n int, in dataflow.StreamType, x []dataflow.Tensor) []int64 {
	t.Helper()
	parts := make([][]int64, n)
	whole, products, most := op.Loop(f, dataflow.Target{}), 0, 0
	for k := range parts {
		bound, out, err := op.(dataflow.HasDivisiblePE).Part(f, k, n)
		if err != nil {
			t.Fatal(err)
		}
		fold := f
		fold.PE = f.PE / n
		alone, typ, err := mvau.New(bound.Params().(mvau.Params)).Bind([]dataflow.StreamType{in})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(typ, []dataflow.StreamType{out}) || !reflect.DeepEqual(
			alone.Describe().Accumulators(),
			bound.Describe().Accumulators()) ||
			!reflect.DeepEqual(alone.Emit(fold, dataflow.Target{}), bound.Emit(fold, dataflow.Target{})) {
			t.Fatalf("part %d of %d of %+v is not the layer of its parameters", k, n, f)
		}
		// signs take no DSP
		if fold.Compute = dataflow.MultiplierInLUTs; !slices.Contains(slices.Collect(bound.Folds()), fold) {
			t.Fatalf("part %d of %d of %+v: no fold %+v", k, n, f, fold)
		}
		l := bound.Loop(fold, dataflow.Target{})
		l.Latency = min(l.Latency, whole.Latency) // narrower sums may be faster
		if whole.Latency = l.Latency; l.TextKey() != whole.TextKey() {
			t.Fatalf("part %d of %d of %+v has the loop %+v, the whole %+v", k, n, f, l, whole)
		}
		got, _ := bound.(dataflow.HasUnrolledProducts).Products(fold, 1)
		products, most = products+got, max(most, got)
		parts[k] = bound.Eval(x)[0].Data
	}
	if want, _ := op.(dataflow.HasUnrolledProducts).Products(f, 1); products != want {
		t.Errorf("%d parts of %+v compute %d products, the whole %d", n, f, products, want)
	}
	if want, _ := op.(dataflow.HasUnrolledProducts).Products(f, n); most != want {
		t.Errorf("of %d parts of %+v one computes %d products, want at most %d", n, f, most, want)
	}
	var all []int64
	for at, pe := 0, f.PE/n; at < len(parts[0]); at += pe {
		for _, p := range parts {
			all = append(all, p[at:at+pe]...)
		}
	}
	return all
}

// TestAlike has parts that are alike agree in all folds, loops and costs; some parts are alike, and some are not.
func TestAlike(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	board := boards.Board{DSPType: "DSP48E2"}
	targets := []dataflow.Target{{Board: board}, {Board: board, Formula: dataflow.FINNCostFormula}}
	count := map[bool]int{}
	for _, thresholds := range []int{0, 1, 3, 7} {
		p := grouped(r, 1, 24, 1, 6, num.Range{Lo: -4, Hi: 3})
		for c := range p.Weights {
			s := num.StepFunction{Value: []int64{0}}
			for i := range thresholds {
				s.At = append(s.At, int64(8*i+r.IntN(8)-4*thresholds))
				s.Value = append(s.Value, int64(i+1))
			}
			if c%8 == 0 {
				p.Weights[c][0] = 100
			}
			if thresholds > 0 {
				p.Steps = append(p.Steps, s)
			}
		}
		op, _, err := mvau.New(p).Bind([]dataflow.StreamType{typ(uintN(3), 2, 6)})
		if err != nil {
			t.Fatal(err)
		}
		for f := range op.Folds() {
			if f.SIMD > 1 || f.Memory != dataflow.MemoryBRAM || f.Compute != dataflow.MultiplierInLUTs {
				continue
			}
			for _, n := range dataflow.Divisors(f.PE)[1:] {
				for _, target := range targets {
					checkAlike(t, op.(dataflow.HasDivisiblePE), f, n, target, count)
				}
			}
		}
	}
	if count[true] < 100 || count[false] < 100 {
		t.Errorf("%d parts are like the first, %d are not", count[true], count[false])
	}
}

// checkAlike compares the parts of a fold with the first one.
func checkAlike(t *testing.T, op dataflow.HasDivisiblePE, f dataflow.Fold, n int, target dataflow.Target,
	count map[bool]int) {
	t.Helper()
	share := f
	share.PE = f.PE / n
	var first dataflow.Op
	for k := range n {
		part, _, err := op.Part(f, k, n)
		if err != nil {
			t.Fatal(err)
		}
		if k == 0 {
			first = part
			continue
		}
		alike := part.(dataflow.HasDivisiblePE).Alike(first, share, target)
		if count[alike]++; !alike {
			continue
		}
		if !slices.Equal(slices.Collect(part.Folds()), slices.Collect(first.Folds())) {
			t.Fatalf("part %d of %d of %+v has other folds than the first", k, n, f)
		}
		for own := range part.Folds() {
			if own.PE != share.PE {
				continue
			}
			if a, b := part.Cost(own, target), first.Cost(own, target); !slices.Equal(a, b) {
				t.Fatalf("part %d of %d of %+v costs %v, the first %v", k, n, own, a, b)
			}
			if a, b := part.Loop(own, target).TextKey(), first.Loop(own, target).TextKey(); a != b {
				t.Fatalf("part %d of %d of %+v has the loop %s, the first %s", k, n, own, a, b)
			}
		}
	}
}

// TestConstantProducts checks that products by constants that are zero do not count, and that constants of one clock
// have no limit but for a row of C++.
func TestConstantProducts(t *testing.T) {
	t.Parallel()
	p := mvau.Params{Weights: make([][]int64, 128)}
	for c := range p.Weights {
		p.Weights[c] = make([]int64, 128)
		for k := range c + 1 {
			p.Weights[c][k] = int64(15 - 30*(k%2))
		}
	}
	op, _, err := mvau.New(p).Bind([]dataflow.StreamType{typ(uintN(2), 128)})
	if err != nil {
		t.Fatal(err)
	}
	folds, whole := slices.Collect(op.Folds()), dataflow.Fold{PE: 128, SIMD: 128}
	if !slices.ContainsFunc(folds, func(f dataflow.Fold) bool { return f.PE == whole.PE && f.SIMD == whole.SIMD }) {
		t.Error("no fold of one clock")
	}
	whole.Compute = dataflow.MultiplierInLUTs
	wide := dataflow.UnrollLimits{Wide: 8256, Few: 8256, One: 8256}
	for _, tt := range []struct {
		name      string
		f         dataflow.Fold
		backend   dataflow.Backend
		limits    dataflow.UnrollLimits
		parts     int
		products  int // of the part with most
		processes int
	}{
		{"all that are not zero", whole, dataflow.BackendRTL, wide, 1, 128 * 129 / 2, 1},
		{"the second half", whole, dataflow.BackendRTL, wide, 2, (128*129 - 64*65) / 2, 1},
		{"one less", whole, dataflow.BackendRTL, dataflow.UnrollLimits{Wide: 8255}, 4, (128*129 - 96*97) / 2, 2},
		{"C++ divides a row of 81,920 bits", whole, dataflow.BackendHLS, wide, 1, 128 * 129 / 2, 2},
		{"a table", dataflow.Fold{PE: 64, SIMD: 128, Compute: dataflow.MultiplierInLUTs}, dataflow.BackendHLS, wide, 1,
			64 * 128, 1},
	} {
		if got, _ := op.(dataflow.HasUnrolledProducts).Products(tt.f, tt.parts); got != tt.products {
			t.Errorf("%s: %d products, want %d", tt.name, got, tt.products)
		}
		on := dataflow.Target{Backend: tt.backend, Unroll: tt.limits}
		if got := on.MinProcesses(op, tt.f); got != tt.processes {
			t.Errorf("%s: %d processes, want %d", tt.name, got, tt.processes)
		}
	}
}
