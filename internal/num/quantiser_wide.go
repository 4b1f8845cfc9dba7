package num

import "math/big"

// A WideScaling is a quantiser in integers of any size, without limits: (Multiplier*x + Bias)/2^Shift, rounded. Kept is
// the number of bits of the fraction that the rounding sees. The bits below are cut off first, so that the rounding
// finds a tie although the multiplier is not exact. Rounding down gives the same code for any Kept.
type WideScaling struct {
	Multiplier, Bias *big.Int
	Shift, Kept      int
	Mode             Rounding
}

// MaxWideBits limits a WideScaling's shift and the bits of its multiplier and of its bias.
const MaxWideBits = 126

// FindWideScalingOver finds a scaling that equals the quantiser at all integers of a range and rounds down. It does
// what FindScalingOver does, and proves the result the same way, with numbers of up to MaxWideBits. ok is false if it
// finds none. If the quantiser rounds by a rule that depends on the value, RoundedScalingOver may have one.
func (q ExactQuantiser) FindWideScalingOver(x Range, least int) (s WideScaling, ok bool) {
	if q.Scale.Sign() < 0 {
		q.Scale = new(big.Rat).Neg(q.Scale)
		if s, ok = q.FindWideScalingOver(x.Negated(), least); ok {
			s.Multiplier.Neg(s.Multiplier)
		}
		return s, ok
	}
	s.Mode = RoundingFloor
	if parts, could := q.parts(x, s.Mode, true); could {
		s.Multiplier, s.Bias, s.Shift, ok = q.search(parts, least, MaxWideBits, MaxWideBits)
	}
	return s, ok
}

// FractionBits returns how many bits of the fraction a rounding must see for the quantiser: with so many bits, half a
// unit of the exact result's denominator is at least one of the last bit.
func (q ExactQuantiser) FractionBits() int { return q.denominator().BitLen() + 1 }

// CutOffBits returns how many bits RoundedScalingOver must cut off at least for the inputs of a range.
func CutOffBits(x Range) int {
	return new(big.Int).Sub(big.NewInt(x.Hi), big.NewInt(x.Lo)).BitLen() + 1
}

// RoundedScalingOver returns a scaling that equals the quantiser at all integers of a range and rounds as the quantiser
// does. kept must be at least FractionBits, and cut at least CutOffBits.
//
// The line lies above the exact one, by less than one of the last bit that is kept. The bits that are cut off are what
// it lies above a tie, so a tie stays a tie. Any other number is a bit or more away from each tie and each integer, and
// stays on its side.
func (q ExactQuantiser) RoundedScalingOver(x Range, kept, cut int) WideScaling {
	s := WideScaling{Shift: kept + cut, Kept: kept, Mode: q.Mode}
	d := q.denominator()
	scale, bias := whole(q.Scale, d), whole(q.Bias, d)
	up := func(n *big.Int) *big.Int { return ceilQuo(n.Lsh(n, uint(s.Shift)), d) }
	first := new(big.Int).Mul(scale, big.NewInt(x.Lo))
	s.Multiplier, s.Bias = up(scale), up(first.Add(first, bias))
	s.Bias.Sub(s.Bias, new(big.Int).Mul(s.Multiplier, big.NewInt(x.Lo)))
	return s
}
