package requant_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"hlsgen/hlslib/requant"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

// stairs is f on every value of x, as a step function.
func stairs(x num.Range, f func(int64) int64) num.StepFunction {
	s := num.StepFunction{Value: []int64{f(x.Lo)}}
	for v := x.Lo + 1; v <= x.Hi; v++ {
		if y := f(v); y != s.Value[len(s.Value)-1] {
			s.At, s.Value = append(s.At, v), append(s.Value, y)
		}
	}
	return s
}

// computed evaluates the requantization of channel c in floating point, as its definition in the parameters reads.
func computed(p requant.Params, c int, x int64) int64 {
	of := func(v []int64) int64 { return v[min(c, len(v)-1)] }
	y := rounded(float64(of(p.Multiplier)*x+of(p.Bias))/float64(int64(1)<<p.Shift), p.Mode) // exact below 53 bits
	return min(max(y, p.Lo), p.Hi)
}

// rounded is v at an integer.
func rounded(v float64, mode num.Rounding) int64 {
	switch mode {
	case num.RoundingHalfEven:
		v = math.RoundToEven(v)
	case num.RoundingHalfUp:
		v = math.Floor(v + 0.5)
	case num.RoundingHalfTowardZero:
		v = math.Copysign(math.Ceil(math.Abs(v)-0.5), v)
	case num.RoundingHalfAwayFromZero:
		v = math.Round(v)
	case num.RoundingFloor:
		v = math.Floor(v)
	case num.RoundingTowardZero:
		v = math.Trunc(v)
	case num.RoundingCeil:
		v = math.Ceil(v)
	case num.RoundingAwayFromZero:
		v = math.Copysign(math.Ceil(math.Abs(v)), v)
	default:
		panic(mode)
	}
	return int64(v)
}

// equals reports where the parameters differ from step functions.
func equals(p requant.Params, steps []num.StepFunction, x []num.Range) error {
	for c := range max(len(steps), len(x)) {
		r := x[min(c, len(x)-1)]
		for v := r.Lo; v <= r.Hi; v++ {
			if got, want := computed(p, c, v), steps[min(c, len(steps)-1)].Apply(v); got != want {
				return fmt.Errorf("channel %d at %d: %d, want %d", c, v, got, want)
			}
		}
	}
	return nil
}

// affine is clip(round((p*x + o) / q)).
type affine struct {
	p, q, o, lo, hi int64
	mode            num.Rounding
}

// apply is exact for small numbers: a quotient that is no tie is far from one.
func (a affine) apply(x int64) int64 {
	return min(max(rounded(float64(a.p*x+a.o)/float64(a.q), a.mode), a.lo), a.hi)
}

func (a affine) tie(x int64) bool { n := 2 * (a.p*x + a.o); return n%a.q == 0 && n/a.q%2 != 0 }

// TestFit checks that the layer computes the same as affine requantisers, however these round. In every other pair of
// cases the scales are integers over powers of two. With other scales, ties that go to even may allow no scale but
// their own; such cases are left out.
func TestFit(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 5))
	clipped, sharedMultipliers := 0, 0
	modes := map[num.Rounding]int{}
	for n := range 1500 {
		channels, bits := 1+r.IntN(4), 1+r.IntN(10)
		lo, hi := -r.Int64N(1<<bits), r.Int64N(1<<bits)
		var steps []num.StepFunction
		var x []num.Range
		mode, dyadic := num.Roundings[r.IntN(len(num.Roundings))], n%4 < 2
		scale := func() (p, q, o int64) {
			if dyadic {
				return r.Int64N(41) - 20, 1 << r.IntN(8), r.Int64N(2001) - 1000
			}
			return r.Int64N(4001) - 2000, 1 + r.Int64N(4000), r.Int64N(200001) - 100000
		}
		p, q, _ := scale()
		for range channels {
			a := affine{lo: lo, hi: hi, mode: mode}
			if a.p, a.q, a.o = scale(); n%2 == 1 {
				a.p, a.q = p, q
			}
			v := num.Range{Lo: r.Int64N(1000) - 800, Hi: 0}
			v.Hi = v.Lo + r.Int64N(1200)
			for y := v.Lo; y <= v.Hi; y++ {
				if mode == num.RoundingHalfEven && !dyadic && a.tie(y) {
					a.mode = num.RoundingFloor
				}
			}
			steps, x = append(steps, stairs(v, a.apply)), append(x, v)
		}
		fit, ok := requant.FindParamsForStepFunctions(steps, x)
		if !ok {
			t.Fatalf("case %d: %v over %v has no fit", n, steps, x)
		}
		if err := equals(fit, steps, x); err != nil {
			t.Fatalf("case %d: %+v: %v", n, fit, err)
		}
		if len(fit.Multiplier) != 1 && len(fit.Multiplier) != channels || len(fit.Bias) != 1 &&
			len(fit.Bias) != channels {
			t.Fatalf("case %d: %+v for %d channels", n, fit, channels)
		}
		modes[fit.Mode]++
		for c, s := range steps {
			if len(s.At) > 0 && s.Value[0] == fit.Lo {
				clipped++
			}
			if c > 0 && len(s.At) > 8 && len(fit.Multiplier) == 1 {
				sharedMultipliers++
			}
		}
	}
	if clipped < 100 || sharedMultipliers < 100 {
		t.Errorf("%d clipped channels, %d shared multipliers", clipped, sharedMultipliers)
	}
	if modes[num.RoundingFloor] < 500 || modes[num.RoundingHalfEven] < 30 || modes[num.RoundingTowardZero] < 30 {
		t.Errorf("roundings: %v", modes)
	}
}

// TestFitDecides compares FindParamsForStepFunctions with a search of all parameters, on step functions that may or may
// not be rounded lines.
func TestFitDecides(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	r := rand.New(rand.NewPCG(6, 6))
	const most = 3 // shifts tried
	fits, none := map[num.Rounding]int{}, 0
	for n := range 400 {
		x := num.Range{Lo: r.Int64N(7) - 6, Hi: 0}
		x.Hi = x.Lo + 6 + r.Int64N(6)
		a := affine{p: r.Int64N(9) - 4, q: 2 + r.Int64N(5), o: r.Int64N(9) - 4, lo: -3, hi: 3,
			mode: num.Roundings[r.IntN(len(num.Roundings))]}
		if n%3 == 0 {
			a.q = 4
		}
		s := stairs(x, a.apply)
		if i := r.IntN(len(s.Value)); n%2 == 0 && i > 0 { // one of the breakpoints lies elsewhere
			if s.At[i-1]++; i < len(s.At) && s.At[i-1] == s.At[i] {
				s.Value[i], s.Value[i-1] = s.Value[i-1], s.Value[i]
				s.At[i-1]--
			}
			s = s.RestrictedTo(x)
		}
		p, ok := requant.FindParamsForStepFunctions([]num.StepFunction{s}, []num.Range{x})
		if ok {
			fits[p.Mode]++
			if err := equals(p, []num.StepFunction{s}, []num.Range{x}); err != nil {
				t.Fatalf("%v over %v: %+v: %v", s, x, p, err)
			}
		} else {
			none++
		}
		for _, mode := range []num.Rounding{num.RoundingFloor, num.RoundingHalfEven, num.RoundingHalfTowardZero,
			num.RoundingHalfAwayFromZero, num.RoundingTowardZero} {
			shift := leastShift(s, x, mode, most)
			if ok && mode == p.Mode {
				if min(shift, most+1) != min(p.Shift, most+1) {
					t.Fatalf("%v over %v: %+v, want shift %d", s, x, p, shift)
				}
				break
			}
			wired := ok && p.Multiplier[0]&(p.Multiplier[0]-1) == 0 || ok && -p.Multiplier[0]&(-p.Multiplier[0]-1) == 0
			if shift <= most && (shift < p.Shift || !wired) {
				t.Fatalf("%v over %v: %+v %v, want %s with shift %d", s, x, p, ok, mode, shift)
			}
		}
	}
	if fits[num.RoundingFloor] < 150 || fits[num.RoundingHalfEven] < 20 || fits[num.RoundingTowardZero] < 3 ||
		none < 50 {
		t.Errorf("fits %v and %d without", fits, none)
	}
}

// leastShift is the least shift with which some parameters give s over x, most+1 if none has. No line need be steeper
// than one that passes by all values from one input to the next. At x.Lo it need not lie beyond the limits by more than
// it climbs over x and a unit of rounding.
func leastShift(s num.StepFunction, x num.Range, mode num.Rounding, most int) int {
	reach := s.ValueRangeOver(x)
	span := reach.Hi - reach.Lo + 1
	for shift := range most + 1 {
		unit := int64(1) << shift
		for m := -span * unit; m <= span*unit; m++ {
			climb := max(m, -m) * (x.Hi - x.Lo)
			for start := (reach.Lo-1)*unit - climb; start < (reach.Hi+1)*unit+climb; start++ {
				p := requant.Params{Multiplier: list(m), Bias: list(start - m*x.Lo), Shift: shift, Mode: mode,
					Lo: reach.Lo, Hi: reach.Hi}
				if fitsAll(p, s, x) {
					return shift
				}
			}
		}
	}
	return most + 1
}

func fitsAll(p requant.Params, s num.StepFunction, x num.Range) bool {
	for v := x.Lo; v <= x.Hi; v++ {
		if computed(p, 0, v) != s.Apply(v) {
			return false
		}
	}
	return true
}

// TestFitForms checks the fits of known step functions.
func TestFitForms(t *testing.T) {
	t.Parallel()
	wide := num.Range{Lo: -1000, Hi: 1000}
	by := func(x num.Range, f func(x int64) int64) num.StepFunction { return stairs(x, f) }
	relu := by(wide, func(x int64) int64 { return min(max(x>>3, 0), 15) })
	eighths := func(mode num.Rounding) num.StepFunction {
		return by(wide, func(x int64) int64 { return rounded(float64(x)/8, mode) })
	}
	constant := num.StepFunction{Value: []int64{7}}
	for _, tt := range []struct {
		name  string
		steps []num.StepFunction
		x     []num.Range
		want  requant.Params
	}{
		{"a shift", []num.StepFunction{by(wide, func(x int64) int64 { return x >> 3 })}, []num.Range{wide},
			requant.Params{Multiplier: list(1), Bias: list(0), Shift: 3, Lo: -125, Hi: 125}},
		{"rounded", []num.StepFunction{by(wide, func(x int64) int64 { return (x + 4) >> 3 })}, []num.Range{wide},
			requant.Params{Multiplier: list(1), Bias: list(4), Shift: 3, Lo: -125, Hi: 125}},
		{"clipped", []num.StepFunction{relu}, []num.Range{wide}, requant.Params{Multiplier: list(1), Bias: list(0),
			Shift: 3,
			Lo:    0, Hi: 15}},
		{"falling", []num.StepFunction{relu.WithNegatedInput()}, []num.Range{wide},
			requant.Params{Multiplier: list(-1), Bias: list(0), Shift: 3, Lo: 0, Hi: 15}},
		{"jumps of a steep line", []num.StepFunction{by(wide, func(x int64) int64 { return 5*x - 2 })},
			[]num.Range{wide},
			requant.Params{Multiplier: list(5), Bias: list(-2), Lo: -5002, Hi: 4998}},
		{"a constant", []num.StepFunction{constant}, []num.Range{wide},
			requant.Params{Multiplier: list(0), Bias: list(0), Lo: 7, Hi: 7}},
		{"one step function, ranges of its own", []num.StepFunction{relu},
			[]num.Range{{Lo: -1000, Hi: 0}, {Lo: 0, Hi: 80}, {Lo: 120, Hi: 130}},
			requant.Params{Multiplier: list(1), Bias: list(0), Shift: 3, Lo: 0, Hi: 15}},
		{"a constant between limits", []num.StepFunction{relu, constant}, []num.Range{wide, {Lo: 0, Hi: 1 << 20}},
			requant.Params{Multiplier: list(1, 0), Bias: list(0, 56), Shift: 3, Lo: 0, Hi: 15}},
		{"a dead channel", []num.StepFunction{relu, constant}, []num.Range{wide, {Lo: -3, Hi: -3}},
			requant.Params{Multiplier: list(1), Bias: list(0, 59), Shift: 3, Lo: 0, Hi: 15}},
		{"two signs", []num.StepFunction{relu, relu.WithNegatedInput()}, []num.Range{wide},
			requant.Params{Multiplier: list(1, -1), Bias: list(0), Shift: 3, Lo: 0, Hi: 15}},
		{"a threshold", []num.StepFunction{{At: list(100), Value: list(-1, 0)}}, []num.Range{wide},
			requant.Params{Multiplier: list(1), Bias: list(-100), Lo: -1, Hi: 0}},
		{"limits of its own", []num.StepFunction{{At: list(0, 10), Value: list(0, 1, 2)}}, []num.Range{wide},
			requant.Params{Multiplier: list(3), Bias: list(34), Shift: 5, Lo: 0, Hi: 2}},
		{"a limit that another channel sets", []num.StepFunction{{At: list(0), Value: list(0, 1)},
			{At: list(0), Value: list(-1, 0)}}, []num.Range{wide},
			requant.Params{Multiplier: list(1), Bias: list(1024, 0), Shift: 10, Lo: -1, Hi: 1}},
		{"half to even", []num.StepFunction{eighths(num.RoundingHalfEven)}, []num.Range{wide},
			requant.Params{Multiplier: list(1), Bias: list(0), Shift: 3, Mode: num.RoundingHalfEven, Lo: -125,
				Hi: 125}},
		{"half to even, plateaus of 3 and 1", []num.StepFunction{by(wide,
			func(x int64) int64 { return int64(math.RoundToEven(float64(x) / 2)) })}, []num.Range{wide},
			requant.Params{Multiplier: list(1), Bias: list(0), Shift: 1, Mode: num.RoundingHalfEven, Lo: -500,
				Hi: 500}},
		{"half to even, falling", []num.StepFunction{eighths(num.RoundingHalfEven).WithNegatedInput()},
			[]num.Range{wide},
			requant.Params{Multiplier: list(-1), Bias: list(0), Shift: 3, Mode: num.RoundingHalfEven, Lo: -125,
				Hi: 125}},
		{"half to even, a channel without ties", []num.StepFunction{eighths(num.RoundingHalfEven),
			eighths(num.RoundingFloor)},
			[]num.Range{wide}, requant.Params{Multiplier: list(2), Bias: list(0, -7), Shift: 4,
				Mode: num.RoundingHalfEven,
				Lo:   -125, Hi: 125}},
		{"half toward zero", []num.StepFunction{eighths(num.RoundingHalfTowardZero)}, []num.Range{wide},
			requant.Params{Multiplier: list(1), Bias: list(0), Shift: 3, Mode: num.RoundingHalfTowardZero, Lo: -125,
				Hi: 125}},
		{"half away", []num.StepFunction{eighths(num.RoundingHalfAwayFromZero)}, []num.Range{wide},
			requant.Params{Multiplier: list(1), Bias: list(0), Shift: 3, Mode: num.RoundingHalfAwayFromZero, Lo: -125,
				Hi: 125}},
		{"toward zero", []num.StepFunction{eighths(num.RoundingTowardZero)}, []num.Range{wide},
			requant.Params{Multiplier: list(1), Bias: list(0), Shift: 3, Mode: num.RoundingTowardZero, Lo: -125,
				Hi: 125}},
		{"up", []num.StepFunction{eighths(num.RoundingCeil)}, []num.Range{wide},
			requant.Params{Multiplier: list(1), Bias: list(7), Shift: 3, Lo: -125, Hi: 125}},
	} {
		if tt.want.Mode == "" {
			tt.want.Mode = num.RoundingFloor
		}
		p, ok := requant.FindParamsForStepFunctions(tt.steps, tt.x)
		if !ok || fmt.Sprint(p) != fmt.Sprint(tt.want) {
			t.Errorf("%s: %+v %v, want %+v", tt.name, p, ok, tt.want)
		}
	}
}

func TestFitRefuses(t *testing.T) {
	t.Parallel()
	wide := num.Range{Lo: -1000, Hi: 1000}
	line := stairs(wide, func(x int64) int64 { return x >> 3 })
	for _, tt := range []struct {
		name  string
		steps []num.StepFunction
		x     []num.Range
	}{
		{"nothing", nil, nil},
		{"no range", []num.StepFunction{line}, nil},
		{"two for three", []num.StepFunction{line, line}, []num.Range{wide, wide, wide}},
		{"a jump", []num.StepFunction{{At: list(0, 10), Value: list(0, 2, 3)}}, []num.Range{wide}},
		{"plateaus of irregular width", []num.StepFunction{{At: list(0, 10, 20, 50, 60), Value: list(0, 1, 2, 3, 4,
			5)}},
			[]num.Range{wide}},
		{"up and down", []num.StepFunction{{At: list(0, 10), Value: list(0, 1, 0)}}, []num.Range{wide}},
		{"a root", []num.StepFunction{stairs(wide, func(x int64) int64 { return int64(math.Sqrt(float64(x + 1000))) })},
			[]num.Range{wide}},
		{"two roundings", []num.StepFunction{stairs(wide, func(x int64) int64 {
			return rounded(float64(x)/2,
				num.RoundingHalfEven)
		}),
			stairs(wide, func(x int64) int64 { return x / 8 })}, []num.Range{wide}},
		{"half to even of thirds", []num.StepFunction{stairs(wide, func(x int64) int64 {
			return rounded(float64(x)/6,
				num.RoundingHalfEven)
		})}, []num.Range{wide}},
		{"one of two", []num.StepFunction{line, {At: list(0, 10), Value: list(0, 2, 3)}}, []num.Range{wide}},
		{"a limit that another channel sets", []num.StepFunction{{At: list(0, 10), Value: list(0, 1, 2)},
			{At: list(0), Value: list(-1, 0)}}, []num.Range{wide}},
		{"inputs of 64 bits", []num.StepFunction{{At: list(0), Value: list(0, 1)}},
			[]num.Range{{Lo: math.MinInt64, Hi: math.MaxInt64}}},
		{"values of 64 bits", []num.StepFunction{{At: list(0), Value: list(math.MinInt64, math.MaxInt64)}},
			[]num.Range{wide}},
		{"a product beyond 63 bits", []num.StepFunction{{At: list(1<<60, 1<<60+1), Value: list(0, 50, 100)}},
			[]num.Range{{Lo: 1<<60 - 1, Hi: 1<<60 + 1}}},
	} {
		if p, ok := requant.FindParamsForStepFunctions(tt.steps, tt.x); ok {
			t.Errorf("%s: %+v", tt.name, p)
		}
	}
}

// TestFitOfManySteps takes codes of 16 bits on many channels.
func TestFitOfManySteps(t *testing.T) {
	t.Parallel()
	const channels = 12
	steps, x := sixteenBits(channels)
	p, ok := requant.FindParamsForStepFunctions(steps, x)
	if !ok || p.Lo != -1<<15 || p.Hi != 1<<15-1 || len(p.Multiplier) != channels {
		t.Fatalf("%+v %v", p, ok)
	}
	for c, s := range steps {
		for i, at := range s.At {
			if a, b := (p.Multiplier[c]*(at-1)+p.Bias[c])>>p.Shift,
				(p.Multiplier[c]*at+p.Bias[c])>>p.Shift; max(a, p.Lo) != s.Value[i] || min(b, p.Hi) != s.Value[i+1] {
				t.Fatalf("channel %d at %d: %d and %d, want %d and %d", c, at, a, b, s.Value[i], s.Value[i+1])
			}
		}
	}
}

// sixteenBits is requantisers of 20-bit accumulators to 16 bits, each with a real scale and offset of its own.
func sixteenBits(channels int) (steps []num.StepFunction, x []num.Range) {
	r := rand.New(rand.NewPCG(7, 7))
	for range channels {
		scale, offset := (0.6+r.Float64())*0x1p-3, r.Float64()*100
		s := num.StepFunction{Value: []int64{-1 << 15}}
		for v := int64(-1<<15 + 1); v < 1<<15; v++ {
			s.At, s.Value = append(s.At, int64(math.Ceil((float64(v)-offset)/scale))), append(s.Value, v)
		}
		steps, x = append(steps, s), append(x, num.Range{Lo: -1 << 19, Hi: 1<<19 - 1})
	}
	return steps, x
}

func BenchmarkFit(b *testing.B) {
	steps, x := sixteenBits(64)
	for b.Loop() {
		if p, ok := requant.FindParamsForStepFunctions(steps, x); !ok || p.Shift == 0 {
			b.Fatal(p)
		}
	}
}
