package graph

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"hlsgen/internal/diag"
)

// Some files keep weights that were quantised as float32 products of code and scale. Each product is rounded, so they
// have no common step any more, though every one is the float32 nearest to a small whole multiple of one.

// maxWeightBits bounds the codes of weights that are recovered without an annotation.
const maxWeightBits = 8

// RecoverWeights puts, for weights that have no common step of 24 bits per output channel, whole multiples of one:
// where these, rounded to float32, are the weights of the file, each of them, and the codes have at most 8 bits, or
// those of the tensor's FINN annotation. It adds a note to d, because it changes the model by less than float32 does.
func RecoverWeights(g *Graph, file string, d *diag.List) {
	shared := causes{}
	defer shared.tell(d)
	of := weightsOf(g)
	for _, n := range g.Nodes { // in order
		for _, name := range n.Inputs {
			axis, ok := of[name]
			if !ok {
				continue
			}
			delete(of, name) // one note will do
			t, ok := recovered(g.Init[name], axis, codeLimit(g.Annotations[name]))
			if !ok {
				continue
			}
			g.Init[name] = t
			shared.add("weights", diag.Diag{Severity: diag.Note, Code: diag.WeightsRecovered, Node: n.Label(),
				Op: n.FullOp(), Where: Where(file, n), Msg: "its weights are products of small integers and a scale " +
					"per channel, rounded to float32: they are taken as the products, without that rounding",
				Hint: "each weight changes by half a unit in its last place at most. To keep the file's own, export " +
					"quantisers or integers with a scale behind them"}, d)
		}
	}
}

// weightsOf lists the constants that nothing but products of matrices and convolutions read as weights, with the axis
// of their output channels.
func weightsOf(g *Graph) map[string]int {
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
			if was, seen := axes[name]; axis < 0 || seen && was != axis || t.DType != Float32 {
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

// weightAxis is the axis of output channels of a node's second input; -1 where that is no weights.
func weightAxis(n *Node, rank int) int {
	switch {
	case n.Op == "Conv" && rank > 2:
		return 0
	case n.Op == MatMul && rank == 2:
		return 1
	case n.Op == "Gemm" && rank == 2:
		return 1 - int(min(1, n.Int("transB", 0)))
	}
	return -1
}

// codeLimit is the magnitude of codes of FINN's data types, INT4, UINT4 or SCALEDINT<8>; that of maxWeightBits for what
// is no integer of 2 to 16 bits.
func codeLimit(finn string) float64 {
	for prefix, sign := range map[string]bool{"INT": true, "SCALEDINT<": true, "UINT": false} {
		if digits, ok := strings.CutPrefix(finn, prefix); ok {
			bits, err := strconv.Atoi(strings.TrimSuffix(digits, ">"))
			if err == nil && 2 <= bits && bits <= 16 {
				lo, hi := codeLimits(float64(bits), sign, false)
				return max(-lo, hi)
			}
		}
	}
	lo, _ := codeLimits(maxWeightBits, true, false)
	return -lo
}

// recovered is weights as whole multiples, up to a limit, of a step per channel. ok is false where they are none, or
// have a step of 24 bits as they are.
func recovered(t *Tensor, axis int, limit float64) (_ *Tensor, ok bool) {
	channels, inner := t.Shape[axis], Size(t.Shape[axis+1:])
	values := t.Floats()
	out := &Tensor{DType: t.DType, Shape: t.Shape, F: slices.Clone(values)}
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
			out.F[k] = math.Round(values[k]/step) * step // exact: a step has 36 bits at most, a code 16
			changed = changed || out.F[k] != values[k]
		}
	}
	return out, changed
}

// stepped reports whether values are whole multiples, of at most 24 bits, of their least bit.
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

// stepOf is the largest step of which all values are whole multiples, up to a limit, as far as float32 tells: rounded
// to it, they are the values.
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

// within looks for a step near a guess.
func within(values []float64, at []int, guess, limit float64) (step float64, ok bool) {
	lo, hi := guess*(1-0x1p-22), guess*(1+0x1p-22)
	for _, k := range at {
		v := math.Abs(values[k])
		q := math.Round(v / guess)
		if q < 1 || q > limit {
			return 0, false
		}
		f := float32(v) // what rounds to it lies within half a unit
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

// shortest is the number between two others of the fewest bits.
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

// proved reports whether whole multiples of a step of at most 36 bits, rounded to float32, are values.
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

// Whole reports whether a constant is, for each index of an axis, whole multiples up to a limit of one step, as far as
// float32 tells.
func Whole(t *Tensor, axis int, limit float64) bool {
	channels, inner := t.Shape[axis], Size(t.Shape[axis+1:])
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
