package num

import "math/big"

// LeastLinearRemainder returns the least (a*x + c) mod m over all integers x from 0 to n. Both a and c must lie in
// 0..m-1.
func LeastLinearRemainder(n, m, a, c *big.Int) *big.Int {
	if a.Sign() == 0 || n.Sign() == 0 {
		return new(big.Int).Set(c)
	}
	end := new(big.Int).Mul(a, n)
	end.Add(end, c)
	if twice := new(big.Int).Lsh(a, 1); twice.Cmp(m) > 0 { // in reverse order, the steps are shorter
		return LeastLinearRemainder(n, m, new(big.Int).Sub(m, a), end.Mod(end, m))
	}
	// The remainder grows by a until it passes a multiple of m. The candidates are c and the first remainder behind
	// each multiple. Each of these is the one before it minus m, modulo a.
	turns := end.Quo(end, m)
	if turns.Sign() == 0 {
		return new(big.Int).Set(c)
	}
	step := new(big.Int).Neg(m)
	step.Mod(step, a)
	begin := new(big.Int).Sub(c, m)
	begin.Mod(begin, a)
	v := LeastLinearRemainder(turns.Sub(turns, big.NewInt(1)), a, step, begin)
	if v.Cmp(c) > 0 {
		v.Set(c)
	}
	return v
}
