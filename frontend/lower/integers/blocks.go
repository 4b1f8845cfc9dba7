package integers

import (
	"math"
	"math/big"
	mathbits "math/bits"
)

// maxCode is the largest number of bits for weights of a block that count as quantised, as multiples of the block's
// unit.
const maxCode = 16

// A grid describes the largest number of which some weights are integer multiples: the odd divisor times 2^least. If
// all weights are 0, divisor is 0.
type grid struct {
	divisor uint64
	least   int
	most    float64 // largest magnitude of a weight
}

// add adds a weight, which must not be 0, to those that the grid covers.
func (g *grid) add(w float64) {
	m, e := odd(w)
	g.join(&grid{m, e, math.Abs(w)})
}

// join adds the weights that another grid covers.
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

// bits returns the number of bits of the largest weight as a multiple of unit; 0 if all weights are 0.
func (g *grid) bits() int {
	if g.divisor == 0 {
		return 0
	}
	m, e := odd(g.most)
	return mathbits.Len64(m/g.divisor) + e - g.least
}

// unit returns the largest number of which all weights are integer multiples, or 0 if all are 0.
func (g *grid) unit() *big.Rat {
	unit := new(big.Rat).SetInt(new(big.Int).SetUint64(g.divisor))
	power := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(g.least, -g.least))))
	if g.least < 0 {
		return unit.Quo(unit, power)
	}
	return unit.Mul(unit, power)
}

// A block is a set of a sum's elements whose weights are codes of one quantiser. It holds a grid for each column.
type block []grid

// joined returns the block of the elements of b and with, or nil if no single quantiser can give the weights of both.
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

// looked is the number of blocks with which an element is compared, besides the block of the element before it.
const looked = 16

// GroupElementsByWeightUnit groups the n elements of a sum into count blocks. In each block, the weights of a column
// are small integer multiples of one number. weights returns those of an element in a column. of holds the block of
// each element. count is 0 if there are no such blocks, or they have fewer than two elements on average.
func GroupElementsByWeightUnit(n, columns int, weights func(element, column int) []float64) (of []int, count int) {
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
