package frontend

import (
	"math"
	"slices"

	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/dataflow"
)

// ranges sets, for each model input, the range of values that its first quantisers distinguish, for made-up test data.
// If no quantiser is in linear reach, the range is -1..1, or for integers what the type holds within -128..255.
func ranges(p *program.Program, in []dataflow.RealTensorInfo) {
	a := scaled.New(p)
	at := map[string]int{}
	for k := range in {
		a.DeclareIntegerTensor(in[k].Name, scaled.IdentityAffines)
		at[in[k].Name] = k
		in[k].Range = [2]float64{-1, 1}
		if lo, hi, integer := in[k].IntegerLimits(); integer {
			in[k].Range = [2]float64{max(lo, -128), min(hi, 255)}
		}
	}
	found := map[int]bool{}
	behind := map[string]bool{} // tensors behind a quantiser, which are out of linear reach
	for _, s := range p.Steps {
		first, last, ok := operators.CodeLimitsOfQuantiser(s.Node)
		late := slices.ContainsFunc(s.Node.Inputs, func(in string) bool { return behind[in] })
		behind[s.Output] = late || ok && a.IsFromIntegers(s.Node.Inputs[0])
		if late || !ok || !operators.HasTrait(s.Node, operators.TraitUniformCodes|operators.TraitMinifloatCodes) {
			continue
		}
		sl, err := a.FunctionOfElement(s.Node.Inputs[0], 0)
		if err != nil || len(sl.Leaves) != 1 {
			continue
		}
		f, ok := sl.Expr.AsAffine()
		if !ok || f.Scale.Sign() == 0 {
			continue
		}
		value := func(code float64) float64 { // the input that has this code
			v := operators.ValueOfCode(p, s, code)
			x, _ := v.Sub(v, f.Bias).Quo(v, f.Scale).Float64()
			return max(-math.MaxFloat32, min(x, math.MaxFloat32))
		}
		beyond := 0.75 // half a step beyond the ends, so that test data saturate, too
		if operators.HasTrait(s.Node, operators.TraitMinifloatCodes) {
			beyond = last / 16
		}
		lo, hi := value(first-beyond), value(last+beyond)
		k := at[sl.Leaves[0].Tensor]
		r := [2]float64{min(lo, hi), max(lo, hi)}
		if found[k] {
			r = [2]float64{min(r[0], in[k].Range[0]), max(r[1], in[k].Range[1])}
		}
		if l, h, integer := in[k].IntegerLimits(); integer {
			r = [2]float64{max(l, math.Ceil(r[0])), min(h, math.Floor(r[1]))}
		}
		if r[0] <= r[1] {
			in[k].Range, found[k] = r, true
		}
	}
}
