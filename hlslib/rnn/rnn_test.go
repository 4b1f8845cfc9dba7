package rnn_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"hlsgen/hlslib/layertest"
	"hlsgen/hlslib/rnn"
)

func TestRandom(t *testing.T) {
	t.Parallel()
	var cases []layertest.Case
	for i := range 150 {
		p, in := random(rand.New(rand.NewPCG(uint64(i), 13)))
		cases = append(cases, layertest.Case{Name: fmt.Sprintf("random %d", i), Op: rnn.New(p), In: in, Folds: 4,
			Loose: "values depend on each other"})
	}
	layertest.Check(t, 60, cases...)
}
