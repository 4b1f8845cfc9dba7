package real

import "math"

// unit32 is the relative error of one float32 operation, least32 half the smallest subnormal.
const (
	unit32  = 0x1p-24
	least32 = 0x1p-150
)

// Widen32 is every value that a float32 rounding of a value in x may give.
func (x Interval) Widen32() Interval {
	if x.Lo == 0 && x.Hi == 0 {
		return x
	}
	return Interval{x.Lo - math.Abs(x.Lo)*unit32*(1+0x1p-20) - least32,
		x.Hi + math.Abs(x.Hi)*unit32*(1+0x1p-20) + least32}
}

// Bounds32 is every value that a float32 executor may give, for variables within vars, which rounds twice for each
// primitive at most: it may multiply by the reciprocal of a divisor. sure is false where a rounding to an integer
// inside could go two ways.
func (f *Func) Bounds32(vars []Interval) (y Interval, sure bool) {
	return f.interval(vars, func(x Interval) Interval { return x.Widen32().Widen32() })
}

// Float32 evaluates f at points as a float32 executor does: it rounds after every primitive, or only at the end.
func (f *Func) Float32(vars []Interval, each bool) float64 {
	y, _ := f.interval(vars, func(x Interval) Interval {
		if each {
			return Pt(float64(float32(x.Lo)))
		}
		return Pt(x.Lo)
	})
	return float64(float32(y.Lo))
}
