package float

import "golang.org/x/sys/cpu"

// wide is whether kernels take vectors of lanes. Lanes do not meet, so that sums are the same bytes.
var wide = cpu.X86.HasAVX2

// sumWide is sum in vectors.
func sumWide(acc, x []float64, terms []int32, weights []float64, left int) (lanes int) {
	_, _ = acc[rowsAtOnce*mostLanes-1], weights[rowsAtOnce*len(terms)-1]
	if left >= 8 {
		rows4x8(&acc[0], &x[0], &terms[0], &weights[0], len(terms))
		return 8
	}
	rows4x4(&acc[0], &x[0], &terms[0], &weights[0], len(terms))
	return 4
}

// rowWide is row in vectors, of a multiple of four lanes.
func rowWide[E float32 | float64](sums []float64, x []E, w walk, weights []float64) {
	k, lanes, terms := len(w.terms), len(sums), &w.terms[0]
	_ = weights[rowsAtOnce*(k-1)]
	switch x := any(x).(type) {
	case []float64:
		switch w.step {
		case 1:
			doubles(&sums[0], &x[0], terms, &weights[0], k, lanes)
		case 2:
			seconds(&sums[0], &x[0], terms, &weights[0], k, lanes)
		default:
			doublesApart(&sums[0], &x[0], terms, &weights[0], k, lanes, w.step)
		}
	case []float32:
		if w.step == 1 {
			singles(&sums[0], &x[0], terms, &weights[0], k, lanes)
			return
		}
		some := 0
		if w.follow && lanes >= 8 {
			some = lanes / 8 * 8
			turned(&sums[0], &x[w.terms[0]], &weights[0], k, some, w.step)
		}
		if some < lanes {
			singlesApart(&sums[some], &x[some*w.step], terms, &weights[0], k, lanes-some, w.step)
		}
	}
}

// rows4x8 adds up k products of four rows and eight lanes, rows4x4 of four rows and four. What the terms begin at has
// to lie within x, with the lanes behind.
//
//go:noescape
func rows4x8(out, x *float64, terms *int32, weights *float64, k int)

//go:noescape
func rows4x4(out, x *float64, terms *int32, weights *float64, k int)

// doubles adds up k products, one or more, of one row and some lanes, a multiple of four; singles does where x is
// float32, seconds where each lane lies two elements from the one before. What lies apart lies step elements apart.
//
//go:noescape
func doubles(out, x *float64, terms *int32, weights *float64, k, lanes int)

//go:noescape
func seconds(out, x *float64, terms *int32, weights *float64, k, lanes int)

//go:noescape
func doublesApart(out, x *float64, terms *int32, weights *float64, k, lanes, step int)

//go:noescape
func singles(out *float64, x *float32, terms *int32, weights *float64, k, lanes int)

//go:noescape
func singlesApart(out *float64, x *float32, terms *int32, weights *float64, k, lanes, step int)

// turned is singlesApart of a multiple of eight lanes whose terms follow each other, the first one at x.
//
//go:noescape
func turned(out *float64, x *float32, weights *float64, k, lanes, step int)
