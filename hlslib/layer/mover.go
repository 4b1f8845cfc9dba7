package layer

import (
	"hlsgen/hlslib/cost"
	"hlsgen/internal/dataflow"
)

// A Mover is the schedule of layers that compute nothing: words of SIMD elements on all ports, SIMD a divisor of what
// stays together.
type Mover struct {
	In, Out []dataflow.Type
	SIMD    []int // what divides the channels that stay together
}

// Folds yields every SIMD, in increasing order. A frame has as many iterations as its busiest port has words.
func (m *Mover) Folds() dataflow.Folds {
	return m.Within(func(f dataflow.Fold) (iterations int) {
		for _, types := range [][]dataflow.Type{m.In, m.Out} {
			for _, p := range Ports(types, f.SIMD) {
				iterations = max(iterations, p.Words)
			}
		}
		return iterations
	})
}

// Within is Folds of a layer that takes so many iterations.
func (m *Mover) Within(iterations func(dataflow.Fold) int) dataflow.Folds {
	return Folds{SIMD: m.SIMD, Fits: func(f dataflow.Fold) bool {
		return f.SIMD <= dataflow.MaxWord/widest(m.In, m.Out) && iterations(f) <= dataflow.MaxIterations
	}}.All()
}

// Ports has words of SIMD elements everywhere.
func (m *Mover) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	return Ports(m.In, f.SIMD), Ports(m.Out, f.SIMD)
}

// Words is the vectors of a frame, and the words of each at a fold's SIMD.
func Words(t dataflow.Type, f dataflow.Fold) (vectors, words int) {
	return t.Shape.Vectors(), t.Shape.Channels() / f.SIMD
}

// Turns is the loop in which streams of as many vectors take turns: of every vector, the words of one come after those
// of another. The latency is that of a word which is read, chosen and written.
func Turns(streams []dataflow.Type, f dataflow.Fold, t dataflow.Target, moves func(stream int) dataflow.Moves,
) dataflow.Loop {
	var vector []dataflow.Run
	vectors := 0
	for k, s := range streams {
		var words int
		vectors, words = Words(s, f)
		vector = append(vector, dataflow.Run{Times: words, Moves: moves(k)})
	}
	c := Begin(t)
	c.ReadWhere()
	c.Choose(1)
	return dataflow.Loop{Body: dataflow.Repeat(vectors, vector...), Latency: c.Write()}
}

// TurnsCounters is what counts the words of a vector and the vectors, t having all channels.
func TurnsCounters(t dataflow.Type, f dataflow.Fold) cost.Resources {
	vectors, words := Words(t, f)
	return cost.Counter(words).Plus(cost.Counter(vectors))
}

// TurnsConfig is the loop's fields, t having all channels; of says what it is: "an input vector".
func TurnsConfig(t dataflow.Type, f dataflow.Fold, of string, more ...dataflow.Field) []dataflow.Field {
	_, words := Words(t, f)
	return append([]dataflow.Field{{Name: "words", Doc: "words of " + of, Value: words}}, more...)
}

// Handshakes is a LUT for each output that waits for room in others.
func Handshakes(outputs int) cost.Part { return cost.Resources{LUT: outputs}.As("handshakes") }
