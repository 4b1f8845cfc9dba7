package fast

import "math"

// kernels are the inner loops of a kind of processor. Each computes what that of anywhere does, which have comments.
type kernels struct {
	name  string
	bytes bool // dot may multiply any bytes: no sum is of 16 bits

	dot     func(acc *[rows * lanes]int32, x []uint8, at *[rows]int, weights []int8, steps, chunk int)
	count   func(y *[rows * lanes]uint8, acc *[rows * lanes]int32, thresholds []int32, base *[lanes]uint8)
	each    func(acc *[lanes]int32, x []uint8, stride int, weights []int16)
	highest func(y, x []uint8)
	reached func(y []uint8, x, thresholds []float32)
	sought  func(y []uint8, x []float32, l *lookup)
}

// anywhere is any processor.
func anywhere() *kernels {
	return &kernels{name: "any", bytes: true, dot: dotGo, count: countGo, each: eachGo, highest: highestGo,
		reached: reachedGo, sought: soughtGo}
}

// dotGo is a tile of sums: acc[r*lanes+c] of the products of a row, which begins at x[at[r]], with the weights of lane
// c. Steps are even. Sums of chunk steps fit 16 bits, where a kernel wants that.
func dotGo(acc *[rows * lanes]int32, x []uint8, at *[rows]int, weights []int8, steps, _ int) {
	*acc = [rows * lanes]int32{}
	for r, from := range at {
		row, sums := x[from:from+steps*deep], (*[lanes]int32)(acc[r*lanes:])
		for s := range steps {
			w := weights[s*lanes*deep : (s+1)*lanes*deep]
			x0, x1, x2, x3 := int32(row[s*deep]), int32(row[s*deep+1]), int32(row[s*deep+2]), int32(row[s*deep+3])
			for c := range sums {
				v := w[c*deep : c*deep+deep]
				sums[c] += x0*int32(v[0]) + x1*int32(v[1]) + x2*int32(v[2]) + x3*int32(v[3])
			}
		}
	}
}

// countGo is outputs by thresholds: base and the number of those that are less than the sum.
func countGo(y *[rows * lanes]uint8, acc *[rows * lanes]int32, thresholds []int32, base *[lanes]uint8) {
	for i, sum := range acc {
		n := base[i%lanes]
		for t := i % lanes; t < len(thresholds); t += lanes {
			if sum > thresholds[t] {
				n++
			}
		}
		y[i] = n
	}
}

// eachGo is sums of products by lane: of x[k*stride+c] and weights[k*lanes+c], which fit 16 bits.
func eachGo(acc *[lanes]int32, x []uint8, stride int, weights []int16) {
	*acc = [lanes]int32{}
	for k := 0; k*lanes < len(weights); k++ {
		v, w := x[k*stride:][:lanes], weights[k*lanes:][:lanes]
		for c := range acc {
			acc[c] += int32(v[c]) * int32(w[c])
		}
	}
}

// greatestGo has y be the greater of y and x, byte by byte.
func greatestGo(y, x []uint8) {
	x = x[:len(y)]
	for i, v := range x {
		y[i] = max(y[i], v)
	}
}

// highestGo has y be the greatest of each channel of x, which has positions of as many channels as y has.
func highestGo(y, x []uint8) {
	copy(y, x)
	for x = x[len(y):]; len(x) > 0; x = x[len(y):] {
		greatestGo(y, x)
	}
}

// reachedGo is the number of thresholds that are at most x, by element.
func reachedGo(y []uint8, x, thresholds []float32) {
	x = x[:len(y)]
	for i, v := range x {
		n := uint8(0)
		for _, t := range thresholds {
			if t <= v {
				n++
			}
		}
		y[i] = n
	}
}

// A lookup finds the number of thresholds that are at most x, in constant time.
type lookup struct {
	at     []float32 // ascending, and behind them infinity
	scale  float32   // bucket b has the numbers for which (x-at[0])*scale, from 0 on, begins with b
	before []int32   // thresholds in buckets before, by bucket; a bucket has one at most, the last numbers beyond
}

// lookupOf is that of thresholds; nil where some lie too close for it.
func lookupOf(at []float32) *lookup {
	n := len(at)
	span := at[n-1] - at[0]
	l := &lookup{at: append(at[:n:n], float32(math.Inf(1))), scale: float32(4*n) / span, before: make([]int32, 4*n+2)}
	if !(l.scale > 0) || math.IsInf(float64(l.scale), 0) {
		return nil
	}
	for i, t := range at {
		b := l.bucket(t)
		if i > 0 && l.bucket(at[i-1]) == b || b == len(l.before)-1 {
			return nil
		}
		l.before[b+1]++
	}
	for b := 1; b < len(l.before); b++ {
		l.before[b] += l.before[b-1]
	}
	return l
}

// bucket is monotonic in x, so that a threshold in a bucket before that of x is less than x.
func (l *lookup) bucket(x float32) int {
	v := (x - l.at[0]) * l.scale
	if !(v > 0) {
		return 0
	}
	if last := len(l.before) - 1; v < float32(last) {
		return int(v)
	}
	return len(l.before) - 1
}

// count is the thresholds that are at most x.
func (l *lookup) count(x float32) int {
	n := l.before[l.bucket(x)]
	if l.at[n] <= x {
		n++
	}
	return int(n)
}

// soughtGo is the number of thresholds that are at most x, by element.
func soughtGo(y []uint8, x []float32, l *lookup) {
	x = x[:len(y)]
	for i, v := range x {
		y[i] = uint8(l.count(v))
	}
}
