package fast

// dotGo is a tile of sums: acc[r*lanes+c] of the products of a row, which begins at x[at[r]], with the weights of lane
// c. Sums of chunk steps fit 16 bits.
func dotGo(acc *[rows * lanes]int32, x []uint8, at *[rows]int, weights []int8, steps int) {
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
