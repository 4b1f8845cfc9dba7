package float

// mostLanes is the largest number of lanes that one call of sum computes.
const mostLanes = 8

// sum computes four rows of sums for the next lanes of x, and returns the number of lanes computed. left is the number
// of lanes that x still has, a multiple of four. The elements of term k begin at terms[k], lane beside lane; there is
// at least one term. acc receives the sums, row after row.
func sum(acc, x []float64, terms []int32, weights []float64, left int) (lanes int) {
	if wide {
		return sumWide(acc, x, terms, weights, left)
	}
	sumRows(acc, x, terms, weights, 0)
	sumRows(acc, x, terms, weights, 2)
	return 4
}

// sumRows is sum for two adjacent lanes of four, lane and lane+1.
func sumRows(acc, x []float64, terms []int32, weights []float64, lane int) {
	var a0, a1, a2, a3, b0, b1, b2, b3 float64
	x = x[lane:]
	weights = weights[:4*len(terms)]
	for k, t := range terms {
		v, w := (*[2]float64)(x[t:]), (*[4]float64)(weights[4*k:])
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

// A walk says where the elements of lanes lie. terms has the offsets of the first lane's elements; each further lane
// lies step elements behind the lane before it.
type walk struct {
	terms  []int32
	step   int
	follow bool // the terms are consecutive elements
}

func walkOf(terms []int32, step int) walk {
	w := walk{terms, step, true}
	for k, t := range terms {
		w.follow = w.follow && t == terms[0]+int32(k)
	}
	return w
}

// row computes one row: the sums of the products of the lanes of x with the first row of a block of four rows of
// weights. All elements of the walk must lie within x.
func row[E float32 | float64](sums []float64, x []E, w walk, weights []float64) {
	n := len(sums)
	some := 4
	if w.step == 1 && n >= 16 { // four independent vectors
		some = 16
	}
	switch {
	case !wide || n < 4 || len(w.terms) == 0:
		rowPlain(sums, x, w, weights)
	case n%some == 0:
		rowWide(sums, x, w, weights)
	default: // the last lanes overlap the lanes before them
		rowWide(sums[:n/some*some], x, w, weights)
		rowWide(sums[n-some:], x[(n-some)*w.step:], w, weights)
	}
}

// termsAtOnce is the number of terms that rowPlain adds up before it goes on to the next lanes. With so few terms, the
// processor recognises their reads as sequential streams.
const termsAtOnce = 32

// rowPlain is row in plain Go, without vectors.
func rowPlain[E float32 | float64](sums []float64, x []E, w walk, weights []float64) {
	if n := len(sums) / 8 * 8; w.step == 1 && n > 0 {
		clear(sums[:n])
		for k := 0; k < len(w.terms); k += termsAtOnce {
			terms := w.terms[k:min(k+termsAtOnce, len(w.terms))]
			for l := 0; l < n; l += 8 {
				beside((*[8]float64)(sums[l:]), x[l:], terms, weights[4*k:])
			}
		}
		sums, x = sums[n:], x[n:]
	}
	for ; len(sums) >= 4; sums = sums[4:] {
		sums[0], sums[1], sums[2], sums[3] = apart(x, x[w.step:], x[2*w.step:], x[3*w.step:], w.terms, weights)
		x = x[min(4*w.step, len(x)):]
	}
	for i := range sums {
		s, x := 0.0, x[i*w.step:]
		for k, t := range w.terms {
			s += float64(float64(x[t]) * weights[4*k])
		}
		sums[i] = s
	}
}

// beside adds the products of eight adjacent lanes to their sums. It is not inlined, so that the sums stay in
// registers.
//
//go:noinline
func beside[E float32 | float64](sums *[8]float64, x []E, terms []int32, weights []float64) {
	s0, s1, s2, s3, s4, s5, s6, s7 := sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7]
	for k, t := range terms {
		v, w := (*[8]E)(x[t:]), weights[4*k]
		s0 += float64(float64(v[0]) * w)
		s1 += float64(float64(v[1]) * w)
		s2 += float64(float64(v[2]) * w)
		s3 += float64(float64(v[3]) * w)
		s4 += float64(float64(v[4]) * w)
		s5 += float64(float64(v[5]) * w)
		s6 += float64(float64(v[6]) * w)
		s7 += float64(float64(v[7]) * w)
	}
	*sums = [8]float64{s0, s1, s2, s3, s4, s5, s6, s7}
}

// apart computes the sums of four lanes that lie at any distance. It is not inlined, so that the sums stay in
// registers.
//
//go:noinline
func apart[E float32 | float64](a, b, c, d []E, terms []int32, weights []float64) (s0, s1, s2, s3 float64) {
	for k, t := range terms {
		w := weights[4*k]
		s0 += float64(float64(a[t]) * w)
		s1 += float64(float64(b[t]) * w)
		s2 += float64(float64(c[t]) * w)
		s3 += float64(float64(d[t]) * w)
	}
	return s0, s1, s2, s3
}

// split writes the elements of from with even indices to even, and the others to odd.
func split(even, odd, from []float64) {
	n := len(from) / 2
	if len(from) > 2*n {
		even[n] = from[2*n]
	}
	even, odd, from = even[:n], odd[:n], from[:2*n]
	if wide && n >= 4 {
		splitWide(even, odd, from)
		return
	}
	for ; len(even) >= 4 && len(odd) >= 4 && len(from) >= 8; even, odd, from = even[4:], odd[4:], from[8:] {
		even[0], even[1], even[2], even[3] = from[0], from[2], from[4], from[6]
		odd[0], odd[1], odd[2], odd[3] = from[1], from[3], from[5], from[7]
	}
	for i := range even {
		even[i], odd[i] = from[2*i], from[2*i+1]
	}
}

// copyRows copies rows of n elements. The starts of rows lie toNext apart in to, and fromNext in from.
func copyRows(to []float64, toNext int, from []float64, fromNext, n, rows int) {
	if wide && n >= 4 && rows > 0 {
		copyWide(to, toNext, from, fromNext, n, rows)
		return
	}
	for r := range rows {
		some, of := to[r*toNext:][:n], from[r*fromNext:][:n]
		for ; len(some) >= 4 && len(of) >= 4; some, of = some[4:], of[4:] {
			some[0], some[1], some[2], some[3] = of[0], of[1], of[2], of[3]
		}
		copy(some, of)
	}
}
