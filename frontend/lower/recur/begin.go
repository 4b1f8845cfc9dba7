package recur

import (
	"cmp"
	"fmt"
	"math/big"
	"strconv"

	"hlsgen/frontend/lower/integers"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/real"
	"hlsgen/internal/num"
)

// An IntegerAffine maps an integer x, with which a state begins, to the integer of the state: Factor*x + Offset.
type IntegerAffine struct{ Factor, Offset int64 }

// maxStateBits is the largest number of bits of a state's integers, if the initial value makes their unit smaller than
// the quantiser's scale.
const maxStateBits = 32

// begin finds a unit of which state k's codes and its initial values are integer multiples, and extends the range by
// the latter. It is the codes' own scale whenever possible, so that only the first time step differs. The error says
// that the unit would be too small, or that the initial values are real numbers or infinite.
func (b *reader) begin(k int, s LoopToRead) error {
	st := &b.states[k]
	from, span, reject := b.beginning(k, s)
	if reject != nil {
		return reject
	}
	finer := big.NewInt(1)
	for j, f := range from {
		g := st.of[j]
		if g.Scale.Sign() == 0 {
			continue
		}
		apart := new(big.Rat).Sub(f.Bias, g.Bias)
		for _, v := range []*big.Rat{f.Scale, apart} {
			d := new(big.Rat).Quo(v, g.Scale).Denom()
			finer.Mul(finer, new(big.Int).Quo(d, new(big.Int).GCD(nil, nil, d, finer)))
		}
		if finer.BitLen() > maxStateBits {
			return b.tooFine(k, j, from)
		}
	}
	all, ok := st.span.TimesConstant(finer.Int64())
	of := make([]real.Affine, st.size)
	st.factor, st.begins = make([]int64, st.size), make([]IntegerAffine, st.size)
	for j, f := range from {
		g := st.of[j]
		apart := new(big.Rat).Sub(f.Bias, g.Bias)
		of[j], st.factor[j] = real.Affine{Scale: new(big.Rat).Quo(g.Scale, new(big.Rat).SetInt(finer)),
			Bias: g.Bias}, finer.Int64()
		if g.Scale.Sign() == 0 {
			if f.Scale.Sign() == 0 && apart.Sign() == 0 {
				continue
			}
			// it becomes a constant, but begins with something else
			of[j].Scale, st.factor[j] = integers.GreatestCommonUnitOf([]*big.Rat{f.Scale, apart}), 0
			all = all.Union(num.SingleValueRange(0))
		}
		m, o := new(big.Rat).Quo(f.Scale, of[j].Scale).Num(), apart.Quo(apart, of[j].Scale).Num()
		ok = ok && m.IsInt64() && o.IsInt64()
		st.begins[j] = IntegerAffine{m.Int64(), o.Int64()}
		r, fits := span.TimesConstant(m.Int64())
		if fits {
			r, fits = r.Plus(num.SingleValueRange(o.Int64()))
		}
		ok = ok && fits
		if !ok {
			return b.tooFine(k, j, from)
		}
		if all = all.Union(r); all != st.span && num.NarrowestIntTypeFor(all).Width > maxStateBits {
			return b.tooFine(k, j, from)
		}
	}
	st.of, st.span = of, all
	if s.Start[k] != nil {
		st.start = make([]int64, st.size)
		for j, m := range st.begins {
			st.start[j] = m.Offset
		}
	}
	return nil
}

// beginning returns the initial value of state k: the function that gives the real value of each element, with scale 0
// for constants, and the range of the integers, which constants lack. reject says that it arrives as real numbers, or
// is not finite.
func (b *reader) beginning(k int, s LoopToRead) (of []real.Affine, span num.Range, reject error) {
	n := b.states[k].size
	t := s.Start[k]
	if t == nil {
		c := s.Arrives[k]
		if c == nil {
			return nil, span, arrivesReal(b.names[k], s.Instead[k])
		}
		for j := range n {
			of = append(of, c.Values[min(j, len(c.Values)-1)])
		}
		return of, c.Span, nil
	}
	for j := range n {
		v := new(big.Rat).SetFloat64(t.FloatAt(j % t.Len()))
		if v == nil {
			return nil, span, unmapped.NewReason(fmt.Sprintf("its body has no layer: state %q begins with %v",
				b.names[k],
				t.FloatAt(j%t.Len())), "begin with finite numbers")
		}
		of = append(of, real.Affine{Scale: new(big.Rat), Bias: v})
	}
	return of, span, nil
}

// tooFine returns the reason for refusing a state whose element j begins with a value that requires too small a unit.
func (b *reader) tooFine(k, j int, from []real.Affine) error {
	begins, hint := fmt.Sprintf("integers of scale %s", decimal(from[j].Scale)), "begin with zero"
	if from[j].Scale.Sign() == 0 {
		begins = decimal(from[j].Bias)
	}
	g := b.states[k].of[j]
	if g.Scale.Sign() != 0 {
		hint = fmt.Sprintf("quantise the initial state with the quantiser that makes the state in the loop's body, of "+
			"scale %s, or begin with zero", decimal(g.Scale))
	}
	return unmapped.NewReason(fmt.Sprintf("its body has no layer: state %q begins with %s, and later "+
		"ones are of scale "+
		"%s: in the unit that both are multiples of, the state needs more than %d bits", b.names[k], begins,
		decimal(g.Scale), maxStateBits), hint)
}

// decimal returns a text with few digits for the float32 nearest to v.
func decimal(v *big.Rat) string {
	f, _ := v.Float32()
	return strconv.FormatFloat(float64(f), 'g', -1, 32)
}

// arrivesReal returns the reason for refusing the state called name, which begins with real numbers. instead is a hint,
// or "".
func arrivesReal(name, instead string) error {
	return unmapped.NewReason(fmt.Sprintf("the initial value of state %q arrives as real numbers", name),
		cmp.Or(instead, "quantise it in front of the loop, with the quantiser that makes the state in the loop's body"))
}
