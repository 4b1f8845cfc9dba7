package num

import (
	"math/big"
	"math/bits"
)

// The four rules for the width of an accumulator (docs/numbers.md), loosest first. All are computed on integers:
// the papers' P >= a + log2(1+2^-a) + 1 with a = log2(v) says 2^(P-1) >= v + 1, so P is v's bit length plus one.

// DataTypeBound is the bound of arXiv 2301.13376 from the types alone: k products of an inBits wide input (signed or
// not) with a weightBits wide signed weight.
func DataTypeBound(k, inBits, weightBits int, inSigned bool) int {
	v := big.NewInt(int64(k))
	v.Lsh(v, uint(inBits+weightBits-1-b2i(inSigned)))
	return v.BitLen() + 1
}

// L1Bound is the bound of A2Q (arXiv 2308.13504): l1 is the sum of the magnitudes of one channel's integer weights.
func L1Bound(l1 int64, inBits int, inSigned bool) int {
	v := big.NewInt(l1)
	v.Lsh(v, uint(inBits-b2i(inSigned)))
	return v.BitLen() + 1
}

// ZeroCentredBound is the bound of A2Q+ (arXiv 2401.10432), l1 <= (2^P-2)/(2^N-1), valid only for a channel whose
// integer weights sum to zero.
func ZeroCentredBound(l1 int64, inBits int) int {
	v := new(big.Int).Lsh(big.NewInt(1), uint(inBits))
	v.Sub(v, big.NewInt(1)).Mul(v, big.NewInt(l1)).Add(v, big.NewInt(1))
	return v.BitLen()
}

// Dot is the exact range of sum_i w[i]*x[i] for independent x[i] in in[i]; in has one element for all i, or one per i.
// ok is false where a partial sum of bounds leaves int64.
func Dot(w []int64, in []Range) (r Range, ok bool) {
	if len(in) == 1 {
		r, ok = dotAlike(w, in[0])
	} else {
		r, ok = dotEach(w, in)
	}
	if ok {
		return r, true
	}
	r = Range{}
	for i, wi := range w {
		x := in[0]
		if len(in) > 1 {
			x = in[i]
		}
		p, ok1 := x.Times(wi)
		s, ok2 := r.Plus(p)
		if !ok1 || !ok2 {
			return Range{}, false
		}
		r = s
	}
	return r, true
}

// dotAlike is Dot for one range, where it is plain that nothing leaves int64: the positive weights meet one end of it,
// the negative ones the other.
func dotAlike(w []int64, in Range) (r Range, plain bool) {
	var plus, minus int64
	var most uint64 // as many bits as the longest weight
	for _, v := range w {
		sign := v >> 63
		minus += v & sign
		plus += v &^ sign
		most |= uint64(v ^ sign)
	}
	ends := uint64(in.Lo^in.Lo>>63) | uint64(in.Hi^in.Hi>>63)
	if bits.Len64(most)+bits.Len64(ends)+bits.Len(uint(len(w))) > 60 {
		return r, false
	}
	return Range{plus*in.Lo + minus*in.Hi, plus*in.Hi + minus*in.Lo}, true
}

// dotEach is Dot for a range for each, where it is plain that nothing leaves int64.
func dotEach(w []int64, in []Range) (r Range, plain bool) {
	var most, ends int64 // as many bits as the longest weight, and the longest end
	in = in[:len(w)]
	for i, v := range w {
		x := in[i]
		a, b := v*x.Lo, v*x.Hi
		r.Lo, r.Hi = r.Lo+min(a, b), r.Hi+max(a, b)
		most |= v ^ v>>63
		ends |= (x.Lo ^ x.Lo>>63) | (x.Hi ^ x.Hi>>63)
	}
	return r, bits.Len64(uint64(most))+bits.Len64(uint64(ends))+bits.Len(uint(len(w))) <= 60
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
