// Package labelselect is the selection of labels: for every vector x of N labels in a frame it gives the indices of
// the first K in order. The largest label comes first, or the smallest. Among equal labels the lower index comes
// first, or the higher.
//
// PE labels are handled side by side. With V vectors the loop is
//
//	for v < V: for fold < N/PE: one clock
//
// or V*N/PE clocks a frame. Every iteration reads the word x[fold*PE .. fold*PE+PE-1]. The last iteration of a vector
// writes one word with its K indices, the first place lowest.
//
// The layer keeps the first K labels so far in order. An iteration sorts the labels of its word, by merging halves,
// which no other iteration waits for. Then it merges them with the kept labels. Only this merge hands a result to the
// next iteration: it compares all kept labels with all labels of the word side by side, and chooses the places once.
// Its depth is the same for 64 labels a clock as for one. It takes K*min(K,PE) comparators, which is why K is
// limited.
package labelselect

import (
	"fmt"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/delay"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// LayerKind describes the selection of labels in the table of layers, hlslib.LayerKinds. New returns a layer of this
// kind with the given parameters, not yet bound to its inputs.
var LayerKind, New = layer.DefineKind(layer.KindDefinition[Params]{
	Name:    "LabelSelect",
	Doc:     "the indices of the first K labels of every vector, in order (ArgMax, ArgMin, TopK)",
	Example: `{"labels":3,"k":1,"first":"largest","ties":"lower index"}`,
	Bind:    bind,
})

// MaxK is the largest number of indices per vector that Verify accepts.
const MaxK = 16

// Params are the parameters of the selection: how many labels a vector has, how many of them are selected, and which
// ones.
type Params struct {
	Labels int       `json:"labels"` // N, the labels of a vector
	K      int       `json:"k"`      // number of indices in the output
	First  RankOrder `json:"first"`
	Ties   TieBreak  `json:"ties"`
}

// RankOrder says whether the largest label takes the first place or the smallest.
type RankOrder string

// The values of Params.First.
const (
	RankOrderLargestFirst  RankOrder = "largest"
	RankOrderSmallestFirst RankOrder = "smallest"
)

// TieBreak says which of two equal labels comes first: the one with the lower index or the one with the higher.
type TieBreak string

// The values of Params.Ties.
const (
	TieBreakLowerIndexWins  TieBreak = "lower index"
	TieBreakHigherIndexWins TieBreak = "higher index"
)

// Verify reports what is wrong with the parameters, whatever the inputs are.
func (p Params) Verify() error {
	switch {
	case p.Labels < 1 || p.Labels > dataflow.MaxChannelsPerStream:
		return fmt.Errorf("vectors of %d labels, want 1 to %d", p.Labels, dataflow.MaxChannelsPerStream)
	case p.K < 1 || p.K > p.Labels:
		return fmt.Errorf("%d places for %d labels, want 1 to %d", p.K, p.Labels, p.Labels)
	case p.K > MaxK:
		return fmt.Errorf("%d places, at most %d are possible: every place is compared with every label of a word", p.K,
			MaxK)
	case p.First != RankOrderLargestFirst && p.First != RankOrderSmallestFirst:
		return fmt.Errorf("%.40q comes first, want %q or %q", p.First, RankOrderLargestFirst, RankOrderSmallestFirst)
	case p.Ties != TieBreakLowerIndexWins && p.Ties != TieBreakHigherIndexWins:
		return fmt.Errorf("of equal labels %.40q comes first, want %q or %q", p.Ties, TieBreakLowerIndexWins,
			TieBreakHigherIndexWins)
	}
	return nil
}

// before reports whether label a at index i of a vector comes before label b at index j.
func (p Params) before(a int64, i int, b int64, j int) bool {
	switch {
	case a == b:
		return i < j == (p.Ties == TieBreakLowerIndexWins)
	case p.First == RankOrderLargestFirst:
		return a > b
	}
	return a < b
}

type op struct {
	layer.Base[Params]
	layer.ChannelwiseSchedule // of the labels; a word of MaxK indices always stays within its limit
	out                       dataflow.StreamType
}

// bind returns the layer for one input of shape [..., N], where N may be the product of several trailing axes. The
// output has the shape [..., K], with indices from 0 to N-1. It returns an error for an input without vectors of N
// labels.
func bind(b layer.Base[Params], in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	x, ok := in[0].AsVectors(b.P.Labels)
	if !ok {
		return nil, nil, fmt.Errorf("an input of shape %v, want vectors of %d labels", in[0].Shape, b.P.Labels)
	}
	index := num.Range{Lo: 0, Hi: int64(b.P.Labels - 1)}
	out := dataflow.StreamType{Shape: slices.Clone(x.Shape), Range: []num.Range{index},
		Elem: num.NarrowestIntTypeFor(index)}
	out.Shape[len(out.Shape)-1] = b.P.K
	return &op{b, layer.NewChannelwiseScheduleForFirstInput([]dataflow.StreamType{x}), out},
		[]dataflow.StreamType{out}, nil
}

// Describe returns the facts of the layer.
func (o *op) Describe() dataflow.LayerDescription {
	d := o.Base.Describe()
	d.Dependence = o.dependence
	d.CarriedDelayNS = o.carriedDelayNS
	return d
}

// dependence says that the indices of each vector depend on that vector alone.
func (o *op) dependence() dataflow.Dependence { return dataflow.NewSeparateDependence(1, o.Vectors) }

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := dataflow.Tensor{Shape: o.out.Shape}
	for x := range slices.Chunk(in[0].Data, o.P.Labels) {
		order := make([]int, len(x))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(i, j int) int {
			switch {
			case i == j:
				return 0
			case o.P.before(x[i], i, x[j], j):
				return -1
			}
			return 1
		})
		for _, i := range order[:o.P.K] {
			y.Data = append(y.Data, int64(i))
		}
	}
	return []dataflow.Tensor{y}
}

// Folds yields every PE that divides the labels, in increasing order, within the limits of HLS.
func (o *op) Folds() dataflow.FoldIterator {
	return o.ChannelwiseSchedule.Folds(layer.TableLayout{}, false)
}

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	return layer.PortsOf(o.In, f.PE), []dataflow.Port{o.out.RowMajorPort(o.P.K)}
}

// Loop returns a loop of V*N/PE clocks, as in FINN's formula. In HLS its latency is that of a word that is sorted by
// merging halves and then merged with the kept labels. A merge compares all pairs, and chooses a source for each place.
// In RTL the latency is the circuit's.
func (o *op) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	c := layer.NewIterationChain(t)
	c.DoStreamRead()
	width := o.In[0].Elem.Width
	c.DoReductionTree(f.PE, width, delay.OpCompare, delay.OpLogicGate, delay.OpSelect)
	c.DoInOneStage(width, delay.OpCompare, delay.OpLogicGate, delay.OpSelect)
	l := o.LoopNest(f, c.DoStreamWrite())
	l.Write = []dataflow.PortMoveIndices{{{Kind: dataflow.IndexSetKindEvery}, {Kind: dataflow.IndexSetKindLast}}}
	return layer.LoopWithBackEndLatency(o, f, t, l.AsLoop())
}

// kernel keeps the first K labels of the vector so far, in order.
type kernel struct {
	p         Params
	pe, words int
	kept      []ranked // sorted, at most K
}

// A ranked holds a label and its index in the vector.
type ranked struct {
	label int64
	index int
}

func (o *op) Kernel(f dataflow.Fold, _ dataflow.Target) dataflow.Kernel {
	return &kernel{p: o.P, pe: f.PE, words: o.WordsPerVector(f)}
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	fold := iteration % k.words
	if fold == 0 {
		k.kept = k.kept[:0]
	}
	for pe, label := range in[0] {
		k.insert(ranked{label, fold*k.pe + pe})
	}
	if fold < k.words-1 {
		return []dataflow.Word{nil}
	}
	y := make(dataflow.Word, len(k.kept))
	for i, r := range k.kept {
		y[i] = int64(r.index)
	}
	return []dataflow.Word{y}
}

// insert puts a label in its place among the kept ones, and drops the last if there are then more than K.
func (k *kernel) insert(r ranked) {
	i := 0
	for i < len(k.kept) && k.p.before(k.kept[i].label, k.kept[i].index, r.label, r.index) {
		i++
	}
	k.kept = slices.Insert(k.kept, i, r)
	k.kept = k.kept[:min(len(k.kept), k.p.K)]
}

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.KernelInstance {
	return dataflow.KernelInstance{
		Header:  "labelselect.hpp",
		Func:    "labelselect",
		Streams: []string{"in_t", "in_width", "out_t", "out_width"},
		Config: o.ConfigFields(f, "labels taken", []dataflow.ConfigField{
			{Name: "k", Doc: "indices per vector", Value: o.P.K},
			{Name: "largest", Doc: "the largest label comes first, else the smallest",
				Value: o.P.First == RankOrderLargestFirst},
			{
				Name: "last_first", Doc: "among equal labels the higher index comes first",
				Value: o.P.Ties == TieBreakHigherIndexWins,
			},
		}...),
	}
}
