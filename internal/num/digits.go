package num

// A Digit is the number 2^Weight, or -2^Weight if it is negative.
type Digit struct {
	Weight   int
	Negative bool
}

// Digits returns the canonical signed digits of m: powers of two, added or subtracted, that sum to m and of which
// no two are adjacent.
func Digits(m int64) (list []Digit) {
	for n := 0; m != 0; n++ {
		if m&1 != 0 {
			d := Digit{n, m&3 == 3}
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
