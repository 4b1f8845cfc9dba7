package frontend

import (
	"math"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/dataflow"
)

// ranges finds, per model input, the values that its first quantisers tell apart: made-up test data should use them
// all. Where no quantiser is in linear reach, it is -1..1, or what the type holds up to 255.
func ranges(p *graph.Program, in []dataflow.Real) {
	a := scaled.New(p)
	at := map[string]int{}
	for k := range in {
		a.Declare(in[k].Name, scaled.Unit)
		at[in[k].Name] = k
		in[k].Range = [2]float64{-1, 1}
		if lo, hi, integer := in[k].Limits(); integer {
			in[k].Range = [2]float64{max(lo, -128), min(hi, 255)}
		}
	}
	found := map[int]bool{}
	behind := map[string]bool{} // another quantiser: out of linear reach
	for _, s := range p.Steps {
		first, last, ok := s.Node.Codes()
		late := slices.ContainsFunc(s.Node.Inputs, func(in string) bool { return behind[in] })
		behind[s.Output] = late || ok && a.Derived(s.Node.Inputs[0])
		if late || !ok || !s.Node.Is(graph.Uniform) {
			continue
		}
		sl, err := a.At(s.Node.Inputs[0], 0)
		if err != nil || len(sl.Leaves) != 1 {
			continue
		}
		f, ok := sl.Expr.Affine()
		scale, zero := p.Known[s.Node.Inputs[1]].Const, p.Known[s.Node.Inputs[2]].Const
		if !ok || f.Scale.Sign() == 0 || scale == nil || zero == nil {
			continue
		}
		value := func(code float64) float64 { // the input whose code this is
			v := new(big.Rat).SetFloat64(code - zero.At(0))
			v.Mul(v, new(big.Rat).SetFloat64(scale.At(0)))
			x, _ := v.Sub(v, f.Bias).Quo(v, f.Scale).Float64()
			return max(-math.MaxFloat32, min(x, math.MaxFloat32))
		}
		// Half a step beyond the ends, so that saturation is seen too.
		lo, hi := value(first-0.75), value(last+0.75)
		k := at[sl.Leaves[0].Tensor]
		r := [2]float64{min(lo, hi), max(lo, hi)}
		if found[k] {
			r = [2]float64{min(r[0], in[k].Range[0]), max(r[1], in[k].Range[1])}
		}
		if l, h, integer := in[k].Limits(); integer {
			r = [2]float64{max(l, math.Ceil(r[0])), min(h, math.Floor(r[1]))}
		}
		if r[0] <= r[1] {
			in[k].Range, found[k] = r, true
		}
	}
}
