package choose

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/program"
	"hlsgen/hlslib"
	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/threshold"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

// integerType returns the type of a vector with one channel of integers from lo to hi.
func integerType(lo, hi int64) dataflow.StreamType {
	r := num.Range{Lo: lo, Hi: hi}
	return dataflow.StreamType{Shape: dataflow.Shape{1}, Range: []num.Range{r}, Elem: num.NarrowestIntTypeFor(r)}
}

// steps returns a function as a step function over a type, from its value at each integer.
func steps(t dataflow.StreamType, f func(int64) int64) []num.StepFunction {
	r := t.ChannelRange(0)
	out := num.StepFunction{Value: []int64{f(r.Lo)}}
	for x := r.Lo + 1; x <= r.Hi; x++ {
		if v := f(x); v != f(x-1) {
			out.At, out.Value = append(out.At, x), append(out.Value, v)
		}
	}
	return []num.StepFunction{out}
}

// bend and magnitude fall and then rise. A separate row of the table may compute magnitude.
func bend(x int64) int64      { return max(x, -2*x) }
func magnitude(x int64) int64 { return max(x, -x) }

// TestRanking checks the layers chosen for functions of every form.
func TestRanking(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	code, byte, wide := integerType(-8, 7), integerType(-128, 127), integerType(-40000, 40000)
	product := &ProductBeforeActivation{Weights: [][]int64{{3, -2}}, In: dataflow.StreamType{Shape: dataflow.Shape{2},
		Range: code.Range,
		Elem:  code.Elem}, op: func(w [][]int64, s []num.StepFunction) dataflow.Op {
		return mvau.New(mvau.Params{Weights: w,
			Steps: s})
	}}
	plain := *product
	plain.Plain = true
	activation := func(in dataflow.StreamType, behind *ProductBeforeActivation, f func(int64) int64) StepActivation {
		return StepActivation{Steps: steps(in, f), In: in, Behind: behind}
	}
	sign := func(x int64) int64 { return min(max(x, -1), 1) }
	falls := func(x int64) int64 { return -sign(x) }
	third := func(x int64) int64 { return (x + 60000) / 3 }
	window := func(channels, group int, covers bool) *SlidingWindow {
		return &SlidingWindow{&program.Window{Kernel: [2]int{3, 3}, Group: group}, channels, covers}
	}
	pixel := &SlidingWindow{&program.Window{Kernel: [2]int{1, 1}, Group: 1}, 2, false}
	ones, twos := [][]int64{{1}, {1}}, [][]int64{{2}, {2}}
	for _, c := range []struct {
		name string
		f    IntegerFunction
		want string
	}{
		{"nothing changes", activation(code, product, func(x int64) int64 { return x }), LayerNameWire},
		{"few steps", activation(code, nil, sign), "Thresholding"},
		{"few steps behind a product", activation(code, product, sign), LayerNameFused},
		{"falling steps behind a product", activation(code, product, falls), LayerNameFused},
		{"a bend behind a product", activation(code, product, bend), "Thresholding"},
		{"behind a product that takes none", activation(code, &plain, sign), "Thresholding"},
		{"many steps of one size", activation(byte, nil, third), "Requantization"},
		{"many steps of one size behind a product", activation(byte, product, third), "Requantization"},
		{"many steps that bend", activation(byte, nil, bend), "Thresholding"},
		{"more steps than comparators", activation(wide, nil, third), "Requantization"},
		{"a sum", WeightedSumWithSteps{[][]int64{{2}, {1}}, nil}, "AddStreams"},
		{"a product of two", ElementProductWithSteps{[2]int64{}, steps(code, sign)}, "MultiplyStreams"},
		{"vectors", MatrixProduct{Weights: ones}, "MVAU"},
		{"a window that is all and adds up", MatrixProduct{Weights: ones, Window: window(2, 2, true)}, "GlobalPool"},
		{"a window that adds up", MatrixProduct{Weights: ones, Window: window(2, 2, false)}, "Pool"},
		{"a window per channel", MatrixProduct{Weights: twos, Window: window(2, 2, false)}, "VVAU"},
		{"a window over channels", MatrixProduct{Weights: ones, Window: window(2, 1, false)}, "MVAU"},
		{"pixels", MatrixProduct{Weights: ones, Window: pixel}, "MVAU"},
		{"the greatest of all", WindowMaximum{*window(2, 1, true)}, "GlobalPool"},
		{"the greatest of a window", WindowMaximum{*window(2, 1, false)}, "Pool"},
		{"a table", LookupTable{ones}, "Lookup"},
		{"an order", TopKIndices{N: 4, K: 1}, "LabelSelect"},
		{"a recurrence", RecurrentCellSequence{}, "RNN"},
	} {
		choice, err := ChooseLayersForFunction(c.f)
		if err != nil {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
			continue
		}
		if choice.Row.Layer != c.want {
			t.Errorf("%s: %s, want %s", c.name, choice.Row.Layer, c.want)
		}
	}
	var why *unmapped.Reason
	if _, err := ChooseLayersForFunction(activation(wide, nil, bend)); !errors.As(err, &why) ||
		why.Code != diag.ActivationRangeTooWide {
		t.Errorf("more steps than comparators, which bend: %v", err)
	}
}

// TestRows checks that each row has its texts, and that the layers are those of the table of layers.
func TestRows(t *testing.T) {
	t.Parallel()
	for i, r := range layerRules {
		kind := func(k dataflow.LayerKind) bool { return k.Name == r.Layer }
		known := r.Layer == LayerNameWire || r.Layer == LayerNameFused || slices.ContainsFunc(hlslib.LayerKinds, kind)
		if !known || r.Form == "" || r.Why == "" {
			t.Errorf("row %d: %+v", i, r)
		}
		if i > 0 && r.Form != layerRules[i-1].Form && slices.ContainsFunc(layerRules[:i],
			func(o LayerRule) bool { return o.Form == r.Form }) {
			t.Errorf("rows of %q stand apart", r.Form)
		}
	}
}

// TestOneMoreRow adds a layer for another form of step function, by adding nothing but a row.
func TestOneMoreRow(t *testing.T) {
	t.Parallel()
	row := elementwise("Abs", "an absolute value needs no table", func(a StepActivation) (dataflow.Op, bool) {
		same := slices.ContainsFunc(steps(a.In, magnitude), a.Steps[0].Equal)
		return threshold.New(threshold.Params{Steps: a.Steps}), same
	})
	table := append([]LayerRule{row}, layerRules...)
	in := integerType(-8, 7)
	for want, f := range map[string]func(int64) int64{"Abs": magnitude,
		"Thresholding": func(x int64) int64 { return x * x }} {
		c, err := from(table, StepActivation{Steps: steps(in, f), In: in})
		if err != nil || c.Row.Layer != want || len(c.Ops) != 1 {
			t.Errorf("%+v, %v, want %s", c, err, want)
		}
	}
}

// TestRise makes random step functions rise by negating weights. The layer must compute the same.
func TestRise(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	turned, refused := 0, 0
	for range 500 {
		channels, inputs := 1+r.IntN(3), 1+r.IntN(3)
		in := num.Range{Lo: int64(-r.IntN(4)), Hi: int64(r.IntN(4))}
		weights, steps := make([][]int64, channels), make([]num.StepFunction, channels)
		sums := dataflow.StreamType{Shape: dataflow.Shape{channels}}
		for c := range channels {
			for range inputs {
				weights[c] = append(weights[c], int64(r.IntN(9)-4))
			}
			if r.IntN(6) == 0 {
				clear(weights[c])
			}
			s, ok := num.DotProductRange(weights[c], []num.Range{in})
			if !ok {
				t.Fatal("a sum leaves int64")
			}
			sums.Range = append(sums.Range, s)
			f := num.StepFunction{Value: []int64{int64(r.IntN(5))}}
			rising := int64(1 - 2*r.IntN(2))
			at := int64(-30)
			for range r.IntN(4) {
				at += 1 + int64(r.IntN(20))
				next := f.Value[len(f.Value)-1] + rising*int64(1+r.IntN(3))
				if r.IntN(12) == 0 {
					next -= rising * 5
				}
				f.At, f.Value = append(f.At, at), append(f.Value, next)
			}
			steps[c] = f
		}
		w, up, ok := rise(weights, steps, sums)
		if !ok {
			refused++
			continue
		}
		for c := range channels {
			if w[c][0] != weights[c][0] {
				turned++
			}
			x := make([]int64, inputs)
			var try func(k int)
			try = func(k int) {
				if k < inputs {
					for x[k] = in.Lo; x[k] <= in.Hi; x[k]++ {
						try(k + 1)
					}
					return
				}
				var before, after int64
				for k, v := range x {
					before, after = before+weights[c][k]*v, after+w[c][k]*v
				}
				if got, want := up[c].Apply(after), steps[c].Apply(before); got != want {
					t.Fatalf("channel %d at %v: %d, want %d", c, x, got, want)
				}
			}
			try(0)
			reach := num.Range{Lo: sums.Range[c].Lo, Hi: sums.Range[c].Hi}
			if w[c][0] != weights[c][0] || len(w[c]) > 0 && &w[c][0] != &weights[c][0] {
				reach = reach.Negated()
			}
			if !up[c].RestrictedTo(reach).IsNonDecreasing() {
				t.Fatalf("channel %d falls: %v over %v", c, up[c], reach)
			}
		}
	}
	if turned == 0 || refused == 0 {
		t.Errorf("%d channels were turned, %d activations refused: the test tests nothing", turned, refused)
	}
}
