package real

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
)

// A RoundingMode says how a quantiser rounds a real to an integer. Every mode is a non-decreasing function.
type RoundingMode uint8

// QONNX's rounding modes (reference: qonnx's own execution of Quant). The zero value is invalid.
const (
	RoundingModeHalfEven RoundingMode = iota + 1 // ROUND, HALF_EVEN: to nearest, ties to even
	RoundingModeTowardsPositiveInf
	RoundingModeTowardsNegativeInf
	RoundingModeAwayFromZero     // away from zero
	RoundingModeTowardsZero      // towards zero: DOWN, ROUND_TO_ZERO
	RoundingModeHalfAwayFromZero // to nearest, ties away from zero
	RoundingModeHalfTowardsZero  // to nearest, ties towards zero
)

var roundingNames = [...]string{RoundingModeHalfEven: "ROUND", RoundingModeTowardsPositiveInf: "CEIL",
	RoundingModeTowardsNegativeInf: "FLOOR",
	RoundingModeAwayFromZero:       "UP", RoundingModeTowardsZero: "DOWN",
	RoundingModeHalfAwayFromZero: "HALF_UP", RoundingModeHalfTowardsZero: "HALF_DOWN"}

func (r RoundingMode) String() string { return roundingNames[r] }

// ParseRoundingMode returns the mode that QONNX calls s, in upper or lower case. The error says that there is none.
func ParseRoundingMode(s string) (RoundingMode, error) {
	name := strings.ToUpper(s)
	switch name {
	case "HALF_EVEN":
		return RoundingModeHalfEven, nil
	case "ROUND_TO_ZERO":
		return RoundingModeTowardsZero, nil
	}
	if i := slices.Index(roundingNames[1:], name); i >= 0 {
		return RoundingMode(1 + i), nil
	}
	return 0, fmt.Errorf("unknown rounding mode %q: known are %s, HALF_EVEN, ROUND_TO_ZERO", s,
		strings.Join(roundingNames[1:], ", "))
}

// round rounds v to an integer. It is exact, because the fraction of a float64 is a float64.
func (r RoundingMode) round(v float64) float64 {
	if math.IsInf(v, 0) {
		return v
	}
	switch r {
	case RoundingModeHalfEven:
		return math.RoundToEven(v)
	case RoundingModeTowardsPositiveInf:
		return math.Ceil(v)
	case RoundingModeTowardsNegativeInf:
		return math.Floor(v)
	case RoundingModeAwayFromZero:
		return math.Copysign(math.Ceil(math.Abs(v)), v)
	case RoundingModeTowardsZero:
		return math.Trunc(v)
	case RoundingModeHalfAwayFromZero:
		return math.Round(v)
	case RoundingModeHalfTowardsZero:
		w := math.Floor(math.Abs(v))
		if math.Abs(v)-w > 0.5 {
			w++
		}
		return math.Copysign(w, v)
	}
	panic("real: invalid rounding mode")
}

// roundRat returns v rounded to an integer in the mode, exactly.
func (r RoundingMode) roundRat(v *big.Rat) *big.Int {
	if v.IsInt() {
		return new(big.Int).Set(v.Num())
	}
	floor, rest := new(big.Int).DivMod(v.Num(), v.Denom(), new(big.Int)) // DivMod is Euclidean, so rest >= 0
	half := new(big.Int).Lsh(rest, 1).Cmp(v.Denom())                     // the fraction compared with one half
	neg := v.Sign() < 0
	var rise bool
	switch r {
	case RoundingModeHalfEven:
		rise = half > 0 || half == 0 && floor.Bit(0) == 1
	case RoundingModeTowardsPositiveInf:
		rise = true
	case RoundingModeTowardsNegativeInf:
		rise = false
	case RoundingModeAwayFromZero:
		rise = !neg
	case RoundingModeTowardsZero:
		rise = neg
	case RoundingModeHalfAwayFromZero:
		rise = half > 0 || half == 0 && !neg
	case RoundingModeHalfTowardsZero:
		rise = half > 0 || half == 0 && neg
	default:
		panic("real: invalid rounding mode")
	}
	if rise {
		floor.Add(floor, big.NewInt(1))
	}
	return floor
}
