package real

import "math"

// unit32 is the relative error of one float32 operation; least32 is half the smallest subnormal float32.
const (
	unit32  = 0x1p-24
	least32 = 0x1p-150
)

// WidenToFloat32 returns an interval that holds every float32 to which a value in x may be rounded.
func (x Interval) WidenToFloat32() Interval {
	if x.Lo == 0 && x.Hi == 0 || x.IsPoint() && math.IsInf(x.Lo, 0) {
		return x
	}
	return Interval{x.Lo - math.Abs(x.Lo)*unit32*(1+0x1p-20) - least32,
		x.Hi + math.Abs(x.Hi)*unit32*(1+0x1p-20) + least32}
}

// EvaluateFloat32Bounds returns an interval that holds each value that a float32 executor may give for variables within
// vars. It allows two float32 roundings per primitive, because an executor may multiply by the reciprocal of a divisor.
// sure is false if a rounding to an integer inside has two possible outcomes.
func (f *Func) EvaluateFloat32Bounds(vars []Interval) (y Interval, sure bool) {
	return f.interval(vars, func(x Interval) Interval { return x.WidenToFloat32().WidenToFloat32() })
}

// EvaluateFloat32 returns the value that a float32 executor gives for f at points. The executor rounds to float32 after
// every primitive if each is set, and otherwise only at the end.
func (f *Func) EvaluateFloat32(vars []Interval, each bool) float64 {
	y, _ := f.interval(vars, func(x Interval) Interval {
		if each {
			return NewPointInterval(float64(float32(x.Lo)))
		}
		return NewPointInterval(x.Lo)
	})
	return float64(float32(y.Lo))
}

// LeastFloat32ErrorShareToFlip returns the least share, from 0 to 1, of a float32 executor's errors with which f may
// give several integers. The errors are the widths of vars and the executor's own roundings. The share is 1 if all of
// the errors are needed.
func (f *Func) LeastFloat32ErrorShareToFlip(vars []Interval) float64 {
	several := func(share float64) bool {
		y := f.share32(vars, share)
		if lo, hi := math.Ceil(y.Lo), math.Floor(y.Hi); lo <= hi {
			return lo < hi
		}
		return !y.IsPoint()
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

// IntegerAtMiddle returns the integer that f gives at the middle of vars without float32 errors. At a tie it returns
// one of the two integers.
func (f *Func) IntegerAtMiddle(vars []Interval) float64 { return f.share32(vars, 0).Lo }

// share32 returns an interval that holds each value that a float32 executor may give if its errors are scaled by share.
func (f *Func) share32(vars []Interval, share float64) Interval {
	within := make([]Interval, len(vars))
	for i, x := range vars {
		middle := x.Lo/2 + x.Hi/2
		if within[i] = x; !x.IsPoint() {
			within[i] = Interval{middle + (x.Lo-middle)*share, middle + (x.Hi-middle)*share}
		}
	}
	y, _ := f.interval(within, func(x Interval) Interval {
		w := x.WidenToFloat32().WidenToFloat32()
		return Interval{x.Lo - (x.Lo-w.Lo)*share, x.Hi + (w.Hi-x.Hi)*share}
	})
	return y
}
