package convert

import (
	"math"
	"math/big"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/real"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
)

// A fusion holds the numbers of a channel of a quantised operator. The operator computes the code of a sum as
//
//	clamp(round((times*sum + bias) * scale of inputs * scale / scale of codes) + zero point)
//
// Its weights are the model's weights multiplied by times, and its bias is an integer. A times above 1, as far as 8
// bits allow, makes the bias finer.
type fusion struct {
	times, bias int64
	scale       float64 // representable as float32
}

// fuse writes the product, with all that follows it up to the quantiser, as one operator. It returns false if there is
// no such quantiser or operator, or if some channel has no fusion with the right code for every sum. In the last case
// it adds a warning with the number of codes that would change.
func (p *product) fuse() bool {
	f := p.activation()
	if f == nil {
		return false
	}
	var (
		channels           []fusion
		wrong, all, failed int64
		rows               = len(p.weights)
	)
	for c := range rows {
		v, ok := f.of(c)
		if !ok {
			return false
		}
		r := p.sums(c)
		want, err := f.steps(v, r)
		if err != nil {
			return false
		}
		all += r.Hi - r.Lo + 1
		if how, ok := f.search(c, v, want, r); ok {
			channels = append(channels, how)
			continue
		}
		failed++
		got, err := f.candidate(f.nearest(v), r)
		if err != nil {
			return false
		}
		wrong += differing(want, got, r)
	}
	if failed == 0 && f.emit(channels) {
		return true
	}
	if failed > 0 {
		x := p.about(diag.SeverityWarning, p.n,
			refuse("the integers are right as they are. For one operator, train the last "+
				"scale or the batch norm so that they fit, or leave the batch norm out",
				"what follows it up to the quantiser stays beside it: as scale of the weights and integer bias it "+
					"would change %d of the %d codes that all sums reach, in %d of %d channels", wrong, all, failed,
				rows))
		p.list.Add(x)
	}
	return false
}

// nearest returns the fusion made of the exact numbers of v, rounded, and the model's own weights. It may give other
// codes than v.
func (f *activation) nearest(v *value) fusion {
	how := fusion{times: 1, scale: float64(float32(math.Abs(v.scale) / f.a.q.scale[0]))}
	if v.scale < 0 {
		how.times = -1
	}
	if v.scale != 0 {
		how.bias = int64(math.RoundToEven(v.bias / math.Abs(v.scale)))
	}
	return how
}

// search returns the fusion of channel c with the smallest weights that gives the codes want for the sums in r. ok is
// false if it finds none.
func (f *activation) search(c int, v *value, want num.StepFunction, r num.Range) (fusion, bool) {
	if v.scale == 0 || len(want.At) == 0 && v.scale*float64(r.Hi-r.Lo) == 0 {
		how := fusion{bias: want.Value[0] - int64(f.q.zero[0]), scale: float64(float32(f.q.scale[0] / f.a.q.scale[0]))}
		return how, f.gives(how, want, r)
	}
	sign, least, most := int64(1), int64(0), int64(0)
	if v.scale < 0 {
		sign = -1
	}
	for _, w := range f.weights[c] {
		least, most = min(least, sign*w), max(most, sign*w)
	}
	const beside = 2 // biases that are tried on either side of the rounded one
	for times := int64(1); times*least >= -128 && times*most <= 127 && times <= 127; times++ {
		unit := math.Abs(v.scale) / float64(times)
		middle := int64(math.RoundToEven(v.bias / unit))
		for k := range int64(2*beside + 1) {
			step := (k + 1) / 2
			if k%2 == 1 {
				step = -step
			}
			how := fusion{times: sign * times, bias: middle + step}
			if math.Abs(float64(how.bias))+float64(times)*float64(max(-r.Lo, r.Hi)) > math.MaxInt32 {
				continue
			}
			var ok bool
			if how.scale, ok = f.scaleOf(how, want, r, unit); ok && f.gives(how, want, r) {
				return how, true
			}
		}
	}
	return fusion{}, false
}

// scaleOf returns the scale near the ideal one with which a fusion separates the sums at every step of want. ok is
// false if there is none. With u = scale of codes / (scale of inputs * scale), each end of a run of equal codes bounds
// u.
func (f *activation) scaleOf(how fusion, want num.StepFunction, r num.Range, unit float64) (float64, bool) {
	lo, hi := 0.0, math.Inf(1)
	for i, code := range want.Value {
		first, last := r.Lo, r.Hi
		if i > 0 {
			first = want.At[i-1]
		}
		if i < len(want.At) {
			last = want.At[i] - 1
		}
		for _, sum := range []int64{first, last} {
			x := float64(how.times*sum + how.bias)
			if below := float64(code) - f.q.zero[0] - 0.5; float64(code) > f.q.lo { // x >= below*u
				if below > 0 {
					hi = min(hi, x/below)
				} else {
					lo = max(lo, x/below)
				}
			}
			if above := float64(code) - f.q.zero[0] + 0.5; float64(code) < f.q.hi { // x <= above*u
				if above > 0 {
					lo = max(lo, x/above)
				} else {
					hi = min(hi, x/above)
				}
			}
		}
	}
	if lo > hi {
		return 0, false
	}
	u := f.q.scale[0] / unit
	switch {
	case u <= lo && math.IsInf(hi, 1):
		u = 2 * lo
	case u <= lo || u >= hi:
		u = (lo + hi) / 2
	}
	scale := float64(float32(f.q.scale[0] / (u * f.a.q.scale[0])))
	return scale, scale > 0 && !math.IsInf(scale, 0)
}

// ratio returns (scale of inputs) * (scale of how) / (scale of codes), the factor by which a fusion multiplies sums.
func (f *activation) ratio(how fusion) *big.Rat {
	m := new(big.Rat).SetFloat64(how.scale)
	m.Mul(m, new(big.Rat).SetFloat64(f.a.q.scale[0]))
	return m.Quo(m, new(big.Rat).SetFloat64(f.q.scale[0]))
}

// candidate returns the codes that a fusion gives for the sums in r, as a step function. The error is that of the
// search for steps.
func (f *activation) candidate(how fusion, r num.Range) (num.StepFunction, error) {
	sum := real.Add(real.Mul(real.Var(0), real.ConstantExprOfFloat(float64(how.times))),
		real.ConstantExprOfFloat(float64(how.bias)))
	code := real.Add(real.Round(real.Mul(sum, real.ConstantExpr(f.ratio(how))), real.RoundingModeHalfEven),
		real.ConstantExprOfFloat(f.q.zero[0]))
	code = real.Min(real.Max(code, real.ConstantExprOfFloat(f.q.lo)), real.ConstantExprOfFloat(f.q.hi))
	return real.Compile(code).StepFunctionOver(r, 1<<10)
}

// gives reports whether a fusion gives the codes want for all sums in r. As both functions are monotonic, it looks only
// at the ends of runs of equal codes.
func (f *activation) gives(how fusion, want num.StepFunction, r num.Range) bool {
	m := f.ratio(how)
	right := func(sum int64) bool {
		x := new(big.Rat).SetInt64(how.times*sum + how.bias)
		code := roundEven(x.Mul(x, m))
		code.Add(code, big.NewInt(int64(f.q.zero[0])))
		v := max(f.q.lo, f.q.hi)
		if code.IsInt64() && math.Abs(float64(code.Int64())) < 1<<40 {
			v = max(f.q.lo, min(f.q.hi, float64(code.Int64())))
		} else if code.Sign() < 0 {
			v = f.q.lo
		}
		return int64(v) == want.Apply(sum)
	}
	for i := range want.Value {
		first, last := r.Lo, r.Hi
		if i > 0 {
			first = want.At[i-1]
		}
		if i < len(want.At) {
			last = want.At[i] - 1
		}
		if !right(first) || !right(last) {
			return false
		}
	}
	return true
}

// roundEven rounds to the nearest integer, ties to even.
func roundEven(x *big.Rat) *big.Int {
	twice := new(big.Int).Lsh(x.Num(), 1)
	twice.Add(twice, x.Denom())
	q, rest := new(big.Int).DivMod(twice, new(big.Int).Lsh(x.Denom(), 1), new(big.Int)) // floor(x + 1/2)
	if rest.Sign() == 0 && q.Bit(0) == 1 {
		q.Sub(q, big.NewInt(1))
	}
	return q
}

// emit writes the operator with the fusions of all channels. It returns false if ONNX has no suitable operator.
func (f *activation) emit(channels []fusion) bool {
	n, out := f.n, f.n.Outputs[0]
	var scales, biases []float64
	biased := false
	for _, how := range channels {
		scales, biases = append(scales, how.scale), append(biases, float64(how.bias))
		biased = biased || how.bias != 0
	}
	if uniform(scales) {
		scales = scales[:1]
	}
	input, _ := f.shape(n.InputName(0))
	op, domain := "QLinearConv", ""
	switch {
	case n.Op == "Conv":
	case !biased:
		op = "QLinearMatMul"
	case len(input) == 2:
		op, domain = "QGemm", microsoft
	default:
		return false
	}
	weights := f.matrix(func(c int, v int64) int64 { return channels[c].times * v }, graph.DTypeInt8)
	xs, xz, _ := f.parameters(f.a.q, out, f.a.dt)
	args := []string{f.a.codes, xs, xz, weights, f.reals(out, "scale", scales...),
		f.whole(out, "zero_point", graph.DTypeInt8, make([]float64, len(scales))...)}
	ys, yz := f.last.InputName(1), f.last.InputName(2)
	if yz == "" {
		yz = f.whole(out, "zero_point", graph.DTypeUInt8, 0)
	}
	var attrs graph.AttributesByName
	switch bias := f.vectorOf(out, biases); op {
	case "QLinearConv":
		attrs = n.Attrs
		if args = append(args, ys, yz); biased {
			args = append(args, bias)
		}
	case "QGemm":
		args = append(args, bias, ys, yz)
	default:
		args = append(args, ys, yz)
	}
	on := node(n, domain, op, f.last.Outputs[0], attrs, args...)
	on.Name = n.Name
	f.with[f.last] = []*graph.Node{on}
	f.rewritten++
	return true
}

// vectorOf returns a constant vector of 32-bit integers, even if it has one element.
func (f *activation) vectorOf(out string, v []float64) string {
	t := &graph.ConstantTensor{DType: graph.DTypeInt32, Shape: []int{len(v)}}
	for _, x := range v {
		t.I = append(t.I, int64(x))
	}
	return f.put(out, "bias", t)
}
