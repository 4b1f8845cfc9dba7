// Command asm writes kernels_amd64.s, the inner loops of package fast for AVX2 and for AVX-512. It is a module of its
// own, so that hlsgen's does not depend on what makes assembly. kernels.go has the same in Go, and says what each
// computes.
//
//	cd internal/fast/asm && go run . -out ../kernels_amd64.s -pkg fast
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64")
	dot()
	count()
	each()
	greatest()
	reached()
	dotWide()
	countWide()
	highestWide()
	soughtWide()
	Generate()
}

// zero is a vector of zeros.
func zero() VecVirtual {
	v := YMM()
	VPXOR(v, v, v)
	return v
}

// dot multiplies four bytes of each of four rows with the weights of 16 lanes in a step. The products of two neighbours
// are added in 16 bits, and these in 16 bits over chunk steps.
func dot() {
	TEXT("dotAVX2", NOSPLIT, "func(acc *int32, x0, x1, x2, x3 *uint8, weights *int8, steps, chunk int)")
	Pragma("noescape")
	Doc("dotAVX2 is dotGo for rows that begin at x0 to x3.")
	acc := Load(Param("acc"), GP64())
	var x [4]Register
	for r, name := range []string{"x0", "x1", "x2", "x3"} {
		x[r] = Load(Param(name), GP64())
	}
	w := Load(Param("weights"), GP64())
	steps := Load(Param("steps"), GP64())
	chunk := Load(Param("chunk"), GP64())
	none := zero()
	for i := range 8 {
		VMOVDQU(none, Mem{Base: acc, Disp: 32 * i})
	}
	ones := YMM()
	VPCMPEQW(ones, ones, ones)
	VPSRLW(U8(15), ones, ones)
	at, n := GP64(), GP64()
	XORQ(at, at)

	Label("chunks")
	MOVQ(chunk, n)
	CMPQ(n, steps)
	CMOVQGT(steps, n)
	SUBQ(n, steps)
	var sums [8]VecVirtual
	for i := range sums {
		sums[i] = zero()
	}
	Label("steps")
	w0, w1 := YMM(), YMM()
	VMOVDQU(Mem{Base: w}, w0)
	VMOVDQU(Mem{Base: w, Disp: 32}, w1)
	for r := range x {
		four, p0, p1 := YMM(), YMM(), YMM()
		VPBROADCASTD(Mem{Base: x[r], Index: at, Scale: 4}, four)
		VPMADDUBSW(w0, four, p0)
		VPMADDUBSW(w1, four, p1)
		VPADDW(p0, sums[2*r], sums[2*r])
		VPADDW(p1, sums[2*r+1], sums[2*r+1])
	}
	ADDQ(Imm(64), w)
	INCQ(at)
	DECQ(n)
	JNZ(LabelRef("steps"))
	for i, s := range sums {
		VPMADDWD(ones, s, s)
		VPADDD(Mem{Base: acc, Disp: 32 * i}, s, s)
		VMOVDQU(s, Mem{Base: acc, Disp: 32 * i})
	}
	TESTQ(steps, steps)
	JNZ(LabelRef("chunks"))
	VZEROUPPER()
	RET()
}

// count compares two rows at a time with the thresholds of 16 lanes.
func count() {
	TEXT("countAVX2", NOSPLIT, "func(y *uint8, acc, thresholds *int32, n int, base *uint8)")
	Pragma("noescape")
	Doc("countAVX2 is countGo for n thresholds of each lane.")
	y := Load(Param("y"), GP64())
	acc := Load(Param("acc"), GP64())
	first := Load(Param("thresholds"), GP64())
	all := Load(Param("n"), GP64())
	base := Load(Param("base"), GP64())
	bases := YMM()
	VBROADCASTI128(Mem{Base: base}, bases)
	for pair := range 2 {
		t, n := GP64(), GP64()
		MOVQ(first, t)
		MOVQ(all, n)
		var sums, counts [4]VecVirtual
		for i := range sums {
			sums[i], counts[i] = YMM(), zero()
			VMOVDQU(Mem{Base: acc, Disp: 128*pair + 32*i}, sums[i])
		}
		loop, done := []string{"first", "second"}[pair], []string{"packfirst", "packsecond"}[pair]
		TESTQ(n, n)
		JZ(LabelRef(done))
		Label(loop)
		var of [2]VecVirtual
		for i := range of {
			of[i] = YMM()
			VMOVDQU(Mem{Base: t, Disp: 32 * i}, of[i])
		}
		for i := range sums {
			less := YMM()
			VPCMPGTD(of[i%2], sums[i], less)
			VPSUBD(less, counts[i], counts[i])
		}
		ADDQ(Imm(64), t)
		DECQ(n)
		JNZ(LabelRef(loop))
		Label(done)
		for r := range 2 {
			VPACKUSDW(counts[2*r+1], counts[2*r], counts[2*r])
			VPERMQ(U8(0xd8), counts[2*r], counts[2*r])
		}
		VPACKUSWB(counts[2], counts[0], counts[0])
		VPERMQ(U8(0xd8), counts[0], counts[0])
		VPADDB(bases, counts[0], counts[0])
		VMOVDQU(counts[0], Mem{Base: y, Disp: 32 * pair})
	}
	VZEROUPPER()
	RET()
}

// each multiplies 16 neighbours with weights of their own in a step.
func each() {
	TEXT("eachAVX2", NOSPLIT, "func(acc *int32, x *uint8, stride int, weights *int16, steps int)")
	Pragma("noescape")
	Doc("eachAVX2 is eachGo for so many steps.")
	acc := Load(Param("acc"), GP64())
	x := Load(Param("x"), GP64())
	stride := Load(Param("stride"), GP64())
	w := Load(Param("weights"), GP64())
	n := Load(Param("steps"), GP64())
	sum := zero()
	Label("each")
	v := YMM()
	VPMOVZXBW(Mem{Base: x}, v)
	VPMULLW(Mem{Base: w}, v, v)
	VPADDW(v, sum, sum)
	ADDQ(stride, x)
	ADDQ(Imm(32), w)
	DECQ(n)
	JNZ(LabelRef("each"))
	upper, low, high := XMM(), YMM(), YMM()
	VEXTRACTI128(U8(1), sum, upper)
	VPMOVSXWD(sum.AsX(), low)
	VPMOVSXWD(upper, high)
	VMOVDQU(low, Mem{Base: acc})
	VMOVDQU(high, Mem{Base: acc, Disp: 32})
	VZEROUPPER()
	RET()
}

// greatest takes 32 bytes in a step.
func greatest() {
	TEXT("greatestAVX2", NOSPLIT, "func(y, x *uint8, steps int)")
	Pragma("noescape")
	Doc("greatestAVX2 is greatestGo for 32 bytes a step.")
	y := Load(Param("y"), GP64())
	x := Load(Param("x"), GP64())
	n := Load(Param("steps"), GP64())
	Label("greatest")
	v := YMM()
	VMOVDQU(Mem{Base: x}, v)
	VPMAXUB(Mem{Base: y}, v, v)
	VMOVDQU(v, Mem{Base: y})
	ADDQ(Imm(32), x)
	ADDQ(Imm(32), y)
	DECQ(n)
	JNZ(LabelRef("greatest"))
	VZEROUPPER()
	RET()
}

// reached compares 32 numbers with all thresholds in a step.
func reached() {
	TEXT("reachedAVX2", NOSPLIT, "func(y *uint8, x *float32, steps int, thresholds *float32, n int)")
	Pragma("noescape")
	Doc("reachedAVX2 is reachedGo for 32 numbers a step, and n thresholds, of which there is one.")
	y := Load(Param("y"), GP64())
	x := Load(Param("x"), GP64())
	steps := Load(Param("steps"), GP64())
	first := Load(Param("thresholds"), GP64())
	all := Load(Param("n"), GP64())
	order := YMM()
	places := GLOBL("places", RODATA|NOPTR)
	for i, p := range []uint32{0, 4, 1, 5, 2, 6, 3, 7} {
		DATA(4*i, U32(p))
	}
	VMOVDQU(places, order)
	Label("numbers")
	var v, counts [4]VecVirtual
	for i := range v {
		v[i], counts[i] = YMM(), zero()
		VMOVUPS(Mem{Base: x, Disp: 32 * i}, v[i])
	}
	t, n := GP64(), GP64()
	MOVQ(first, t)
	MOVQ(all, n)
	Label("thresholds")
	of := YMM()
	VBROADCASTSS(Mem{Base: t}, of)
	for i := range v {
		most := YMM()
		VCMPPS(U8(0x12), v[i], of, most) // of <= v
		VPSUBD(most, counts[i], counts[i])
	}
	ADDQ(Imm(4), t)
	DECQ(n)
	JNZ(LabelRef("thresholds"))
	VPACKUSDW(counts[1], counts[0], counts[0])
	VPACKUSDW(counts[3], counts[2], counts[2])
	VPACKUSWB(counts[2], counts[0], counts[0])
	VPERMD(counts[0], order, counts[0])
	VMOVDQU(counts[0], Mem{Base: y})
	ADDQ(Imm(128), x)
	ADDQ(Imm(32), y)
	DECQ(steps)
	JNZ(LabelRef("numbers"))
	VZEROUPPER()
	RET()
}
