package float

import "golang.org/x/sys/cpu"

// wide is whether kernels take vectors of lanes. Lanes do not meet, so that sums are the same bytes.
var wide = cpu.X86.HasAVX2

// sumWide is sum in vectors.
func sumWide(acc, x []float64, terms []int, weights []float64, some, left int) (lanes int) {
	lanes = 4
	kernel := rows4x4
	switch {
	case some == 1 && left >= 16:
		lanes, kernel = 16, rows1x16
	case some == 1:
		kernel = rows1x4
	case left >= 8:
		lanes, kernel = 8, rows4x8
	}
	if len(terms) == 0 {
		clear(acc)
		return lanes
	}
	_, _ = acc[rowsAtOnce*mostLanes-1], weights[rowsAtOnce*len(terms)-1]
	kernel(&acc[0], &x[0], &terms[0], &weights[0], len(terms))
	return lanes
}

// rows4x8 adds up products of four rows and eight lanes; the others are named likewise. What the terms begin at has to
// lie within x, with the lanes behind.
//
//go:noescape
func rows4x8(acc, x *float64, terms *int, weights *float64, k int)

//go:noescape
func rows4x4(acc, x *float64, terms *int, weights *float64, k int)

//go:noescape
func rows1x16(acc, x *float64, terms *int, weights *float64, k int)

//go:noescape
func rows1x4(acc, x *float64, terms *int, weights *float64, k int)
