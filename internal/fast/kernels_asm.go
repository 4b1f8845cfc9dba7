//go:build amd64 || arm64

package fast

import "slices"

// whole returns the number of rows of sums, for a kernel that reads four rows at a time and writes only existing
// rows.
func whole(y []uint8, stride, n int, acc []int32) int {
	n4 := (len(acc)/lanes + rows - 1) / rows * rows
	_, _ = y[(len(acc)/lanes-1)*stride+n-1], acc[:n4*lanes]
	return len(acc) / lanes
}

// highestBy does what highestGo does, by a call of do for each window.
func highestBy(do func(y, x *uint8, channels int, offs *int32, positions int),
	y, x []uint8, channels int, at, offs []int32) {
	least, most := slices.Min(offs), int(slices.Max(offs))+channels
	for w, from := range at {
		_ = x[from+least : int(from)+most]
		do(&y[w*channels:][:channels][0], &x[from], channels, &offs[0], len(offs))
	}
}

// reachedBy does what reachedGo does, by calls of do, which processes each elements per step. The last step may repeat
// elements of the step before.
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
