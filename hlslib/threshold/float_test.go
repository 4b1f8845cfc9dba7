package threshold_test

import (
	"testing"

	"hlsgen/hlslib/threshold"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
)

// TestFloats has outputs that are minifloats through the contract, in all forms of step functions.
func TestFloats(t *testing.T) {
	t.Parallel()
	signed := num.Type{Kind: num.KindFloat, Width: 6, Mantissa: 2}
	rising := func(of num.Type, from, gap int64) (s num.StepFunction) {
		for code := of.CodeType().Range().Lo; code <= of.CodeType().Range().Hi; code++ {
			if code == -1 { // there is no -0
				continue
			}
			if s.Value = append(s.Value, of.ValueOfCode(code)); len(s.Value) > 1 {
				s.At = append(s.At, from+gap*int64(len(s.At))+int64(len(s.At)%3))
			}
		}
		return s
	}
	unsigned := num.Type{Kind: num.KindUFloat, Width: 5, Mantissa: 2}
	of := func(name string, out num.Type, in num.Type, steps ...num.StepFunction) layertest.Case {
		return layertest.Case{Name: name, Op: threshold.New(threshold.Params{Steps: steps, Out: &out}),
			In: []dataflow.StreamType{typ(in, 3, 2)}, Folds: 12}
	}
	layertest.Check(t, of("signed", signed, intN(12), rising(signed, -900, 29)),
		of("unsigned", unsigned, intN(9), rising(unsigned, -5, 7)),
		of("one each", signed, intN(12), rising(signed, -900, 29), rising(signed, -700, 17)),
		of("falls", unsigned, intN(5), num.StepFunction{At: []int64{-3, 0, 4}, Value: []int64{2, 448, 7, 0}}),
		of("wide", unsigned, intN(50), rising(unsigned, -1<<40, 1<<43)))
	op := threshold.New(threshold.Params{Steps: []num.StepFunction{{At: []int64{0}, Value: []int64{0, 9}}},
		Out: &unsigned})
	if _, _, err := op.Bind([]dataflow.StreamType{typ(intN(4), 2)}); err == nil {
		t.Error("9 is taken for a minifloat of three significant bits")
	}
}
