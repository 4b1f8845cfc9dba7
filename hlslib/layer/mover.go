package layer

import (
	"fmt"

	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A MoveSchedule is the schedule of a layer that computes nothing. The words on all streams have SIMD elements, where
// SIMD divides the number of channels that stay together.
type MoveSchedule struct {
	In, Out []dataflow.StreamType
	SIMD    []int // the divisors of the channels that stay together
}

// Folds yields every SIMD within the limits of Vitis HLS, in the order of m.SIMD. It serves layers with as many
// iterations per frame as their busiest stream has words.
func (m *MoveSchedule) Folds() dataflow.FoldIterator {
	return m.FoldsForIterations(func(f dataflow.Fold) (iterations int) {
		for _, types := range [][]dataflow.StreamType{m.In, m.Out} {
			for _, p := range PortsOf(types, f.SIMD) {
				iterations = max(iterations, p.Words)
			}
		}
		return iterations
	})
}

// FoldsForIterations yields every SIMD, in the order of m.SIMD, with which words and iterations stay within the limits
// of Vitis HLS. iterations returns a fold's iterations per frame.
func (m *MoveSchedule) FoldsForIterations(iterations func(dataflow.Fold) int) dataflow.FoldIterator {
	return FoldChoices{SIMD: m.SIMD, Fits: func(f dataflow.Fold) bool {
		return f.SIMD <= dataflow.MaxWordBits/widest(m.In, m.Out) && iterations(f) <= dataflow.MaxIterationsPerFrame
	}}.AllFolds()
}

// Ports returns the word formats of all streams, with SIMD elements per word.
func (m *MoveSchedule) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	return PortsOf(m.In, f.SIMD), PortsOf(m.Out, f.SIMD)
}

// CountVectorsAndWordsPerVector returns the number of vectors in a frame of type t, and the number of words per vector,
// with f.SIMD elements each.
func CountVectorsAndWordsPerVector(t dataflow.StreamType, f dataflow.Fold) (vectors, words int) {
	return t.Shape.VectorCount(), t.Shape.ChannelCount() / f.SIMD
}

// NewStreamTurnsLoop returns the loop of streams that take turns: for every vector, the words of one stream come after
// those of the one before. moves returns the moves in a stream's turn. The latency is that of the C++: a read, a choice
// and a write.
func NewStreamTurnsLoop(streams []dataflow.StreamType, f dataflow.Fold, t dataflow.Target,
	moves func(stream int) dataflow.PortMoves,
) dataflow.Loop {
	var vector []dataflow.LoopRun
	vectors := 0
	for k, s := range streams {
		var words int
		vectors, words = CountVectorsAndWordsPerVector(s, f)
		vector = append(vector, dataflow.LoopRun{Times: words, Moves: moves(k)})
	}
	c := NewIterationChain(t)
	c.DoConditionalStreamRead()
	c.DoSelect(1)
	return dataflow.Loop{Body: dataflow.RepeatLoopRuns(vectors, vector...), Latency: c.DoStreamWrite()}
}

// StreamTurnsCounterCost returns the cost of the counters of words and vectors of a NewStreamTurnsLoop, where t has the
// channels of all its streams.
func StreamTurnsCounterCost(t dataflow.StreamType, f dataflow.Fold) cost.Resources {
	vectors, words := CountVectorsAndWordsPerVector(t, f)
	return cost.CounterCost(words).Plus(cost.CounterCost(vectors))
}

// StreamTurnsConfigFields returns the field of the C++ for a NewStreamTurnsLoop, followed by more, where t has the
// channels of all its streams. of describes t, such as "an input vector".
func StreamTurnsConfigFields(t dataflow.StreamType, f dataflow.Fold, of string,
	more ...dataflow.ConfigField) []dataflow.ConfigField {
	_, words := CountVectorsAndWordsPerVector(t, f)
	return append([]dataflow.ConfigField{{Name: "words", Doc: "words of " + of, Value: words}}, more...)
}

// HandshakeCost returns the cost of the given number of output streams that wait for each other: a LUT for each of
// them.
func HandshakeCost(outputs int) cost.CostPart {
	return cost.Resources{LUT: outputs}.AsPart("handshakes")
}

// VerifyOutputShape returns the number of elements of an output with the given shape, or an error if it is not within
// the limits of a frame.
func VerifyOutputShape(shape []int) (elements int, err error) {
	elements = 1
	for _, d := range shape {
		if d < 1 || d > dataflow.MaxElementsPerFrame/elements {
			return 0, fmt.Errorf("an output of shape %v, want axes of at least 1 and at most %d elements", shape,
				dataflow.MaxElementsPerFrame)
		}
		elements *= d
	}
	return elements, nil
}

// ChunkMoves describes a layer that moves chunks of Chunk elements. Blocks of the input have Block elements. Blocks of
// the output have Chunks chunks, and chunk j of these is chunk From(j) of a block of the input.
type ChunkMoves struct {
	Block, Chunk, Chunks int
	From                 func(j int) int
}

// Ranges returns the ranges of the output's channels, of which there are out, for an input of type t. If blocks are not
// whole vectors on both sides, it returns the union of the input's ranges.
func (m ChunkMoves) Ranges(t dataflow.StreamType, out int) []num.Range {
	if len(t.Range) == 1 {
		return t.Range
	}
	in, elements := t.Shape.ChannelCount(), m.Chunks*m.Chunk
	if m.Block%in != 0 || elements%out != 0 {
		return []num.Range{t.UnionOfRanges()}
	}
	r := make([]num.Range, out)
	for i := range elements {
		x := t.Range[(m.From(i/m.Chunk)*m.Chunk+i%m.Chunk)%in]
		if i >= out {
			x = x.Union(r[i%out])
		}
		r[i%out] = x
	}
	return r
}
