// Sums of products with AVX2: each product is rounded, then each sum, as kernels.go does it.

#include "textflag.h"

// All kernels have out in DI, x in SI, the next term in DX, the next weight in BX and the terms that are left in CX.
#define ARGUMENTS \
	MOVQ out+0(FP), DI; \
	MOVQ x+8(FP), SI; \
	MOVQ terms+16(FP), DX; \
	MOVQ weights+24(FP), BX; \
	MOVQ k+32(FP), CX

#define CLEAR(a, b, c, d) \
	VXORPD a, a, a; \
	VXORPD b, b, b; \
	VXORPD c, c, c; \
	VXORPD d, d, d

// A weight times a vector of lanes is added to sums.
#define ADD(lanes, weight, product, sums) \
	VMULPD lanes, weight, product; \
	VADDPD product, sums, sums

#define WEIGHT(at, to) VBROADCASTSD at(BX), to

#define NEXT \
	ADDQ $4, DX; \
	ADDQ $32, BX; \
	DECQ CX

// Four rows, two vectors of lanes.
// func rows4x8(out, x *float64, terms *int32, weights *float64, k int)
TEXT ·rows4x8(SB), NOSPLIT, $0-40
	ARGUMENTS
	CLEAR(Y0, Y1, Y2, Y3)
	CLEAR(Y4, Y5, Y6, Y7)
	PCALIGN $32
terms:
	MOVLQSX (DX), AX
	VMOVUPD (SI)(AX*8), Y8
	VMOVUPD 32(SI)(AX*8), Y9
	WEIGHT(0, Y15)
	ADD(Y8, Y15, Y10, Y0)
	ADD(Y9, Y15, Y11, Y1)
	WEIGHT(8, Y14)
	ADD(Y8, Y14, Y12, Y2)
	ADD(Y9, Y14, Y13, Y3)
	WEIGHT(16, Y15)
	ADD(Y8, Y15, Y10, Y4)
	ADD(Y9, Y15, Y11, Y5)
	WEIGHT(24, Y14)
	ADD(Y8, Y14, Y12, Y6)
	ADD(Y9, Y14, Y13, Y7)
	NEXT
	JNZ terms
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 64(DI)
	VMOVUPD Y3, 96(DI)
	VMOVUPD Y4, 128(DI)
	VMOVUPD Y5, 160(DI)
	VMOVUPD Y6, 192(DI)
	VMOVUPD Y7, 224(DI)
	VZEROUPPER
	RET

// Four rows, one vector.
// func rows4x4(out, x *float64, terms *int32, weights *float64, k int)
TEXT ·rows4x4(SB), NOSPLIT, $0-40
	ARGUMENTS
	CLEAR(Y0, Y1, Y2, Y3)
	PCALIGN $32
terms:
	MOVLQSX (DX), AX
	VMOVUPD (SI)(AX*8), Y8
	WEIGHT(0, Y15)
	ADD(Y8, Y15, Y10, Y0)
	WEIGHT(8, Y14)
	ADD(Y8, Y14, Y11, Y1)
	WEIGHT(16, Y15)
	ADD(Y8, Y15, Y12, Y2)
	WEIGHT(24, Y14)
	ADD(Y8, Y14, Y13, Y3)
	NEXT
	JNZ terms
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 64(DI)
	VMOVUPD Y3, 96(DI)
	VZEROUPPER
	RET

// One row, four vectors at a time while there are as many, then one. ADD16 and ADD4 add what a term has for them,
// ORDER puts the lanes of a vector in order. R11 lanes are left; four of x take R12 bytes.
#define LANES(ADD16, ADD4, ORDER) \
	MOVQ DX, R8; \
	MOVQ BX, R9; \
	MOVQ CX, R10; \
	SUBQ $16, R11; \
	JLT few; \
many: \
	CLEAR(Y0, Y1, Y2, Y3); \
manyTerms: \
	MOVLQSX (DX), AX; \
	WEIGHT(0, Y15); \
	ADD16; \
	NEXT; \
	JNZ manyTerms; \
	ORDER(Y0); \
	ORDER(Y1); \
	ORDER(Y2); \
	ORDER(Y3); \
	VMOVUPD Y0, (DI); \
	VMOVUPD Y1, 32(DI); \
	VMOVUPD Y2, 64(DI); \
	VMOVUPD Y3, 96(DI); \
	LEAQ (SI)(R12*4), SI; \
	ADDQ $128, DI; \
	MOVQ R8, DX; \
	MOVQ R9, BX; \
	MOVQ R10, CX; \
	SUBQ $16, R11; \
	JGE many; \
few: \
	ADDQ $12, R11; \
	JLT done; \
four: \
	VXORPD Y0, Y0, Y0; \
fourTerms: \
	MOVLQSX (DX), AX; \
	WEIGHT(0, Y15); \
	ADD4; \
	NEXT; \
	JNZ fourTerms; \
	ORDER(Y0); \
	VMOVUPD Y0, (DI); \
	ADDQ R12, SI; \
	ADDQ $32, DI; \
	MOVQ R8, DX; \
	MOVQ R9, BX; \
	MOVQ R10, CX; \
	SUBQ $4, R11; \
	JGE four; \
done: \
	VZEROUPPER; \
	RET

#define ORDERED(vector)

#define DOUBLE(at, product, sums) ADD(at(SI)(AX*8), Y15, product, sums)
#define DOUBLES \
	DOUBLE(0, Y8, Y0); \
	DOUBLE(32, Y9, Y1); \
	DOUBLE(64, Y10, Y2); \
	DOUBLE(96, Y11, Y3)

// func doubles(out, x *float64, terms *int32, weights *float64, k, lanes int)
TEXT ·doubles(SB), NOSPLIT, $0-48
	ARGUMENTS
	MOVQ lanes+40(FP), R11
	MOVQ $32, R12
	LANES(DOUBLES, DOUBLE(0, Y8, Y0), ORDERED)

#define SINGLE(at, product, sums) \
	VCVTPS2PD at(SI)(AX*4), product; \
	ADD(product, Y15, product, sums)
#define SINGLES \
	SINGLE(0, Y8, Y0); \
	SINGLE(16, Y9, Y1); \
	SINGLE(32, Y10, Y2); \
	SINGLE(48, Y11, Y3)

// func singles(out *float64, x *float32, terms *int32, weights *float64, k, lanes int)
TEXT ·singles(SB), NOSPLIT, $0-48
	ARGUMENTS
	MOVQ lanes+40(FP), R11
	MOVQ $16, R12
	LANES(SINGLES, SINGLE(0, Y8, Y0), ORDERED)

// Every other double: lanes come as 0, 2, 1, 3.
#define SECOND(at, next, product, sums) \
	VMOVUPD at(SI)(AX*8), product; \
	VSHUFPD $10, next(SI)(AX*8), product, product; \
	ADD(product, Y15, product, sums)
#define SECONDS \
	SECOND(0, 24, Y8, Y0); \
	SECOND(64, 88, Y9, Y1); \
	SECOND(128, 152, Y10, Y2); \
	SECOND(192, 216, Y11, Y3)
#define SWAP(vector) VPERMPD $0xd8, vector, vector

// func seconds(out, x *float64, terms *int32, weights *float64, k, lanes int)
TEXT ·seconds(SB), NOSPLIT, $0-48
	ARGUMENTS
	MOVQ lanes+40(FP), R11
	MOVQ $64, R12
	LANES(SECONDS, SECOND(0, 24, Y8, Y0), SWAP)

// Lanes of x that lie R13 elements apart; then R13 is bytes, and R14 three times as many.
#define APART(shift) \
	SHLQ $shift, R13; \
	LEAQ (R13)(R13*2), R14; \
	LEAQ (R13*4), R12

#define DOUBLE_APART(a, product, b, sums) \
	VMOVSD (AX), a; \
	VMOVHPD (AX)(R13*1), a, a; \
	VMOVSD (AX)(R13*2), b; \
	VMOVHPD (AX)(R14*1), b, b; \
	VINSERTF128 $1, b, product, product; \
	ADD(product, Y15, product, sums)
#define DOUBLE4_APART \
	LEAQ (SI)(AX*8), AX; \
	DOUBLE_APART(X8, Y8, X12, Y0)
#define DOUBLES_APART \
	DOUBLE4_APART; \
	ADDQ R12, AX; \
	DOUBLE_APART(X9, Y9, X13, Y1); \
	ADDQ R12, AX; \
	DOUBLE_APART(X10, Y10, X14, Y2); \
	ADDQ R12, AX; \
	DOUBLE_APART(X11, Y11, X12, Y3)

// func doublesApart(out, x *float64, terms *int32, weights *float64, k, lanes, step int)
TEXT ·doublesApart(SB), NOSPLIT, $0-56
	ARGUMENTS
	MOVQ lanes+40(FP), R11
	MOVQ step+48(FP), R13
	APART(3)
	LANES(DOUBLES_APART, DOUBLE4_APART, ORDERED)

#define SINGLE_APART(a, product, sums) \
	VMOVSS (AX), a; \
	VINSERTPS $0x10, (AX)(R13*1), a, a; \
	VINSERTPS $0x20, (AX)(R13*2), a, a; \
	VINSERTPS $0x30, (AX)(R14*1), a, a; \
	VCVTPS2PD a, product; \
	ADD(product, Y15, product, sums)
#define SINGLE4_APART \
	LEAQ (SI)(AX*4), AX; \
	SINGLE_APART(X8, Y8, Y0)
#define SINGLES_APART \
	SINGLE4_APART; \
	ADDQ R12, AX; \
	SINGLE_APART(X9, Y9, Y1); \
	ADDQ R12, AX; \
	SINGLE_APART(X10, Y10, Y2); \
	ADDQ R12, AX; \
	SINGLE_APART(X11, Y11, Y3)

// func singlesApart(out *float64, x *float32, terms *int32, weights *float64, k, lanes, step int)
TEXT ·singlesApart(SB), NOSPLIT, $0-56
	ARGUMENTS
	MOVQ lanes+40(FP), R11
	MOVQ step+48(FP), R13
	APART(2)
	LANES(SINGLES_APART, SINGLE4_APART, ORDERED)

// Eight lanes of float32, four terms of them: lane l is in half l/4 of vector l%4. Terms come out in
// Y0, Y5, Y2 and Y7, eight lanes each.
#define TURN \
	VUNPCKLPS Y1, Y0, Y4; \
	VUNPCKHPS Y1, Y0, Y6; \
	VUNPCKLPS Y3, Y2, Y5; \
	VUNPCKHPS Y3, Y2, Y7; \
	VUNPCKLPD Y5, Y4, Y0; \
	VUNPCKHPD Y5, Y4, Y5; \
	VUNPCKLPD Y7, Y6, Y2; \
	VUNPCKHPD Y7, Y6, Y7

#define TERM(at, lanes, few) \
	WEIGHT(at, Y15); \
	VCVTPS2PD few, Y10; \
	ADD(Y10, Y15, Y10, Y8); \
	VEXTRACTF128 $1, lanes, X11; \
	VCVTPS2PD X11, Y11; \
	ADD(Y11, Y15, Y11, Y9)

// Eight lanes at a time, whose terms follow each other.
// func turned(out *float64, x *float32, weights *float64, k, lanes, step int)
TEXT ·turned(SB), NOSPLIT, $0-48
	MOVQ out+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ lanes+32(FP), R11
	MOVQ step+40(FP), R13
	SHLQ $2, R13
	LEAQ (R13)(R13*2), R14
	LEAQ (R13*4), R12
lanes:
	MOVQ weights+16(FP), BX
	MOVQ k+24(FP), CX
	MOVQ SI, AX
	LEAQ (SI)(R12*1), DX
	VXORPD Y8, Y8, Y8
	VXORPD Y9, Y9, Y9
	SUBQ $4, CX
	JLT few
	PCALIGN $32
terms:
	VMOVUPS (AX), X0
	VMOVUPS (AX)(R13*1), X1
	VMOVUPS (AX)(R13*2), X2
	VMOVUPS (AX)(R14*1), X3
	VINSERTF128 $1, (DX), Y0, Y0
	VINSERTF128 $1, (DX)(R13*1), Y1, Y1
	VINSERTF128 $1, (DX)(R13*2), Y2, Y2
	VINSERTF128 $1, (DX)(R14*1), Y3, Y3
	TURN
	TERM(0, Y0, X0)
	TERM(32, Y5, X5)
	TERM(64, Y2, X2)
	TERM(96, Y7, X7)
	ADDQ $16, AX
	ADDQ $16, DX
	ADDQ $128, BX
	SUBQ $4, CX
	JGE terms
few:
	ADDQ $4, CX
	JEQ done
one:
	VMOVSS (AX), X0
	VINSERTPS $0x10, (AX)(R13*1), X0, X0
	VINSERTPS $0x20, (AX)(R13*2), X0, X0
	VINSERTPS $0x30, (AX)(R14*1), X0, X0
	VMOVSS (DX), X1
	VINSERTPS $0x10, (DX)(R13*1), X1, X1
	VINSERTPS $0x20, (DX)(R13*2), X1, X1
	VINSERTPS $0x30, (DX)(R14*1), X1, X1
	VINSERTF128 $1, X1, Y0, Y0
	TERM(0, Y0, X0)
	ADDQ $4, AX
	ADDQ $4, DX
	ADDQ $32, BX
	DECQ CX
	JNZ one
done:
	VMOVUPD Y8, (DI)
	VMOVUPD Y9, 32(DI)
	ADDQ $64, DI
	LEAQ (SI)(R12*2), SI
	SUBQ $8, R11
	JGT lanes
	VZEROUPPER
	RET
