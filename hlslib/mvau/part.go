package mvau

import (
	"hlsgen/hlslib/mac"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Products returns how many products the layer, or a part of it, computes in a clock, and the bits of their wider
// factor.
func (o *op) Products(f dataflow.Fold, parts int) (n, bits int) {
	return mac.ProductsPerClock(o.Unit, f, parts), max(o.Weight.Width, o.in.Elem.Width)
}

// Adds returns how many bits the circuit of the layer, or of a part of it, adds in a clock to sum its products.
func (o *op) Adds(f dataflow.Fold, parts int) int { return mac.AddendBitsPerClock(o.Unit, f, parts) }

// Alike reports whether the other layer is of this kind, and equal in everything on which loops and costs of the fold
// depend.
func (o *op) Alike(other dataflow.Op, f dataflow.Fold, t dataflow.Target) bool {
	p, ok := other.(*op)
	return ok && o.mh == p.mh && o.mw == p.mw && o.vectors == p.vectors && o.P.groups() == p.P.groups() &&
		o.in.Elem == p.in.Elem && o.tile == p.tile && mac.HaveSameCost(o.Unit, p.Unit, f, t)
}

// Part returns part k of the n parts into which the layer is divided, bound, and its output's type. n must divide f.PE.
// Of every output word the part computes the PE/n elements from k*PE/n on. It has only the weights and step functions
// for these.
func (o *op) Part(f dataflow.Fold, k, n int) (dataflow.Op, dataflow.StreamType, error) {
	pe := f.PE / n
	p := Params{Groups: o.P.Groups, Product: o.P.Product, Room: o.P.Room}
	if len(o.P.Steps) == 1 {
		p.Steps = o.P.Steps
	}
	each := o.mh / n
	channels := make([]int, 0, each)
	p.Weights = make([][]int64, 0, each)
	if len(o.P.Steps) > 1 {
		p.Steps = make([]num.StepFunction, 0, each)
	}
	for c := k * pe; c < o.mh; c += f.PE {
		for i := range pe {
			channels = append(channels, c+i)
		}
		p.Weights = append(p.Weights, o.P.Weights[c:c+pe]...)
		if len(o.P.Steps) > 1 {
			p.Steps = append(p.Steps, o.P.Steps[c:c+pe]...)
		}
	}
	unit, err := mac.SelectChannels(o.Unit, channels, p.Weights, p.Steps)
	if err != nil {
		return nil, dataflow.StreamType{}, err
	}
	part := &op{Base: o.WithParams(p), mh: len(channels), mw: o.mw, in: o.in, vectors: o.vectors, tile: o.tile}
	part.of(unit)
	return part, part.out, nil
}
