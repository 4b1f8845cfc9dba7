// Inner loops of package fast for arm64. kernels.go has the same in Go, and says what each computes.
//
// Go's assembler lacks most instructions of vectors. These are words, beside each what it is for GNU's assembler, which
// TestWords holds them against: `go test ./internal/fast -run TestWords -update` writes the words anew.

#include "textflag.h"

// func dotUSDOT(acc *int32, x *uint8, at *int, groups int, offs *int32, weights *int8, steps int)
TEXT ·dotUSDOT(SB), NOSPLIT, $0-56
	MOVD acc+0(FP), R0
	MOVD at+16(FP), R2
	MOVD groups+24(FP), R3

tiles:
	MOVD  x+8(FP), R1
	LDP.P 16(R2), (R4, R5)
	LDP.P 16(R2), (R6, R7)
	ADD   R1, R4
	ADD   R1, R5
	ADD   R1, R6
	ADD   R1, R7
	MOVD  offs+32(FP), R8
	MOVD  weights+40(FP), R9
	MOVD  steps+48(FP), R10
	VEOR  V16.B16, V16.B16, V16.B16
	VEOR  V17.B16, V17.B16, V17.B16
	VEOR  V18.B16, V18.B16, V18.B16
	VEOR  V19.B16, V19.B16, V19.B16
	VEOR  V20.B16, V20.B16, V20.B16
	VEOR  V21.B16, V21.B16, V21.B16
	VEOR  V22.B16, V22.B16, V22.B16
	VEOR  V23.B16, V23.B16, V23.B16
	VEOR  V24.B16, V24.B16, V24.B16
	VEOR  V25.B16, V25.B16, V25.B16
	VEOR  V26.B16, V26.B16, V26.B16
	VEOR  V27.B16, V27.B16, V27.B16
	VEOR  V28.B16, V28.B16, V28.B16
	VEOR  V29.B16, V29.B16, V29.B16
	VEOR  V30.B16, V30.B16, V30.B16
	VEOR  V31.B16, V31.B16, V31.B16

steps:
	MOVW.P 4(R8), R11
	VLD1.P 64(R9), [V0.B16, V1.B16, V2.B16, V3.B16]
	ADD    R11, R4, R12
	VLD1R  (R12), [V4.S4]
	ADD    R11, R5, R12
	VLD1R  (R12), [V5.S4]
	ADD    R11, R6, R12
	VLD1R  (R12), [V6.S4]
	ADD    R11, R7, R12
	VLD1R  (R12), [V7.S4]
	WORD $0x4e809c90 // usdot v16.4s, v4.16b, v0.16b
	WORD $0x4e819c91 // usdot v17.4s, v4.16b, v1.16b
	WORD $0x4e829c92 // usdot v18.4s, v4.16b, v2.16b
	WORD $0x4e839c93 // usdot v19.4s, v4.16b, v3.16b
	WORD $0x4e809cb4 // usdot v20.4s, v5.16b, v0.16b
	WORD $0x4e819cb5 // usdot v21.4s, v5.16b, v1.16b
	WORD $0x4e829cb6 // usdot v22.4s, v5.16b, v2.16b
	WORD $0x4e839cb7 // usdot v23.4s, v5.16b, v3.16b
	WORD $0x4e809cd8 // usdot v24.4s, v6.16b, v0.16b
	WORD $0x4e819cd9 // usdot v25.4s, v6.16b, v1.16b
	WORD $0x4e829cda // usdot v26.4s, v6.16b, v2.16b
	WORD $0x4e839cdb // usdot v27.4s, v6.16b, v3.16b
	WORD $0x4e809cfc // usdot v28.4s, v7.16b, v0.16b
	WORD $0x4e819cfd // usdot v29.4s, v7.16b, v1.16b
	WORD $0x4e829cfe // usdot v30.4s, v7.16b, v2.16b
	WORD $0x4e839cff // usdot v31.4s, v7.16b, v3.16b
	SUBS   $1, R10
	BNE    steps
	VST1.P [V16.S4, V17.S4, V18.S4, V19.S4], 64(R0)
	VST1.P [V20.S4, V21.S4, V22.S4, V23.S4], 64(R0)
	VST1.P [V24.S4, V25.S4, V26.S4, V27.S4], 64(R0)
	VST1.P [V28.S4, V29.S4, V30.S4, V31.S4], 64(R0)
	SUBS  $1, R3
	BNE   tiles
	RET

// func dotSDOT(acc *int32, x *uint8, at *int, groups int, offs *int32, weights *int8, steps int)
TEXT ·dotSDOT(SB), NOSPLIT, $0-56
	MOVD acc+0(FP), R0
	MOVD at+16(FP), R2
	MOVD groups+24(FP), R3
	VMOVI $128, V8.B16

tiles:
	MOVD  x+8(FP), R1
	LDP.P 16(R2), (R4, R5)
	LDP.P 16(R2), (R6, R7)
	ADD   R1, R4
	ADD   R1, R5
	ADD   R1, R6
	ADD   R1, R7
	MOVD  offs+32(FP), R8
	MOVD  weights+40(FP), R9
	MOVD  steps+48(FP), R10
	VEOR  V16.B16, V16.B16, V16.B16
	VEOR  V17.B16, V17.B16, V17.B16
	VEOR  V18.B16, V18.B16, V18.B16
	VEOR  V19.B16, V19.B16, V19.B16
	VEOR  V20.B16, V20.B16, V20.B16
	VEOR  V21.B16, V21.B16, V21.B16
	VEOR  V22.B16, V22.B16, V22.B16
	VEOR  V23.B16, V23.B16, V23.B16
	VEOR  V24.B16, V24.B16, V24.B16
	VEOR  V25.B16, V25.B16, V25.B16
	VEOR  V26.B16, V26.B16, V26.B16
	VEOR  V27.B16, V27.B16, V27.B16
	VEOR  V28.B16, V28.B16, V28.B16
	VEOR  V29.B16, V29.B16, V29.B16
	VEOR  V30.B16, V30.B16, V30.B16
	VEOR  V31.B16, V31.B16, V31.B16

steps:
	MOVW.P 4(R8), R11
	VLD1.P 64(R9), [V0.B16, V1.B16, V2.B16, V3.B16]
	ADD    R11, R4, R12
	VLD1R  (R12), [V4.S4]
	ADD    R11, R5, R12
	VLD1R  (R12), [V5.S4]
	ADD    R11, R6, R12
	VLD1R  (R12), [V6.S4]
	ADD    R11, R7, R12
	VLD1R  (R12), [V7.S4]
	VEOR   V8.B16, V4.B16, V4.B16
	VEOR   V8.B16, V5.B16, V5.B16
	VEOR   V8.B16, V6.B16, V6.B16
	VEOR   V8.B16, V7.B16, V7.B16
	WORD $0x4e809490 // sdot v16.4s, v4.16b, v0.16b
	WORD $0x4e819491 // sdot v17.4s, v4.16b, v1.16b
	WORD $0x4e829492 // sdot v18.4s, v4.16b, v2.16b
	WORD $0x4e839493 // sdot v19.4s, v4.16b, v3.16b
	WORD $0x4e8094b4 // sdot v20.4s, v5.16b, v0.16b
	WORD $0x4e8194b5 // sdot v21.4s, v5.16b, v1.16b
	WORD $0x4e8294b6 // sdot v22.4s, v5.16b, v2.16b
	WORD $0x4e8394b7 // sdot v23.4s, v5.16b, v3.16b
	WORD $0x4e8094d8 // sdot v24.4s, v6.16b, v0.16b
	WORD $0x4e8194d9 // sdot v25.4s, v6.16b, v1.16b
	WORD $0x4e8294da // sdot v26.4s, v6.16b, v2.16b
	WORD $0x4e8394db // sdot v27.4s, v6.16b, v3.16b
	WORD $0x4e8094fc // sdot v28.4s, v7.16b, v0.16b
	WORD $0x4e8194fd // sdot v29.4s, v7.16b, v1.16b
	WORD $0x4e8294fe // sdot v30.4s, v7.16b, v2.16b
	WORD $0x4e8394ff // sdot v31.4s, v7.16b, v3.16b
	SUBS   $1, R10
	BNE    steps
	VST1.P [V16.S4, V17.S4, V18.S4, V19.S4], 64(R0)
	VST1.P [V20.S4, V21.S4, V22.S4, V23.S4], 64(R0)
	VST1.P [V24.S4, V25.S4, V26.S4, V27.S4], 64(R0)
	VST1.P [V28.S4, V29.S4, V30.S4, V31.S4], 64(R0)
	SUBS  $1, R3
	BNE   tiles
	RET

// func eachNEON(acc *int32, x *uint8, at *int, groups int, offs *int32, weights *int16, steps int)
TEXT ·eachNEON(SB), NOSPLIT, $0-56
	MOVD acc+0(FP), R0
	MOVD at+16(FP), R2
	MOVD groups+24(FP), R3

tiles:
	MOVD  x+8(FP), R1
	LDP.P 16(R2), (R4, R5)
	LDP.P 16(R2), (R6, R7)
	ADD   R1, R4
	ADD   R1, R5
	ADD   R1, R6
	ADD   R1, R7
	MOVD  offs+32(FP), R8
	MOVD  weights+40(FP), R9
	MOVD  steps+48(FP), R10
	VEOR  V16.B16, V16.B16, V16.B16
	VEOR  V17.B16, V17.B16, V17.B16
	VEOR  V18.B16, V18.B16, V18.B16
	VEOR  V19.B16, V19.B16, V19.B16
	VEOR  V20.B16, V20.B16, V20.B16
	VEOR  V21.B16, V21.B16, V21.B16
	VEOR  V22.B16, V22.B16, V22.B16
	VEOR  V23.B16, V23.B16, V23.B16

steps:
	MOVW.P 4(R8), R11
	VLD1.P 32(R9), [V0.H8, V1.H8]
	ADD    R11, R4, R12
	VLD1   (R12), [V2.B16]
	ADD    R11, R5, R12
	VLD1   (R12), [V3.B16]
	ADD    R11, R6, R12
	VLD1   (R12), [V4.B16]
	ADD    R11, R7, R12
	VLD1   (R12), [V5.B16]
	VUXTL  V2.B8, V6.H8
	VUXTL2 V2.B16, V7.H8
	WORD $0x4e6094d0 // mla v16.8h, v6.8h, v0.8h
	WORD $0x4e6194f1 // mla v17.8h, v7.8h, v1.8h
	VUXTL  V3.B8, V6.H8
	VUXTL2 V3.B16, V7.H8
	WORD $0x4e6094d2 // mla v18.8h, v6.8h, v0.8h
	WORD $0x4e6194f3 // mla v19.8h, v7.8h, v1.8h
	VUXTL  V4.B8, V6.H8
	VUXTL2 V4.B16, V7.H8
	WORD $0x4e6094d4 // mla v20.8h, v6.8h, v0.8h
	WORD $0x4e6194f5 // mla v21.8h, v7.8h, v1.8h
	VUXTL  V5.B8, V6.H8
	VUXTL2 V5.B16, V7.H8
	WORD $0x4e6094d6 // mla v22.8h, v6.8h, v0.8h
	WORD $0x4e6194f7 // mla v23.8h, v7.8h, v1.8h
	SUBS   $1, R10
	BNE    steps
	WORD $0x0f10a600 // sxtl v0.4s, v16.4h
	WORD $0x4f10a601 // sxtl2 v1.4s, v16.8h
	WORD $0x0f10a622 // sxtl v2.4s, v17.4h
	WORD $0x4f10a623 // sxtl2 v3.4s, v17.8h
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R0)
	WORD $0x0f10a640 // sxtl v0.4s, v18.4h
	WORD $0x4f10a641 // sxtl2 v1.4s, v18.8h
	WORD $0x0f10a662 // sxtl v2.4s, v19.4h
	WORD $0x4f10a663 // sxtl2 v3.4s, v19.8h
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R0)
	WORD $0x0f10a680 // sxtl v0.4s, v20.4h
	WORD $0x4f10a681 // sxtl2 v1.4s, v20.8h
	WORD $0x0f10a6a2 // sxtl v2.4s, v21.4h
	WORD $0x4f10a6a3 // sxtl2 v3.4s, v21.8h
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R0)
	WORD $0x0f10a6c0 // sxtl v0.4s, v22.4h
	WORD $0x4f10a6c1 // sxtl2 v1.4s, v22.8h
	WORD $0x0f10a6e2 // sxtl v2.4s, v23.4h
	WORD $0x4f10a6e3 // sxtl2 v3.4s, v23.8h
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R0)
	SUBS  $1, R3
	BNE   tiles
	RET

// func lineNEON(y *uint8, stride, lanes int, acc *int32, rows int, scale, bias *float32, top, base *uint8)
TEXT ·lineNEON(SB), NOSPLIT, $0-72
	MOVD y+0(FP), R0
	MOVD stride+8(FP), R1
	MOVD lanes+16(FP), R2
	MOVD acc+24(FP), R3
	MOVD rows+32(FP), R4
	MOVD scale+40(FP), R5
	VLD1 (R5), [V16.S4, V17.S4, V18.S4, V19.S4]
	MOVD bias+48(FP), R5
	VLD1 (R5), [V20.S4, V21.S4, V22.S4, V23.S4]
	MOVD top+56(FP), R5
	VLD1 (R5), [V24.B16]
	MOVD base+64(FP), R5
	VLD1 (R5), [V25.B16]

rows:
	VLD1.P 64(R3), [V0.S4, V1.S4, V2.S4, V3.S4]
	WORD $0x4e21d800 // scvtf v0.4s, v0.4s
	WORD $0x4e21d821 // scvtf v1.4s, v1.4s
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	WORD $0x4e21d863 // scvtf v3.4s, v3.4s
	WORD $0x6e30dc00 // fmul v0.4s, v0.4s, v16.4s
	WORD $0x6e31dc21 // fmul v1.4s, v1.4s, v17.4s
	WORD $0x6e32dc42 // fmul v2.4s, v2.4s, v18.4s
	WORD $0x6e33dc63 // fmul v3.4s, v3.4s, v19.4s
	WORD $0x4e34d400 // fadd v0.4s, v0.4s, v20.4s
	WORD $0x4e35d421 // fadd v1.4s, v1.4s, v21.4s
	WORD $0x4e36d442 // fadd v2.4s, v2.4s, v22.4s
	WORD $0x4e37d463 // fadd v3.4s, v3.4s, v23.4s
	WORD $0x4ea1b800 // fcvtzs v0.4s, v0.4s
	WORD $0x4ea1b821 // fcvtzs v1.4s, v1.4s
	WORD $0x4ea1b842 // fcvtzs v2.4s, v2.4s
	WORD $0x4ea1b863 // fcvtzs v3.4s, v3.4s
	WORD $0x0e614800 // sqxtn v0.4h, v0.4s
	WORD $0x4e614820 // sqxtn2 v0.8h, v1.4s
	WORD $0x0e614842 // sqxtn v2.4h, v2.4s
	WORD $0x4e614862 // sqxtn2 v2.8h, v3.4s
	WORD $0x2e212800 // sqxtun v0.8b, v0.8h
	WORD $0x6e212840 // sqxtun2 v0.16b, v2.8h
	VUMIN V24.B16, V0.B16, V0.B16
	VADD  V25.B16, V0.B16, V0.B16

store:
	CMP   $16, R2
	BNE   parts
	VST1  [V0.B16], (R0)

behind:
	ADD   R1, R0
	SUBS  $1, R4
	BNE   rows
	RET

parts:
	MOVD  R0, R12
	TBZ   $3, R2, four
	FMOVD.P F0, 8(R12)
	VEXT  $8, V0.B16, V0.B16, V0.B16

four:
	TBZ   $2, R2, two
	FMOVS.P F0, 4(R12)
	VEXT  $4, V0.B16, V0.B16, V0.B16

two:
	TBZ   $1, R2, one
	VST1.P V0.H[0], 2(R12)
	VEXT  $2, V0.B16, V0.B16, V0.B16

one:
	TBZ   $0, R2, behind
	VST1  V0.B[0], (R12)
	B     behind

// func steepNEON(y *uint8, stride, lanes int, acc *int32, rows int, scale, bias *float64, top, base *uint8)
TEXT ·steepNEON(SB), NOSPLIT, $0-72
	MOVD y+0(FP), R0
	MOVD stride+8(FP), R1
	MOVD lanes+16(FP), R2
	MOVD acc+24(FP), R3
	MOVD rows+32(FP), R4
	MOVD scale+40(FP), R5
	MOVD bias+48(FP), R6
	MOVD top+56(FP), R7
	VLD1 (R7), [V24.B16]
	MOVD base+64(FP), R7
	VLD1 (R7), [V25.B16]

rows:
	VLD1.P 64(R3), [V0.S4, V1.S4, V2.S4, V3.S4]
	MOVD  R5, R7
	MOVD  R6, R8
	VLD1.P 32(R7), [V16.D2, V17.D2]
	VLD1.P 32(R8), [V18.D2, V19.D2]
	WORD $0x0f20a404 // sxtl v4.2d, v0.2s
	WORD $0x4f20a405 // sxtl2 v5.2d, v0.4s
	WORD $0x4e61d884 // scvtf v4.2d, v4.2d
	WORD $0x4e61d8a5 // scvtf v5.2d, v5.2d
	WORD $0x6e70dc84 // fmul v4.2d, v4.2d, v16.2d
	WORD $0x6e71dca5 // fmul v5.2d, v5.2d, v17.2d
	WORD $0x4e72d484 // fadd v4.2d, v4.2d, v18.2d
	WORD $0x4e73d4a5 // fadd v5.2d, v5.2d, v19.2d
	WORD $0x4ee1b884 // fcvtzs v4.2d, v4.2d
	WORD $0x4ee1b8a5 // fcvtzs v5.2d, v5.2d
	WORD $0x0ea14880 // sqxtn v0.2s, v4.2d
	WORD $0x4ea148a0 // sqxtn2 v0.4s, v5.2d
	VLD1.P 32(R7), [V16.D2, V17.D2]
	VLD1.P 32(R8), [V18.D2, V19.D2]
	WORD $0x0f20a424 // sxtl v4.2d, v1.2s
	WORD $0x4f20a425 // sxtl2 v5.2d, v1.4s
	WORD $0x4e61d884 // scvtf v4.2d, v4.2d
	WORD $0x4e61d8a5 // scvtf v5.2d, v5.2d
	WORD $0x6e70dc84 // fmul v4.2d, v4.2d, v16.2d
	WORD $0x6e71dca5 // fmul v5.2d, v5.2d, v17.2d
	WORD $0x4e72d484 // fadd v4.2d, v4.2d, v18.2d
	WORD $0x4e73d4a5 // fadd v5.2d, v5.2d, v19.2d
	WORD $0x4ee1b884 // fcvtzs v4.2d, v4.2d
	WORD $0x4ee1b8a5 // fcvtzs v5.2d, v5.2d
	WORD $0x0ea14881 // sqxtn v1.2s, v4.2d
	WORD $0x4ea148a1 // sqxtn2 v1.4s, v5.2d
	VLD1.P 32(R7), [V16.D2, V17.D2]
	VLD1.P 32(R8), [V18.D2, V19.D2]
	WORD $0x0f20a444 // sxtl v4.2d, v2.2s
	WORD $0x4f20a445 // sxtl2 v5.2d, v2.4s
	WORD $0x4e61d884 // scvtf v4.2d, v4.2d
	WORD $0x4e61d8a5 // scvtf v5.2d, v5.2d
	WORD $0x6e70dc84 // fmul v4.2d, v4.2d, v16.2d
	WORD $0x6e71dca5 // fmul v5.2d, v5.2d, v17.2d
	WORD $0x4e72d484 // fadd v4.2d, v4.2d, v18.2d
	WORD $0x4e73d4a5 // fadd v5.2d, v5.2d, v19.2d
	WORD $0x4ee1b884 // fcvtzs v4.2d, v4.2d
	WORD $0x4ee1b8a5 // fcvtzs v5.2d, v5.2d
	WORD $0x0ea14882 // sqxtn v2.2s, v4.2d
	WORD $0x4ea148a2 // sqxtn2 v2.4s, v5.2d
	VLD1.P 32(R7), [V16.D2, V17.D2]
	VLD1.P 32(R8), [V18.D2, V19.D2]
	WORD $0x0f20a464 // sxtl v4.2d, v3.2s
	WORD $0x4f20a465 // sxtl2 v5.2d, v3.4s
	WORD $0x4e61d884 // scvtf v4.2d, v4.2d
	WORD $0x4e61d8a5 // scvtf v5.2d, v5.2d
	WORD $0x6e70dc84 // fmul v4.2d, v4.2d, v16.2d
	WORD $0x6e71dca5 // fmul v5.2d, v5.2d, v17.2d
	WORD $0x4e72d484 // fadd v4.2d, v4.2d, v18.2d
	WORD $0x4e73d4a5 // fadd v5.2d, v5.2d, v19.2d
	WORD $0x4ee1b884 // fcvtzs v4.2d, v4.2d
	WORD $0x4ee1b8a5 // fcvtzs v5.2d, v5.2d
	WORD $0x0ea14883 // sqxtn v3.2s, v4.2d
	WORD $0x4ea148a3 // sqxtn2 v3.4s, v5.2d
	WORD $0x0e614800 // sqxtn v0.4h, v0.4s
	WORD $0x4e614820 // sqxtn2 v0.8h, v1.4s
	WORD $0x0e614842 // sqxtn v2.4h, v2.4s
	WORD $0x4e614862 // sqxtn2 v2.8h, v3.4s
	WORD $0x2e212800 // sqxtun v0.8b, v0.8h
	WORD $0x6e212840 // sqxtun2 v0.16b, v2.8h
	VUMIN V24.B16, V0.B16, V0.B16
	VADD  V25.B16, V0.B16, V0.B16

store:
	CMP   $16, R2
	BNE   parts
	VST1  [V0.B16], (R0)

behind:
	ADD   R1, R0
	SUBS  $1, R4
	BNE   rows
	RET

parts:
	MOVD  R0, R12
	TBZ   $3, R2, four
	FMOVD.P F0, 8(R12)
	VEXT  $8, V0.B16, V0.B16, V0.B16

four:
	TBZ   $2, R2, two
	FMOVS.P F0, 4(R12)
	VEXT  $4, V0.B16, V0.B16, V0.B16

two:
	TBZ   $1, R2, one
	VST1.P V0.H[0], 2(R12)
	VEXT  $2, V0.B16, V0.B16, V0.B16

one:
	TBZ   $0, R2, behind
	VST1  V0.B[0], (R12)
	B     behind

// func countNEON(y *uint8, stride, lanes int, acc *int32, rows int, thresholds *int32, n int, base *uint8)
TEXT ·countNEON(SB), NOSPLIT, $0-64
	MOVD y+0(FP), R0
	MOVD stride+8(FP), R1
	MOVD lanes+16(FP), R2
	MOVD acc+24(FP), R3
	MOVD rows+32(FP), R4
	MOVD thresholds+40(FP), R5
	MOVD n+48(FP), R6
	MOVD base+56(FP), R7
	VLD1 (R7), [V25.B16]

rows:
	VLD1.P 64(R3), [V4.S4, V5.S4, V6.S4, V7.S4]
	VEOR  V0.B16, V0.B16, V0.B16
	VEOR  V1.B16, V1.B16, V1.B16
	VEOR  V2.B16, V2.B16, V2.B16
	VEOR  V3.B16, V3.B16, V3.B16
	MOVD  R5, R7
	MOVD  R6, R8

limits:
	VLD1.P 64(R7), [V16.S4, V17.S4, V18.S4, V19.S4]
	WORD $0x4eb03490 // cmgt v16.4s, v4.4s, v16.4s
	WORD $0x4eb134b1 // cmgt v17.4s, v5.4s, v17.4s
	WORD $0x4eb234d2 // cmgt v18.4s, v6.4s, v18.4s
	WORD $0x4eb334f3 // cmgt v19.4s, v7.4s, v19.4s
	VSUB  V16.S4, V0.S4, V0.S4
	VSUB  V17.S4, V1.S4, V1.S4
	VSUB  V18.S4, V2.S4, V2.S4
	VSUB  V19.S4, V3.S4, V3.S4
	SUBS  $1, R8
	BNE   limits
	WORD $0x0e612800 // xtn v0.4h, v0.4s
	WORD $0x4e612820 // xtn2 v0.8h, v1.4s
	WORD $0x0e612842 // xtn v2.4h, v2.4s
	WORD $0x4e612862 // xtn2 v2.8h, v3.4s
	WORD $0x0e212800 // xtn v0.8b, v0.8h
	WORD $0x4e212840 // xtn2 v0.16b, v2.8h
	VADD  V25.B16, V0.B16, V0.B16

store:
	CMP   $16, R2
	BNE   parts
	VST1  [V0.B16], (R0)

behind:
	ADD   R1, R0
	SUBS  $1, R4
	BNE   rows
	RET

parts:
	MOVD  R0, R12
	TBZ   $3, R2, four
	FMOVD.P F0, 8(R12)
	VEXT  $8, V0.B16, V0.B16, V0.B16

four:
	TBZ   $2, R2, two
	FMOVS.P F0, 4(R12)
	VEXT  $4, V0.B16, V0.B16, V0.B16

two:
	TBZ   $1, R2, one
	VST1.P V0.H[0], 2(R12)
	VEXT  $2, V0.B16, V0.B16, V0.B16

one:
	TBZ   $0, R2, behind
	VST1  V0.B[0], (R12)
	B     behind

// func highestNEON(y, x *uint8, channels int, offs *int32, positions int)
TEXT ·highestNEON(SB), NOSPLIT, $0-40
	MOVD y+0(FP), R0
	MOVD x+8(FP), R1
	MOVD channels+16(FP), R2
	MOVD offs+24(FP), R3
	MOVD positions+32(FP), R4

channels:
	CMP  $16, R2
	BGE  sixteen
	SUB  $16, R2, R5 // back to where 16 channels end with the last
	ADD  R5, R0
	ADD  R5, R1
	MOVD $16, R2

sixteen:
	VEOR V0.B16, V0.B16, V0.B16
	MOVD R3, R5
	MOVD R4, R6

positions:
	MOVW.P 4(R5), R7
	ADD    R1, R7
	VLD1   (R7), [V1.B16]
	VUMAX  V1.B16, V0.B16, V0.B16
	SUBS   $1, R6
	BNE    positions
	VST1.P [V0.B16], 16(R0)
	ADD    $16, R1
	SUBS   $16, R2
	BNE    channels
	RET

// func reachedNEON(y *uint8, x *float32, steps int, thresholds *float32, n int, first, step uint64)
TEXT ·reachedNEON(SB), NOSPLIT, $0-56
	MOVD y+0(FP), R0
	MOVD x+8(FP), R1
	MOVD steps+16(FP), R2
	MOVD thresholds+24(FP), R3
	MOVD n+32(FP), R4
	MOVD first+40(FP), R5
	VDUP R5, V20.S4
	MOVD step+48(FP), R5
	VDUP R5, V21.S4

numbers:
	VLD1.P 64(R1), [V4.S4, V5.S4, V6.S4, V7.S4]
	VMOV  V20.B16, V0.B16
	VMOV  V20.B16, V1.B16
	VMOV  V20.B16, V2.B16
	VMOV  V20.B16, V3.B16
	MOVD  R3, R5
	MOVD  R4, R6

thresholds:
	VLD1R.P 4(R5), [V16.S4]
	WORD $0x6e30e496 // fcmge v22.4s, v4.4s, v16.4s
	WORD $0x6e30e4b7 // fcmge v23.4s, v5.4s, v16.4s
	WORD $0x6e30e4d8 // fcmge v24.4s, v6.4s, v16.4s
	WORD $0x6e30e4f9 // fcmge v25.4s, v7.4s, v16.4s
	VAND  V21.B16, V22.B16, V22.B16
	VAND  V21.B16, V23.B16, V23.B16
	VAND  V21.B16, V24.B16, V24.B16
	VAND  V21.B16, V25.B16, V25.B16
	VADD  V22.S4, V0.S4, V0.S4
	VADD  V23.S4, V1.S4, V1.S4
	VADD  V24.S4, V2.S4, V2.S4
	VADD  V25.S4, V3.S4, V3.S4
	SUBS  $1, R6
	BNE   thresholds
	WORD $0x0e612800 // xtn v0.4h, v0.4s
	WORD $0x4e612820 // xtn2 v0.8h, v1.4s
	WORD $0x0e612842 // xtn v2.4h, v2.4s
	WORD $0x4e612862 // xtn2 v2.8h, v3.4s
	WORD $0x0e212800 // xtn v0.8b, v0.8h
	WORD $0x4e212840 // xtn2 v0.16b, v2.8h
	VST1.P [V0.B16], 16(R0)
	SUBS   $1, R2
	BNE    numbers
	RET
