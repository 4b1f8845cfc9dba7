package fast

import "golang.org/x/sys/cpu"

// machines returns the sets of kernels that this processor supports, the fastest first. The last one runs on any
// processor. AVX-512VL has the instructions of AVX-VNNI in another encoding. It allows a test of them where no
// processor has AVX-VNNI.
func machines() (list []*kernels) {
	x := cpu.X86
	wide := x.HasAVX2 && x.HasBMI2 && x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512VNNI
	many := kernels{name: "AVX2", dot: dotWords, words: wordsMany, along: alongMany, looked: lookedMany,
		encode: encodeMany, each: eachWords, count: countMany, line: lineMany, steep: steepMany, highest: highestMany,
		reached: reachedMany, sought: soughtMany, finite: finiteMany}
	with := func(name string,
		dot func(acc []int32, x []uint8, at []int, offs []int32, weights []int8, chunk int)) kernels {
		k := many
		k.name, k.bytes, k.dot, k.words, k.along = name, true, dot, nil, nil
		return k
	}
	for _, row := range []struct {
		is bool
		kernels
	}{
		{wide, kernels{name: "AVX-512", bytes: true, dot: dotWide, looked: lookedMany, encode: encodeMany,
			each: eachWords, count: countWide, line: lineWide, steep: steepWide, highest: highestWide,
			reached: reachedWide, sought: soughtWide, finite: finiteMany}},
		{x.HasAVX2 && x.HasAVXVNNI, with("AVX-VNNI", dotNarrow)},
		{wide, with("AVX-512VL", dotNarrowVL)},
		{x.HasAVX2, many},
	} {
		if row.is {
			list = append(list, &row.kernels)
		}
	}
	return append(list, anywhere())
}

// The functions from here to finiteMany suit the type kernels. Each checks that all elements to read and to write
// exist, and calls an assembler function. Elements that do not fill a vector go to the function in Go.

func dotWords(acc []int32, x []uint8, at []int, offs []int32, weights []int8, chunk int) {
	_, _ = acc[len(at)*lanes-1], weights[len(offs)*lanes*deep-1]
	dotAVX2(&acc[0], &x[0], &at[0], len(at)/rows, &offs[0], &weights[0], len(offs), chunk)
}

func dotWide(acc []int32, x []uint8, at []int, offs []int32, weights []int8, _ int) {
	_, _ = acc[len(at)*lanes-1], weights[len(offs)*lanes*deep-1]
	dotAVX512(&acc[0], &x[0], &at[0], len(at)/rows, &offs[0], &weights[0], len(offs)/2)
}

func dotNarrow(acc []int32, x []uint8, at []int, offs []int32, weights []int8, _ int) {
	_, _ = acc[len(at)*lanes-1], weights[len(offs)*lanes*deep-1]
	dotVNNI(&acc[0], &x[0], &at[0], len(at)/rows, &offs[0], &weights[0], len(offs))
}

func dotNarrowVL(acc []int32, x []uint8, at []int, offs []int32, weights []int8, _ int) {
	_, _ = acc[len(at)*lanes-1], weights[len(offs)*lanes*deep-1]
	dotVL(&acc[0], &x[0], &at[0], len(at)/rows, &offs[0], &weights[0], len(offs))
}

func eachWords(acc []int32, x []uint8, at []int, offs []int32, weights []int16) {
	_, _ = acc[len(at)*lanes-1], weights[len(offs)*lanes-1]
	eachAVX2(&acc[0], &x[0], &at[0], len(at)/rows, &offs[0], &weights[0], len(offs))
}

func wordsMany(acc []int32, x []uint8, at []int, offs []int32, weights []int16) {
	_, _ = acc[len(at)*lanes-1], weights[len(offs)*lanes*deep-1]
	wordsAVX2(&acc[0], &x[0], &at[0], len(at)/rows, &offs[0], &weights[0], len(offs))
}

func alongMany(acc []int32, x []uint8, at []int, offs []int32, weights []int16) {
	_, _ = acc[len(at)*lanes-1], weights[len(offs)*along.lanes()*along.deep()-1]
	alongAVX2(&acc[0], &x[0], &at[0], len(at)/2, &offs[0], &weights[0], len(offs))
}

func lookedMany(acc []int32, x []uint8, at []int, offs []int32, weights []uint8, t *pairTable, chunk int) {
	_, _ = acc[(3*band+len(at))*lanes-1], weights[len(offs)*2*looked.lanes()-1]
	lookedAVX2(&acc[0], band*lanes*4, &x[0], &at[0], len(at)/rows, &offs[0], &weights[0], &t.sums[0], len(offs), chunk)
}

func encodeMany(y, x []uint8) {
	n := len(y) / 32
	if n > 0 {
		_ = x[n*32]
		encodeAVX2(&y[0], &x[0], n)
	}
	encodeGo(y[n*32:], x[n*32:])
}

func countMany(y []uint8, stride, n int, acc []int32, thresholds []int32, base *[lanes]uint8) {
	if len(thresholds) == 0 {
		countGo(y, stride, n, acc, thresholds, base)
		return
	}
	countAVX2(&y[0], stride, n, &acc[0], whole(y, stride, n, acc), &thresholds[0], len(thresholds)/lanes, &base[0])
}

func lineMany(y []uint8, stride, n int, acc []int32, l *line) {
	lineAVX2(&y[0], stride, n, &acc[0], whole(y, stride, n, acc), &l.scale[0], &l.bias[0], &l.top[0], &l.base[0])
}

func steepMany(y []uint8, stride, n int, acc []int32, l *steep) {
	steepAVX2(&y[0], stride, n, &acc[0], whole(y, stride, n, acc), &l.scale[0], &l.bias[0], &l.top[0], &l.base[0])
}

func countWide(y []uint8, stride, n int, acc []int32, thresholds []int32, base *[lanes]uint8) {
	if len(thresholds) == 0 {
		countGo(y, stride, n, acc, thresholds, base)
		return
	}
	countAVX512(&y[0], stride, n, &acc[0], whole(y, stride, n, acc), &thresholds[0], len(thresholds)/lanes, &base[0])
}

func lineWide(y []uint8, stride, n int, acc []int32, l *line) {
	lineAVX512(&y[0], stride, n, &acc[0], whole(y, stride, n, acc), &l.scale[0], &l.bias[0], &l.top[0], &l.base[0])
}

func steepWide(y []uint8, stride, n int, acc []int32, l *steep) {
	steepAVX512(&y[0], stride, n, &acc[0], whole(y, stride, n, acc), &l.scale[0], &l.bias[0], &l.top[0], &l.base[0])
}

func highestMany(y, x []uint8, channels int, at, offs []int32) {
	if channels < 16 {
		highestGo(y, x, channels, at, offs)
		return
	}
	highestBy(highestAVX2, y, x, channels, at, offs)
}

func highestWide(y, x []uint8, channels int, at, offs []int32) {
	highestBy(highestAVX512, y, x, channels, at, offs)
}

func reachedMany(y []uint8, x, thresholds []float32, first, step uint8) {
	reachedBy(32, reachedAVX2, y, x, thresholds, first, step)
}

func reachedWide(y []uint8, x, thresholds []float32, first, step uint8) {
	reachedBy(64, reachedAVX512, y, x, thresholds, first, step)
}

func soughtMany(y []uint8, x []float32, l *lookup) { soughtBy(32, soughtAVX2, y, x, l) }

func soughtWide(y []uint8, x []float32, l *lookup) { soughtBy(16, soughtAVX512, y, x, l) }

// soughtBy does what soughtGo does, by calls of do, which processes each elements per step. The last step may repeat
// elements of the step before.
func soughtBy(each int, do func(y *uint8, x *float32, steps int, thresholds *float32, least, scale, last float32),
	y []uint8, x []float32, l *lookup) {
	n := len(y) / each
	if n == 0 {
		soughtGo(y, x, l)
		return
	}
	_ = x[len(y)-1]
	top := float32(len(l.at) - 1)
	do(&y[0], &x[0], n, &l.at[0], l.least, l.scale, top)
	if last := len(y) - each; last > (n-1)*each {
		do(&y[last], &x[last], 1, &l.at[0], l.least, l.scale, top)
	}
}

func finiteMany(x []float32) bool {
	n := len(x) / 32
	if n > 0 && finiteAVX2(&x[0], n) != 0 {
		return false
	}
	return finiteGo(x[n*32:])
}

// dotAVX2 does what dotGo does for groups of four rows.
//
//go:noescape
func dotAVX2(acc *int32, x *uint8, at *int, groups int, offs *int32, weights *int8, steps, chunk int)

// dotAVX512 does what dotGo does for groups of four rows and for pairs of steps.
//
//go:noescape
func dotAVX512(acc *int32, x *uint8, at *int, groups int, offs *int32, weights *int8, pairs int)

// dotVNNI does what dotGo does for groups of four rows. It uses AVX-VNNI.
//
//go:noescape
func dotVNNI(acc *int32, x *uint8, at *int, groups int, offs *int32, weights *int8, steps int)

// dotVL does what dotVNNI does, with the instructions in the encoding of AVX-512.
//
//go:noescape
func dotVL(acc *int32, x *uint8, at *int, groups int, offs *int32, weights *int8, steps int)

// eachAVX2 does what eachGo does for groups of four rows.
//
//go:noescape
func eachAVX2(acc *int32, x *uint8, at *int, groups int, offs *int32, weights *int16, steps int)

// wordsAVX2 does what wordsGo does for groups of four rows.
//
//go:noescape
func wordsAVX2(acc *int32, x *uint8, at *int, groups int, offs *int32, weights *int16, steps int)

// alongAVX2 does what alongGo does for pairs of rows.
//
//go:noescape
func alongAVX2(acc *int32, x *uint8, at *int, pairs int, offs *int32, weights *int16, steps int)

// lookedAVX2 does what lookedGo does for groups of four rows. apart is the distance between successive blocks of acc,
// in bytes.
//
//go:noescape
func lookedAVX2(acc *int32, apart int, x *uint8, at *int, groups int, offs *int32, weights *uint8, table *int8,
	steps, chunk int)

// encodeAVX2 does what encodeGo does. Each step takes 32 bytes.
//
//go:noescape
func encodeAVX2(y, x *uint8, steps int)

// countAVX2 does what countGo does. n is the number of thresholds per lane, at least one.
//
//go:noescape
func countAVX2(y *uint8, stride, lanes int, acc *int32, rows int, thresholds *int32, n int, base *uint8)

// steepAVX2 does what steepGo does.
//
//go:noescape
func steepAVX2(y *uint8, stride, lanes int, acc *int32, rows int, scale, bias *float64, top, base *uint8)

// countAVX512 does what countGo does. n is the number of thresholds per lane, at least one.
//
//go:noescape
func countAVX512(y *uint8, stride, lanes int, acc *int32, rows int, thresholds *int32, n int, base *uint8)

// lineAVX2 does what lineGo does.
//
//go:noescape
func lineAVX2(y *uint8, stride, lanes int, acc *int32, rows int, scale, bias *float32, top, base *uint8)

// lineAVX512 does what lineGo does.
//
//go:noescape
func lineAVX512(y *uint8, stride, lanes int, acc *int32, rows int, scale, bias *float32, top, base *uint8)

// steepAVX512 does what steepGo does.
//
//go:noescape
func steepAVX512(y *uint8, stride, lanes int, acc *int32, rows int, scale, bias *float64, top, base *uint8)

// highestAVX2 does what highestGo does for a single window of at least 16 channels. The last step may repeat channels
// of the step before.
//
//go:noescape
func highestAVX2(y, x *uint8, channels int, offs *int32, positions int)

// highestAVX512 does what highestGo does for a single window with at least one channel and one position.
//
//go:noescape
func highestAVX512(y, x *uint8, channels int, offs *int32, positions int)

// reachedAVX2 does what reachedGo does. Each step takes 32 numbers. n is the number of thresholds, at least one.
//
//go:noescape
func reachedAVX2(y *uint8, x *float32, steps int, thresholds *float32, n int, first, step uint64)

// reachedAVX512 does what reachedGo does. Each step takes 64 numbers. n is the number of thresholds, at least one.
//
//go:noescape
func reachedAVX512(y *uint8, x *float32, steps int, thresholds *float32, n int, first, step uint64)

// soughtAVX2 does what soughtGo does. Each step takes 32 numbers.
//
//go:noescape
func soughtAVX2(y *uint8, x *float32, steps int, thresholds *float32, least, scale, last float32)

// soughtAVX512 does what soughtGo does. Each step takes 16 numbers.
//
//go:noescape
func soughtAVX512(y *uint8, x *float32, steps int, thresholds *float32, least, scale, last float32)

// finiteAVX2 returns 0 if finiteGo returns true. Each step takes 32 numbers; there must be at least one step.
//
//go:noescape
func finiteAVX2(x *float32, steps int) (others uint32)
