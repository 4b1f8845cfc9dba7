package operators

import (
	"math"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/internal/num"
)

// Quantisers lists the quantising nodes that compute a constant from numbers, the nearest first.
func Quantisers(p *program.Program, tensor string) (list []*graph.Node) {
	maker := map[string]*graph.Node{}
	for _, n := range p.Graph.Nodes {
		for _, o := range n.Outputs {
			maker[o] = n
		}
	}
	seen := map[string]bool{}
	for rest := []string{tensor}; len(rest) > 0; {
		n := maker[rest[0]]
		if rest = rest[1:]; n == nil || seen[n.FirstOutput()] {
			continue
		}
		seen[n.FirstOutput()] = true
		if unitReaderOf(n) != nil {
			list = append(list, n)
			continue
		}
		rest = append(rest, n.Inputs...)
	}
	return list
}

// A unitReader returns the scale of a quantiser, the scale element of each output element, and the bits of the codes.
// It returns a nil scale if there is no such number.
type unitReader func(p *program.Program, n *graph.Node) (scale *graph.Tensor, pick graph.ElementPick, bits int)

// unitReaderOf returns the unitReader for a node, or nil if the node is not a quantiser with equal steps.
func unitReaderOf(n *graph.Node) unitReader {
	of := map[string]map[string]unitReader{
		"":    {"DequantizeLinear": dequantizedUnit},
		QONNX: {"Quant": quantUnit, "IntQuant": quantUnit, "BipolarQuant": bipolarUnit},
	}
	return of[domainOf(n.Domain)][n.Op]
}

func quantUnit(p *program.Program, n *graph.Node) (*graph.Tensor, graph.ElementPick, int) {
	bits := p.Known[n.In(3)].Const
	if bits == nil || bits.Len() != 1 {
		return nil, graph.ElementPick{}, 0
	}
	scale, pick, _ := bipolarUnit(p, n)
	return scale, pick, int(bits.At(0))
}

func bipolarUnit(p *program.Program, n *graph.Node) (*graph.Tensor, graph.ElementPick, int) {
	scale := p.Known[n.In(1)]
	if scale.Const == nil {
		return nil, graph.ElementPick{}, 0
	}
	return scale.Const, preparationOf(p).broadcast(p.Known[n.FirstOutput()].Shape, scale.Shape), 1
}

// dequantizedUnit reads a DequantizeLinear. The width of its codes is the width of their type, or less if a Clip limits
// them.
func dequantizedUnit(p *program.Program, n *graph.Node) (*graph.Tensor, graph.ElementPick, int) {
	c, ok := preparationOf(p).read(n)
	if !ok || c.in[1].Const == nil || c.HasFlag("block_size") {
		return nil, graph.ElementPick{}, 0
	}
	scale := c.alongAxis(1).Const
	lo, hi, _ := c.in[0].DType.IntegerLimits()
	if clip := clipOf(p, n.In(0)); clip != nil {
		lo, hi = max(lo, clip.Lo), min(hi, clip.Hi)
	}
	t := num.NarrowestInt(num.Range{Lo: int64(lo), Hi: int64(hi)})
	return scale, preparationOf(p).broadcast(p.Known[n.FirstOutput()].Shape, scale.Shape), t.Width
}

// clipOf returns the limits of the Clip that computes a constant, or nil if there is none.
func clipOf(p *program.Program, tensor string) *Quantiser {
	for _, n := range p.Graph.Nodes {
		if n.Op != "Clip" || n.FirstOutput() != tensor {
			continue
		}
		q := &Quantiser{Lo: math.Inf(-1), Hi: math.Inf(1)}
		for i, to := range []*float64{&q.Lo, &q.Hi} {
			if t := p.Known[n.In(1+i)].Const; t != nil && t.Len() == 1 {
				*to = t.At(0)
			}
		}
		return q
	}
	return nil
}

// UnitOf returns, for each element that a quantiser of Quantisers gives, the real value of 1, and the bits of the
// codes. A zero point halfway between two codes halves the unit. UnitOf returns nil if there is no such unit.
func UnitOf(p *program.Program, n *graph.Node) (unit *graph.Tensor, bits int) {
	scale, pick, bits := unitReaderOf(n)(p, n)
	if scale == nil {
		return nil, 0
	}
	half := 1.0
	if zero := p.Known[n.In(2)].Const; zero != nil {
		for i := range zero.Len() {
			switch v := 2 * zero.At(i); {
			case v != math.Trunc(v):
				return nil, 0
			case zero.At(i) != math.Trunc(zero.At(i)):
				half = 2
			}
		}
	}
	if half == 2 {
		bits++
	}
	k := p.Known[n.FirstOutput()]
	unit = &graph.Tensor{DType: k.DType, Shape: k.Shape, F: make([]float64, graph.Size(k.Shape))}
	for i := range unit.F {
		unit.F[i] = scale.At(pick.At(i)) / half
	}
	return unit, bits
}
