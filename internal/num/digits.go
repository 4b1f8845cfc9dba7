package num

// A SignedDigit is the number 2^Weight, or -2^Weight if it is negative.
type SignedDigit struct {
	Weight   int
	Negative bool
}

// SignedDigitsOfWide does what CanonicalSignedDigits does, for a number of up to 128 bits. The digits sum to m modulo
// 2^128.
func SignedDigitsOfWide(m Wide) (list []SignedDigit) {
	if v, ok := m.Int64(); ok && v>>62 == v>>63 {
		return CanonicalSignedDigits(v)
	}
	one := Wide{Lo: 1}
	for n := 0; m != (Wide{}); n++ {
		if m.Lo&1 != 0 {
			d := SignedDigit{n, m.Lo&3 == 3}
			if list = append(list, d); d.Negative {
				m = m.Plus(one)
			} else {
				m = m.Minus(one)
			}
		}
		m = m.Shifted(-1)
	}
	return list
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
