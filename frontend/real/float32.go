package real

import "math"

// unit32 is the relative error of one float32 operation, least32 half the smallest subnormal.
const (
	unit32  = 0x1p-24
	least32 = 0x1p-150
)

// Widen32 is every value that a float32 rounding of a value in x may give.
func (x Interval) Widen32() Interval {
	if x.Lo == 0 && x.Hi == 0 || x.Point() && math.IsInf(x.Lo, 0) {
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

// Share32 is the least share of a float32 executor's errors, of those that vars have and those that it makes, with
// which f may give several integers; 1 where all of them are needed.
func (f *Func) Share32(vars []Interval) float64 {
	several := func(share float64) bool {
		y := f.share32(vars, share)
		if lo, hi := math.Ceil(y.Lo), math.Floor(y.Hi); lo <= hi {
			return lo < hi
		}
		return !y.Point()
	}
	none, all := 0.0, 1.0
	for range 24 {
		if share := (none + all) / 2; several(share) {
			all = share
		} else {
			none = share
		}
	}
	return all
}

// Near32 is the integer that f gives in the middle of vars, without errors; of a tie, one of two.
func (f *Func) Near32(vars []Interval) float64 { return f.share32(vars, 0).Lo }

// share32 is every value that a float32 executor may give with a share of its errors.
func (f *Func) share32(vars []Interval, share float64) Interval {
	within := make([]Interval, len(vars))
	for i, x := range vars {
		middle := x.Lo/2 + x.Hi/2
		if within[i] = x; !x.Point() {
			within[i] = Interval{middle + (x.Lo-middle)*share, middle + (x.Hi-middle)*share}
		}
	}
	y, _ := f.interval(within, func(x Interval) Interval {
		w := x.Widen32().Widen32()
		return Interval{x.Lo - (x.Lo-w.Lo)*share, x.Hi + (w.Hi-x.Hi)*share}
	})
	return y
}
