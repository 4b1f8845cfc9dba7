package fast

import "math"

// kernels holds the inner loops for one kind of processor. Those of anywhere run on any processor; their functions
// have comments, and those of other kinds compute the same.
type kernels struct {
	name  string
	bytes bool  // dot accepts any bytes, since it has no sums of 16 bits
	less  int64 // dot subtracts this number from every byte

	dot func(acc []int32, x []uint8, at []int, offs []int32, weights []int8, chunk int)
	// words and along are set if bytes is false. looked and encode are set if they are faster than dot.
	words   func(acc []int32, x []uint8, at []int, offs []int32, weights []int16)
	along   func(acc []int32, x []uint8, at []int, offs []int32, weights []int16)
	looked  func(acc []int32, x []uint8, at []int, offs []int32, weights []uint8, t *pairTable, chunk int)
	encode  func(y, x []uint8)
	each    func(acc []int32, x []uint8, at []int, offs []int32, weights []int16)
	count   func(y []uint8, stride, n int, acc []int32, thresholds []int32, base *[lanes]uint8)
	line    func(y []uint8, stride, n int, acc []int32, l *line)
	steep   func(y []uint8, stride, n int, acc []int32, l *steep)
	highest func(y, x []uint8, channels int, at, offs []int32)
	reached func(y []uint8, x, thresholds []float32, first, step uint8)
	sought  func(y []uint8, x []float32, l *lookup)
	finite  func(x []float32) bool
}

// anywhere returns the inner loops that run on any processor.
func anywhere() *kernels {
	return &kernels{name: "any", bytes: true, dot: dotGo, each: eachGo, count: countGo, line: lineGo, steep: steepGo,
		highest: highestGo, reached: reachedGo, sought: soughtGo, finite: finiteGo}
}

// dotGo computes sums of products by row and lane. acc[r*lanes+c] is the sum for row r, which has deep bytes from
// x[at[r]+offs[s]] on for each step s, with the weights of lane c. The number of rows must be a multiple of rows,
// and the number of steps must be even. Sums over chunk steps fit into 16 bits, for kernels that need this. A
// kernel with less subtracts that number from all bytes. The caller must check that all elements to read exist.
func dotGo(acc []int32, x []uint8, at []int, offs []int32, weights []int8, _ int) {
	for r, from := range at {
		sums := (*[lanes]int32)(acc[r*lanes:])
		*sums = [lanes]int32{}
		for s, off := range offs {
			w := weights[s*lanes*deep : (s+1)*lanes*deep]
			four := x[from+int(off):][:deep]
			x0, x1, x2, x3 := int32(four[0]), int32(four[1]), int32(four[2]), int32(four[3])
			for c := range sums {
				v := w[c*deep : c*deep+deep]
				sums[c] += x0*int32(v[0]) + x1*int32(v[1]) + x2*int32(v[2]) + x3*int32(v[3])
			}
		}
	}
}

// wordsGo computes what dotGo does with weights of 16 bits. Each step has the weights of even bytes by lane, and then
// those of odd bytes.
func wordsGo(acc []int32, x []uint8, at []int, offs []int32, weights []int16) {
	for r, from := range at {
		sums := (*[lanes]int32)(acc[r*lanes:])
		*sums = [lanes]int32{}
		for s, off := range offs {
			four := x[from+int(off):][:deep]
			for i, v := range four {
				for c := range sums {
					sums[c] += int32(v) * int32(weights[((s*2+i%2)*lanes+c)*2+i/2])
				}
			}
		}
	}
}

// alongGo computes sums of products for four lanes per row. Step s multiplies along.deep() bytes from
// x[at[r]+offs[s]] on with as many weights of lane 0, then of lane 1, and so on. The sums of other lanes are
// undefined.
func alongGo(acc []int32, x []uint8, at []int, offs []int32, weights []int16) {
	each, n := along.lanes(), along.deep()
	for r, from := range at {
		sums := acc[r*lanes:][:each]
		clear(sums)
		for s, off := range offs {
			for c := range sums {
				w := weights[(s*each+c)*n:][:n]
				for i, v := range x[from+int(off):][:n] {
					sums[c] += int32(v) * int32(w[i])
				}
			}
		}
	}
}

// lookedGo computes sums of products by row and lane, for four blocks of lanes: acc[b*band*lanes+r*lanes+c]. For
// step s, row r has the codes of two pairs of bytes, doubled, at x[at[r]+offs[s]] and two bytes later. The weights
// are indices of pairs, by step, pair and lane. Sums over chunk steps fit into 8 bits, and all sums into 16 bits.
func lookedGo(acc []int32, x []uint8, at []int, offs []int32, weights []uint8, t *pairTable, _ int) {
	for b := range 4 {
		for r, from := range at {
			sums := (*[lanes]int32)(acc[(b*band+r)*lanes:])
			*sums = [lanes]int32{}
			for s, off := range offs {
				for pair := range 2 {
					of := t.sums[int(x[from+int(off)+2*pair])*8:][:16]
					for c, i := range weights[((s*2+pair)*4+b)*lanes:][:lanes] {
						sums[c] += int32(of[i])
					}
				}
			}
		}
	}
}

// encodeGo computes twice the code of each pair of adjacent bytes. The code has the low two bits of the first byte
// and, above them, the low two bits of the second byte.
func encodeGo(y, x []uint8) {
	for i := range y {
		y[i] = x[i]&3<<1 | x[i+1]&3<<3
	}
}

// eachGo computes sums of the products x[at[r]+offs[k]+c] * weights[k*lanes+c] by row and lane. They must fit into
// 16 bits. The number of rows must be a multiple of rows. The caller must check that all elements to read exist.
func eachGo(acc []int32, x []uint8, at []int, offs []int32, weights []int16) {
	for r, from := range at {
		sums := (*[lanes]int32)(acc[r*lanes:])
		*sums = [lanes]int32{}
		for k, off := range offs {
			v, w := x[from+int(off):][:lanes], weights[k*lanes:][:lanes]
			for c := range sums {
				sums[c] += int32(v[c]) * int32(w[c])
			}
		}
	}
}

// countGo computes outputs by thresholds: base plus the number of thresholds that are less than the sum. Row r of
// at most band rows stores its first n outputs from y[r*stride] on. Kernels may read rows up to a multiple of rows.
func countGo(y []uint8, stride, n int, acc []int32, thresholds []int32, base *[lanes]uint8) {
	for r := 0; r*lanes < len(acc); r++ {
		for c, sum := range acc[r*lanes:][:n] {
			count := base[c]
			for t := c; t < len(thresholds); t += lanes {
				if sum > thresholds[t] {
					count++
				}
			}
			y[r*stride+c] = count
		}
	}
}

// A line converts sums to bytes: base plus the integer part of sum*scale + bias, clamped to 0..top. The product and
// the sum are each rounded to float32.
type line struct {
	scale, bias [lanes]float32
	top, base   [lanes]uint8
}

// at returns the byte of lane c for a sum. The line's value must fit into int32.
func (l *line) at(c int, sum int32) uint8 {
	v := float32(float32(sum)*l.scale[c]) + l.bias[c]
	return min(saturated(int32(v)), l.top[c]) + l.base[c]
}

// A steep line is a line whose scale and bias are float64.
type steep struct {
	scale, bias [lanes]float64
	top, base   [lanes]uint8
}

// at returns the byte of lane c for a sum. The line's value must fit into int32.
func (l *steep) at(c int, sum int32) uint8 {
	v := float64(float64(sum)*l.scale[c]) + l.bias[c]
	return min(saturated(int32(v)), l.top[c]) + l.base[c]
}

// saturated returns the byte nearest to v.
func saturated(v int32) uint8 { return uint8(min(max(v, 0), math.MaxUint8)) }

// lineGo computes outputs by a line, in the same layout as countGo.
func lineGo(y []uint8, stride, n int, acc []int32, l *line) {
	for r := 0; r*lanes < len(acc); r++ {
		for c, sum := range acc[r*lanes:][:n] {
			y[r*stride+c] = l.at(c, sum)
		}
	}
}

// steepGo computes outputs by a steep line, in the same layout as countGo.
func steepGo(y []uint8, stride, n int, acc []int32, l *steep) {
	for r := 0; r*lanes < len(acc); r++ {
		for c, sum := range acc[r*lanes:][:n] {
			y[r*stride+c] = l.at(c, sum)
		}
	}
}

// greatestGo sets each byte of y to the greater one of itself and that of x.
func greatestGo(y, x []uint8) {
	x = x[:len(y)]
	for i, v := range x {
		y[i] = max(y[i], v)
	}
}

// highestGo computes the maximum of each channel in each window. Window w has its channels at x[at[w]+offs[i]] and
// behind, for each position i. The maxima of all windows follow each other in y.
func highestGo(y, x []uint8, channels int, at, offs []int32) {
	for w, from := range at {
		y, x := y[w*channels:][:channels], x[from:]
		copy(y, x[offs[0]:])
		for _, off := range offs[1:] {
			greatestGo(y, x[off:])
		}
	}
}

// reachedGo sets each y to first plus step times the number of thresholds that are at most x.
func reachedGo(y []uint8, x, thresholds []float32, first, step uint8) {
	x = x[:len(y)]
	for i, v := range x {
		n := first
		for _, t := range thresholds {
			if t <= v {
				n += step
			}
		}
		y[i] = n
	}
}

// A lookup finds the number of thresholds that are at most x in constant time. The number is the integer part of
// (x-least)*scale, or one more.
type lookup struct {
	at           []float32 // ascending thresholds, then infinity
	least, scale float32
}

// lookupOf returns the lookup for rising thresholds, or nil if their distances vary too much.
func lookupOf(at []float32) *lookup {
	n := len(at)
	l := &lookup{at: append(at[:n:n], float32(math.Inf(1))), scale: float32(n-1) / (at[n-1] - at[0])}
	l.least = at[0] - 0.5/l.scale
	if !(l.scale > 0) || math.IsInf(float64(l.scale), 0) {
		return nil
	}
	for i, t := range at { // guess is monotonic: what holds on both sides of thresholds holds everywhere
		below, above := l.guess(math.Nextafter32(t, float32(math.Inf(-1)))), l.guess(t)
		if below < i-1 || below > i || above < i || above > i+1 || i > 0 && at[i-1] >= t {
			return nil
		}
	}
	return l
}

// guess returns the number of thresholds that are at most x, or one less.
func (l *lookup) guess(x float32) int {
	v := (x - l.least) * l.scale
	if !(v > 0) {
		return 0
	}
	return int(min(v, float32(len(l.at)-1)))
}

// count returns the number of thresholds that are at most x, which must be finite.
func (l *lookup) count(x float32) int {
	n := l.guess(x)
	if l.at[n] <= x {
		n++
	}
	return n
}

// soughtGo sets each y to the number of thresholds that are at most x.
func soughtGo(y []uint8, x []float32, l *lookup) {
	x = x[:len(y)]
	for i, v := range x {
		y[i] = uint8(l.count(v))
	}
}

// finiteGo reports whether all numbers are finite. A number that is not has an exponent of ones, and adding one to
// it carries into the sign bit.
func finiteGo(x []float32) bool {
	const exponent, one, top = 0x7f800000, 0x00800000, 0x80000000
	others := uint32(0)
	for ; len(x) >= 8; x = x[8:] {
		for _, v := range (*[8]float32)(x) {
			others |= math.Float32bits(v)&exponent + one
		}
	}
	for _, v := range x {
		others |= math.Float32bits(v)&exponent + one
	}
	return others&top == 0
}
