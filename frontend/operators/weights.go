package operators

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
)

// Some files keep quantised weights as float32 products of code and scale. Each product is rounded, so the weights no
// longer have a common step, though each is the float32 nearest to a small integer multiple of one.

// maxWeightBits is the largest number of bits of the codes of weights that are recovered without an annotation.
const maxWeightBits = 8

// RecoverExactWeights replaces, in g itself, weights by integer multiples of a common step per output channel. It does
// so only for weights without a common step of 24 bits, if the multiples round to the file's weights in float32. The
// codes must have at most 8 bits, or the bits of the tensor's FINN annotation. It adds notes to d for what it changes,
// which is less than the rounding to float32.
func RecoverExactWeights(g *graph.Graph, file string, d *diag.List) {
	shared := causes{}
	defer shared.tell(d)
	of := weightsOf(g)
	for _, n := range g.Nodes { // in order, so that notes are, too
		for _, name := range n.Inputs {
			axis, ok := of[name]
			if !ok {
				continue
			}
			delete(of, name) // note each tensor once
			t, ok := recovered(g.Init[name], axis, codeLimit(g.Annotations[name]))
			if !ok {
				continue
			}
			g.Init[name] = t
			shared.add("weights", diag.Diag{Severity: diag.SeverityNote, Code: diag.WeightsRecovered, Node: n.Label(),
				Op: n.QualifiedOpName(), Where: NodePositionText(file, n),
				Msg: "its weights are products of small integers and a scale " +
					"per channel, rounded to float32: they are taken as the products, without that rounding",
				Hint: "each weight changes by half a unit in its last place at most. To keep the file's own, export " +
					"quantisers or integers with a scale behind them"}, d)
		}
	}
}

// weightsOf returns the constants that are read only as weights, by products of matrices and convolutions. It maps
// their names to the axis of output channels.
func weightsOf(g *graph.Graph) map[string]int {
	axes, barred := map[string]int{}, map[string]bool{}
	for _, n := range g.Nodes {
		for slot, name := range n.Inputs {
			t := g.Init[name]
			if t == nil {
				continue
			}
			axis := -1
			if slot == 1 && n.Domain == "" {
				axis = weightAxis(n, len(t.Shape))
			}
			if was, seen := axes[name]; axis < 0 || seen && was != axis || t.DType != graph.DTypeFloat32 {
				barred[name] = true
			}
			axes[name] = axis
		}
	}
	for _, o := range g.Outputs {
		barred[o.Name] = true
	}
	for name := range barred {
		delete(axes, name)
	}
	return axes
}

// weightAxis returns the axis of output channels of a node's second input, or -1 if that is not weights.
func weightAxis(n *graph.Node, rank int) int {
	switch {
	case n.Op == "Conv" && rank > 2:
		return 0
	case n.Op == OpMatMul && rank == 2:
		return 1
	case n.Op == "Gemm" && rank == 2:
		return 1 - int(min(1, n.IntAttrOr("transB", 0)))
	}
	return -1
}

// codeLimit returns the largest magnitude of the codes of a FINN data type, such as INT4, UINT4 or SCALEDINT<8>. For a
// type that is not an integer of 2 to 16 bits it returns that of maxWeightBits.
func codeLimit(finn string) float64 {
	for prefix, sign := range map[string]bool{"INT": true, "SCALEDINT<": true, "UINT": false} {
		if digits, ok := strings.CutPrefix(finn, prefix); ok {
			bits, err := strconv.Atoi(strings.TrimSuffix(digits, ">"))
			if err == nil && 2 <= bits && bits <= 16 {
				lo, hi := graph.CodeLimitsOfBits(float64(bits), sign, false)
				return max(-lo, hi)
			}
		}
	}
	lo, _ := graph.CodeLimitsOfBits(maxWeightBits, true, false)
	return -lo
}

// recovered returns weights as integer multiples, up to limit, of a step per index of axis. ok is false if they are not
// such multiples, or already have a step of 24 bits.
func recovered(t *graph.ConstantTensor, axis int, limit float64) (_ *graph.ConstantTensor, ok bool) {
	channels, inner := t.Shape[axis], graph.ElementCount(t.Shape[axis+1:])
	values := t.Floats()
	out := &graph.ConstantTensor{DType: t.DType, Shape: t.Shape, F: slices.Clone(values)}
	changed := false
	for c := range channels {
		at := nonzero(values, c, channels, inner)
		if stepped(values, at) {
			continue
		}
		step, ok := stepOf(values, at, limit)
		if !ok {
			return nil, false
		}
		for _, k := range at {
			out.F[k] = math.Round(values[k]/step) * step // exact: a step has at most 36 bits, a code 16
			changed = changed || out.F[k] != values[k]
		}
	}
	return out, changed
}

// stepped reports whether values are integer multiples, of at most 24 bits, of their lowest bit.
func stepped(values []float64, at []int) bool {
	if len(at) == 0 {
		return true
	}
	least, most := math.Inf(1), 0.0
	for _, k := range at {
		v := math.Abs(values[k])
		fraction, exponent := math.Frexp(v)
		bits := uint64(fraction * (1 << 53))
		least, most = min(least, math.Ldexp(float64(bits&-bits), exponent-53)), max(most, v)
	}
	return most/least < 1<<24
}

// stepOf returns the largest step whose integer multiples up to limit, rounded to float32, are the values.
func stepOf(values []float64, at []int, limit float64) (step float64, ok bool) {
	least, most := math.Inf(1), 0.0
	for _, k := range at {
		v := math.Abs(values[k])
		least, most = min(least, v), max(most, v)
	}
	for m := 1.0; m <= limit && most/least*m <= limit+0.5; m++ {
		if step, ok := within(values, at, least/m, limit); ok {
			return step, true
		}
	}
	return 0, false
}

// within returns a step near a guess whose integer multiples up to limit, rounded to float32, are the values. ok is
// false if it finds none.
func within(values []float64, at []int, guess, limit float64) (step float64, ok bool) {
	lo, hi := guess*(1-0x1p-22), guess*(1+0x1p-22)
	for _, k := range at {
		v := math.Abs(values[k])
		q := math.Round(v / guess)
		if q < 1 || q > limit {
			return 0, false
		}
		f := float32(v) // the numbers that round to f lie within half a unit
		below, above := float64(math.Nextafter32(f, 0)), float64(math.Nextafter32(f, math.MaxFloat32))
		lo, hi = max(lo, (below+f64(f))/2/q), min(hi, (above+f64(f))/2/q)
		if lo > hi {
			return 0, false
		}
	}
	for _, step := range []float64{float64(float32((lo + hi) / 2)), shortest(lo, hi)} {
		if proved(values, at, step) {
			return step, true
		}
	}
	return 0, false
}

func f64(f float32) float64 { return float64(f) }

// shortest returns the number between lo and hi with the fewest bits.
func shortest(lo, hi float64) float64 {
	mid := (lo + hi) / 2
	fraction, exponent := math.Frexp(mid)
	for bits := 1; bits < 53; bits++ {
		v := math.Ldexp(math.Round(math.Ldexp(fraction, bits)), exponent-bits)
		if lo <= v && v <= hi {
			return v
		}
	}
	return mid
}

// proved reports whether the values are integer multiples of the step, rounded to float32. The step must have at most
// 36 bits.
func proved(values []float64, at []int, step float64) bool {
	if fraction, _ := math.Frexp(step); fraction*(1<<36) != math.Trunc(fraction*(1<<36)) {
		return false
	}
	for _, k := range at {
		if float32(math.Round(values[k]/step)*step) != float32(values[k]) {
			return false
		}
	}
	return true
}

// HasCommonStepPerChannel reports whether each index of an axis has a step of which its elements are integer multiples
// up to limit, rounded to float32.
func HasCommonStepPerChannel(t *graph.ConstantTensor, axis int, limit float64) bool {
	channels, inner := t.Shape[axis], graph.ElementCount(t.Shape[axis+1:])
	values := t.Floats()
	for c := range channels {
		at := nonzero(values, c, channels, inner)
		if len(at) == 0 {
			continue
		}
		if _, ok := stepOf(values, at, limit); !ok {
			return false
		}
	}
	return true
}

// nonzero lists the elements of a channel that are not 0.
func nonzero(values []float64, channel, channels, inner int) (at []int) {
	for i := channel * inner; i < len(values); i += channels * inner {
		for k := i; k < i+inner; k++ {
			if values[k] != 0 {
				at = append(at, k)
			}
		}
	}
	return at
}
