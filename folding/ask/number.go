package ask

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// Numbers as users write and read them.

// Decimal is the shortest decimal that reads as f: the number the user wrote.
func Decimal(f float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	if !ok {
		panic(fmt.Sprintf("folding: %v is not a number", f))
	}
	return r
}

// MostClocks is beyond any interval; it bounds what Floor and Ceiling return.
const MostClocks = 1 << 40

// Floor is the largest whole number that is no larger, or MostClocks.
func Floor(r *big.Rat) int {
	q := new(big.Int).Quo(r.Num(), r.Denom())
	if !q.IsInt64() || q.Int64() > MostClocks {
		return MostClocks
	}
	return int(q.Int64())
}

// Ceiling is the least whole number that is no less, or one more than MostClocks.
func Ceiling(r *big.Rat) int {
	if r.IsInt() {
		return Floor(r)
	}
	return Floor(r) + 1
}

// Plain writes a number without an exponent, to at most six decimals.
func Plain(f float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(f, 'f', 6, 64), "0"), ".")
}

// Exact writes a number with all its decimals, so that it reads back to the same.
func Exact(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// Clocks is a number of clocks in words: "12,544 clocks".
func Clocks[T int | float64](n T) string {
	if n == 1 {
		return "1 clock"
	}
	return humanize.Commaf(float64(n)) + " clocks"
}
