package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// words writes the kernel that multiplies, in each step, four bytes of each of four rows with the weights of 16 lanes.
// It widens even and odd bytes to 16 bits, and adds the products of two in 32 bits.
func words() {
	TEXT("wordsAVX2", NOSPLIT,
		"func(acc *int32, x *uint8, at *int, groups int, offs *int32, weights *int16, steps int)")
	Pragma("noescape")
	Doc("wordsAVX2 is wordsGo for groups of four rows.")
	low := YMM()
	VPCMPEQW(low, low, low)
	VPSRLW(U8(8), low, low)
	tiles(func(acc, offs, w Register, x [4]Register) {
		n := Load(Param("steps"), GP64())
		var sums [8]VecVirtual
		for i := range sums {
			sums[i] = zero()
		}
		inner("steps")
		off := GP64()
		MOVLQSX(Mem{Base: offs}, off)
		var weights [4]VecVirtual
		for i := range weights {
			weights[i] = YMM()
			VMOVDQU(Mem{Base: w, Disp: 32 * i}, weights[i])
		}
		for r := range x {
			even, odd := YMM(), YMM()
			VPBROADCASTD(Mem{Base: x[r], Index: off, Scale: 1}, odd)
			VPAND(low, odd, even)
			VPSRLW(U8(8), odd, odd)
			p := YMM()
			VPMADDWD(weights[0], even, p)
			VPADDD(p, sums[2*r], sums[2*r])
			VPMADDWD(weights[1], even, even)
			VPADDD(even, sums[2*r+1], sums[2*r+1])
			p = YMM()
			VPMADDWD(weights[2], odd, p)
			VPADDD(p, sums[2*r], sums[2*r])
			VPMADDWD(weights[3], odd, odd)
			VPADDD(odd, sums[2*r+1], sums[2*r+1])
		}
		SUBQ(I32(-128), w)
		ADDQ(Imm(4), offs)
		DECQ(n)
		JNZ(LabelRef("steps"))
		for i, s := range sums {
			VMOVDQU(s, Mem{Base: acc, Disp: 32 * i})
		}
	})
}

// narrow writes a kernel that multiplies, in each step, four bytes of each of four rows with the weights of 16 lanes,
// in vectors of 256 bits. products writes its multiply-add: by AVX-512, or by AVX-VNNI, encoded as bytes since Go's
// assembler does not know that form.
func narrow(name string, products func(weights, bytes, sums VecPhysical)) {
	TEXT(name, NOSPLIT,
		"func(acc *int32, x *uint8, at *int, groups int, offs *int32, weights *int8, steps int)")
	Pragma("noescape")
	Doc(name + " is dotGo for groups of four rows.")
	all := []VecPhysical{Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7}
	tiles(func(acc, offs, w Register, x [4]Register) {
		n := Load(Param("steps"), GP64())
		for _, sum := range all {
			VPXOR(sum, sum, sum)
		}
		inner("steps")
		off := GP64()
		MOVLQSX(Mem{Base: offs}, off)
		VMOVDQU(Mem{Base: w}, Y8)
		VMOVDQU(Mem{Base: w, Disp: 32}, Y9)
		for r := range x {
			four := []VecPhysical{Y10, Y11, Y12, Y13}[r]
			VPBROADCASTD(Mem{Base: x[r], Index: off, Scale: 1}, four)
			products(Y8, four, all[2*r])
			products(Y9, four, all[2*r+1])
		}
		ADDQ(Imm(64), w)
		ADDQ(Imm(4), offs)
		DECQ(n)
		JNZ(LabelRef("steps"))
		for i, sum := range all {
			VMOVDQU(sum, Mem{Base: acc, Disp: 32 * i})
		}
	})
}

// productsVEX writes the multiply-add instruction of AVX-VNNI: VEX.256.66.0F38.W0 50 /r.
func productsVEX(weights, bytes, sums VecPhysical) {
	w, b, s := uint8(weights.PhysicalIndex()), uint8(bytes.PhysicalIndex()), uint8(sums.PhysicalIndex())
	text := ""
	for _, v := range []uint8{0xc4, (^s&8)<<4 | 0x40 | (^w&8)<<2 | 2, (^b&15)<<3 | 5, 0x50, 0xc0 | (s&7)<<3 | w&7} {
		if text != "" {
			text += "; BYTE "
		}
		text += fmt.Sprintf("$0x%02x", v)
	}
	text += fmt.Sprintf(" // {vex} vpdpbusd %%ymm%d, %%ymm%d, %%ymm%d", w, b, s)
	Instruction(&ir.Instruction{Opcode: "BYTE", Operands: []Op{LabelRef(text)}}) // printed unchanged
}

// along writes the kernel that multiplies, in each step, 16 adjacent bytes of each of two rows with the weights of four
// lanes. At the end it adds adjacent sums.
func along() {
	TEXT("alongAVX2", NOSPLIT,
		"func(acc *int32, x *uint8, at *int, pairs int, offs *int32, weights *int16, steps int)")
	Pragma("noescape")
	Doc("alongAVX2 is alongGo for pairs of rows.")
	acc := Load(Param("acc"), GP64())
	at := Load(Param("at"), GP64())
	pairs := Load(Param("pairs"), GP64())
	Label("pairs")
	base := Load(Param("x"), GP64())
	var x [2]Register
	for r := range x {
		x[r] = GP64()
		MOVQ(Mem{Base: at, Disp: 8 * r}, x[r])
		ADDQ(base, x[r])
	}
	offs := Load(Param("offs"), GP64())
	w := Load(Param("weights"), GP64())
	n := Load(Param("steps"), GP64())
	var sums [8]VecVirtual
	for i := range sums {
		sums[i] = zero()
	}
	inner("steps")
	off := GP64()
	MOVLQSX(Mem{Base: offs}, off)
	var v [2]VecVirtual
	for r := range v {
		v[r] = YMM()
		VPMOVZXBW(Mem{Base: x[r], Index: off, Scale: 1}, v[r])
	}
	for c := range 4 {
		weights := YMM()
		VMOVDQU(Mem{Base: w, Disp: 32 * c}, weights)
		for r := range v {
			p := YMM()
			VPMADDWD(weights, v[r], p)
			VPADDD(p, sums[4*r+c], sums[4*r+c])
		}
	}
	SUBQ(I32(-128), w)
	ADDQ(Imm(4), offs)
	DECQ(n)
	JNZ(LabelRef("steps"))
	for r := range v {
		s := sums[4*r:]
		VPHADDD(s[1], s[0], s[0])
		VPHADDD(s[3], s[2], s[2])
		VPHADDD(s[2], s[0], s[0])
		upper := XMM()
		VEXTRACTI128(U8(1), s[0], upper)
		VPADDD(upper, s[0].AsX(), upper)
		VMOVDQU(upper, Mem{Base: acc, Disp: 64 * r})
	}
	ADDQ(Imm(16), at)
	SUBQ(I32(-128), acc)
	DECQ(pairs)
	JNZ(LabelRef("pairs"))
	VZEROUPPER()
	RET()
}

// looked writes the kernel that looks up, twice in each step, the sum of two products of each of four rows for 64
// lanes. It adds these in 8 bits over chunk steps, and then in 16 bits.
func looked() {
	TEXT("lookedAVX2", NOSPLIT, "func(acc *int32, apart int, x *uint8, at *int, groups int, offs *int32, "+
		"weights *uint8, table *int8, steps, chunk int)")
	Pragma("noescape")
	Doc("lookedAVX2 is lookedGo for groups of four rows.",
		"apart is the distance between successive blocks of acc, in bytes.")
	words := AllocLocal(16 * 32)
	table := Load(Param("table"), GP64())
	tiles(func(acc, offs, w Register, x [4]Register) {
		none := zero()
		for i := range 16 {
			VMOVDQU(none, words.Offset(32*i))
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
		off := GP64()
		MOVLQSX(Mem{Base: offs}, off)
		for pair := range 2 {
			var weights [2]VecVirtual
			for i := range weights {
				weights[i] = YMM()
				VMOVDQU(Mem{Base: w, Disp: 64*pair + 32*i}, weights[i])
			}
			for r := range x {
				code, of, p := GP32(), YMM(), YMM()
				MOVBLZX(Mem{Base: x[r], Index: off, Scale: 1, Disp: 2 * pair}, code)
				VBROADCASTI128(Mem{Base: table, Index: code.As64(), Scale: 8}, of)
				VPSHUFB(weights[0], of, p)
				VPADDB(p, sums[2*r], sums[2*r])
				VPSHUFB(weights[1], of, of)
				VPADDB(of, sums[2*r+1], sums[2*r+1])
			}
		}
		SUBQ(I32(-128), w)
		ADDQ(Imm(4), offs)
		DECQ(n)
		JNZ(LabelRef("steps"))
		for i, s := range sums {
			low, high := YMM(), YMM()
			upper := XMM()
			VPMOVSXBW(s.AsX(), low)
			VEXTRACTI128(U8(1), s, upper)
			VPMOVSXBW(upper, high)
			VPADDW(words.Offset(64*i), low, low)
			VPADDW(words.Offset(64*i+32), high, high)
			VMOVDQU(low, words.Offset(64*i))
			VMOVDQU(high, words.Offset(64*i+32))
		}
		TESTQ(steps, steps)
		JNZ(LabelRef("chunks"))
		block := GP64()
		MOVQ(acc, block)
		apart := Load(Param("apart"), GP64())
		for k := range 4 {
			for r := range x {
				for half := range 2 {
					v := YMM()
					VPMOVSXWD(words.Offset(128*r+32*k+16*half), v)
					VMOVDQU(v, Mem{Base: block, Disp: 64*r + 32*half})
				}
			}
			if k < 3 {
				ADDQ(apart, block)
			}
		}
	})
}

// encode writes the kernel that computes, in each step, the codes of pairs for 32 bytes and the bytes behind them.
func encode() {
	TEXT("encodeAVX2", NOSPLIT, "func(y, x *uint8, steps int)")
	Pragma("noescape")
	Doc("encodeAVX2 is encodeGo. Each step takes 32 bytes.")
	y := Load(Param("y"), GP64())
	x := Load(Param("x"), GP64())
	n := Load(Param("steps"), GP64())
	two, bits := YMM(), GP32()
	MOVL(U32(0x03030303), bits)
	VMOVD(bits, two.AsX())
	VPBROADCASTD(two.AsX(), two)
	Label("codes")
	first, second := YMM(), YMM()
	VPAND(Mem{Base: x}, two, first)
	VPAND(Mem{Base: x, Disp: 1}, two, second)
	VPADDB(first, first, first)
	VPSLLW(U8(3), second, second)
	VPADDB(first, second, second)
	VMOVDQU(second, Mem{Base: y})
	ADDQ(Imm(32), x)
	ADDQ(Imm(32), y)
	DECQ(n)
	JNZ(LabelRef("codes"))
	VZEROUPPER()
	RET()
}
