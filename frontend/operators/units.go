package operators

import (
	"math"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/internal/num"
)

// QuantisersOfConstant returns the quantising nodes that compute a constant from numbers, the nearest first.
func QuantisersOfConstant(p *program.Program, tensor string) (list []*graph.Node) {
	maker := map[string]*graph.Node{}
	for _, n := range p.Graph.Nodes {
		for _, o := range n.Outputs {
			maker[o] = n
		}
	}
	seen := map[string]bool{}
	for rest := []string{tensor}; len(rest) > 0; {
		n := maker[rest[0]]
		if rest = rest[1:]; n == nil || seen[n.FirstNonEmptyOutputName()] {
			continue
		}
		seen[n.FirstNonEmptyOutputName()] = true
		if unitReaderOf(n) != nil {
			list = append(list, n)
			continue
		}
		rest = append(rest, n.Inputs...)
	}
	return list
}

// A unitReader returns the scale of a quantiser, the map from output elements to elements of the scale, and the bits of
// the codes. It returns a nil scale if there is no such number.
type unitReader func(p *program.Program, n *graph.Node) (scale *graph.ConstantTensor, pick graph.ElementIndexMap,
	bits int)

// unitReaderOf returns the unitReader for a node, or nil if the node is not a quantiser with equal steps.
func unitReaderOf(n *graph.Node) unitReader {
	of := map[string]map[string]unitReader{
		"":          {"DequantizeLinear": dequantizedUnit},
		QONNXDomain: {"Quant": quantUnit, "IntQuant": quantUnit, "BipolarQuant": bipolarUnit},
	}
	return of[domainOf(n.Domain)][n.Op]
}

func quantUnit(p *program.Program, n *graph.Node) (*graph.ConstantTensor, graph.ElementIndexMap, int) {
	bits := p.Known[n.InputName(3)].Const
	if bits == nil || bits.Len() != 1 {
		return nil, graph.ElementIndexMap{}, 0
	}
	scale, pick, _ := bipolarUnit(p, n)
	return scale, pick, int(bits.FloatAt(0))
}

func bipolarUnit(p *program.Program, n *graph.Node) (*graph.ConstantTensor, graph.ElementIndexMap, int) {
	scale := p.Known[n.InputName(1)]
	if scale.Const == nil {
		return nil, graph.ElementIndexMap{}, 0
	}
	return scale.Const, preparationOf(p).broadcast(p.Known[n.FirstNonEmptyOutputName()].Shape, scale.Shape), 1
}

// dequantizedUnit reads a DequantizeLinear. The width of its codes is the width of their type, or less if a Clip limits
// them.
func dequantizedUnit(p *program.Program, n *graph.Node) (*graph.ConstantTensor, graph.ElementIndexMap, int) {
	c, ok := preparationOf(p).read(n)
	if !ok || c.in[1].Const == nil || c.IsFlagAttrSet("block_size") {
		return nil, graph.ElementIndexMap{}, 0
	}
	scale := c.alongAxis(1).Const
	lo, hi, _ := c.in[0].DType.IntegerLimits()
	if clip := clipOf(p, n.InputName(0)); clip != nil {
		lo, hi = max(lo, clip.Lo), min(hi, clip.Hi)
	}
	t := num.NarrowestIntTypeFor(num.Range{Lo: int64(lo), Hi: int64(hi)})
	return scale, preparationOf(p).broadcast(p.Known[n.FirstNonEmptyOutputName()].Shape, scale.Shape), t.Width
}

// clipOf returns the limits of the Clip that computes a constant, or nil if there is none. A limit that is missing or
// not constant is infinite.
func clipOf(p *program.Program, tensor string) *QuantiserParams {
	for _, n := range p.Graph.Nodes {
		if n.Op != "Clip" || n.FirstNonEmptyOutputName() != tensor {
			continue
		}
		q := &QuantiserParams{Lo: math.Inf(-1), Hi: math.Inf(1)}
		for i, to := range []*float64{&q.Lo, &q.Hi} {
			if t := p.Known[n.InputName(1+i)].Const; t != nil && t.Len() == 1 {
				*to = t.FloatAt(0)
			}
		}
		return q
	}
	return nil
}

// UnitAndBitsOfQuantiser returns, for each element that a quantiser of QuantisersOfConstant gives, the real value for
// which the integer 1 stands, and the bits of the codes. A zero point halfway between two codes halves the unit and
// adds a bit. It returns nil and 0 if there is no such unit.
func UnitAndBitsOfQuantiser(p *program.Program, n *graph.Node) (unit *graph.ConstantTensor, bits int) {
	scale, pick, bits := unitReaderOf(n)(p, n)
	if scale == nil {
		return nil, 0
	}
	half := 1.0
	if zero := p.Known[n.InputName(2)].Const; zero != nil {
		for i := range zero.Len() {
			switch v := 2 * zero.FloatAt(i); {
			case v != math.Trunc(v):
				return nil, 0
			case zero.FloatAt(i) != math.Trunc(zero.FloatAt(i)):
				half = 2
			}
		}
	}
	if half == 2 {
		bits++
	}
	k := p.Known[n.FirstNonEmptyOutputName()]
	unit = &graph.ConstantTensor{DType: k.DType, Shape: k.Shape, F: make([]float64, graph.ElementCount(k.Shape))}
	for i := range unit.F {
		unit.F[i] = scale.FloatAt(pick.ArgumentIndex(i)) / half
	}
	return unit, bits
}
