package goal

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// Numbers in the form that users write and read.

// Decimal returns the shortest decimal number that parses to f, exactly: 1/10 for 0.1. It panics for NaN and
// infinities.
func Decimal(f float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	if !ok {
		panic(fmt.Sprintf("folding: %v is not a number", f))
	}
	return r
}

// MostClocks is longer than any interval. Floor returns at most MostClocks, and Ceiling at most MostClocks+1.
const MostClocks = 1 << 40

// Floor returns the largest whole number not above r, which must not be negative, limited to MostClocks.
func Floor(r *big.Rat) int {
	q := new(big.Int).Quo(r.Num(), r.Denom())
	if !q.IsInt64() || q.Int64() > MostClocks {
		return MostClocks
	}
	return int(q.Int64())
}

// Ceiling returns the least whole number not below r, which must not be negative, limited to MostClocks+1.
func Ceiling(r *big.Rat) int {
	if r.IsInt() {
		return Floor(r)
	}
	return Floor(r) + 1
}

// FormatPlain formats a number without an exponent, rounded to six decimals and without trailing zeros.
func FormatPlain(f float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(f, 'f', 6, 64), "0"), ".")
}

// FormatExact formats a number without an exponent, with as many decimals as parse to the same number.
func FormatExact(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// FormatClocks returns a number of clocks in words: "12,544 clocks".
func FormatClocks[T int | float64](n T) string {
	if n == 1 {
		return "1 clock"
	}
	return humanize.Commaf(float64(n)) + " clocks"
}
