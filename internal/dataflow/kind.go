package dataflow

// A Kind is a row in the table of layers: what Parse needs to make a layer from its name and parameters, and what
// `hlsgen layers` lists.
type Kind struct {
	Name string // Meaning.Kind of its layers
	Doc  string // one line
	// Decode makes an unbound layer from the JSON of its Params. The bytes may come from anywhere: bad ones give an
	// error.
	Decode func(params []byte) (Op, error)
}
