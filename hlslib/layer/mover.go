package layer

import (
	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/dataflow"
)

// A MoveSchedule is the schedule of a layer that computes nothing. The words on all streams have SIMD elements, where
// SIMD divides the number of channels that stay together.
type MoveSchedule struct {
	In, Out []dataflow.StreamType
	SIMD    []int // the divisors of the channels that stay together
}

// Folds yields every SIMD, in increasing order, for a layer with as many iterations per frame as its busiest stream has
// words.
func (m *MoveSchedule) Folds() dataflow.Folds {
	return m.FoldsForIterations(func(f dataflow.Fold) (iterations int) {
		for _, types := range [][]dataflow.StreamType{m.In, m.Out} {
			for _, p := range Ports(types, f.SIMD) {
				iterations = max(iterations, p.Words)
			}
		}
		return iterations
	})
}

// FoldsForIterations yields every SIMD, in increasing order, for a layer with the given number of iterations per frame.
func (m *MoveSchedule) FoldsForIterations(iterations func(dataflow.Fold) int) dataflow.Folds {
	return Folds{SIMD: m.SIMD, Fits: func(f dataflow.Fold) bool {
		return f.SIMD <= dataflow.MaxWord/widest(m.In, m.Out) && iterations(f) <= dataflow.MaxIterations
	}}.All()
}

// Ports returns the word formats of all streams, with SIMD elements per word.
func (m *MoveSchedule) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	return Ports(m.In, f.SIMD), Ports(m.Out, f.SIMD)
}

// VectorWords returns the number of vectors in a frame, and of words per vector with f.SIMD elements each.
func VectorWords(t dataflow.StreamType, f dataflow.Fold) (vectors, words int) {
	return t.Shape.Vectors(), t.Shape.Channels() / f.SIMD
}

// TurnsLoop returns the loop of streams that take turns: for every vector, the words of one stream come after those of
// the one before. moves returns the moves in a stream's turn. The latency is that of a read, a choice and a write.
func TurnsLoop(streams []dataflow.StreamType, f dataflow.Fold, t dataflow.Target,
	moves func(stream int) dataflow.PortMoves,
) dataflow.Loop {
	var vector []dataflow.LoopRun
	vectors := 0
	for k, s := range streams {
		var words int
		vectors, words = VectorWords(s, f)
		vector = append(vector, dataflow.LoopRun{Times: words, Moves: moves(k)})
	}
	c := NewIterationChain(t)
	c.ReadWhere()
	c.Choose(1)
	return dataflow.Loop{Body: dataflow.Repeat(vectors, vector...), Latency: c.Write()}
}

// TurnsCounters returns the cost of the counters of words and vectors of a TurnsLoop, where t has the channels of all
// its streams.
func TurnsCounters(t dataflow.StreamType, f dataflow.Fold) cost.Resources {
	vectors, words := VectorWords(t, f)
	return cost.Counter(words).Plus(cost.Counter(vectors))
}

// TurnsConfig returns the field of the C++ for a TurnsLoop, followed by more, where t has the channels of all its
// streams. of describes t, such as "an input vector".
func TurnsConfig(t dataflow.StreamType, f dataflow.Fold, of string, more ...dataflow.Field) []dataflow.Field {
	_, words := VectorWords(t, f)
	return append([]dataflow.Field{{Name: "words", Doc: "words of " + of, Value: words}}, more...)
}

// Handshakes returns the cost of streams that wait for each other: a LUT for each of them.
func Handshakes(outputs int) cost.CostPart { return cost.Resources{LUT: outputs}.AsPart("handshakes") }
