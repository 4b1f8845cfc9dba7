// Command asm writes kernels_amd64.s, the inner loops of package fast for AVX2, AVX-VNNI and AVX-512. It is a
// separate module, so that hlsgen does not depend on the assembler generator. kernels.go has the same loops in Go,
// with comments.
//
//	cd internal/fast/asm && go run . -out ../kernels_amd64.s -pkg fast
package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64")
	dot()
	words()
	along()
	narrow("dotVNNI", productsVEX)
	narrow("dotVL", func(weights, bytes, sums VecPhysical) { products(weights, bytes, sums) })
	looked()
	encode()
	each()
	count()
	line()
	steep()
	highest()
	reached()
	sought()
	finite()
	dotWide()
	countWide()
	lineWide()
	steepWide()
	highestWide()
	reachedWide()
	soughtWide()
	Generate()
}

// zero returns a vector of zeros.
func zero() VecVirtual {
	v := YMM()
	VPXOR(v, v, v)
	return v
}

// inner writes the begin of an inner loop, with a label that is aligned to a cache line.
func inner(label string) {
	Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []Op{Imm(64)}})
	Label(label)
}

// tiles writes a loop over four rows at a time. body writes the computation of their sums, with the steps and weights
// from the first on.
func tiles(body func(acc, offs, w Register, x [4]Register)) {
	acc := Load(Param("acc"), GP64())
	at := Load(Param("at"), GP64())
	groups := Load(Param("groups"), GP64())
	Label("tiles")
	base := Load(Param("x"), GP64())
	var x [4]Register
	for r := range x {
		x[r] = GP64()
		MOVQ(Mem{Base: at, Disp: 8 * r}, x[r])
		ADDQ(base, x[r])
	}
	offs := Load(Param("offs"), GP64())
	w := Load(Param("weights"), GP64())
	body(acc, offs, w, x)
	ADDQ(Imm(32), at)
	ADDQ(U32(4*64), acc)
	DECQ(groups)
	JNZ(LabelRef("tiles"))
	VZEROUPPER()
	RET()
}

// dot writes the kernel that multiplies, in each step, four bytes of each of four rows with the weights of 16 lanes. It
// adds the products of two adjacent bytes in 16 bits, and these sums in 16 bits over chunk steps.
func dot() {
	TEXT("dotAVX2", NOSPLIT,
		"func(acc *int32, x *uint8, at *int, groups int, offs *int32, weights *int8, steps, chunk int)")
	Pragma("noescape")
	Doc("dotAVX2 is dotGo for groups of four rows.")
	ones := YMM()
	VPCMPEQW(ones, ones, ones)
	VPSRLW(U8(15), ones, ones)
	tiles(func(acc, offs, w Register, x [4]Register) {
		none := zero()
		for i := range 8 {
			VMOVDQU(none, Mem{Base: acc, Disp: 32 * i})
		}
		steps := Load(Param("steps"), GP64())
		Label("chunks")
		n := Load(Param("chunk"), GP64())
		CMPQ(n, steps)
		CMOVQGT(steps, n)
		SUBQ(n, steps)
		var sums [8]VecVirtual
		for i := range sums {
			sums[i] = zero()
		}
		inner("steps")
		for step := range 2 {
			w0, w1, off := YMM(), YMM(), GP64()
			MOVLQSX(Mem{Base: offs, Disp: 4 * step}, off)
			VMOVDQU(Mem{Base: w, Disp: 64 * step}, w0)
			VMOVDQU(Mem{Base: w, Disp: 64*step + 32}, w1)
			for r := range x {
				four, p0, p1 := YMM(), YMM(), YMM()
				VPBROADCASTD(Mem{Base: x[r], Index: off, Scale: 1}, four)
				VPMADDUBSW(w0, four, p0)
				VPMADDUBSW(w1, four, p1)
				VPADDW(p0, sums[2*r], sums[2*r])
				VPADDW(p1, sums[2*r+1], sums[2*r+1])
			}
		}
		SUBQ(I32(-128), w)
		ADDQ(Imm(8), offs)
		SUBQ(Imm(2), n)
		JNZ(LabelRef("steps"))
		for i, s := range sums {
			VPMADDWD(ones, s, s)
			VPADDD(Mem{Base: acc, Disp: 32 * i}, s, s)
			VMOVDQU(s, Mem{Base: acc, Disp: 32 * i})
		}
		TESTQ(steps, steps)
		JNZ(LabelRef("chunks"))
	})
}

// each writes the kernel that multiplies, in each step, 16 adjacent bytes of each of four rows with weights of their
// own.
func each() {
	TEXT("eachAVX2", NOSPLIT,
		"func(acc *int32, x *uint8, at *int, groups int, offs *int32, weights *int16, steps int)")
	Pragma("noescape")
	Doc("eachAVX2 is eachGo for groups of four rows.")
	tiles(func(acc, offs, w Register, x [4]Register) {
		n := Load(Param("steps"), GP64())
		var sums [4]VecVirtual
		for i := range sums {
			sums[i] = zero()
		}
		inner("each")
		weights, off := YMM(), GP64()
		MOVLQSX(Mem{Base: offs}, off)
		VMOVDQU(Mem{Base: w}, weights)
		for r := range x {
			v := YMM()
			VPMOVZXBW(Mem{Base: x[r], Index: off, Scale: 1}, v)
			VPMULLW(weights, v, v)
			VPADDW(v, sums[r], sums[r])
		}
		ADDQ(Imm(32), w)
		ADDQ(Imm(4), offs)
		DECQ(n)
		JNZ(LabelRef("each"))
		for r, sum := range sums {
			upper, low, high := XMM(), YMM(), YMM()
			VEXTRACTI128(U8(1), sum, upper)
			VPMOVSXWD(sum.AsX(), low)
			VPMOVSXWD(upper, high)
			VMOVDQU(low, Mem{Base: acc, Disp: 64 * r})
			VMOVDQU(high, Mem{Base: acc, Disp: 64*r + 32})
		}
	})
}

// reached writes the kernel that compares 32 numbers with all thresholds in each step.
func reached() {
	TEXT("reachedAVX2", NOSPLIT,
		"func(y *uint8, x *float32, steps int, thresholds *float32, n int, first, step uint64)")
	Pragma("noescape")
	Doc("reachedAVX2 is reachedGo. Each step takes 32 numbers. n is the number of thresholds, at least one.")
	y := Load(Param("y"), GP64())
	x := Load(Param("x"), GP64())
	steps := Load(Param("steps"), GP64())
	from := Load(Param("thresholds"), GP64())
	all := Load(Param("n"), GP64())
	first, step, order := YMM(), YMM(), YMM()
	VMOVQ(Load(Param("first"), GP64()), first.AsX())
	VPBROADCASTD(first.AsX(), first)
	VMOVQ(Load(Param("step"), GP64()), step.AsX())
	VPBROADCASTD(step.AsX(), step)
	bytes := YMM()
	VPCMPEQD(bytes, bytes, bytes)
	VPSRLD(U8(24), bytes, bytes)
	VMOVDQU(places(), order)
	Label("numbers")
	var v, counts [4]VecVirtual
	for i := range v {
		v[i], counts[i] = YMM(), YMM()
		VMOVUPS(Mem{Base: x, Disp: 32 * i}, v[i])
		VMOVDQA(first, counts[i])
	}
	t, n := GP64(), GP64()
	MOVQ(from, t)
	MOVQ(all, n)
	inner("thresholds")
	of := YMM()
	VBROADCASTSS(Mem{Base: t}, of)
	for i := range v {
		most := YMM()
		VCMPPS(U8(0x12), v[i], of, most) // of <= v
		VPAND(step, most, most)
		VPADDD(most, counts[i], counts[i])
	}
	ADDQ(Imm(4), t)
	DECQ(n)
	JNZ(LabelRef("thresholds"))
	for _, c := range counts {
		VPAND(bytes, c, c)
	}
	VPACKUSDW(counts[1], counts[0], counts[0])
	VPACKUSDW(counts[3], counts[2], counts[2])
	VPACKUSWB(counts[2], counts[0], counts[0])
	VPERMD(counts[0], order, counts[0])
	VMOVDQU(counts[0], Mem{Base: y})
	ADDQ(U32(128), x)
	ADDQ(Imm(32), y)
	DECQ(steps)
	JNZ(LabelRef("numbers"))
	VZEROUPPER()
	RET()
}

// finite writes the kernel that examines whether 32 numbers are finite in each step. One that is not has an exponent of
// ones.
func finite() {
	TEXT("finiteAVX2", NOSPLIT, "func(x *float32, steps int) (others uint32)")
	Pragma("noescape")
	Doc("finiteAVX2 returns 0 if finiteGo returns true. Each step takes 32 numbers; there must be at least one step.")
	x := Load(Param("x"), GP64())
	n := Load(Param("steps"), GP64())
	exponent := YMM()
	VPCMPEQD(exponent, exponent, exponent)
	VPSRLD(U8(24), exponent, exponent)
	VPSLLD(U8(23), exponent, exponent)
	var others [4]VecVirtual
	for i := range others {
		others[i] = zero()
	}
	inner("finite")
	for i := range others {
		v := YMM()
		VPAND(Mem{Base: x, Disp: 32 * i}, exponent, v)
		VPCMPEQD(exponent, v, v)
		VPOR(v, others[i], others[i])
	}
	SUBQ(I32(-128), x)
	DECQ(n)
	JNZ(LabelRef("finite"))
	VPOR(others[1], others[0], others[0])
	VPOR(others[3], others[2], others[2])
	VPOR(others[2], others[0], others[0])
	mask := GP32()
	VMOVMSKPS(others[0], mask)
	Store(mask, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
