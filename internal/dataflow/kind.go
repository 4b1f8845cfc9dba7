package dataflow

// A Kind is a row in the table of layers: what a reader of the text form needs to make a layer from its name and
// parameters, what `hlsgen layers` lists, and what engines have to know of a kind rather than of a layer.
type Kind struct {
	Name string // Meaning.Kind of its layers
	Doc  string // one line
	// Decode makes an unbound layer from the JSON of its Params. The bytes may come from anywhere: bad ones give an
	// error.
	Decode  func(params []byte) (Op, error)
	Example string // parameters that Decode takes
	FINN    FINNFile
}

// FINNFile is how FINN's folding files speak of a kind, where that differs from our words.
type FINNFile struct {
	Names          []string // that FINN has or had for it, without _Batch, _hls and _rtl
	ParallelWindow bool     // PE is the positions of a kernel, one or all, which FINN calls parallel_window
	OwnWindow      bool     // an older FINN's layers of the kind hold their sliding window: none stands in front
	WholeImage     bool     // FINN+ has a sliding window over the whole image, and a Pool behind it
}
