package compiler

// JSONVersion is the version of all JSON that hlsgen gives. It grows where a key goes or comes to mean something else;
// a new key does not change it.
const JSONVersion = 2

// A Head begins every JSON object that stands for itself.
type Head struct {
	Version int `json:"version"` // of the form of this object
}

// Versioned is the Head of what this version gives.
var Versioned = Head{JSONVersion}
