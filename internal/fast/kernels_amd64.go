package fast

import "golang.org/x/sys/cpu"

// machines are the processors that this one is, the best first. The last is any.
func machines() (list []*kernels) {
	x := cpu.X86
	if x.HasAVX2 && x.HasBMI2 && x.HasAVX512F && x.HasAVX512BW && x.HasAVX512VL && x.HasAVX512VNNI {
		list = append(list, &kernels{name: "AVX-512", bytes: true, dot: dotWide, count: countWide, each: eachWords,
			highest: highestWide, reached: reachedMany, sought: soughtWide})
	}
	if x.HasAVX2 {
		list = append(list, &kernels{name: "AVX2", dot: dotWords, count: countWords, each: eachWords,
			highest: highestMany, reached: reachedMany, sought: soughtGo})
	}
	return append(list, anywhere())
}

func dotWords(acc *[rows * lanes]int32, x []uint8, at *[rows]int, weights []int8, steps, chunk int) {
	for _, from := range at {
		_ = x[from : from+steps*deep]
	}
	_ = weights[steps*lanes*deep-1]
	dotAVX2(&acc[0], &x[at[0]], &x[at[1]], &x[at[2]], &x[at[3]], &weights[0], steps, chunk)
}

func dotWide(acc *[rows * lanes]int32, x []uint8, at *[rows]int, weights []int8, steps, _ int) {
	for _, from := range at {
		_ = x[from : from+steps*deep]
	}
	_ = weights[steps*lanes*deep-1]
	dotAVX512(&acc[0], &x[at[0]], &x[at[1]], &x[at[2]], &x[at[3]], &weights[0], steps/2)
}

func countWords(y *[rows * lanes]uint8, acc *[rows * lanes]int32, thresholds []int32, base *[lanes]uint8) {
	if len(thresholds) == 0 {
		countGo(y, acc, thresholds, base)
		return
	}
	countAVX2(&y[0], &acc[0], &thresholds[0], len(thresholds)/lanes, &base[0])
}

func countWide(y *[rows * lanes]uint8, acc *[rows * lanes]int32, thresholds []int32, base *[lanes]uint8) {
	if len(thresholds) == 0 {
		countGo(y, acc, thresholds, base)
		return
	}
	countAVX512(&y[0], &acc[0], &thresholds[0], len(thresholds)/lanes, &base[0])
}

func eachWords(acc *[lanes]int32, x []uint8, stride int, weights []int16) {
	steps := len(weights) / lanes
	_ = x[(steps-1)*stride+lanes-1]
	eachAVX2(&acc[0], &x[0], stride, &weights[0], steps)
}

func highestMany(y, x []uint8) {
	copy(y, x)
	for x = x[len(y):]; len(x) > 0; x = x[len(y):] {
		n := len(y) / 32
		if n > 0 {
			greatestAVX2(&y[0], &x[0], n)
		}
		greatestGo(y[n*32:], x[n*32:])
	}
}

func highestWide(y, x []uint8) { highestAVX512(&y[0], &x[0], len(y), len(x)/len(y)) }

func reachedMany(y []uint8, x, thresholds []float32) {
	if n := len(y) / 32; n > 0 && len(thresholds) > 0 {
		_ = x[n*32-1]
		reachedAVX2(&y[0], &x[0], n, &thresholds[0], len(thresholds))
		y, x = y[n*32:], x[n*32:]
	}
	reachedGo(y, x, thresholds)
}

func soughtWide(y []uint8, x []float32, l *lookup) {
	if n := len(y) / 16; n > 0 {
		_ = x[n*16-1]
		soughtAVX512(&y[0], &x[0], n, &l.before[0], &l.at[0], l.at[0], l.scale, float32(len(l.before)-1))
		y, x = y[n*16:], x[n*16:]
	}
	soughtGo(y, x, l)
}

// dotAVX2 is dotGo for rows that begin at x0 to x3.
//
//go:noescape
func dotAVX2(acc *int32, x0, x1, x2, x3 *uint8, weights *int8, steps, chunk int)

// dotAVX512 is dotGo for rows that begin at x0 to x3, and pairs of steps.
//
//go:noescape
func dotAVX512(acc *int32, x0, x1, x2, x3 *uint8, weights *int8, pairs int)

// countAVX2 is countGo for n thresholds of each lane.
//
//go:noescape
func countAVX2(y *uint8, acc, thresholds *int32, n int, base *uint8)

// countAVX512 is countGo for n thresholds of each lane, of which there is one.
//
//go:noescape
func countAVX512(y *uint8, acc, thresholds *int32, n int, base *uint8)

// eachAVX2 is eachGo for so many steps.
//
//go:noescape
func eachAVX2(acc *int32, x *uint8, stride int, weights *int16, steps int)

// greatestAVX2 is greatestGo for 32 bytes a step.
//
//go:noescape
func greatestAVX2(y, x *uint8, steps int)

// highestAVX512 is highestGo for a channel and a position, or more.
//
//go:noescape
func highestAVX512(y, x *uint8, channels, positions int)

// reachedAVX2 is reachedGo for 32 numbers a step, and n thresholds, of which there is one at least.
//
//go:noescape
func reachedAVX2(y *uint8, x *float32, steps int, thresholds *float32, n int)

// soughtAVX512 is soughtGo for 16 numbers a step.
//
//go:noescape
func soughtAVX512(y *uint8, x *float32, steps int, buckets *int32, thresholds *float32, least, scale, last float32)
