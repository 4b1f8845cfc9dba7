package estimate_test

import (
	"math"
	"testing"

	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
)

// multiplier is a layer with products.
type multiplier struct{ dataflow.Op }

func (multiplier) Products(f dataflow.Fold, _ int) (n, bits int) { return f.PE * f.SIMD, 4 }

func (multiplier) Adds(dataflow.Fold, int) int { panic("not asked for") }

func (multiplier) RowBits(dataflow.Fold) int { panic("not asked for") }

// TestMinutes checks the formula against its source.
func TestMinutes(t *testing.T) {
	t.Parallel()
	for pe, seconds := range map[int]float64{1: 1026, 64: 2632} {
		got := 60 * estimate.LayerSynthesisMinutes(multiplier{}, dataflow.Fold{PE: pe, SIMD: 64})
		if math.Abs(got-seconds) > 0.5 {
			t.Errorf("PE %d: %.1f s, want %.0f", pe, got, seconds)
		}
	}
	if got := estimate.LayerSynthesisMinutes(nil, dataflow.Fold{PE: 1, SIMD: 1}); math.Abs(got-16.7) > 0.1 {
		t.Errorf("without products: %.1f minutes", got)
	}
}
