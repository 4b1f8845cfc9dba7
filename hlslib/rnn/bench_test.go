package rnn_test

import (
	"testing"

	"hlsgen/internal/testsupport/layertest"
)

// BenchmarkSearch asks for every fold's iterations and cost.
func BenchmarkSearch(b *testing.B) {
	layertest.BenchSearch(b, wide(b, recipe{cells: 2, units: 128}, 5))
}
