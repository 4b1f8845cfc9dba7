package num

import (
	"math/big"
	"math/bits"
)

// The four functions below bound the width of an accumulator (docs/numbers.md), from the loosest to the tightest.
// All compute on integers. The papers state P >= a + log2(1+2^-a) + 1 with a = log2(v), which is 2^(P-1) >= v + 1.
// So P is the bit length of v plus one.

// AccumulatorBitsByDataType returns the accumulator's width by arXiv 2301.13376, which uses the types alone. k products
// of an input of inBits bits (signed or not) with a signed weight of weightBits bits are added.
func AccumulatorBitsByDataType(k, inBits, weightBits int, inSigned bool) int {
	v := big.NewInt(int64(k))
	v.Lsh(v, uint(inBits+weightBits-1-b2i(inSigned)))
	return v.BitLen() + 1
}

// AccumulatorBitsByL1 returns the accumulator's width by A2Q (arXiv 2308.13504). l1 is the sum of the magnitudes of one
// channel's integer weights; inputs have inBits bits, signed or not.
func AccumulatorBitsByL1(l1 int64, inBits int, inSigned bool) int {
	v := big.NewInt(l1)
	v.Lsh(v, uint(inBits-b2i(inSigned)))
	return v.BitLen() + 1
}

// AccumulatorBitsByZeroCentred returns the accumulator's width P by A2Q+ (arXiv 2401.10432), l1 <= (2^P-2)/(2^N-1), for
// inputs of N bits. It is valid only for a channel whose integer weights sum to zero.
func AccumulatorBitsByZeroCentred(l1 int64, inBits int) int {
	v := new(big.Int).Lsh(big.NewInt(1), uint(inBits))
	v.Sub(v, big.NewInt(1)).Mul(v, big.NewInt(l1)).Add(v, big.NewInt(1))
	return v.BitLen()
}

// DotProductRange returns the exact range of sum_i w[i]*x[i] for independent x[i] in in[i]. The slice in has one
// element for all i, or one per i. ok is false if a partial sum of bounds does not fit into int64.
func DotProductRange(w []int64, in []Range) (r Range, ok bool) {
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
		p, ok1 := x.TimesConstant(wi)
		s, ok2 := r.Plus(p)
		if !ok1 || !ok2 {
			return Range{}, false
		}
		r = s
	}
	return r, true
}

// dotAlike does what DotProductRange does for one common range. plain is false, and r of no use, if a result might not
// fit into int64. Positive weights take one end of the range and negative weights the other.
func dotAlike(w []int64, in Range) (r Range, plain bool) {
	var plus, minus int64
	var most uint64 // its bit length is that of the longest weight
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

// dotEach does what DotProductRange does for one range per weight. plain is false, and r of no use, if a result might
// not fit into int64.
func dotEach(w []int64, in []Range) (r Range, plain bool) {
	var most, ends int64 // bit lengths of the longest weight and the longest end
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

// b2i returns 1 for true and 0 for false.
func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
