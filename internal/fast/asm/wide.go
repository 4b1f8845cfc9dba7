package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// products adds to 16 sums the products of four bytes each with four weights each: VPDPBUSD, which avo does not know.
func products(weights, bytes, sums Op) {
	Instruction(&ir.Instruction{Opcode: "VPDPBUSD", Operands: []Op{weights, bytes, sums},
		Inputs: []Op{weights, bytes, sums}, Outputs: []Op{sums}, ISA: []string{"AVX512_VNNI"}})
}

// none is a vector of zeros.
func none() VecVirtual {
	v := ZMM()
	VPXORD(v, v, v)
	return v
}

// dotWide multiplies eight bytes of each of four rows with the weights of 16 lanes in two steps, whose sums are apart:
// an addition waits for the one before the last.
func dotWide() {
	TEXT("dotAVX512", NOSPLIT, "func(acc *int32, x0, x1, x2, x3 *uint8, weights *int8, pairs int)")
	Pragma("noescape")
	Doc("dotAVX512 is dotGo for rows that begin at x0 to x3, and pairs of steps.")
	acc := Load(Param("acc"), GP64())
	var x [4]Register
	for r, name := range []string{"x0", "x1", "x2", "x3"} {
		x[r] = Load(Param(name), GP64())
	}
	w := Load(Param("weights"), GP64())
	n := Load(Param("pairs"), GP64())
	var sums [8]VecVirtual
	for i := range sums {
		sums[i] = none()
	}
	at := GP64()
	XORQ(at, at)
	Label("pairs")
	for step := range 2 {
		weights := ZMM()
		VMOVDQU32(Mem{Base: w, Disp: 64 * step}, weights)
		for r := range x {
			four := ZMM()
			VPBROADCASTD(Mem{Base: x[r], Index: at, Scale: 8, Disp: 4 * step}, four)
			products(weights, four, sums[2*r+step])
		}
	}
	ADDQ(Imm(128), w)
	INCQ(at)
	DECQ(n)
	JNZ(LabelRef("pairs"))
	for r := range x {
		VPADDD(sums[2*r], sums[2*r+1], sums[2*r])
		VMOVDQU32(sums[2*r], Mem{Base: acc, Disp: 64 * r})
	}
	VZEROUPPER()
	RET()
}

// countWide compares four rows at a time with the thresholds of 16 lanes.
func countWide() {
	TEXT("countAVX512", NOSPLIT, "func(y *uint8, acc, thresholds *int32, n int, base *uint8)")
	Pragma("noescape")
	Doc("countAVX512 is countGo for n thresholds of each lane, of which there is one.")
	y := Load(Param("y"), GP64())
	acc := Load(Param("acc"), GP64())
	t := Load(Param("thresholds"), GP64())
	n := Load(Param("n"), GP64())
	base := Load(Param("base"), GP64())
	one := ZMM()
	VPTERNLOGD(U8(255), one, one, one) // -1
	var sums, counts [4]VecVirtual
	for i := range sums {
		sums[i], counts[i] = ZMM(), ZMM()
		VMOVDQU32(Mem{Base: acc, Disp: 64 * i}, sums[i])
		VPMOVZXBD(Mem{Base: base}, counts[i])
	}
	Label("limits")
	of := ZMM()
	VMOVDQU32(Mem{Base: t}, of)
	for i := range sums {
		more := K()
		VPCMPD(U8(6), of, sums[i], more)
		VPSUBD(one, counts[i], more, counts[i])
	}
	ADDQ(Imm(64), t)
	DECQ(n)
	JNZ(LabelRef("limits"))
	for i, c := range counts {
		VPMOVDB(c, Mem{Base: y, Disp: 16 * i})
	}
	VZEROUPPER()
	RET()
}

// highestWide takes up to 64 channels at a time, the last of them under a mask.
func highestWide() {
	TEXT("highestAVX512", NOSPLIT, "func(y, x *uint8, channels, positions int)")
	Pragma("noescape")
	Doc("highestAVX512 is highestGo for a channel and a position, or more.")
	y := Load(Param("y"), GP64())
	x := Load(Param("x"), GP64())
	channels := Load(Param("channels"), GP64())
	positions := Load(Param("positions"), GP64())
	left := GP64()
	MOVQ(channels, left)
	Label("channels")
	width, most, bits, mask := GP64(), GP64(), GP64(), K()
	MOVQ(left, width)
	MOVQ(U32(64), most)
	CMPQ(width, most)
	CMOVQGT(most, width)
	MOVQ(I32(-1), bits)
	BZHIQ(width, bits, bits)
	KMOVQ(bits, mask)
	from, n, top := GP64(), GP64(), none()
	MOVQ(x, from)
	MOVQ(positions, n)
	Label("positions")
	v := ZMM()
	VMOVDQU8_Z(Mem{Base: from}, mask, v)
	VPMAXUB(v, top, top)
	ADDQ(channels, from)
	DECQ(n)
	JNZ(LabelRef("positions"))
	VMOVDQU8(top, mask, Mem{Base: y})
	ADDQ(Imm(64), x)
	ADDQ(Imm(64), y)
	SUBQ(Imm(64), left)
	JGT(LabelRef("channels"))
	VZEROUPPER()
	RET()
}

// soughtWide looks 16 numbers up at a time.
func soughtWide() {
	TEXT("soughtAVX512", NOSPLIT,
		"func(y *uint8, x *float32, steps int, buckets *int32, thresholds *float32, least, scale, last float32)")
	Pragma("noescape")
	Doc("soughtAVX512 is soughtGo for 16 numbers a step.")
	y := Load(Param("y"), GP64())
	x := Load(Param("x"), GP64())
	steps := Load(Param("steps"), GP64())
	buckets := Load(Param("buckets"), GP64())
	thresholds := Load(Param("thresholds"), GP64())
	var spread [3]VecVirtual
	for i, name := range []string{"least", "scale", "last"} {
		one := Load(Param(name), XMM())
		spread[i] = ZMM()
		VBROADCASTSS(one, spread[i])
	}
	low, minus := none(), ZMM()
	VPTERNLOGD(U8(255), minus, minus, minus)
	Label("sought")
	v, b, before, of, all, more := ZMM(), ZMM(), ZMM(), ZMM(), K(), K()
	VMOVUPS(Mem{Base: x}, v)
	VSUBPS(spread[0], v, b)
	VMULPS(spread[1], b, b)
	VMAXPS(low, b, b) // and 0 where it is no number
	VMINPS(spread[2], b, b)
	VCVTTPS2DQ(b, b)
	KXNORW(all, all, all)
	VPGATHERDD(Mem{Base: buckets, Index: b, Scale: 4}, all, before)
	KXNORW(all, all, all)
	VGATHERDPS(Mem{Base: thresholds, Index: before, Scale: 4}, all, of)
	VCMPPS(U8(0x12), v, of, more) // of <= v
	VPSUBD(minus, before, more, before)
	VPMOVDB(before, Mem{Base: y})
	ADDQ(Imm(64), x)
	ADDQ(Imm(16), y)
	DECQ(steps)
	JNZ(LabelRef("sought"))
	VZEROUPPER()
	RET()
}
