package fast

import "golang.org/x/sys/cpu"

// avx2 reports whether the processor has what kernels_amd64.s needs.
var avx2 = cpu.X86.HasAVX2

func dot(acc *[rows * lanes]int32, x []uint8, at *[rows]int, weights []int8, steps, chunk int) {
	if !avx2 {
		dotGo(acc, x, at, weights, steps)
		return
	}
	for _, from := range at {
		_ = x[from : from+steps*deep]
	}
	_ = weights[steps*lanes*deep-1]
	dotAVX2(&acc[0], &x[at[0]], &x[at[1]], &x[at[2]], &x[at[3]], &weights[0], steps, chunk)
}

func count(y *[rows * lanes]uint8, acc *[rows * lanes]int32, thresholds []int32, base *[lanes]uint8) {
	if !avx2 || len(thresholds) == 0 {
		countGo(y, acc, thresholds, base)
		return
	}
	countAVX2(&y[0], &acc[0], &thresholds[0], len(thresholds)/lanes, &base[0])
}

func each(acc *[lanes]int32, x []uint8, stride int, weights []int16) {
	if !avx2 {
		eachGo(acc, x, stride, weights)
		return
	}
	steps := len(weights) / lanes
	_ = x[(steps-1)*stride+lanes-1]
	eachAVX2(&acc[0], &x[0], stride, &weights[0], steps)
}

func greatest(y, x []uint8) {
	if n := len(y) / 32; avx2 && n > 0 {
		_ = x[n*32-1]
		greatestAVX2(&y[0], &x[0], n)
		y, x = y[n*32:], x[n*32:]
	}
	greatestGo(y, x)
}

func reached(y []uint8, x, thresholds []float32) {
	if n := len(y) / 32; avx2 && n > 0 && len(thresholds) > 0 {
		_ = x[n*32-1]
		reachedAVX2(&y[0], &x[0], n, &thresholds[0], len(thresholds))
		y, x = y[n*32:], x[n*32:]
	}
	reachedGo(y, x, thresholds)
}

// dotAVX2 is dotGo for rows that begin at x0 to x3.
//
//go:noescape
func dotAVX2(acc *int32, x0, x1, x2, x3 *uint8, weights *int8, steps, chunk int)

// countAVX2 is countGo for n thresholds of each lane.
//
//go:noescape
func countAVX2(y *uint8, acc, thresholds *int32, n int, base *uint8)

// eachAVX2 is eachGo for so many steps.
//
//go:noescape
func eachAVX2(acc *int32, x *uint8, stride int, weights *int16, steps int)

// greatestAVX2 is greatestGo for 32 bytes a step.
//
//go:noescape
func greatestAVX2(y, x *uint8, steps int)

// reachedAVX2 is reachedGo for 32 numbers a step, and n thresholds, of which there is one at least.
//
//go:noescape
func reachedAVX2(y *uint8, x *float32, steps int, thresholds *float32, n int)
