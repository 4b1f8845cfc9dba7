package recur

import (
	"errors"
	"math/big"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/lower/whole"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/num"
)

// A dot is a product of the input or of a state with constant weights.
type dot struct {
	of      string    // the integer tensor: the input's or a state's
	rows    [][]int64 // per unit
	product *num.Requant
}

// A rounding is a tensor of products each of which is rounded: element k of row j is weight[j][k] times element k of the vector.
type rounding struct {
	of      string
	weights []int64 // per element
	from    []int32 // per element: of the vector
	requant num.Requant
	scale   *big.Rat
}

// dot reads a product with constant weights, or a sum of products that were rounded one by one.
func (b *reader) dot(step *graph.Step) error {
	d, in := step.Dot, step.Node.Inputs
	w := b.body.Known[in[d.B]].Const
	x, base, offset := in[d.A], d.ABase, d.AOffset
	wBase, wOffset := d.BBase, d.BOffset
	if w == nil { // weights times data
		w = b.body.Known[in[d.A]].Const
		x, base, offset, wBase, wOffset = in[d.B], d.BBase, d.BOffset, d.ABase, d.AOffset
	}
	if w == nil || d.Then != nil {
		return NotLSTM("%s multiplies two tensors of data", unmapped.Describe(step.Node))
	}
	forms, err := b.a.Forms(x, scaled.Sums(base, offset))
	form, leaf, ok := forms.One()
	if err != nil || !ok {
		return NotLSTM("%s does not work on integers of one tensor", unmapped.Describe(step.Node))
	}
	if r := as[rounding](b, leaf.Tensor); r != nil {
		return b.roundedDot(step, d.K, w, wBase, wOffset, form, r)
	}
	if as[vector](b, leaf.Tensor) == nil {
		return NotLSTM("%s multiplies %q, which is neither the input nor a state", unmapped.Describe(step.Node), leaf.Tensor)
	}
	out := &dot{of: leaf.Tensor}
	length := graph.Size(b.body.Known[leaf.Tensor].Shape)
	var affine []real.Affine
	for j := range base {
		column, scales := make([]*big.Rat, d.K), make([]real.Affine, d.K)
		for k := range column {
			column[k] = new(big.Rat).SetFloat64(w.At(int(wBase[j] + wOffset[k])))
			if scales[k], ok = form.Affine(j*d.K + k); !ok {
				return NotLSTM("%s does not work on scaled integers", unmapped.Describe(step.Node))
			}
		}
		row, f, reject := whole.Column(column, scales)
		if reject != nil {
			return reject
		}
		placed := make([]int64, length)
		for k, q := range row {
			placed[leaf.Index[j*d.K+k]] += q
		}
		out.rows, affine = append(out.rows, placed), append(affine, f)
	}
	b.learn(step.Output, out, affine...)
	return nil
}

// roundedDot adds up products that were rounded.
func (b *reader) roundedDot(step *graph.Step, n int, w *graph.Tensor, wBase, wOffset []int32, form *scaled.Form, r *rounding) error {
	leaf := form.Leaves()[0]
	length := graph.Size(b.body.Known[r.of].Shape)
	out := &dot{of: r.of, product: &r.requant}
	for j := range wBase {
		row := make([]int64, length)
		for k := range n {
			f, ok := form.Affine(j*n + k)
			if !ok || f.Bias.Sign() != 0 || f.Scale.Cmp(r.scale) != 0 || w.At(int(wBase[j]+wOffset[k])) != 1 {
				return NotLSTM("%s does not just add up rounded products", unmapped.Describe(step.Node))
			}
			at := leaf.Index[j*n+k]
			if row[r.from[at]] != 0 {
				return NotLSTM("%s takes a product twice", unmapped.Describe(step.Node))
			}
			row[r.from[at]] = r.weights[at]
		}
		out.rows = append(out.rows, row)
	}
	b.learn(step.Output, out, real.Affine{Scale: r.scale, Bias: new(big.Rat)})
	return nil
}

// rounding reads products that are rounded one by one.
func (b *reader) rounding(step *graph.Step) error {
	q, err := whole.RoundingOf(b.body, step)
	if err != nil {
		return NotLSTM("%v", err)
	}
	n := graph.Size(step.Shape)
	forms, err := b.a.Forms(step.Node.Inputs[0], scaled.All(n))
	form, leaf, ok := forms.One()
	if err != nil || !ok {
		return NotLSTM("%s is not made of integers", unmapped.Describe(step.Node))
	}
	weights, requant, err := q.Products(form, n, b.codeOf(leaf.Tensor).Span)
	if err != nil {
		return notRounded(err)
	}
	b.learn(step.Output, &rounding{leaf.Tensor, weights, leaf.Index, requant, q.Scale}, scaled.Unit...)
	return nil
}

func notRounded(err error) error {
	var why *unmapped.Reason
	if errors.As(err, &why) {
		return err
	}
	return NotLSTM("%v", err)
}
