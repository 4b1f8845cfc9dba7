package dataflow

import "hlsgen/internal/num"

// Names for tests outside the package: the fakes' kinds, a graph, and a kind whose layers have ranges per channel.
var (
	FakeKinds = fakeKinds
	Diamond   = diamond
	WideKind  = LayerKind{Name: "Wide", Decode: func([]byte) (Op, error) { return wideOp{}, nil }}
)

type wideOp struct{ fake }

func (w wideOp) Bind(in []StreamType) (Op, []StreamType, error) {
	out := in[0]
	out.Range = make([]num.Range, out.Shape.ChannelCount())
	return w, []StreamType{out}, nil
}
