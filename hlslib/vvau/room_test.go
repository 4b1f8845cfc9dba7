package vvau_test

import (
	"math/rand/v2"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/randomtest"
)

// TestLoaded puts layers through the contract whose weights are loaded.
func TestLoaded(t *testing.T) {
	t.Parallel()
	loaded(t, false)
}

// TestExternal puts layers through the contract whose weights come with every frame.
func TestExternal(t *testing.T) {
	t.Parallel()
	loaded(t, true)
}

func loaded(t *testing.T, external bool) {
	t.Helper()
	var cases []layertest.Case
	for seed := range uint64(20) {
		c := randomtest.VVAU(rand.New(rand.NewPCG(seed, 12)))
		op := layertest.Bind(t, c.Op, c.In...).(dataflow.HasLoadableWeights)
		room := op.Room()
		room.External = external
		c.Op, c.Loose = op.Loaded(room), "what there is room for"
		cases = append(cases, c)
	}
	layertest.Check(t, cases...)
}
