package num

import "math/big"

// LeastRemainder is the least (a*x + c) mod m over 0 <= x <= n, where a and c are in 0..m-1.
func LeastRemainder(n, m, a, c *big.Int) *big.Int {
	if a.Sign() == 0 || n.Sign() == 0 {
		return new(big.Int).Set(c)
	}
	end := new(big.Int).Mul(a, n)
	end.Add(end, c)
	if twice := new(big.Int).Lsh(a, 1); twice.Cmp(m) > 0 { // walked from its end, it goes in shorter steps
		return LeastRemainder(n, m, new(big.Int).Sub(m, a), end.Mod(end, m))
	}
	// It grows by a until it passes a multiple of m; the least are c and what is left then, of which every one is the
	// one before less m, modulo a.
	turns := end.Quo(end, m)
	if turns.Sign() == 0 {
		return new(big.Int).Set(c)
	}
	step := new(big.Int).Neg(m)
	step.Mod(step, a)
	begin := new(big.Int).Sub(c, m)
	begin.Mod(begin, a)
	v := LeastRemainder(turns.Sub(turns, big.NewInt(1)), a, step, begin)
	if v.Cmp(c) > 0 {
		v.Set(c)
	}
	return v
}
