package fast

import "golang.org/x/sys/cpu"

// machines returns the sets of kernels that this processor supports, the fastest first. The last one runs on any
// processor.
func machines() (list []*kernels) {
	x := cpu.ARM64
	for _, row := range []struct {
		is bool
		kernels
	}{
		{x.HasASIMD && x.HasI8MM, kernels{name: "NEON with I8MM", bytes: true, dot: dotMixed, each: eachWords,
			count: countWords, line: lineWords, steep: steepWords, highest: highestMany, reached: reachedMany,
			sought: soughtGo, finite: finiteGo}},
		{x.HasASIMD && x.HasASIMDDP, kernels{name: "NEON with dot products", bytes: true, less: 128, dot: dotSigned,
			each: eachWords, count: countWords, line: lineWords, steep: steepWords, highest: highestMany,
			reached: reachedMany, sought: soughtGo, finite: finiteGo}},
	} {
		if row.is {
			list = append(list, &row.kernels)
		}
	}
	return append(list, anywhere())
}

func dotMixed(acc []int32, x []uint8, at []int, offs []int32, weights []int8, _ int) {
	_, _ = acc[len(at)*lanes-1], weights[len(offs)*lanes*deep-1]
	dotUSDOT(&acc[0], &x[0], &at[0], len(at)/rows, &offs[0], &weights[0], len(offs))
}

func dotSigned(acc []int32, x []uint8, at []int, offs []int32, weights []int8, _ int) {
	_, _ = acc[len(at)*lanes-1], weights[len(offs)*lanes*deep-1]
	dotSDOT(&acc[0], &x[0], &at[0], len(at)/rows, &offs[0], &weights[0], len(offs))
}

func eachWords(acc []int32, x []uint8, at []int, offs []int32, weights []int16) {
	_, _ = acc[len(at)*lanes-1], weights[len(offs)*lanes-1]
	eachNEON(&acc[0], &x[0], &at[0], len(at)/rows, &offs[0], &weights[0], len(offs))
}

func countWords(y []uint8, stride, n int, acc []int32, thresholds []int32, base *[lanes]uint8) {
	if len(thresholds) == 0 {
		countGo(y, stride, n, acc, thresholds, base)
		return
	}
	countNEON(&y[0], stride, n, &acc[0], whole(y, stride, n, acc), &thresholds[0], len(thresholds)/lanes, &base[0])
}

func lineWords(y []uint8, stride, n int, acc []int32, l *line) {
	lineNEON(&y[0], stride, n, &acc[0], whole(y, stride, n, acc), &l.scale[0], &l.bias[0], &l.top[0], &l.base[0])
}

func steepWords(y []uint8, stride, n int, acc []int32, l *steep) {
	steepNEON(&y[0], stride, n, &acc[0], whole(y, stride, n, acc), &l.scale[0], &l.bias[0], &l.top[0], &l.base[0])
}

func highestMany(y, x []uint8, channels int, at, offs []int32) {
	if channels < 16 {
		highestGo(y, x, channels, at, offs)
		return
	}
	highestBy(highestNEON, y, x, channels, at, offs)
}

func reachedMany(y []uint8, x, thresholds []float32, first, step uint8) {
	reachedBy(16, reachedNEON, y, x, thresholds, first, step)
}

// dotUSDOT does what dotGo does for groups of four rows.
//
//go:noescape
func dotUSDOT(acc *int32, x *uint8, at *int, groups int, offs *int32, weights *int8, steps int)

// dotSDOT does what dotGo does for groups of four rows, but subtracts 128 from each byte first, because SDOT takes
// signed bytes.
//
//go:noescape
func dotSDOT(acc *int32, x *uint8, at *int, groups int, offs *int32, weights *int8, steps int)

// eachNEON does what eachGo does for groups of four rows.
//
//go:noescape
func eachNEON(acc *int32, x *uint8, at *int, groups int, offs *int32, weights *int16, steps int)

// countNEON does what countGo does. n is the number of thresholds per lane, at least one.
//
//go:noescape
func countNEON(y *uint8, stride, lanes int, acc *int32, rows int, thresholds *int32, n int, base *uint8)

// lineNEON does what lineGo does.
//
//go:noescape
func lineNEON(y *uint8, stride, lanes int, acc *int32, rows int, scale, bias *float32, top, base *uint8)

// steepNEON does what steepGo does.
//
//go:noescape
func steepNEON(y *uint8, stride, lanes int, acc *int32, rows int, scale, bias *float64, top, base *uint8)

// highestNEON does what highestGo does for a single window of at least 16 channels. The last step may repeat channels
// of the step before.
//
//go:noescape
func highestNEON(y, x *uint8, channels int, offs *int32, positions int)

// reachedNEON does what reachedGo does. Each step takes 16 numbers. n is the number of thresholds, at least one.
//
//go:noescape
func reachedNEON(y *uint8, x *float32, steps int, thresholds *float32, n int, first, step uint64)
