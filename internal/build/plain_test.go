package build

import (
	"math/big"
	"slices"
)

// What random networks mean, computed without any of the program's own arithmetic: rationals, one at a time.

// A frame is a frame of real numbers, channels first; a vector has one pixel.
type frame struct {
	c, h, w int
	v       []*big.Rat
}

func blank(c, h, w int) *frame {
	p := &frame{c, h, w, make([]*big.Rat, c*h*w)}
	for i := range p.v {
		p.v[i] = new(big.Rat)
	}
	return p
}

func (p *frame) at(c, y, x int) *big.Rat { return p.v[(c*p.h+y)*p.w+x] }

// each is a function of every element.
func (p *frame) each(f func(c int, v *big.Rat) *big.Rat) *frame {
	out := blank(p.c, p.h, p.w)
	for i, v := range p.v {
		out.v[i] = f(i/(p.h*p.w), v)
	}
	return out
}

// pad puts zeros around a frame.
func (p *frame) pad(top, left, bottom, right int) *frame {
	out := blank(p.c, p.h+top+bottom, p.w+left+right)
	for c := range p.c {
		for y := range p.h {
			for x := range p.w {
				out.at(c, y+top, x+left).Set(p.at(c, y, x))
			}
		}
	}
	return out
}

// windows is a function of every window of k by k pixels of every channel.
func (p *frame) windows(k, stride int, f func([]*big.Rat) *big.Rat) *frame {
	out := blank(p.c, (p.h-k)/stride+1, (p.w-k)/stride+1)
	for c := range p.c {
		for y := range out.h {
			for x := range out.w {
				var in []*big.Rat
				for i := range k * k {
					in = append(in, p.at(c, y*stride+i/k, x*stride+i%k))
				}
				out.at(c, y, x).Set(f(in))
			}
		}
	}
	return out
}

// convolve is a convolution with weights [out, c/groups, k, k].
func (p *frame) convolve(weights []*big.Rat, outputs, groups, k, stride int) *frame {
	out := blank(outputs, (p.h-k)/stride+1, (p.w-k)/stride+1)
	in := p.c / groups
	for o := range outputs {
		for y := range out.h {
			for x := range out.w {
				sum := out.at(o, y, x)
				for i := range in * k * k {
					v := p.at(o/(outputs/groups)*in+i/(k*k), y*stride+i/k%k, x*stride+i%k)
					sum.Add(sum, new(big.Rat).Mul(v, weights[o*in*k*k+i]))
				}
			}
		}
	}
	return out
}

// enlarge repeats every pixel n times in both directions.
func (p *frame) enlarge(n int) *frame {
	out := blank(p.c, p.h*n, p.w*n)
	for c := range out.c {
		for y := range out.h {
			for x := range out.w {
				out.at(c, y, x).Set(p.at(c, y/n, x/n))
			}
		}
	}
	return out
}

// order lists the indices of the elements, the first place first: of equal ones the lower index first, or the higher.
func (p *frame) order(largest, last bool) []int {
	list := make([]int, len(p.v))
	for i := range list {
		list[i] = i
	}
	slices.SortFunc(list, func(i, j int) int {
		d := p.v[i].Cmp(p.v[j])
		if largest {
			d = -d
		}
		if d == 0 {
			if d = i - j; last {
				d = -d
			}
		}
		return d
	})
	return list
}

func most(in []*big.Rat) *big.Rat { return slices.MaxFunc(in, (*big.Rat).Cmp) }

func mean(in []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for _, v := range in {
		sum.Add(sum, v)
	}
	return sum.Quo(sum, big.NewRat(int64(len(in)), 1))
}

// toInteger is v to an integer, by a mode of QONNX.
func toInteger(v *big.Rat, mode string) *big.Rat {
	down := new(big.Int).Div(v.Num(), v.Denom()) // Euclidean, and so the floor: denominators are positive
	rest := new(big.Rat).Sub(v, new(big.Rat).SetInt(down))
	half, up := rest.Cmp(big.NewRat(1, 2)), false
	switch away := v.Sign() > 0; {
	case rest.Sign() == 0:
	case mode == "CEIL", mode == "UP" && away, mode == "DOWN" && !away:
		up = true
	case mode == "FLOOR" || mode == "UP" || mode == "DOWN":
	case half != 0:
		up = half > 0
	case mode == "ROUND":
		up = down.Bit(0) == 1
	default: // HALF_UP is away from zero, HALF_DOWN towards it
		up = (mode == "HALF_UP") == away
	}
	if up {
		down.Add(down, big.NewInt(1))
	}
	return new(big.Rat).SetInt(down)
}

func between(v, lo, hi *big.Rat) *big.Rat {
	switch {
	case v.Cmp(lo) < 0:
		return lo
	case v.Cmp(hi) > 0:
		return hi
	}
	return v
}
