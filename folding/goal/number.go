package goal

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// Numbers in the form that users write and read.

// Decimal returns the shortest decimal that parses to f, which is the number that the user wrote.
func Decimal(f float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	if !ok {
		panic(fmt.Sprintf("folding: %v is not a number", f))
	}
	return r
}

// MostClocks is longer than any interval; Floor and Ceiling return nothing larger, except Ceiling MostClocks+1.
const MostClocks = 1 << 40

// Floor returns the largest whole number not above r, at most MostClocks.
func Floor(r *big.Rat) int {
	q := new(big.Int).Quo(r.Num(), r.Denom())
	if !q.IsInt64() || q.Int64() > MostClocks {
		return MostClocks
	}
	return int(q.Int64())
}

// Ceiling returns the least whole number not below r, at most MostClocks+1.
func Ceiling(r *big.Rat) int {
	if r.IsInt() {
		return Floor(r)
	}
	return Floor(r) + 1
}

// FormatPlain formats a number without an exponent, with at most six decimals.
func FormatPlain(f float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(f, 'f', 6, 64), "0"), ".")
}

// FormatExact formats a number with all its decimals, so that it parses to the same number.
func FormatExact(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// FormatClocks returns a number of clocks in words: "12,544 clocks".
func FormatClocks[T int | float64](n T) string {
	if n == 1 {
		return "1 clock"
	}
	return humanize.Commaf(float64(n)) + " clocks"
}
