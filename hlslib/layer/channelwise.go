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

// ChannelSchedule returns the schedule of a layer whose vectors are those of its first input. The layer must set the
// outputs.
func ChannelSchedule(in []dataflow.StreamType) ChannelwiseSchedule {
	return VectorSchedule(in, in[0].Shape.Vectors(), in[0].Shape.Channels())
}

// NeighbourSchedule returns the schedule of a layer with n functions, one for each of n neighbouring elements, which
// may span several pixels. Its vectors are n elements of the first input. PE still divides the channels of a pixel. The
// layer must set the outputs.
func NeighbourSchedule(n int, in []dataflow.StreamType) ChannelwiseSchedule {
	v := MergeAxes(n, in[0])
	s := ChannelSchedule(in)
	s.Vectors, s.Channels = v.Shape.Vectors(), v.Shape.Channels()
	return s
}

// MergeAxes returns t with trailing axes merged to one of n elements if n spans several pixels; otherwise it returns t.
func MergeAxes(n int, t dataflow.StreamType) dataflow.StreamType {
	if v, ok := t.Vectors(n); ok && n > t.Shape.Channels() {
		return v
	}
	return t
}

// SplitAxes reverses MergeAxes: it restores the shape, and unites the ranges of a channel over its pixels.
func SplitAxes(v dataflow.StreamType, shape dataflow.Shape) dataflow.StreamType {
	if n := shape.Channels(); len(v.Range) > n {
		all := v.Range
		v.Range = slices.Clone(all[:n])
		for i, r := range all {
			v.Range[i%n] = v.Range[i%n].Union(r)
		}
	}
	v.Shape = shape
	return v
}

// VectorSchedule returns the schedule of a layer that reads its inputs as the given number of vectors. The layer must
// set the outputs.
func VectorSchedule(in []dataflow.StreamType, vectors, channels int) ChannelwiseSchedule {
	return ChannelwiseSchedule{In: in, Vectors: vectors, Channels: channels, pe: dataflow.Divisors(channels)}
}

// Words returns the number of words that a vector has on each stream.
func (s *ChannelwiseSchedule) Words(f dataflow.Fold) int { return s.Channels / f.PE }

// Tables describes the tables that a layer reads, for the choice of their memory.
type Tables struct {
	PerChannel bool             // some table has a row for each word of a vector
	Shared     bool             // some table has one row for all channels
	Row        func(pe int) int // width of the widest row in bits
}

// Folds yields every PE that divides the channels, with each memory that the tables may use, and with each kind of
// multiplier if multiplies is set. Without tables there is no memory to choose. A table with one row is wiring, and
// its memory is LUTRAM by convention.
func (s *ChannelwiseSchedule) Folds(t Tables, multiplies bool) dataflow.Folds {
	return s.Choices(t, multiplies).All()
}

// Choices returns the lists of PE, memories and multipliers from which Folds makes its folds.
func (s *ChannelwiseSchedule) Choices(t Tables, multiplies bool) Folds {
	return Folds{PE: s.pe, Compute: Multipliers(multiplies), Fits: func(f dataflow.Fold) bool {
		return f.PE*widest(s.In, s.Out) <= dataflow.MaxWord && s.Vectors <= dataflow.MaxIterations/s.Words(f) &&
			(t.Row == nil || t.Row(f.PE) <= dataflow.MaxTableRowBits)
	}, Memory: func(f dataflow.Fold) []dataflow.Memory {
		switch {
		case t.PerChannel && f.PE < s.Channels:
			return []dataflow.Memory{dataflow.LUTRAM, dataflow.BRAM}
		case t.PerChannel || t.Shared:
			return []dataflow.Memory{dataflow.LUTRAM}
		}
		return []dataflow.Memory{dataflow.NoMemory}
	}}
}

// Ports returns the word formats of all streams, with PE elements per word.
func (s *ChannelwiseSchedule) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	return Ports(s.In, f.PE), Ports(s.Out, f.PE)
}

// Nest returns the loop with the given latency. Every iteration reads a word of every input and writes one to every
// output.
func (s *ChannelwiseSchedule) Nest(f dataflow.Fold, latency int) dataflow.LoopNest {
	each := func(types []dataflow.StreamType) (list []dataflow.PortIndices) {
		for range types {
			list = append(list, dataflow.PortIndices{{Kind: dataflow.EveryIndex}, {Kind: dataflow.EveryIndex}})
		}
		return list
	}
	return dataflow.LoopNest{Trips: []int{s.Vectors, s.Words(f)}, Read: each(s.In), Write: each(s.Out),
		Latency: latency}
}

// Counters returns the cost of the loop's counters of words and vectors.
func (s *ChannelwiseSchedule) Counters(f dataflow.Fold) cost.Resources {
	return cost.Counter(s.Vectors).Plus(cost.Counter(s.Words(f)))
}

// Config returns the fields of the C++ for the loop, followed by more. of names what PE counts, such as "channels
// computed".
func (s *ChannelwiseSchedule) Config(f dataflow.Fold, of string, more ...dataflow.Field) []dataflow.Field {
	return append([]dataflow.Field{
		{Name: "folds", Doc: "words of a vector", Value: s.Words(f)},
		{Name: "pe", Doc: of + " side by side", Value: f.PE},
	}, more...)
}

// VectorsField returns the field of the C++ with the number of vectors, for a layer that counts them.
func (s *ChannelwiseSchedule) VectorsField() dataflow.Field {
	return dataflow.Field{Name: "vectors", Doc: "vectors in a frame", Value: s.Vectors}
}

// Eval returns the output of a layer that works element by element. y computes an output of channel c from the inputs'
// elements x. An input with a single vector is used for all vectors.
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
	return &elements{s.Words(f), y, make([]int64, len(s.In)), []dataflow.Word{make(dataflow.Word, f.PE)}}
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
