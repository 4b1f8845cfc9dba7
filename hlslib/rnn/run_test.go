package rnn_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/hlslib/rnn"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/randomtest"
)

// values is a random frame of a type.
func values(r *rand.Rand, t dataflow.StreamType) dataflow.Tensor {
	x := dataflow.Tensor{Shape: t.Shape}
	for len(x.Data) < t.Shape.ElementCount() {
		if v := layertest.RandomInRange(r, t.ChannelRange(len(x.Data)%t.Shape.ChannelCount())); t.Elem.Holds(v) {
			x.Data = append(x.Data, v)
		}
	}
	return x
}

// TestPieces checks that a stream in pieces gives the same as the whole stream, if the state is kept.
func TestPieces(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 17))
		p, in := randomtest.Program(r)
		p.Sequence, p.Starts, p.Keeps = true, nil, false
		const pieces = 3
		long := in[0]
		long.Shape = dataflow.Shape{pieces * in[0].Shape[0], in[0].Shape[1]}
		x := values(r, long)
		whole := layertest.Bind(t, rnn.New(p), long).Eval([]dataflow.Tensor{x})
		p.Keeps = true
		op := layertest.Bind(t, rnn.New(p), in[0])
		run := op.(dataflow.KeepsState).Begin()
		got := make([][]int64, len(whole))
		for part := range slices.Chunk(x.Data, in[0].Shape.ElementCount()) {
			for i, y := range run([]dataflow.Tensor{{Shape: in[0].Shape, Data: part}}) {
				got[i] = append(got[i], y.Data...)
			}
		}
		for i := range whole {
			if !slices.Equal(got[i], whole[i].Data) {
				t.Errorf("seed %d, output %d: %v in pieces, %v as a whole", seed, i, got[i], whole[i].Data)
			}
		}
	}
}
