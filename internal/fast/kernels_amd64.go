package fast

import "golang.org/x/sys/cpu"

// machines are the processors that this one is, the best first. The last is any.
func machines() (list []*kernels) {
	x := cpu.X86
	if x.HasAVX2 && x.HasBMI2 && x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512VNNI {
		list = append(list, &kernels{name: "AVX-512", bytes: true, dot: dotWide, each: eachWords, count: countWide,
			line: lineWide, steep: steepWide, highest: highestWide, reached: reachedWide, sought: soughtWide})
	}
	if x.HasAVX2 {
		list = append(list, &kernels{name: "AVX2", dot: dotWords, each: eachWords, count: countWords, line: lineWords,
			steep: steepGo, highest: highestMany, reached: reachedMany, sought: soughtGo})
	}
	return append(list, anywhere())
}

func dotWords(acc []int32, x []uint8, at []int, offs []int32, weights []int8, chunk int) {
	_, _ = acc[len(at)*lanes-1], weights[len(offs)*lanes*deep-1]
	dotAVX2(&acc[0], &x[0], &at[0], len(at)/rows, &offs[0], &weights[0], len(offs), chunk)
}

func dotWide(acc []int32, x []uint8, at []int, offs []int32, weights []int8, _ int) {
	_, _ = acc[len(at)*lanes-1], weights[len(offs)*lanes*deep-1]
	dotAVX512(&acc[0], &x[0], &at[0], len(at)/rows, &offs[0], &weights[0], len(offs)/2)
}

func eachWords(acc []int32, x []uint8, at []int, offs []int32, weights []int16) {
	_, _ = acc[len(at)*lanes-1], weights[len(offs)*lanes-1]
	eachAVX2(&acc[0], &x[0], &at[0], len(at)/rows, &offs[0], &weights[0], len(offs))
}

// A bench is outputs of rows side by side, before they are where they belong.
type bench [band * lanes]uint8

// pairs is those of the rows of sums, for a kernel that takes two at a time.
func pairs(acc []int32) int {
	n := (len(acc)/lanes + 1) / 2
	_ = acc[:n*2*lanes]
	return n
}

// put has row r of a bench begin at y[r*stride].
func (b *bench) put(y []uint8, stride, n, rows int) {
	for r := range rows {
		copy(y[r*stride:][:n], b[r*lanes:])
	}
}

func countWords(y []uint8, stride, n int, acc []int32, thresholds []int32, base *[lanes]uint8) {
	if len(thresholds) == 0 {
		countGo(y, stride, n, acc, thresholds, base)
		return
	}
	var of bench
	countAVX2(&of[0], &acc[0], pairs(acc), &thresholds[0], len(thresholds)/lanes, &base[0])
	of.put(y, stride, n, len(acc)/lanes)
}

func lineWords(y []uint8, stride, n int, acc []int32, l *line) {
	var of bench
	lineAVX2(&of[0], &acc[0], pairs(acc), &l.scale[0], &l.bias[0], &l.top[0], &l.base[0])
	of.put(y, stride, n, len(acc)/lanes)
}

// whole is the rows of sums, for a kernel that takes four at a time and writes what of them is there.
func whole(y []uint8, stride, n int, acc []int32) int {
	n4 := (len(acc)/lanes + rows - 1) / rows * rows
	_, _ = y[(len(acc)/lanes-1)*stride+n-1], acc[:n4*lanes]
	return len(acc) / lanes
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

func highestMany(y, x []uint8, offs []int32) {
	copy(y, x[offs[0]:])
	n := len(y) / 32
	for _, off := range offs[1:] {
		x := x[off:][:len(y)]
		if n > 0 {
			greatestAVX2(&y[0], &x[0], n)
		}
		greatestGo(y[n*32:], x[n*32:])
	}
}

func highestWide(y, x []uint8, offs []int32) {
	for _, off := range offs {
		_ = x[off:][:len(y)]
	}
	highestAVX512(&y[0], &x[0], len(y), &offs[0], len(offs))
}

func reachedMany(y []uint8, x, thresholds []float32, first, step uint8) {
	reachedBy(32, reachedAVX2, y, x, thresholds, first, step)
}

func reachedWide(y []uint8, x, thresholds []float32, first, step uint8) {
	reachedBy(64, reachedAVX512, y, x, thresholds, first, step)
}

// reachedBy takes so many numbers a step; the last of them may be some of those before.
func reachedBy(each int, do func(y *uint8, x *float32, steps int, thresholds *float32, n int, first, step uint64),
	y []uint8, x, thresholds []float32, first, step uint8) {
	n := len(y) / each
	if n == 0 || len(thresholds) == 0 {
		reachedGo(y, x, thresholds, first, step)
		return
	}
	_ = x[len(y)-1]
	do(&y[0], &x[0], n, &thresholds[0], len(thresholds), uint64(first), uint64(step))
	if last := len(y) - each; last > (n-1)*each {
		do(&y[last], &x[last], 1, &thresholds[0], len(thresholds), uint64(first), uint64(step))
	}
}

func soughtWide(y []uint8, x []float32, l *lookup) {
	if n := len(y) / 16; n > 0 {
		_ = x[n*16-1]
		soughtAVX512(&y[0], &x[0], n, &l.at[0], l.least, l.scale, float32(len(l.at)-1))
		y, x = y[n*16:], x[n*16:]
	}
	soughtGo(y, x, l)
}

// dotAVX2 is dotGo for groups of four rows.
//
//go:noescape
func dotAVX2(acc *int32, x *uint8, at *int, groups int, offs *int32, weights *int8, steps, chunk int)

// dotAVX512 is dotGo for groups of four rows, and pairs of steps.
//
//go:noescape
func dotAVX512(acc *int32, x *uint8, at *int, groups int, offs *int32, weights *int8, pairs int)

// eachAVX2 is eachGo for groups of four rows.
//
//go:noescape
func eachAVX2(acc *int32, x *uint8, at *int, groups int, offs *int32, weights *int16, steps int)

// countAVX2 is countGo for pairs of rows and n thresholds of each lane, of which there is one.
//
//go:noescape
func countAVX2(y *uint8, acc *int32, pairs int, thresholds *int32, n int, base *uint8)

// countAVX512 is countGo for n thresholds of each lane, of which there is one.
//
//go:noescape
func countAVX512(y *uint8, stride, lanes int, acc *int32, rows int, thresholds *int32, n int, base *uint8)

// lineAVX2 is lineGo for pairs of rows.
//
//go:noescape
func lineAVX2(y *uint8, acc *int32, pairs int, scale, bias *float32, top, base *uint8)

// lineAVX512 is lineGo.
//
//go:noescape
func lineAVX512(y *uint8, stride, lanes int, acc *int32, rows int, scale, bias *float32, top, base *uint8)

// steepAVX512 is steepGo.
//
//go:noescape
func steepAVX512(y *uint8, stride, lanes int, acc *int32, rows int, scale, bias *float64, top, base *uint8)

// greatestAVX2 is greatestGo for 32 bytes a step.
//
//go:noescape
func greatestAVX2(y, x *uint8, steps int)

// highestAVX512 is highestGo for a channel and a position, or more.
//
//go:noescape
func highestAVX512(y, x *uint8, channels int, offs *int32, positions int)

// reachedAVX2 is reachedGo for 32 numbers a step, and n thresholds, of which there is one at least.
//
//go:noescape
func reachedAVX2(y *uint8, x *float32, steps int, thresholds *float32, n int, first, step uint64)

// reachedAVX512 is reachedGo for 64 numbers a step, and n thresholds, of which there is one at least.
//
//go:noescape
func reachedAVX512(y *uint8, x *float32, steps int, thresholds *float32, n int, first, step uint64)

// soughtAVX512 is soughtGo for 16 numbers a step.
//
//go:noescape
func soughtAVX512(y *uint8, x *float32, steps int, thresholds *float32, least, scale, last float32)
