package fast

import (
	"math"

	"hlsgen/internal/num"
)

// A stretch is a function of the sums from lo to hi. It is value[i] from at[i-1] up to, but not including, at[i].
type stretch struct {
	lo, hi    int64
	at, value []int64
	base, top int64 // the least and the greatest value
}

// along returns the function of lane c over a range of sums.
func (f *finish) along(c int, r num.Range) stretch {
	s := stretch{lo: r.Lo, hi: r.Hi, value: f.steps[c].Value, base: math.MaxInt64, top: math.MinInt64}
	for _, at := range f.steps[c].At {
		s.at = append(s.at, at-f.add[c])
	}
	for _, v := range s.value {
		s.base, s.top = min(s.base, v), max(s.top, v)
	}
	return s
}

// is reports whether the monotonic function of equals this one. It compares them at both ends of every interval in
// which this function is constant, which suffices.
func (s stretch) is(of func(sum int64) int64) bool {
	from := s.lo
	for i, v := range s.value {
		to := s.hi
		if i < len(s.at) {
			to = s.at[i] - 1
		}
		if of(from) != v || of(to) != v {
			return false
		}
		from = to + 1
	}
	return true
}

// fit returns a line whose integer part, clamped to the values, probably equals the function minus base. It takes
// the slope that leaves most room between the least and the greatest possible bias, and the bias in the middle of
// that room.
func (s stretch) fit() (scale, bias float64) {
	n := len(s.at)
	if n == 0 {
		return 0, 0.5
	}
	sign := 1.0
	if s.value[n] < s.value[0] {
		sign = -1
	}
	jump := int64(0)
	for i := range s.at {
		jump = max(jump, s.value[i+1]-s.value[i], s.value[i]-s.value[i+1])
	}
	low, high := 0.0, float64(jump)
	if span := float64(s.at[n-1] - s.at[0]); span > 1 {
		rise := math.Abs(float64(s.value[n] - s.value[0]))
		low, high = max(0, (rise-1-float64(jump))/(span+1)), min(high, (rise+float64(jump))/(span-1))
	}
	for range 60 {
		a, b := low+(high-low)/3, high-(high-low)/3
		_, roomA := s.room(sign * a)
		_, roomB := s.room(sign * b)
		if roomA < roomB {
			low = a
		} else {
			high = b
		}
	}
	scale = sign * (low + high) / 2
	bias, _ = s.room(scale)
	return scale, bias
}

// room returns the middle and the size of the range of biases with which a line of the given slope equals the
// function minus base.
func (s stretch) room(scale float64) (middle, room float64) {
	least, most := math.Inf(-1), math.Inf(1)
	for i, at := range s.at {
		// more and less are the sums with the greater and the smaller of two adjacent values.
		more, less := at, at-1
		above, below := s.value[i+1], s.value[i]
		if above < below {
			more, less, above, below = less, more, below, above
		}
		least = max(least, float64(above-s.base)-scale*float64(more))
		most = min(most, float64(below-s.base+1)-scale*float64(less))
	}
	return (least + most) / 2, most - least
}
