package num

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomStep returns a step function with breakpoints in [-9,9] and values in [-5,5].
func randomStep(r *rand.Rand, rising bool) StepFunction {
	var s StepFunction
	for x := int64(-9); x <= 9; x++ {
		if r.IntN(4) == 0 {
			s.At = append(s.At, x)
		}
	}
	for range len(s.At) + 1 {
		s.Value = append(s.Value, r.Int64N(11)-5)
	}
	if rising {
		slices.Sort(s.Value)
	}
	return s
}

// at evaluates a step function by its definition.
func (s StepFunction) at(x int64) int64 {
	v := s.Value[0]
	for i, at := range s.At {
		if x >= at {
			v = s.Value[i+1]
		}
	}
	return v
}

func TestStepAgainstDefinition(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 300 {
		s := randomStep(r, n%2 == 0)
		if err := s.Verify(); err != nil {
			t.Fatal(err)
		}
		m := s.WithNegatedInput()
		if err := m.Verify(); err != nil {
			t.Fatalf("mirror of %v: %v", s, err)
		}
		for x := int64(-12); x <= 12; x++ {
			if s.Apply(x) != s.at(x) || m.Apply(-x) != s.at(x) {
				t.Fatalf("%v at %d = %d, mirrored %d, want %d", s, x, s.Apply(x), m.Apply(-x), s.at(x))
			}
		}
		for _, in := range small(11) {
			o := s.RestrictedTo(in)
			if err := o.Verify(); err != nil {
				t.Fatalf("%v over %v: %v", s, in, err)
			}
			reach, rises := SingleValueRange(s.at(in.Lo)), true
			for x := in.Lo; x <= in.Hi; x++ {
				if o.Apply(x) != s.at(x) {
					t.Fatalf("%v over %v at %d = %d, want %d", s, in, x, o.Apply(x), s.at(x))
				}
				reach = reach.Union(SingleValueRange(s.at(x)))
				rises = rises && (x == in.Lo || s.at(x) >= s.at(x-1))
			}
			if got := s.ValueRangeOver(in); got != reach {
				t.Fatalf("%v reaches %v over %v, want %v", s, got, in, reach)
			}
			if o.IsNonDecreasing() != rises {
				t.Fatalf("%v over %v is non-decreasing: %v", s, in, !rises)
			}
			for i, at := range o.At {
				if at <= in.Lo || at > in.Hi || o.Value[i] == o.Value[i+1] {
					t.Fatalf("%v over %v keeps breakpoint %d", s, in, at)
				}
			}
		}
	}
}

func TestMirrorAtTheEdges(t *testing.T) {
	t.Parallel()
	s := StepFunction{At: []int64{math.MinInt64, math.MinInt64 + 1, math.MinInt64 + 2, math.MaxInt64},
		Value: []int64{1, 2, 3, 4, 5}}
	m := s.WithNegatedInput()
	if err := m.Verify(); err != nil {
		t.Fatal(err)
	}
	for _, x := range []int64{math.MinInt64 + 1, math.MinInt64 + 2, 0, math.MaxInt64 - 1, math.MaxInt64} {
		if got, want := m.Apply(-x), s.at(x); got != want {
			t.Errorf("mirror at %d = %d, want %d", -x, got, want)
		}
	}
}

func TestStepVerify(t *testing.T) {
	t.Parallel()
	for _, s := range []StepFunction{{}, {At: []int64{1}}, {At: []int64{1}, Value: []int64{1}},
		{At: []int64{1, 1}, Value: []int64{1, 2, 3}}, {At: []int64{2, 1}, Value: []int64{1, 2, 3}}} {
		if s.Verify() == nil {
			t.Errorf("%v is accepted", s)
		}
	}
}

// TestCompare compares comparators with the step functions they are built from: with one step function for all
// channels or one per channel, over one range or one per channel.
func TestCompare(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 2))
	for n := range 2000 {
		const channels = 3
		steps := make([]StepFunction, 1+(n%2)*(channels-1))
		for c := range steps {
			steps[c] = randomStep(r, n%3 > 0)
			if n%5 == 0 { // multiples of 2 plus an odd offset, like bipolar codes
				for i := range steps[c].Value {
					steps[c].Value[i] = 2*steps[c].Value[i] - 1
				}
			}
		}
		in := make([]Range, 1+(n/2%2)*(channels-1))
		for c := range in {
			in[c].Lo = r.Int64N(16) - 8
			in[c].Hi = in[c].Lo + r.Int64N(8-in[c].Lo)
		}
		typ := Type{Kind: KindInt, Width: 4} // holds -8..7, so that thresholds lie at both ends
		most := []int{0, 3, 100}[n%3]
		k := NewThresholdTable(steps, in, typ, most)
		if len(k.At) != len(steps) || len(k.Base) != 1 && len(k.Base) != len(steps) {
			t.Fatalf("%d rows and %d bases for %d steps", len(k.At), len(k.Base), len(steps))
		}
		for c := range max(len(steps), len(in)) {
			row := min(c, len(steps)-1)
			if len(k.At[row]) > k.Count || k.Delta != nil && len(k.Delta[row]) != k.Count {
				t.Fatalf("ragged comparators %+v", k)
			}
			if k.Delta == nil && k.Count > max(most, 1) {
				t.Fatalf("%d unit thresholds, at most %d allowed", k.Count, most)
			}
			for i := range k.Count {
				typ.EncodeBits(k.Threshold(row, i, typ)) // panics if the threshold does not fit
			}
			x := in[min(c, len(in)-1)]
			for v := x.Lo; v <= x.Hi; v++ {
				if got, want := k.Apply(row, v), steps[row].at(v); got != want {
					t.Fatalf("case %d: %v over %v, channel %d at %d: %+v gives %d, want %d", n, steps, in, c, v, k, got,
						want)
				}
			}
		}
	}
}

func TestCompareForms(t *testing.T) {
	t.Parallel()
	sign := StepFunction{At: []int64{0}, Value: []int64{-1, 1}}
	odd := StepFunction{At: []int64{-2, 0, 2}, Value: []int64{-3, -1, 1, 3}}
	relu := StepFunction{At: []int64{1, 2, 4}, Value: []int64{0, 1, 2, 3}}
	fall := StepFunction{At: []int64{1}, Value: []int64{1, 0}}
	wide := StepFunction{At: []int64{math.MinInt64 + 1}, Value: []int64{math.MinInt64, math.MaxInt64}}
	i4 := Type{Kind: KindInt, Width: 4}
	tests := []struct {
		name  string
		steps []StepFunction
		in    []Range
		typ   Type
		most  int
		want  ThresholdTable
	}{
		{"sign has one threshold", []StepFunction{sign}, []Range{{-8, 7}}, i4, 1,
			ThresholdTable{Base: []int64{-1}, At: [][]int64{{0}}, Count: 1, Unit: 2}},
		{"two bits without zero", []StepFunction{odd}, []Range{{-8, 7}}, i4, 3,
			ThresholdTable{Base: []int64{-3}, At: [][]int64{{-2, 0, 2}}, Count: 3, Unit: 2}},
		{"never reached is left out", []StepFunction{relu, sign}, []Range{{-8, 7}}, i4, 9,
			ThresholdTable{Base: []int64{0, -1}, At: [][]int64{{1, 2, 4}, {0, 0}}, Count: 3, Unit: 1}},
		{"a constant", []StepFunction{relu}, []Range{{2, 3}}, i4, 0,
			ThresholdTable{Base: []int64{2}, At: [][]int64{nil}, Count: 1, Unit: 1}},
		{"down needs deltas", []StepFunction{fall, relu}, []Range{{-8, 7}}, i4, 9,
			ThresholdTable{Base: []int64{1, 0}, At: [][]int64{{1}, {1, 2, 4}}, Count: 3,
				Delta: [][]int64{{-1, 0, 0}, {1, 1, 1}}}},
		{"bipolar input", []StepFunction{{At: []int64{0, 1}, Value: []int64{3, 4, 5}}}, []Range{{-1, 1}},
			Type{Kind: KindBipolar, Width: 1}, 9,
			ThresholdTable{Base: []int64{3}, At: [][]int64{{0, 0}}, Count: 2, Unit: 1}},
		{"the whole of int64", []StepFunction{wide}, []Range{{math.MinInt64, math.MaxInt64}}, Type{Kind: KindInt,
			Width: 64}, 9,
			ThresholdTable{Base: []int64{math.MinInt64}, At: [][]int64{{math.MinInt64 + 1}}, Count: 1,
				Delta: [][]int64{{-1}}}},
	}
	for _, tt := range tests {
		got := NewThresholdTable(tt.steps, tt.in, tt.typ, tt.most)
		if fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestShare checks which step functions share a list of values. Functions whose values are each one unit above the
// last value hold parts of one list. All others keep their own list, and so do functions if the common list would
// be longer than their own lists together. Comparators have the functions' breakpoints.
func TestShare(t *testing.T) {
	t.Parallel()
	up := StepFunction{At: []int64{1, 2, 3}, Value: []int64{0, 1, 2, 3}}
	part := StepFunction{At: []int64{5}, Value: []int64{2, 3}}
	beyond := StepFunction{At: []int64{7, 9}, Value: []int64{3, 4, 5}}
	twice := StepFunction{At: []int64{1, 2}, Value: []int64{2, 4, 6}}
	down := StepFunction{At: []int64{1}, Value: []int64{3, 2}}
	far := StepFunction{At: []int64{1}, Value: []int64{100, 101}}
	wide := StepFunction{At: []int64{1}, Value: []int64{math.MinInt64, math.MaxInt64}}
	for _, tt := range []struct {
		name  string
		list  []StepFunction
		share string // per function: whether it holds a part of the first function's list
	}{
		{"parts", []StepFunction{up, part, beyond}, "[true true true]"},
		{"other units", []StepFunction{up, twice, down, part}, "[true false false true]"},
		{"bipolar codes", []StepFunction{{At: []int64{0}, Value: []int64{-1, 1}}, {At: []int64{4}, Value: []int64{-1,
			1}}, up},
			"[true true false]"},
		{"far apart", []StepFunction{up, far}, "[true false]"},
		{"beyond 32 bits", []StepFunction{part, wide}, "[true false]"},
		{"a difference that wraps around", []StepFunction{{At: []int64{1}, Value: []int64{math.MaxInt64,
			math.MinInt64}}},
			"[true]"},
		{"constants", []StepFunction{{Value: []int64{1}}, {Value: []int64{1}}}, "[true false]"},
		{"none", nil, "[]"},
	} {
		got := slices.Clone(tt.list)
		ShareStepValues(got)
		share := make([]bool, len(got))
		for c, s := range got {
			share[c] = c == 0
			for i := range s.Value {
				for j := range got[0].Value {
					share[c] = share[c] || &s.Value[i] == &got[0].Value[j]
				}
			}
			if !s.Equal(tt.list[c]) || len(s.Value) != cap(s.Value) {
				t.Errorf("%s: %v of %v", tt.name, s, tt.list[c])
			}
		}
		if fmt.Sprint(share) != tt.share {
			t.Errorf("%s: %v, want %s", tt.name, share, tt.share)
		}
	}
	k := NewThresholdTable([]StepFunction{up, twice}, []Range{{-8, 7}}, Type{Kind: KindInt, Width: 4}, 9)
	if s := k.StepFunctionOf(0, Type{Kind: KindInt, Width: 4}); &k.At[0][0] != &up.At[0] || &s.At[0] != &up.At[0] ||
		!s.Equal(up) {
		t.Errorf("%v has no list of %v", k, up)
	}
	if s := k.StepFunctionOf(1, Type{Kind: KindInt, Width: 4}); !s.Equal(twice) {
		t.Errorf("%v, want %v", s, twice)
	}
}
