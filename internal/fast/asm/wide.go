package main

import (
	"sync"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// products writes code that multiplies four bytes with four weights each and adds the products to 16 sums. It uses
// VPDPBUSD, which avo does not know.
func products(weights, bytes, sums Op) {
	Instruction(&ir.Instruction{Opcode: "VPDPBUSD", Operands: []Op{weights, bytes, sums},
		Inputs: []Op{weights, bytes, sums}, Outputs: []Op{sums}, ISA: []string{"AVX512_VNNI"}})
}

// none returns a vector of zeros.
func none() VecVirtual {
	v := ZMM()
	VPXORD(v, v, v)
	return v
}

// dotWide writes the kernel that multiplies eight bytes of each of four rows with the weights of 16 lanes, in two steps
// with separate sums. So an addition need not wait for the one just before.
func dotWide() {
	TEXT("dotAVX512", NOSPLIT,
		"func(acc *int32, x *uint8, at *int, groups int, offs *int32, weights *int8, pairs int)")
	Pragma("noescape")
	Doc("dotAVX512 is dotGo for groups of four rows and for pairs of steps.")
	tiles(func(acc, offs, w Register, x [4]Register) {
		n := Load(Param("pairs"), GP64())
		var sums [8]VecVirtual
		for i := range sums {
			sums[i] = none()
		}
		inner("pairs")
		for step := range 2 {
			weights, off := ZMM(), GP64()
			MOVLQSX(Mem{Base: offs, Disp: 4 * step}, off)
			VMOVDQU32(Mem{Base: w, Disp: 64 * step}, weights)
			for r := range x {
				four := ZMM()
				VPBROADCASTD(Mem{Base: x[r], Index: off, Scale: 1}, four)
				products(weights, four, sums[2*r+step])
			}
		}
		ADDQ(U32(128), w)
		ADDQ(Imm(8), offs)
		DECQ(n)
		JNZ(LabelRef("pairs"))
		for r := range x {
			VPADDD(sums[2*r], sums[2*r+1], sums[2*r])
			VMOVDQU32(sums[2*r], Mem{Base: acc, Disp: 64 * r})
		}
	})
}

// transposed returns a table that transposes dwords of four rows and four columns.
var transposed = sync.OnceValue(func() Mem {
	m := GLOBL("transposed", RODATA|NOPTR)
	for i := range 16 {
		DATA(4*i, U32(i%4*4+i/4))
	}
	return m
})

// outputs writes a loop over four rows at a time. body writes the conversion of their sums to vectors whose lowest
// bytes are the outputs. The loop stores lanes bytes of each row at rows that are stride bytes apart, and nothing
// behind the last row.
func outputs(body func(acc Register) (bytes VecVirtual)) {
	y := Load(Param("y"), GP64())
	stride := Load(Param("stride"), GP64())
	acc := Load(Param("acc"), GP64())
	rows := Load(Param("rows"), GP64())
	lanes, bits, mask := Load(Param("lanes"), GP64()), GP64(), K()
	MOVQ(I32(-1), bits)
	BZHIQ(lanes, bits, bits)
	KMOVQ(bits, mask)
	order := ZMM()
	VMOVDQU32(transposed(), order)
	Label("outputs")
	bytes := body(acc)
	VPERMD(bytes, order, bytes)
	for r := range 4 {
		if r == 0 {
			VMOVDQU8(bytes.AsX(), mask, Mem{Base: y})
		} else {
			part := XMM()
			VEXTRACTI32X4(U8(r), bytes, part)
			VMOVDQU8(part, mask, Mem{Base: y})
		}
		ADDQ(stride, y)
		DECQ(rows)
		JZ(LabelRef("done"))
	}
	ADDQ(U32(4*64), acc)
	JMP(LabelRef("outputs"))
	Label("done")
	VZEROUPPER()
	RET()
}

// packed writes code that converts four rows of 16 integers to saturated bytes, and returns their vector. Dword j of
// each 128 bits has row j.
func packed(v [4]VecVirtual) VecVirtual {
	VPACKSSDW(v[1], v[0], v[0])
	VPACKSSDW(v[3], v[2], v[2])
	VPACKUSWB(v[2], v[0], v[0])
	return v[0]
}

// spread returns a vector with the 16 bytes of a parameter for each of four rows, in the order that packed makes.
func spread(param string) VecVirtual {
	v, order := ZMM(), ZMM()
	VBROADCASTI32X4(Mem{Base: Load(Param(param), GP64())}, v)
	VMOVDQU32(transposed(), order)
	VPERMD(v, order, v)
	return v
}

// countWide writes the kernel that compares four rows at a time with the thresholds of 16 lanes.
func countWide() {
	TEXT("countAVX512", NOSPLIT,
		"func(y *uint8, stride, lanes int, acc *int32, rows int, thresholds *int32, n int, base *uint8)")
	Pragma("noescape")
	Doc("countAVX512 is countGo. n is the number of thresholds per lane, at least one.")
	bases, one := spread("base"), ZMM()
	VPTERNLOGD(U8(255), one, one, one) // -1
	first := Load(Param("thresholds"), GP64())
	all := Load(Param("n"), GP64())
	outputs(func(acc Register) VecVirtual {
		t, n := GP64(), GP64()
		MOVQ(first, t)
		MOVQ(all, n)
		var sums, counts [4]VecVirtual
		for i := range sums {
			sums[i], counts[i] = ZMM(), none()
			VMOVDQU32(Mem{Base: acc, Disp: 64 * i}, sums[i])
		}
		inner("limits")
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
		v := packed(counts)
		VPADDB(bases, v, v)
		return v
	})
}

// lineWide writes the kernel that computes a line of sums, four rows at a time.
func lineWide() {
	TEXT("lineAVX512", NOSPLIT,
		"func(y *uint8, stride, lanes int, acc *int32, rows int, scale, bias *float32, top, base *uint8)")
	Pragma("noescape")
	Doc("lineAVX512 is lineGo.")
	scale, bias, top, base := ZMM(), ZMM(), spread("top"), spread("base")
	VMOVUPS(Mem{Base: Load(Param("scale"), GP64())}, scale)
	VMOVUPS(Mem{Base: Load(Param("bias"), GP64())}, bias)
	outputs(func(acc Register) VecVirtual {
		var v [4]VecVirtual
		for i := range v {
			v[i] = ZMM()
			VCVTDQ2PS(Mem{Base: acc, Disp: 64 * i}, v[i])
			VMULPS(scale, v[i], v[i])
			VADDPS(bias, v[i], v[i])
			VCVTTPS2DQ(v[i], v[i])
		}
		p := packed(v)
		VPMINUB(top, p, p)
		VPADDB(base, p, p)
		return p
	})
}

// steepWide writes the kernel that does what that of lineWide does, in float64.
func steepWide() {
	TEXT("steepAVX512", NOSPLIT,
		"func(y *uint8, stride, lanes int, acc *int32, rows int, scale, bias *float64, top, base *uint8)")
	Pragma("noescape")
	Doc("steepAVX512 is steepGo.")
	top, base := spread("top"), spread("base")
	from, and := Load(Param("scale"), GP64()), Load(Param("bias"), GP64())
	var scale, bias [2]VecVirtual
	for i := range scale {
		scale[i], bias[i] = ZMM(), ZMM()
		VMOVUPD(Mem{Base: from, Disp: 64 * i}, scale[i])
		VMOVUPD(Mem{Base: and, Disp: 64 * i}, bias[i])
	}
	outputs(func(acc Register) VecVirtual {
		var v [4]VecVirtual
		for i := range v {
			var half [2]VecVirtual
			for k := range half {
				wide := ZMM()
				VCVTDQ2PD(Mem{Base: acc, Disp: 64*i + 32*k}, wide)
				VMULPD(scale[k], wide, wide)
				VADDPD(bias[k], wide, wide)
				half[k] = YMM()
				VCVTTPD2DQ(wide, half[k])
			}
			v[i] = ZMM()
			VINSERTI64X4(U8(1), half[1], half[0].AsZ(), v[i])
		}
		p := packed(v)
		VPMINUB(top, p, p)
		VPADDB(base, p, p)
		return p
	})
}

// reachedWide writes the kernel that compares 64 numbers with all thresholds in each step.
func reachedWide() {
	TEXT("reachedAVX512", NOSPLIT,
		"func(y *uint8, x *float32, steps int, thresholds *float32, n int, first, step uint64)")
	Pragma("noescape")
	Doc("reachedAVX512 is reachedGo. Each step takes 64 numbers. n is the number of thresholds, at least one.")
	y := Load(Param("y"), GP64())
	x := Load(Param("x"), GP64())
	steps := Load(Param("steps"), GP64())
	from := Load(Param("thresholds"), GP64())
	all := Load(Param("n"), GP64())
	first, step := ZMM(), ZMM()
	VPBROADCASTB(Load(Param("first"), GP64()).(GPVirtual).As32(), first)
	VPBROADCASTB(Load(Param("step"), GP64()).(GPVirtual).As32(), step)
	Label("numbers")
	bytes := ZMM()
	VMOVDQU32(first, bytes)
	var v [4]VecVirtual
	for i := range v {
		v[i] = ZMM()
		VMOVUPS(Mem{Base: x, Disp: 64 * i}, v[i])
	}
	t, n := GP64(), GP64()
	MOVQ(from, t)
	MOVQ(all, n)
	inner("thresholds")
	of := ZMM()
	VBROADCASTSS(Mem{Base: t}, of)
	var most [4]OpmaskVirtual
	for i := range v {
		most[i] = K()
		VCMPPS(U8(0x12), v[i], of, most[i]) // of <= v
	}
	KUNPCKWD(most[0], most[1], most[0])
	KUNPCKWD(most[2], most[3], most[2])
	KUNPCKDQ(most[0], most[2], most[0])
	VPADDB(step, bytes, most[0], bytes)
	ADDQ(Imm(4), t)
	DECQ(n)
	JNZ(LabelRef("thresholds"))
	VMOVDQU8(bytes, Mem{Base: y})
	ADDQ(U32(256), x)
	ADDQ(Imm(64), y)
	DECQ(steps)
	JNZ(LabelRef("numbers"))
	VZEROUPPER()
	RET()
}

// highestWide writes the kernel that takes the maximum of up to 64 channels at a time, the last ones under a mask.
func highestWide() {
	TEXT("highestAVX512", NOSPLIT, "func(y, x *uint8, channels int, offs *int32, positions int)")
	Pragma("noescape")
	Doc("highestAVX512 is highestGo for a single window with at least one channel and one position.")
	y := Load(Param("y"), GP64())
	x := Load(Param("x"), GP64())
	left := Load(Param("channels"), GP64())
	positions := Load(Param("positions"), GP64())
	Label("channels")
	width, most, bits, mask := GP64(), GP64(), GP64(), K()
	MOVQ(left, width)
	MOVQ(U32(64), most)
	CMPQ(width, most)
	CMOVQGT(most, width)
	MOVQ(I32(-1), bits)
	BZHIQ(width, bits, bits)
	KMOVQ(bits, mask)
	at, n, top := Load(Param("offs"), GP64()), GP64(), none()
	MOVQ(positions, n)
	Label("positions")
	v, off := ZMM(), GP64()
	MOVLQSX(Mem{Base: at}, off)
	VMOVDQU8_Z(Mem{Base: x, Index: off, Scale: 1}, mask, v)
	VPMAXUB(v, top, top)
	ADDQ(Imm(4), at)
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

// soughtWide writes the kernel that looks up 16 numbers at a time.
func soughtWide() {
	TEXT("soughtAVX512", NOSPLIT,
		"func(y *uint8, x *float32, steps int, thresholds *float32, least, scale, last float32)")
	Pragma("noescape")
	Doc("soughtAVX512 is soughtGo. Each step takes 16 numbers.")
	y := Load(Param("y"), GP64())
	x := Load(Param("x"), GP64())
	steps := Load(Param("steps"), GP64())
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
	v, guess, of, all, more := ZMM(), ZMM(), ZMM(), K(), K()
	VMOVUPS(Mem{Base: x}, v)
	VSUBPS(spread[0], v, guess)
	VMULPS(spread[1], guess, guess)
	VMAXPS(low, guess, guess) // also 0 for NaN
	VMINPS(spread[2], guess, guess)
	VCVTTPS2DQ(guess, guess)
	KXNORW(all, all, all)
	VGATHERDPS(Mem{Base: thresholds, Index: guess, Scale: 4}, all, of)
	VCMPPS(U8(0x12), v, of, more) // of <= v
	VPSUBD(minus, guess, more, guess)
	VPMOVDB(guess, Mem{Base: y})
	ADDQ(Imm(64), x)
	ADDQ(Imm(16), y)
	DECQ(steps)
	JNZ(LabelRef("sought"))
	VZEROUPPER()
	RET()
}
