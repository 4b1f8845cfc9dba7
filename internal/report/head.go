package report

import (
	"math"
	"strconv"
)

// JSONVersion is the version of hlsgen's JSON. It grows when a key disappears or changes its meaning. A new key does
// not change it.
const JSONVersion = 2

// A ReportHead is the beginning of every top-level JSON object.
type ReportHead struct {
	Version int `json:"version"` // JSONVersion
}

// CurrentHead is the ReportHead with the current version.
var CurrentHead = ReportHead{JSONVersion}

// Decimal returns a number with the fewest digits that mean it, without an exponent.
func Decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// rounded rounds f to four decimals.
func rounded(f float64) float64 { return math.Round(1e4*f) / 1e4 }
