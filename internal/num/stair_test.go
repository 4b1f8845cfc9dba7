package num

import (
	"math/rand/v2"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// TestMultipliers checks that a stair's multipliers are those with which some bias equals the stair. It checks that
// Lasts is right about larger shifts.
func TestMultipliers(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	r := rand.New(rand.NewPCG(4, 2))
	lines, lasting, ending := 0, 0, 0
	for n := range 4000 {
		mode, shift := []Rounding{RoundingFloor, RoundingHalfEven}[n%2], r.IntN(5)
		x := Range{Lo: -r.Int64N(30), Hi: 1 + r.Int64N(30)}
		m, b := r.Int64N(61)-30, r.Int64N(100)-50
		values := Range{Lo: -r.Int64N(9), Hi: r.Int64N(9)}
		at := func(m, b, v int64) int64 {
			return min(max(mode.DivideByPowerOfTwo(m*v+b, shift), values.Lo), values.Hi)
		}
		step := StepFunction{Value: []int64{at(m, b, x.Lo)}}
		for v := x.Lo + 1; v <= x.Hi; v++ {
			if code := at(m, b, v); code != step.Value[len(step.At)] {
				step.At, step.Value = append(step.At, v), append(step.Value, code)
			}
		}
		if r.IntN(4) == 0 { // there may be no line
			step.Value[r.IntN(len(step.Value))] += r.Int64N(5) - 2
		}
		stairs, ok := NewLineFitTargets([]StepFunction{step}, []Range{x})
		if !ok {
			t.Fatal("no stair")
		}
		s := stairs[0]
		found, ok := s.MatchingSlopes(mode, shift)
		if ok {
			lines++
		}
		if got := s.HasMatchingLine(mode, shift); got != ok {
			t.Fatalf("%+v: passes %v, has multipliers %v", s, got, ok)
		}
		for m := int64(-100); m <= 100; m++ {
			if got, want := ok && found.Contains(m), gives(&s, mode, shift, m); got != want {
				t.Fatalf("%+v, %v, shift %d: %d is a multiplier: %v, want %v", s, mode, shift, m, got, want)
			}
		}
		for larger := shift + 1; ok && larger < 63; larger += 1 + r.IntN(8) {
			more, passes := s.MatchingSlopes(mode, larger)
			switch lasts := s.MatchesAtLargerShift(found, shift, larger); {
			case lasts && !passes:
				t.Fatalf("%+v: shift %d lasts to %d, which has %v", s, shift, larger, more)
			case lasts:
				lasting++
			default:
				ending++
			}
		}
	}
	if lines < 1000 || lasting < 1000 || ending < 100 {
		t.Errorf("%d lines, %d larger shifts that last, %d that do not", lines, lasting, ending)
	}
}

// gives reports whether a line of slope m equals the stair with some bias.
func gives(s *LineFitTarget, mode Rounding, shift int, m int64) bool {
	biases := Range{Lo: -1 << 20, Hi: 1 << 20}
	for v := s.X.Lo; v <= s.X.Hi; v++ {
		code := s.F.Apply(v)
		if code > s.Limits.Lo {
			biases.Lo = max(biases.Lo, mode.LeastDividendReaching(code, shift)-m*v)
		}
		if code < s.Limits.Hi {
			biases.Hi = min(biases.Hi, mode.LeastDividendReaching(code+1, shift)-1-m*v)
		}
	}
	return biases.Lo <= biases.Hi
}
