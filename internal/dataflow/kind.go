package dataflow

// A LayerKind is a row in the table of kinds of layers. A parser of the text form uses it to make a layer from its name
// and parameters. `hlsgen layers` lists the kinds, and engines look up their properties.
type LayerKind struct {
	Name string // the result of LayerSemantics.Kind for its layers
	Doc  string // one line
	// Decode makes an unbound layer from the JSON of its Params. The bytes may come from anywhere; bad ones give an
	// error.
	Decode  func(params []byte) (Op, error)
	Example string // example parameters for Decode
	FINN    FINNFoldingForm
}

// FINNFoldingForm says how FINN's folding files describe a kind, where they differ from hlsgen's.
type FINNFoldingForm struct {
	Names []string // FINN's present and former names of it, without _Batch, _hls and _rtl
	// whether PE is the positions of a kernel, one or all, which FINN calls parallel_window
	ParallelWindow bool
	// whether layers of an older FINN include their sliding window, so that none precedes them
	OwnWindow  bool
	WholeImage bool // whether FINN+ has a sliding window over the whole image, followed by a Pool
}
