package labelselect_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/hlslib/labelselect"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/randomtest"
)

// orders is every order of labels.
var orders = []labelselect.Params{
	{First: labelselect.RankOrderLargestFirst, Ties: labelselect.TieBreakLowerIndexWins},
	{First: labelselect.RankOrderLargestFirst, Ties: labelselect.TieBreakHigherIndexWins},
	{First: labelselect.RankOrderSmallestFirst, Ties: labelselect.TieBreakLowerIndexWins},
	{First: labelselect.RankOrderSmallestFirst, Ties: labelselect.TieBreakHigherIndexWins},
}

// sel is one of the orders with its sizes.
func sel(order, labels, k int) labelselect.Params {
	p := orders[order]
	p.Labels, p.K = labels, k
	return p
}

// neverFirst is why indices may lie within their range.
const neverFirst = "a label whose range is below another's never comes first"

func TestContract(t *testing.T) {
	t.Parallel()
	wide := typ(intN(64), 2, 20)
	wide.Range = []num.Range{{Lo: math.MinInt64, Hi: math.MaxInt64}}
	perChannel := dataflow.StreamType{Shape: dataflow.Shape{3}, Range: []num.Range{{Lo: -8, Hi: -8}, {Lo: -1, Hi: 0},
		{Lo: 5, Hi: 7}}, Elem: intN(4)}
	cases := []layertest.Case{
		{Name: "the largest of ten", Op: labelselect.New(sel(0, 10, 1)), In: []dataflow.StreamType{typ(intN(8), 1,
			10)}},
		{Name: "the smallest of ten", Op: labelselect.New(sel(2, 10, 1)), In: []dataflow.StreamType{typ(intN(8), 1,
			10)}},
		{Name: "one label", Op: labelselect.New(sel(0, 1, 1)), In: []dataflow.StreamType{typ(intN(3), 4, 1)}},
		{Name: "a scalar", Op: labelselect.New(sel(3, 1, 1)), In: []dataflow.StreamType{typ(intN(3))}},
		{Name: "every label", Op: labelselect.New(sel(1, 12, 12)), In: []dataflow.StreamType{typ(intN(3), 3, 12)}},
		{Name: "most places", Op: labelselect.New(sel(0, 30, labelselect.MaxK)),
			In: []dataflow.StreamType{typ(uintN(5), 2, 30)}, Folds: 3},
		{Name: "of widest words", Op: labelselect.New(sel(0, 64, 3)), In: []dataflow.StreamType{typ(intN(64), 64)}},
		{Name: "the ends of 64 bits", Op: labelselect.New(sel(2, 20, labelselect.MaxK)),
			In: []dataflow.StreamType{wide}},
		{Name: "ranges per channel", Op: labelselect.New(sel(1, 3, 2)), In: []dataflow.StreamType{perChannel},
			Loose: neverFirst},
		{Name: "flattened axes", Op: labelselect.New(sel(0, 12, 5)), In: []dataflow.StreamType{typ(intN(4), 2, 3, 4)}},
		{Name: "a thousand labels", Op: labelselect.New(sel(0, 1000, 5)), In: []dataflow.StreamType{typ(intN(9), 1000)},
			Folds: 8},
	}
	for order := range orders {
		for _, elem := range []num.Type{bipolar, uintN(1), {Kind: num.KindTernary, Width: 2}} { // ties everywhere
			cases = append(cases, layertest.Case{Name: fmt.Sprintf("%v of %s", orders[order], elem),
				Op: labelselect.New(sel(order, 6, 4)), In: []dataflow.StreamType{typ(elem, 5, 6)}})
		}
	}
	layertest.Check(t, append(cases, layertest.RandomCases(40, 13, randomtest.LabelSelect)...)...)
}

// TestEvalAgainstDefinition checks Eval against the meaning of places: a label in a place comes before all labels in
// later places or in none.
func TestEvalAgainstDefinition(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		labels, vectors := 1+r.IntN(9), 1+r.IntN(3)
		p := sel(r.IntN(4), labels, 1+r.IntN(labels))
		in := typ(intN(3), vectors, labels)
		op, out, err := labelselect.New(p).Bind([]dataflow.StreamType{in})
		if err != nil {
			t.Fatal(err)
		}
		if want := (dataflow.Shape{vectors, p.K}); !slices.Equal(out[0].Shape, want) ||
			out[0].Range[0] != (num.Range{Lo: 0, Hi: int64(labels - 1)}) {
			t.Fatalf("%+v gives %+v", p, out[0])
		}
		x := dataflow.Tensor{Shape: in.Shape, Data: make([]int64, vectors*labels)}
		for i := range x.Data {
			x.Data[i] = r.Int64N(8) - 4
		}
		y := op.Eval([]dataflow.Tensor{x})[0]
		for v := range vectors {
			vector, places := x.Data[v*labels:(v+1)*labels], y.Data[v*p.K:(v+1)*p.K]
			left := map[int64]bool{}
			for i := range labels {
				left[int64(i)] = true
			}
			for _, i := range places {
				if !left[i] {
					t.Fatalf("%+v of %v gives %v: %d twice", p, vector, places, i)
				}
				delete(left, i)
				for j := range left {
					a, b := vector[i], vector[j]
					if p.First == labelselect.RankOrderSmallestFirst {
						a, b = b, a
					}
					if a < b || a == b && (i < j) != (p.Ties == labelselect.TieBreakLowerIndexWins) {
						t.Fatalf("%+v of %v gives %v: %d comes before %d", p, vector, places, j, i)
					}
				}
			}
		}
	}
}

// TestTies checks the order of equal labels.
func TestTies(t *testing.T) {
	t.Parallel()
	for order, want := range []string{"[0 3 1]", "[3 0 4]", "[2 1 4]", "[2 4 1]"} {
		op := layertest.Bind(t, labelselect.New(sel(order, 5, 3)), typ(intN(3), 5))
		y := op.Eval([]dataflow.Tensor{{Shape: dataflow.Shape{5}, Data: []int64{3, -1, -4, 3, -1}}})
		if got := fmt.Sprint(y[0].Data); got != want {
			t.Errorf("%+v: %s, want %s", orders[order], got, want)
		}
	}
}

// TestLoop compares the clocks with FINN's LabelSelect: labels over PE, per vector.
func TestLoop(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ labels, vectors, pe, iterations, latency int }{
		{10, 1, 1, 10, 2}, {10, 1, 5, 2, 3}, {12, 1, 1, 12, 2}, {10, 7, 2, 35, 2}, {16, 3, 16, 3, 3}, {1, 1, 1, 1, 2},
	} {
		op := layertest.Bind(t, labelselect.New(sel(0, tt.labels, 1)), typ(intN(8), tt.vectors, tt.labels))
		l := op.Loop(dataflow.Fold{PE: tt.pe, SIMD: 1}, dataflow.Target{})
		if l.IterationsPerFrame() != tt.iterations || l.Latency != tt.latency || l.WordsWritten(0) != tt.vectors {
			t.Errorf("%+v: %+v", tt, l)
		}
		layertest.CheckFINNCost(t, op, dataflow.Fold{PE: tt.pe, SIMD: 1}, dataflow.Resources{})
	}
}

func TestFolds(t *testing.T) {
	t.Parallel()
	op := layertest.Bind(t, labelselect.New(sel(0, 128, 1)), typ(intN(40), 128))
	var pes []int
	for f := range op.Folds() {
		pes = append(pes, f.PE)
	}
	if want := []int{1, 2, 4, 8, 16, 32, 64}; !slices.Equal(pes, want) { // 128 labels are a word of 5120 bits
		t.Errorf("PE %v, want %v", pes, want)
	}
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	good, in := sel(0, 10, 1), typ(intN(8), 1, 10)
	with := func(change func(p *labelselect.Params)) labelselect.Params {
		p := good
		change(&p)
		return p
	}
	for _, tt := range []struct {
		p    labelselect.Params
		in   []dataflow.StreamType
		want string
	}{
		{good, []dataflow.StreamType{in}, ""},
		{good, []dataflow.StreamType{typ(intN(8), 3, 2, 5)}, ""},
		{labelselect.Params{}, []dataflow.StreamType{in}, "vectors of 0 labels"},
		{with(func(p *labelselect.Params) { p.Labels = 1 << 40 }), []dataflow.StreamType{in},
			"vectors of 1099511627776 labels"},
		{with(func(p *labelselect.Params) { p.K = 0 }), []dataflow.StreamType{in},
			"0 places for 10 labels, want 1 to 10"},
		{with(func(p *labelselect.Params) { p.K = 11 }), []dataflow.StreamType{in}, "11 places for 10 labels"},
		{sel(0, 20, 17), []dataflow.StreamType{typ(intN(8), 20)}, "17 places, at most 16 are possible"},
		{with(func(p *labelselect.Params) { p.First = "" }), []dataflow.StreamType{in},
			`"" comes first, want "largest" or "smallest"`},
		{with(func(p *labelselect.Params) { p.Ties = "first" }), []dataflow.StreamType{in},
			`"first" comes first, want "lower index" or "higher index"`},
		{good, nil, "0 inputs"},
		{good, []dataflow.StreamType{in, in}, "2 inputs"},
		{good, []dataflow.StreamType{typ(intN(8), 1, 11)}, "an input of shape [1 11], want vectors of 10 labels"},
		{good, []dataflow.StreamType{typ(intN(8), 3, 4, 5)}, "want vectors of 10"},
		{good, []dataflow.StreamType{typ(intN(8), 1<<32, 10)}, "no fold"},
	} {
		layertest.CheckRefused(t, labelselect.New(tt.p), tt.in, tt.want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	layertest.CheckTextRefused(t, labelselect.LayerKind, ``, `null`, `{}`, `[]`, `{"labels":3,"k":1}`,
		`{"labels":3,"k":1,"first":"largest"}`, `{"labels":3,"k":1,"ties":"lower index"}`,
		`{"labels":3,"k":4,"first":"largest","ties":"lower index"}`,
		`{"labels":1e12,"k":1,"first":"largest","ties":"lower index"}`, `{"labels":3,"k":1,"first":1,"ties":0}`)
}

// What types are called above.
var typ, uintN, intN, bipolar = layertest.FullType, layertest.UInt, layertest.Int, layertest.Bipolar
