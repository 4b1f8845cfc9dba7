package layer

import (
	"slices"

	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/dataflow"
)

// ChannelwiseSchedule is the schedule of layers that handle PE channels of a vector side by side. With V vectors of C
// channels per frame, the loop is
//
//	for v < V: for fold < C/PE: one clock
//
// and the words on all ports have PE elements.
type ChannelwiseSchedule struct {
	In, Out           []dataflow.StreamType
	Vectors, Channels int   // V and C
	pe                []int // the divisors of C
}

// NewChannelwiseScheduleForFirstInput returns the schedule of a layer whose vectors are those of its first input. The
// layer must set the outputs.
func NewChannelwiseScheduleForFirstInput(in []dataflow.StreamType) ChannelwiseSchedule {
	return scheduleForVectors(in, in[0].Shape.VectorCount(), in[0].Shape.ChannelCount())
}

// NewChannelwiseScheduleForFunctions returns the schedule of a layer with n functions, one for each of n neighbouring
// elements, which may span several pixels. Its vectors are n elements of the first input. PE still divides the channels
// of a pixel. The layer must set the outputs.
func NewChannelwiseScheduleForFunctions(n int, in []dataflow.StreamType) ChannelwiseSchedule {
	v := MergeTrailingAxes(n, in[0])
	s := NewChannelwiseScheduleForFirstInput(in)
	s.Vectors, s.Channels = v.Shape.VectorCount(), v.Shape.ChannelCount()
	return s
}

// MergeTrailingAxes returns t with trailing axes merged to one of n elements if n spans several pixels. It returns t as
// it is if n is no more than a pixel's channels, or if no trailing axes have n elements.
func MergeTrailingAxes(n int, t dataflow.StreamType) dataflow.StreamType {
	if v, ok := t.AsVectors(n); ok && n > t.Shape.ChannelCount() {
		return v
	}
	return t
}

// SplitMergedAxes reverses MergeTrailingAxes: it restores the shape, and unites the ranges of a channel over its
// pixels.
func SplitMergedAxes(v dataflow.StreamType, shape dataflow.Shape) dataflow.StreamType {
	if n := shape.ChannelCount(); len(v.Range) > n {
		all := v.Range
		v.Range = slices.Clone(all[:n])
		for i, r := range all {
			v.Range[i%n] = v.Range[i%n].Union(r)
		}
	}
	v.Shape = shape
	return v
}

// scheduleForVectors returns the schedule of a layer that reads its inputs as the given number of vectors. The layer
// must set the outputs.
func scheduleForVectors(in []dataflow.StreamType, vectors, channels int) ChannelwiseSchedule {
	return ChannelwiseSchedule{In: in, Vectors: vectors, Channels: channels, pe: dataflow.Divisors(channels)}
}

// WordsPerVector returns the number of words that a vector has on each stream.
func (s *ChannelwiseSchedule) WordsPerVector(f dataflow.Fold) int { return s.Channels / f.PE }

// A TableLayout describes the tables that a layer reads, on which the choice of their memory depends.
type TableLayout struct {
	PerChannel bool             // some table has a row for each word of a vector
	Shared     bool             // some table has one row for all channels
	Row        func(pe int) int // width of the widest row in bits
}

// Folds yields every PE that divides the channels, with each memory that the tables may use, within the limits of Vitis
// HLS. If multiplies is set, each comes with each kind of multiplier. Without tables there is no memory to choose. A
// table with one row is wiring, and its memory is LUTRAM by convention.
func (s *ChannelwiseSchedule) Folds(t TableLayout, multiplies bool) dataflow.FoldIterator {
	return s.FoldChoices(t, multiplies).AllFolds()
}

// FoldChoices returns the lists of PE, memories and multipliers from which ChannelwiseSchedule.Folds makes its folds.
func (s *ChannelwiseSchedule) FoldChoices(t TableLayout, multiplies bool) FoldChoices {
	return FoldChoices{PE: s.pe, Compute: MultiplierChoices(multiplies), Fits: func(f dataflow.Fold) bool {
		return f.PE*widest(s.In, s.Out) <= dataflow.MaxWordBits &&
			s.Vectors <= dataflow.MaxIterationsPerFrame/s.WordsPerVector(f) &&
			(t.Row == nil || t.Row(f.PE) <= dataflow.MaxTableRowBits)
	}, Memory: func(f dataflow.Fold) []dataflow.Memory {
		switch {
		case t.PerChannel && f.PE < s.Channels:
			return []dataflow.Memory{dataflow.MemoryLUTRAM, dataflow.MemoryBRAM}
		case t.PerChannel || t.Shared:
			return []dataflow.Memory{dataflow.MemoryLUTRAM}
		}
		return []dataflow.Memory{dataflow.NoMemory}
	}}
}

// Ports returns the word formats of all streams, with PE elements per word.
func (s *ChannelwiseSchedule) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	return PortsOf(s.In, f.PE), PortsOf(s.Out, f.PE)
}

// LoopNest returns the loop with the given latency. Every iteration reads a word of every input and writes one to every
// output.
func (s *ChannelwiseSchedule) LoopNest(f dataflow.Fold, latency int) dataflow.LoopNest {
	each := func(types []dataflow.StreamType) (list []dataflow.PortMoveIndices) {
		for range types {
			list = append(list, dataflow.PortMoveIndices{{Kind: dataflow.IndexSetKindEvery},
				{Kind: dataflow.IndexSetKindEvery}})
		}
		return list
	}
	return dataflow.LoopNest{Trips: []int{s.Vectors, s.WordsPerVector(f)}, Read: each(s.In), Write: each(s.Out),
		Latency: latency}
}

// CounterCost returns the cost of the loop's counters of words and vectors.
func (s *ChannelwiseSchedule) CounterCost(f dataflow.Fold) cost.Resources {
	return cost.CounterCost(s.Vectors).Plus(cost.CounterCost(s.WordsPerVector(f)))
}

// ConfigFields returns the fields of the C++ for the loop, followed by more. of names what PE counts, such as "channels
// computed".
func (s *ChannelwiseSchedule) ConfigFields(f dataflow.Fold, of string,
	more ...dataflow.ConfigField) []dataflow.ConfigField {
	return append([]dataflow.ConfigField{
		{Name: "folds", Doc: "words of a vector", Value: s.WordsPerVector(f)},
		{Name: "pe", Doc: of + " side by side", Value: f.PE},
	}, more...)
}

// VectorCountField returns the field of the C++ with the number of vectors, for a layer that counts them.
func (s *ChannelwiseSchedule) VectorCountField() dataflow.ConfigField {
	return dataflow.ConfigField{Name: "vectors", Doc: "vectors in a frame", Value: s.Vectors}
}

// Eval returns the output, as a list of one, of a layer that works element by element. y computes the output of channel
// c from the inputs' elements x at the same place; it must not keep x. An input after the first may have a single
// vector, which is used for all vectors.
func (s *ChannelwiseSchedule) Eval(in []dataflow.Tensor, y func(c int, x []int64) int64) []dataflow.Tensor {
	out := dataflow.Tensor{Shape: s.Out[0].Shape, Data: make([]int64, len(in[0].Data))}
	x := make([]int64, len(in))
	for i := range out.Data {
		for k, t := range in {
			x[k] = t.Data[i%len(t.Data)]
		}
		out.Data[i] = y(i%s.Channels, x)
	}
	return []dataflow.Tensor{out}
}

// Kernel returns the kernel of a layer that works element by element and has no state. y computes an output of channel
// c from the inputs' elements x.
func (s *ChannelwiseSchedule) Kernel(f dataflow.Fold, y func(c int, x []int64) int64) dataflow.Kernel {
	return &elements{s.WordsPerVector(f), y, make([]int64, len(s.In)), []dataflow.Word{make(dataflow.Word, f.PE)}}
}

type elements struct {
	words int
	y     func(c int, x []int64) int64
	x     []int64
	out   []dataflow.Word
}

func (k *elements) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	word := k.out[0]
	for pe := range word {
		for i := range in {
			k.x[i] = in[i][pe]
		}
		word[pe] = k.y(iteration%k.words*len(word)+pe, k.x)
	}
	return k.out
}
