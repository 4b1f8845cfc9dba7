package whole

import (
	"math"
	"math/big"
	mathbits "math/bits"
)

// maxCode is the bits of the widest codes that quantisers of weights give.
const maxCode = 16

// A grid is the largest number of which some weights are whole multiples: an odd divisor times
// 2^least. Divisor 0 is of weights that are all 0.
type grid struct {
	divisor uint64
	least   int
	most    float64 // the largest magnitude
}

// add takes one more weight, which is not 0.
func (g *grid) add(w float64) {
	m, e := odd(w)
	g.join(&grid{m, e, math.Abs(w)})
}

// join takes the weights of another.
func (g *grid) join(o *grid) {
	switch {
	case o.divisor == 0:
		return
	case g.divisor == 0:
		*g = *o
		return
	}
	g.least, g.most = min(g.least, o.least), max(g.most, o.most)
	if g.divisor > 1 && o.divisor%g.divisor != 0 {
		g.divisor = gcd(g.divisor, o.divisor)
	}
}

// bits is how many the largest weight needs as a multiple.
func (g *grid) bits() int {
	if g.divisor == 0 {
		return 0
	}
	m, e := odd(g.most)
	return mathbits.Len64(m/g.divisor) + e - g.least
}

// unit is the number.
func (g *grid) unit() *big.Rat {
	unit := new(big.Rat).SetInt(new(big.Int).SetUint64(g.divisor))
	power := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(g.least, -g.least))))
	if g.least < 0 {
		return unit.Quo(unit, power)
	}
	return unit.Mul(unit, power)
}

// A block is elements of a sum whose weights are codes of one quantiser, column by column.
type block []grid

// joined is the block with more elements; nil where these are codes of another quantiser.
func (b block) joined(with block) block {
	out := make(block, len(b))
	for c := range b {
		out[c] = b[c]
		out[c].join(&with[c])
		if out[c].bits() > maxCode {
			return nil
		}
	}
	return out
}

// looked is how many blocks an element is held against, besides the one of the element before it.
const looked = 16

// Blocks says in which block each of n elements of a sum is, by what it is multiplied with in each column: weights are
// quantised in blocks where each block has small whole multiples of a number of its own. count is how many there are; 0
// where there are none: blocks have two elements or more, taken all together.
func Blocks(n, columns int, weights func(element, column int) []float64) (of []int, count int) {
	var all []block
	of = make([]int, n)
	var last block
	for k := range n {
		own := make(block, columns)
		for c := range own {
			for _, w := range weights(k, c) {
				if w != 0 {
					own[c].add(w)
				}
			}
			if own[c].bits() > maxCode {
				return nil, 0
			}
		}
		at := count
		if k > 0 {
			if with := last.joined(own); with != nil {
				at, last = of[k-1], with
			}
		}
		for i := 0; i < len(all) && at == count; i++ {
			if with := all[i].joined(own); with != nil {
				at, last = i, with
			}
		}
		if of[k] = at; at == count {
			last = own
			if count++; count > (n+1)/2 {
				return nil, 0
			}
			if len(all) < looked {
				all = append(all, nil)
			}
		}
		if at < len(all) {
			all[at] = last
		}
	}
	return of, count
}
