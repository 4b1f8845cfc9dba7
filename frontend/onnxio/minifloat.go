package onnxio

import "math"

// minifloat returns the value of a code with a sign, e exponent bits and m mantissa bits, all of whose codes are
// numbers. A float64 represents every value of formats of up to 16 bits exactly.
func minifloat(code uint64, e, m, bias int) float64 {
	exp := int(code >> m & (1<<e - 1))
	mant := code & (1<<m - 1)
	if exp > 0 {
		mant |= 1 << m
	} else {
		exp = 1 // subnormal
	}
	v := math.Ldexp(float64(mant), exp-bias-m)
	if code>>(e+m)&1 == 1 {
		return -v
	}
	return v
}

// ieee is minifloat with IEEE 754's bias, and with infinities and NaNs in the highest exponent.
func ieee(code uint64, e, m int) float64 {
	if code>>m&(1<<e-1) != 1<<e-1 {
		return minifloat(code, e, m, 1<<(e-1)-1)
	}
	switch {
	case code&(1<<m-1) != 0:
		return math.NaN()
	case code>>(e+m)&1 == 1:
		return math.Inf(-1)
	}
	return math.Inf(1)
}

func float16(c uint64) float64    { return ieee(c, 5, 10) }
func float8E5M2(c uint64) float64 { return ieee(c, 5, 2) }

// float8E4M3FN returns the value of a code of this type, which has no infinities. The code of ones below the sign is
// NaN (arXiv 2209.05433).
func float8E4M3FN(c uint64) float64 {
	if c&0x7f == 0x7f {
		return math.NaN()
	}
	return minifloat(c, 4, 3, 7)
}

// float8E4M3FNUZ returns the value of a code of this type, which has no infinities and no negative zero. The code of
// negative zero is NaN (arXiv 2206.02915).
func float8E4M3FNUZ(c uint64) float64 { return fnuz(c, 4, 3, 8) }
func float8E5M2FNUZ(c uint64) float64 { return fnuz(c, 5, 2, 16) }

func fnuz(c uint64, e, m, bias int) float64 {
	if c == 0x80 {
		return math.NaN()
	}
	return minifloat(c, e, m, bias)
}

// float8E8M0 returns the value of a code of this type, a power of two or NaN (OCP Microscaling Formats specification
// 1.0).
func float8E8M0(c uint64) float64 {
	if c == 0xff {
		return math.NaN()
	}
	return math.Ldexp(1, int(c)-127)
}

func float4E2M1(c uint64) float64 { return minifloat(c, 2, 1, 1) }
