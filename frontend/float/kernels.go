package float

// mostLanes is the most lanes that a kernel takes at a time.
const mostLanes = 16

// sum adds up the products of some of four rows of weights with lanes of x, of which there are at least left, a
// multiple of four, and tells how many it took. Term k of the lanes begins at terms[k]. The sums of a row stand
// together in acc.
func sum(acc, x []float64, terms []int, weights []float64, some, left int) (lanes int) {
	if wide {
		return sumWide(acc, x, terms, weights, some, left)
	}
	if some == 1 {
		sumRow(acc, x, terms, weights)
		return 4
	}
	sumRows(acc, x, terms, weights, 0)
	sumRows(acc, x, terms, weights, 2)
	return 4
}

// sumRow takes the first row and four lanes.
func sumRow(acc, x []float64, terms []int, weights []float64) {
	var s0, s1, s2, s3 float64
	for k, t := range terms {
		v, w := x[t:t+4:t+4], weights[4*k]
		s0 += float64(v[0] * w)
		s1 += float64(v[1] * w)
		s2 += float64(v[2] * w)
		s3 += float64(v[3] * w)
	}
	acc[0], acc[1], acc[2], acc[3] = s0, s1, s2, s3
}

// sumRows takes four rows and two of four lanes.
func sumRows(acc, x []float64, terms []int, weights []float64, lane int) {
	var a0, a1, a2, a3, b0, b1, b2, b3 float64
	x = x[lane:]
	weights = weights[:4*len(terms)]
	for k, t := range terms {
		v, w := x[t:t+2:t+2], weights[4*k:4*k+4:4*k+4]
		v0, v1 := v[0], v[1]
		a0 += float64(v0 * w[0])
		b0 += float64(v1 * w[0])
		a1 += float64(v0 * w[1])
		b1 += float64(v1 * w[1])
		a2 += float64(v0 * w[2])
		b2 += float64(v1 * w[2])
		a3 += float64(v0 * w[3])
		b3 += float64(v1 * w[3])
	}
	acc = acc[lane : lane+14]
	acc[0], acc[1], acc[4], acc[5], acc[8], acc[9], acc[12], acc[13] = a0, b0, a1, b1, a2, b2, a3, b3
}
