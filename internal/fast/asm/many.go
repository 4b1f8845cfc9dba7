package main

import (
	"sync"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// crossed returns a table with the order of dwords in two rows of bytes that were packed from halves of both.
var crossed = sync.OnceValue(func() Mem {
	m := GLOBL("crossed", RODATA|NOPTR)
	for i, p := range []uint32{0, 4, 2, 6, 1, 5, 3, 7} {
		DATA(4*i, U32(p))
	}
	return m
})

// pairs writes a loop over two rows of sums at a time. body writes the conversion of their sums to a vector with the
// output bytes of both rows. The loop stores lanes bytes of each row at rows that are stride bytes apart, and nothing
// behind the last row.
func pairs(body func(acc Register) (bytes VecVirtual)) {
	y := Load(Param("y"), GP64())
	stride := Load(Param("stride"), GP64())
	acc := Load(Param("acc"), GP64())
	rows := Load(Param("rows"), GP64())
	lanes := Load(Param("lanes"), GP64())
	Label("pairs")
	bytes := body(acc)
	names := [2]string{"first", "second"}
	for r, name := range names {
		CMPQ(lanes, Imm(16))
		JNE(LabelRef(name + "_parts"))
		if r == 0 {
			VMOVDQU(bytes.AsX(), Mem{Base: y})
		} else {
			VEXTRACTI128(U8(1), bytes, Mem{Base: y})
		}
		Label(name + "_behind")
		ADDQ(stride, y)
		DECQ(rows)
		JZ(LabelRef("done"))
	}
	ADDQ(U32(2*64), acc)
	JMP(LabelRef("pairs"))
	for r, name := range names {
		Label(name + "_parts")
		row := XMM()
		VEXTRACTI128(U8(r), bytes, row)
		parts(name, row, lanes, y)
		JMP(LabelRef(name + "_behind"))
	}
	Label("done")
	VZEROUPPER()
	RET()
}

// parts writes code that stores up to 15 bytes of a row in pieces of 8, 4, 2 and 1 bytes. name makes its labels unique.
func parts(name string, left VecVirtual, lanes, y Register) {
	to := GP64()
	MOVQ(y, to)
	for _, n := range []int{8, 4, 2, 1} {
		next := name + "_" + string(rune('0'+n))
		TESTQ(U32(n), lanes)
		JZ(LabelRef(next))
		switch n {
		case 8:
			VMOVQ(left, Mem{Base: to})
		case 4:
			VMOVD(left, Mem{Base: to})
		case 2:
			VPEXTRW(U8(0), left, Mem{Base: to})
		case 1:
			VPEXTRB(U8(0), left, Mem{Base: to})
		}
		if n > 1 {
			ADDQ(Imm(uint64(n)), to)
			VPSRLDQ(U8(n), left, left)
		}
		Label(next)
	}
}

// both writes code that converts two rows of 16 integers to saturated bytes, and returns their vector. Each vector of v
// has eight integers of a row.
func both(v [4]VecVirtual, order VecVirtual) VecVirtual {
	VPACKSSDW(v[2], v[0], v[0])
	VPACKSSDW(v[3], v[1], v[1])
	VPACKUSWB(v[1], v[0], v[0])
	VPERMD(v[0], order, v[0])
	return v[0]
}

// crossing returns a vector with the order of dwords that both needs.
func crossing() VecVirtual {
	v := YMM()
	VMOVDQU(crossed(), v)
	return v
}

// twice returns a vector with the 16 bytes of a parameter, once for each of two rows.
func twice(param string) VecVirtual {
	v := YMM()
	VBROADCASTI128(Mem{Base: Load(Param(param), GP64())}, v)
	return v
}

// count writes the kernel that compares two rows at a time with the thresholds of 16 lanes.
func count() {
	TEXT("countAVX2", NOSPLIT,
		"func(y *uint8, stride, lanes int, acc *int32, rows int, thresholds *int32, n int, base *uint8)")
	Pragma("noescape")
	Doc("countAVX2 is countGo. n is the number of thresholds per lane, at least one.")
	order, bases := crossing(), twice("base")
	first := Load(Param("thresholds"), GP64())
	all := Load(Param("n"), GP64())
	pairs(func(acc Register) VecVirtual {
		t, n := GP64(), GP64()
		MOVQ(first, t)
		MOVQ(all, n)
		var sums, counts [4]VecVirtual
		for i := range sums {
			sums[i], counts[i] = YMM(), zero()
			VMOVDQU(Mem{Base: acc, Disp: 32 * i}, sums[i])
		}
		inner("limits")
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
		JNZ(LabelRef("limits"))
		v := both(counts, order)
		VPADDB(bases, v, v)
		return v
	})
}

// line writes the kernel that computes a line of sums, two rows at a time.
func line() {
	TEXT("lineAVX2", NOSPLIT,
		"func(y *uint8, stride, lanes int, acc *int32, rows int, scale, bias *float32, top, base *uint8)")
	Pragma("noescape")
	Doc("lineAVX2 is lineGo.")
	order, top, base := crossing(), twice("top"), twice("base")
	from, and := Load(Param("scale"), GP64()), Load(Param("bias"), GP64())
	var scale, bias [2]VecVirtual
	for i := range scale {
		scale[i], bias[i] = YMM(), YMM()
		VMOVUPS(Mem{Base: from, Disp: 32 * i}, scale[i])
		VMOVUPS(Mem{Base: and, Disp: 32 * i}, bias[i])
	}
	pairs(func(acc Register) VecVirtual {
		var v [4]VecVirtual
		for i := range v {
			v[i] = YMM()
			VCVTDQ2PS(Mem{Base: acc, Disp: 32 * i}, v[i])
			VMULPS(scale[i%2], v[i], v[i])
			VADDPS(bias[i%2], v[i], v[i])
			VCVTTPS2DQ(v[i], v[i])
		}
		p := both(v, order)
		VPMINUB(top, p, p)
		VPADDB(base, p, p)
		return p
	})
}

// steep writes the kernel that does what that of line does, in float64. It reads scale and bias from memory, since
// there are too few registers.
func steep() {
	TEXT("steepAVX2", NOSPLIT,
		"func(y *uint8, stride, lanes int, acc *int32, rows int, scale, bias *float64, top, base *uint8)")
	Pragma("noescape")
	Doc("steepAVX2 is steepGo.")
	order, top, base := crossing(), twice("top"), twice("base")
	scale, bias := Load(Param("scale"), GP64()), Load(Param("bias"), GP64())
	pairs(func(acc Register) VecVirtual {
		var v [4]VecVirtual
		for i := range v {
			var half [2]VecVirtual
			for k := range half {
				at := i%2*64 + 32*k
				wide := YMM()
				VCVTDQ2PD(Mem{Base: acc, Disp: 32*i + 16*k}, wide)
				VMULPD(Mem{Base: scale, Disp: at}, wide, wide)
				VADDPD(Mem{Base: bias, Disp: at}, wide, wide)
				half[k] = XMM()
				VCVTTPD2DQY(wide, half[k])
			}
			v[i] = YMM()
			VINSERTI128(U8(1), half[1], half[0].AsY(), v[i])
		}
		p := both(v, order)
		VPMINUB(top, p, p)
		VPADDB(base, p, p)
		return p
	})
}

// highest writes the kernel that takes the maximum of 32 channels at a time, or of 16.
func highest() {
	TEXT("highestAVX2", NOSPLIT, "func(y, x *uint8, channels int, offs *int32, positions int)")
	Pragma("noescape")
	Doc("highestAVX2 is highestGo for a single window of at least 16 channels.",
		"The last step may repeat channels of the step before.")
	y := Load(Param("y"), GP64())
	x := Load(Param("x"), GP64())
	left := Load(Param("channels"), GP64())
	positions := Load(Param("positions"), GP64())
	offs := Load(Param("offs"), GP64())
	at, n, off := GP64(), GP64(), GP64()
	CMPQ(left, Imm(32))
	JLT(LabelRef("sixteen"))
	Label("channels")
	top := zero()
	MOVQ(offs, at)
	MOVQ(positions, n)
	Label("positions")
	MOVLQSX(Mem{Base: at}, off)
	VPMAXUB(Mem{Base: x, Index: off, Scale: 1}, top, top)
	ADDQ(Imm(4), at)
	DECQ(n)
	JNZ(LabelRef("positions"))
	VMOVDQU(top, Mem{Base: y})
	ADDQ(Imm(32), x)
	ADDQ(Imm(32), y)
	SUBQ(Imm(32), left)
	CMPQ(left, Imm(32))
	JGE(LabelRef("channels"))
	Label("sixteen")
	TESTQ(left, left)
	JZ(LabelRef("done"))
	CMPQ(left, Imm(16))
	JGE(LabelRef("half"))
	// Go back so that the 16 channels end with the last one.
	SUBQ(Imm(16), left)
	ADDQ(left, x)
	ADDQ(left, y)
	MOVQ(U32(16), left)
	Label("half")
	few := XMM()
	VPXOR(few, few, few)
	MOVQ(offs, at)
	MOVQ(positions, n)
	Label("half_positions")
	MOVLQSX(Mem{Base: at}, off)
	VPMAXUB(Mem{Base: x, Index: off, Scale: 1}, few, few)
	ADDQ(Imm(4), at)
	DECQ(n)
	JNZ(LabelRef("half_positions"))
	VMOVDQU(few, Mem{Base: y})
	ADDQ(Imm(16), x)
	ADDQ(Imm(16), y)
	SUBQ(Imm(16), left)
	JMP(LabelRef("sixteen"))
	Label("done")
	VZEROUPPER()
	RET()
}

// sought writes the kernel that looks up 32 numbers in each step, 8 at a time.
func sought() {
	TEXT("soughtAVX2", NOSPLIT,
		"func(y *uint8, x *float32, steps int, thresholds *float32, least, scale, last float32)")
	Pragma("noescape")
	Doc("soughtAVX2 is soughtGo. Each step takes 32 numbers.")
	y := Load(Param("y"), GP64())
	x := Load(Param("x"), GP64())
	steps := Load(Param("steps"), GP64())
	thresholds := Load(Param("thresholds"), GP64())
	var spread [3]VecVirtual
	for i, name := range []string{"least", "scale", "last"} {
		one := Load(Param(name), XMM())
		spread[i] = YMM()
		VBROADCASTSS(one, spread[i])
	}
	low, order, bytes := zero(), YMM(), YMM()
	VMOVDQU(places(), order)
	VPCMPEQD(bytes, bytes, bytes)
	VPSRLD(U8(24), bytes, bytes)
	Label("sought")
	var guesses [4]VecVirtual
	for i := range guesses {
		guess, of, all, v := YMM(), YMM(), YMM(), YMM()
		VMOVUPS(Mem{Base: x, Disp: 32 * i}, v)
		VSUBPS(spread[0], v, guess)
		VMULPS(spread[1], guess, guess)
		VMAXPS(low, guess, guess) // also 0 for NaN
		VMINPS(spread[2], guess, guess)
		VCVTTPS2DQ(guess, guess)
		VPCMPEQD(all, all, all)
		VGATHERDPS(all, Mem{Base: thresholds, Index: guess, Scale: 4}, of)
		VCMPPS(U8(0x12), v, of, of) // of <= v
		VPSUBD(of, guess, guess)
		VPAND(bytes, guess, guess)
		guesses[i] = guess
	}
	VPACKUSDW(guesses[1], guesses[0], guesses[0])
	VPACKUSDW(guesses[3], guesses[2], guesses[2])
	VPACKUSWB(guesses[2], guesses[0], guesses[0])
	VPERMD(guesses[0], order, guesses[0])
	VMOVDQU(guesses[0], Mem{Base: y})
	ADDQ(U32(128), x)
	ADDQ(Imm(32), y)
	DECQ(steps)
	JNZ(LabelRef("sought"))
	VZEROUPPER()
	RET()
}

// places returns a table with the order of dwords in four packed vectors of 8 numbers.
var places = sync.OnceValue(func() Mem {
	m := GLOBL("places", RODATA|NOPTR)
	for i, p := range []uint32{0, 4, 1, 5, 2, 6, 3, 7} {
		DATA(4*i, U32(p))
	}
	return m
})
