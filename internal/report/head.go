package report

// JSONVersion is the version of hlsgen's JSON. It grows when a key disappears or changes its meaning. A new key does
// not change it.
const JSONVersion = 2

// A ReportHead is the beginning of every top-level JSON object.
type ReportHead struct {
	Version int `json:"version"` // JSONVersion
}

// CurrentHead is the ReportHead with the current version.
var CurrentHead = ReportHead{JSONVersion}
