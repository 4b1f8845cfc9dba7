package find

import (
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/choose"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/lower/whole"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
)

// Vectors are those that a matrix is multiplied with, without their constant elements.
type Vectors struct {
	*Operand     // one vector after the other
	Count, K int // vectors, and elements of each

	dot       *graph.Dot
	weights   *graph.Tensor
	rows      int        // outputs per vector
	kept      []int      // elements that are data
	constants []*big.Rat // per element of the whole vector: what it always is; nil for data
	affine    []real.Affine
}

// Elements lists the elements of a product's data, vector by vector; rows is the outputs of each. ok is false where the
// weights are no matrix.
func Elements(d *graph.Dot) (elements []int32, rows int, ok bool) {
	if rows, ok = matrixRows(d); !ok {
		return nil, 0, false
	}
	for at := 0; at < len(d.ABase); at += rows {
		for _, k := range d.AOffset {
			elements = append(elements, d.ABase[at]+k)
		}
	}
	return elements, rows, true
}

// matrixRows is the number of outputs that a matrix makes of one vector. ok is false where the product is no such thing.
func matrixRows(d *graph.Dot) (n int, ok bool) {
	n = 1
	for n < len(d.ABase) && d.ABase[n] == d.ABase[0] {
		n++
	}
	if len(d.ABase)%n != 0 {
		return 0, false
	}
	for i, base := range d.ABase {
		if base != d.ABase[i-i%n] || d.BBase[i] != d.BBase[i%n] {
			return 0, false
		}
	}
	return n, true
}

// VectorsOf reads the vectors of a product, whose data are an operand as Elements lists them.
func VectorsOf(d *graph.Dot, w *graph.Tensor, rows int, o *Operand) (*Vectors, error) {
	v := &Vectors{Count: len(d.ABase) / rows, dot: d, weights: w, rows: rows}
	affine, ok := o.Affine(d.K)
	if !ok {
		return nil, unmapped.Because("vectors of its input are scaled differently", "quantise activations per tensor or per channel")
	}
	var reject error
	if v.constants, reject = o.constants(v.Count, d.K); reject != nil {
		return nil, reject
	}
	for k, c := range v.constants {
		if c == nil {
			v.kept, v.affine = append(v.kept, k), append(v.affine, affine[k])
		}
	}
	v.Operand, v.K = o.columns(v.Count, d.K, v.kept), len(v.kept)
	return v, nil
}

// Matrix is the product, of a layer that reads vectors of a length in which element k of ours is at order[k]. of is the real
// values of its outputs.
func (v *Vectors) Matrix(order []int, length int) (m choose.Matrix, of []real.Affine, reject error) {
	d := v.dot
	var affine []real.Affine
	for c := range v.rows {
		weight := func(k int) *big.Rat { return new(big.Rat).SetFloat64(v.weights.At(int(d.BBase[c] + d.BOffset[k]))) }
		column := make([]*big.Rat, v.K)
		for i, k := range v.kept {
			column[i] = weight(k)
		}
		row, f, reject := whole.Column(column, v.affine)
		if reject != nil {
			return m, nil, reject
		}
		for k, constant := range v.constants {
			if constant != nil {
				f.Bias = new(big.Rat).Add(f.Bias, new(big.Rat).Mul(weight(k), constant))
			}
		}
		placed := make([]int64, length)
		for k, q := range row {
			placed[order[k]] += q // an element may be taken twice
		}
		m.Weights, affine = append(m.Weights, placed), append(affine, f)
	}
	return m, scaled.Spread(affine, len(d.ABase), func(i int) int { return i % v.rows }), nil
}

// constants is the constant in each column of an operand of v vectors of k elements, nil in columns of data. There are
// some of these.
func (o *Operand) constants(v, k int) ([]*big.Rat, error) {
	out := make([]*big.Rat, k)
	if o.Value == nil {
		return out, nil
	}
	data := false
	for i := range v * k {
		first, this := o.Value[i%k], o.Value[i]
		if (first == nil) != (this == nil) || first != nil && first.Cmp(this) != 0 {
			return nil, unmapped.Because("constants that differ from vector to vector are put among its input's elements", "pad all vectors alike")
		}
		out[i%k] = first
		data = data || first == nil
	}
	if !data {
		return nil, unmapped.Because("its input is constant", "remove the constant part of the model")
	}
	return out, nil
}

// columns is an operand of v vectors of k elements without those that are not kept.
func (o *Operand) columns(v, k int, kept []int) *Operand {
	if len(kept) == k {
		return o
	}
	out := &Operand{Tensors: o.Tensors, Nodes: o.Nodes}
	for r := range v {
		for _, c := range kept {
			out.Then(o.From[r*k+c], o.At[r*k+c])
		}
	}
	return out
}

// Within reads the vectors off longer ones of one stream, or shorter ones where elements are taken twice: element k of each is
// element order[k] there. ok is false where they are no such thing.
func (v *Vectors) Within(p *Program) (order []int, length int, ok bool) {
	if len(v.Tensors) != 1 {
		return nil, 0, false
	}
	t := p.Places[v.Tensors[0]].Type
	size := t.Shape.Size()
	if size%v.Count != 0 {
		return nil, 0, false
	}
	length = size / v.Count
	if _, ok := t.Vectors(length); !ok {
		return nil, 0, false
	}
	order = make([]int, v.K)
	for i, at := range v.At {
		j := int(at) - i/v.K*length
		if j < 0 || j >= length || i >= v.K && order[i%v.K] != j {
			return nil, 0, false
		}
		order[i%v.K] = j
	}
	return order, length, true
}

// Together reads a vector off several tensors of as many pixels, when their channels are concatenated. Order is as Within's.
func (v *Vectors) Together(p *Program) (order []int, length int, ok bool) {
	if v.Count != 1 || len(v.Tensors) < 2 {
		return nil, 0, false
	}
	first := p.Places[v.Tensors[0]].Type.Shape
	pixels := first[:len(first)-1]
	offset, channels, total := make([]int, len(v.Tensors)), make([]int, len(v.Tensors)), 0
	for i, tensor := range v.Tensors {
		shape := p.Places[tensor].Type.Shape
		if !slices.Equal(pixels, shape[:len(shape)-1]) {
			return nil, 0, false
		}
		offset[i], channels[i] = total, shape.Channels()
		total += channels[i]
	}
	for k, at := range v.At {
		i := v.From[k]
		order = append(order, int(at)/channels[i]*total+offset[i]+int(at)%channels[i])
	}
	return order, pixels.Size() * total, true
}
