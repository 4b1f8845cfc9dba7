package float

import "golang.org/x/sys/cpu"

// wide says that kernels use vectors of lanes. Lanes are independent, so the sums are the same as without vectors.
var wide = cpu.X86.HasAVX2

// sumWide does the same as sum with vectors.
func sumWide(acc, x []float64, terms []int32, weights []float64, left int) (lanes int) {
	_, _ = acc[rowsAtOnce*mostLanes-1], weights[rowsAtOnce*len(terms)-1]
	if left >= 8 {
		rows4x8(&acc[0], &x[0], &terms[0], &weights[0], len(terms))
		return 8
	}
	rows4x4(&acc[0], &x[0], &terms[0], &weights[0], len(terms))
	return 4
}

// rowWide does the same as row with vectors. The number of lanes must be a multiple of four.
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

// rows4x8 computes sums of k products for four rows and eight lanes, rows4x4 for four rows and four lanes. All lanes of
// each term must lie within x.
//
//go:noescape
func rows4x8(out, x *float64, terms *int32, weights *float64, k int)

//go:noescape
func rows4x4(out, x *float64, terms *int32, weights *float64, k int)

// doubles computes sums of k products, at least one, for one row and a number of lanes that is a multiple of four.
// singles does so for x in float32, and seconds for lanes that are two elements apart. In doublesApart and singlesApart
// lanes are step elements apart.
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

// turned does the same as singlesApart for a multiple of eight lanes whose terms are adjacent, the first one at x.
//
//go:noescape
func turned(out *float64, x *float32, weights *float64, k, lanes, step int)
