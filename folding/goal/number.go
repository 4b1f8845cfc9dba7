package goal

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// Numbers in the form that users write and read.

// RationalOfShortestDecimal returns the shortest decimal number that parses to f, exactly: 1/10 for 0.1. It panics for
// NaN and infinities.
func RationalOfShortestDecimal(f float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	if !ok {
		panic(fmt.Sprintf("folding: %v is not a number", f))
	}
	return r
}

// ClocksBeyondAnyInterval is a number of clocks longer than any interval. CappedFloorOfRational returns at most
// ClocksBeyondAnyInterval, and CappedCeilingOfRational at most ClocksBeyondAnyInterval+1.
const ClocksBeyondAnyInterval = 1 << 40

// CappedFloorOfRational returns the largest whole number not above r, which must not be negative, limited to
// ClocksBeyondAnyInterval.
func CappedFloorOfRational(r *big.Rat) int {
	q := new(big.Int).Quo(r.Num(), r.Denom())
	if !q.IsInt64() || q.Int64() > ClocksBeyondAnyInterval {
		return ClocksBeyondAnyInterval
	}
	return int(q.Int64())
}

// CappedCeilingOfRational returns the least whole number not below r, which must not be negative, limited to
// ClocksBeyondAnyInterval+1.
func CappedCeilingOfRational(r *big.Rat) int {
	if r.IsInt() {
		return CappedFloorOfRational(r)
	}
	return CappedFloorOfRational(r) + 1
}

// FormatUpToSixDecimals formats a number without an exponent, rounded to six decimals and without trailing zeros.
func FormatUpToSixDecimals(f float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(f, 'f', 6, 64), "0"), ".")
}

// FormatAllDecimals formats a number without an exponent, with the fewest decimals that parse to the same number.
func FormatAllDecimals(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// FormatClocks returns a number of clocks in words: "12,544 clocks".
func FormatClocks[T int | float64](n T) string {
	if n == 1 {
		return "1 clock"
	}
	return humanize.Commaf(float64(n)) + " clocks"
}
