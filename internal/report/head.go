package report

import (
	"math"
	"strconv"
)

// JSONVersion is the version of hlsgen's JSON. It grows when a key disappears or changes its meaning. A new key does
// not change it.
const JSONVersion = 2

// A ReportHead is the part that every top-level JSON object begins with.
type ReportHead struct {
	Version int `json:"version"` // JSONVersion
}

// CurrentReportHead is the ReportHead with the current version.
var CurrentReportHead = ReportHead{JSONVersion}

// FormatDecimal returns f with the fewest digits that identify it, without an exponent.
func FormatDecimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// rounded rounds f to four decimals.
func rounded(f float64) float64 { return math.Round(1e4*f) / 1e4 }
