package compiler

// JSONVersion is the version of hlsgen's JSON. It grows when a key disappears or changes its meaning. A new key does
// not change it.
const JSONVersion = 2

// A Head is the beginning of every top-level JSON object.
type Head struct {
	Version int `json:"version"` // JSONVersion
}

// Versioned is the Head with the current version.
var Versioned = Head{JSONVersion}
