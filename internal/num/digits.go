package num

// A SignedDigit is the number 2^Weight, or -2^Weight if it is negative.
type SignedDigit struct {
	Weight   int
	Negative bool
}

// CanonicalSignedDigits returns the canonical signed digits of m: powers of two, added or subtracted, that sum to m and
// of which no two are adjacent.
func CanonicalSignedDigits(m int64) (list []SignedDigit) {
	for n := 0; m != 0; n++ {
		if m&1 != 0 {
			d := SignedDigit{n, m&3 == 3}
			if list = append(list, d); d.Negative {
				m++
			} else {
				m--
			}
		}
		m >>= 1
	}
	return list
}
