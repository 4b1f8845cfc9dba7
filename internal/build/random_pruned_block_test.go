package build

import (
	"math/big"

	"hlsgen/frontend/graph"
)

// conv is a convolution, dense or in groups.
func (n *pruned) conv(x sheet, outputs int) sheet {
	k, stride, groups, pad := 1+n.rnd.IntN(min(x.h, x.w, 3)), 1+n.rnd.IntN(2), 1, 0
	if n.chance(3) {
		groups, outputs = x.c, x.c*(1+n.rnd.IntN(2))
	}
	if x.padded() && n.chance(2) {
		pad = n.rnd.IntN(k)
	}
	per := x.c / groups
	name, w, dead := n.weights(outputs, per*k*k, []int{outputs, per, k, k}, false)
	y, in := n.fresh("y"), x.name
	p := int64(pad)
	n.Node("Conv", in, name).Ints("kernel_shape", int64(k), int64(k)).Ints("strides", int64(stride), int64(stride)).
		Ints("pads", p, p, p, p).Int("group", int64(groups)).Out(y)
	n.does(y, func(of map[string]*frame) *frame {
		return of[in].pad(pad, pad, pad, pad).convolve(w, outputs, groups, k, stride)
	})
	return product(y, outputs, (x.h+2*pad-k)/stride+1, (x.w+2*pad-k)/stride+1, dead)
}

// dense flattens what comes in, and multiplies with a matrix.
func (n *pruned) dense(x sheet, outputs int) sheet {
	inputs := x.c * x.h * x.w
	if !x.flat {
		y, in := n.fresh("l"), x.name
		n.Node("Flatten", in).Out(y)
		n.does(y, func(of map[string]*frame) *frame {
			return &frame{inputs, 1, 1, of[in].v}
		})
		x.name = y
	}
	name, w, dead := n.weights(outputs, inputs, []int{inputs, outputs}, true)
	y, in := n.fresh("y"), x.name
	n.Node("MatMul", in, name).Out(y)
	n.does(y, func(of map[string]*frame) *frame { return of[in].convolve(w, outputs, 1, 1, 1) })
	out := product(y, outputs, 1, 1, dead)
	out.flat = true
	return out
}

// between is what may stand behind a product, or in front of one, which then takes scaled integers all the same.
func (n *pruned) between(x sheet) sheet {
	y := n.fresh("f")
	kinds := 6
	if x.coded {
		kinds = 3
	}
	switch n.rnd.IntN(kinds) {
	case 0:
		v := n.factors(x, true)
		f := exact(v)
		n.Node("Mul", x.name, n.channels(x, v)).Out(y)
		out := n.pointwise(x, y, func(c int, v *big.Rat) *big.Rat { return new(big.Rat).Mul(v, f[c]) })
		out.odd = make([]bool, x.c)
		for c := range f {
			if f[c].Sign() == 0 {
				out.fixed[c] = new(big.Rat)
			}
			out.odd[c] = out.fixed[c] != nil
		}
		return out
	case 1:
		n.Node("Neg", x.name).Out(y)
		return n.pointwise(x, y, func(_ int, v *big.Rat) *big.Rat { return new(big.Rat).Neg(v) })
	case 2:
		f := n.pick(-1, -0.5, 2, -3)
		n.Node("Mul", n.scalar(f), x.name).Out(y)
		return n.pointwise(x, y, func(_ int, v *big.Rat) *big.Rat { return new(big.Rat).Mul(v, exactly(f)) })
	case 3:
		n.Node("Relu", x.name).Out(y)
		return n.pointwise(x, y, func(_ int, v *big.Rat) *big.Rat { return most([]*big.Rat{v, new(big.Rat)}) })
	case 4:
		v := make([]float64, x.c)
		for c := range v {
			v[c] = float64(n.rnd.IntN(17)-8) / 4
		}
		f := exact(v)
		n.Node("Add", x.name, n.channels(x, v)).Out(y)
		return n.pointwise(x, y, func(c int, v *big.Rat) *big.Rat { return new(big.Rat).Add(v, f[c]) })
	}
	return n.norm(x, y)
}

// norm is a batch normalisation whose root is rational.
func (n *pruned) norm(x sheet, y string) sheet {
	draw := func(of ...float64) []float64 {
		v := make([]float64, x.c)
		for c := range v {
			v[c] = n.pick(of...)
		}
		return v
	}
	gamma, beta, mean, root := draw(1, -1, 0, 0.3, -0.7, 1e-30, -1e20), draw(0, 0.5, -1.25, 3), draw(0, 0.25, -2),
		draw(0.5, 1, 2)
	in := []string{x.name}
	square := make([]float64, x.c)
	for c := range root {
		square[c] = root[c] * root[c]
	}
	for _, v := range [][]float64{gamma, beta, mean, square} {
		name := n.fresh("v")
		n.Init(name, graph.DTypeFloat32, []int{x.c}, v...)
		in = append(in, name)
	}
	n.Node("BatchNormalization", in...).Float("epsilon", 0).Out(y)
	g, b, m, r := exact(gamma), exact(beta), exact(mean), exact(root)
	out := n.pointwise(x, y, func(c int, v *big.Rat) *big.Rat {
		v = new(big.Rat).Sub(v, m[c])
		return v.Add(v.Quo(v.Mul(v, g[c]), r[c]), b[c])
	})
	for c := range g {
		if g[c].Sign() == 0 {
			out.fixed[c] = b[c]
		}
	}
	return out
}

// pool is a maximum or a mean over windows.
func (n *pruned) pool(x sheet) sheet {
	k, stride := 1+n.rnd.IntN(min(x.h, x.w, 3)), 1+n.rnd.IntN(2)
	op, f := "MaxPool", most
	if x.coded && n.chance(2) {
		op, f = "AveragePool", mean
	}
	y, in := n.fresh("p"), x.name
	if k == x.h && k == x.w && n.chance(2) {
		op, stride = "Global"+op, 1
		n.Node(op, in).Out(y)
	} else {
		n.Node(op, in).Ints("kernel_shape", int64(k), int64(k)).Ints("strides", int64(stride), int64(stride)).Out(y)
	}
	n.does(y, func(of map[string]*frame) *frame { return of[in].windows(k, stride, f) })
	x.name, x.h, x.w = y, (x.h-k)/stride+1, (x.w-k)/stride+1
	return x
}

// larger puts zeros around a sheet, or repeats its pixels.
func (n *pruned) larger(x sheet) sheet {
	y, in := n.fresh("e"), x.name
	if n.chance(2) && x.padded() {
		name := n.fresh("i")
		n.Init(name, graph.DTypeInt64, []int{8}, 0, 0, 1, 0, 0, 0, 0, 1)
		n.Node("Pad", in, name).Out(y)
		n.does(y, func(of map[string]*frame) *frame { return of[in].pad(1, 0, 0, 1) })
		x.name, x.h, x.w = y, x.h+1, x.w+1
		for c, v := range x.fixed {
			if v != nil && v.Sign() != 0 {
				x.fixed[c] = nil
			}
		}
		return x
	}
	none, factors := n.fresh("n"), n.fresh("i")
	n.Init(none, graph.DTypeFloat32, []int{0}).Init(factors, graph.DTypeFloat32, []int{4}, 1, 1, 2, 2)
	n.Node("Resize", in, none, factors).Str("mode", "nearest").Str("coordinate_transformation_mode", "asymmetric").
		Str("nearest_mode", "floor").Out(y)
	n.does(y, func(of map[string]*frame) *frame { return of[in].enlarge(2) })
	x.name, x.h, x.w = y, 2*x.h, 2*x.w
	return x
}

// joined is the sum of two sheets of one shape, or their channels side by side.
func (n *pruned) joined(a, b sheet) sheet {
	y := n.fresh("j")
	first, second := a.name, b.name
	if a.c != b.c || n.chance(3) {
		n.Node("Concat", first, second).Int("axis", 1).Out(y)
		n.does(y, func(of map[string]*frame) *frame {
			p, q := of[first], of[second]
			return &frame{p.c + q.c, p.h, p.w, append(append([]*big.Rat{}, p.v...), q.v...)}
		})
		a.name, a.c = y, a.c+b.c
		a.fixed = append(append([]*big.Rat{}, a.fixed...), b.fixed...)
		a.odd = append(append([]bool{}, a.odd...), b.odd...)
		return a
	}
	n.Node("Add", first, second).Out(y)
	n.does(y, func(of map[string]*frame) *frame {
		out := of[first].each(func(_ int, v *big.Rat) *big.Rat { return new(big.Rat).Set(v) })
		for i, v := range of[second].v {
			out.v[i].Add(out.v[i], v)
		}
		return out
	})
	out := a
	out.name, out.fixed, out.odd = y, make([]*big.Rat, a.c), make([]bool, a.c)
	for c := range out.fixed {
		if a.fixed[c] != nil && b.fixed[c] != nil {
			out.fixed[c] = new(big.Rat).Add(a.fixed[c], b.fixed[c])
			out.odd[c] = true
		}
	}
	return out
}

// layer is a product, what follows, and a quantiser, with a pool before or behind.
func (n *pruned) layer(x sheet, outputs int) sheet {
	if x.flat || n.chance(6) {
		x = n.dense(x, outputs)
	} else {
		x = n.conv(x, outputs)
	}
	for range n.rnd.IntN(4) {
		x = n.between(x)
	}
	if !x.flat && n.chance(3) {
		x = n.pool(x)
	}
	x = n.code(x)
	if n.chance(3) {
		x = n.between(x)
	}
	if !x.flat && n.chance(4) {
		x = n.pool(x)
	}
	return x
}

// input is an input of the model, quantised.
func (n *pruned) input(name string, c, h, w int, flat bool) sheet {
	x := sheet{name: name, c: c, h: h, w: w, flat: flat, fixed: make([]*big.Rat, c), odd: make([]bool, c)}
	if flat {
		n.Input(name, graph.DTypeFloat32, 1, c)
	} else {
		n.Input(name, graph.DTypeFloat32, 1, c, h, w)
	}
	return n.code(x)
}
