package float

import "golang.org/x/sys/cpu"

// wide reports whether the processor has AVX2. Vectors do not mix lanes, so that sums are the same bytes as without.
var wide = cpu.X86.HasAVX2

// sumWide is sum with AVX2.
func sumWide(acc, x []float64, terms []int32, weights []float64, left int) (lanes int) {
	_, _ = acc[rowsAtOnce*mostLanes-1], weights[rowsAtOnce*len(terms)-1]
	if left >= 8 {
		rows4x8(&acc[0], &x[0], &terms[0], &weights[0], len(terms))
		return 8
	}
	rows4x4(&acc[0], &x[0], &terms[0], &weights[0], len(terms))
	return 4
}

// rowWide is row with AVX2. The number of lanes is a multiple of four.
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

// splitWide is split in vectors, of four pairs or more.
func splitWide(even, odd, from []float64) {
	n := len(even)
	_, _ = odd[n-1], from[2*n-1]
	pairs(&even[0], &odd[0], &from[0], n)
}

// copyWide is copyRows in vectors, of rows of four elements or more.
func copyWide(to []float64, toNext int, from []float64, fromNext, n, rows int) {
	_, _ = to[(rows-1)*toNext+n-1], from[(rows-1)*fromNext+n-1]
	blocks(&to[0], &from[0], toNext, fromNext, n, rows)
}

// rows4x8 adds up k products for four rows and eight lanes, rows4x4 for four rows and four lanes. All lanes of each
// term must lie within x.
//
//go:noescape
func rows4x8(out, x *float64, terms *int32, weights *float64, k int)

//go:noescape
func rows4x4(out, x *float64, terms *int32, weights *float64, k int)

// doubles adds up k products for one row and some adjacent lanes. k is at least one, and lanes a multiple of four.
// singles does the same with float32 elements, seconds with lanes that lie two elements apart. The lanes of
// doublesApart and singlesApart lie step elements apart.
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

// turned is singlesApart for a multiple of eight lanes whose terms are consecutive elements. x points to the first
// term of the first lane.
//
//go:noescape
func turned(out *float64, x *float32, weights *float64, k, lanes, step int)

// pairs takes n pairs of doubles apart, four or more.
//
//go:noescape
func pairs(even, odd, from *float64, n int)

// blocks copies rows of n doubles, four or more.
//
//go:noescape
func blocks(to, from *float64, toNext, fromNext, n, rows int)
