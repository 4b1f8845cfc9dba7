package find

import (
	"fmt"

	"hlsgen/frontend/execution"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
)

// A RowsToSort holds the rows of N integers that a step sorts: elements r*N to r*N+N-1 of an integer tensor for row r.
// The real value of each is scale*q + bias.
type RowsToSort struct {
	Source string
	N, K   int           // labels of a row, and places that are asked for
	Affine []real.Affine // real value per element
	Nodes  []*graph.Node // nodes between the integers and the sorting

	reversed bool // the sorted values fall where these real values rise
}

// RowsToSortOf returns the rows that a step sorts. The error is the reason why these are not made of integers.
func (p *AnalysedProgram) RowsToSortOf(step *program.Step) (*RowsToSort, error) {
	o := step.Order
	if !o.Index {
		return nil, unmapped.NewReason("the values that come first are used",
			"a layer gives the indices of the values that come first: quantise nothing that depends on the values")
	}
	elements, k, reject := p.orderedRows(step)
	if reject != nil {
		return nil, reject
	}
	by := execution.FindSourceElementsOfSameOrder(p.Program, step.Node.Inputs[0], elements, o.N,
		func(step *program.Step,
			in string) bool {
			_, integer := p.Integers.AffineOfElement(step.Output, 0)
			return !integer && p.Integers.IsFromIntegers(in)
		})
	r := &RowsToSort{N: o.N, K: k, Affine: make([]real.Affine, len(elements)), Nodes: by.Nodes, reversed: by.Falls}
	for i, element := range by.At {
		slice, err := p.Integers.FunctionOfElement(by.Tensor, int(element))
		if err != nil {
			return nil, unmapped.NewReason("the values that it sorts are not integers: "+err.Error(),
				"quantise the tensor that it puts in order")
		}
		if len(slice.Leaves) != 1 {
			return nil, unmapped.NewReason(fmt.Sprintf("a value that it sorts depends on %d integers",
				len(slice.Leaves)), "quantise the tensor that it puts in order")
		}
		leaf, index := slice.Leaves[0].Tensor, int32(slice.Leaves[0].Index)
		var ok bool
		if r.Affine[i], ok = slice.Expr.AsAffine(); !ok {
			return nil, unmapped.NewReason("a value that it sorts is no scaled integer: "+between(slice.Nodes)+
				" stands between it and the integers", "quantise the tensor that it puts in order")
		}
		if i == 0 {
			r.Source = leaf
		}
		at, ok := p.PlaceOf(leaf)
		if !ok || leaf != r.Source || int(at.PositionOf(index)) != i || at.Type.Shape.ElementCount() != len(elements) {
			return nil, unmapped.NewReason(fmt.Sprintf("its row %d takes element %d of %q", i/o.N, index, leaf),
				"the rows that it sorts must be the vectors of a layer: do not transpose, cut or join them")
		}
		r.Nodes = graph.AppendMissingNodes(r.Nodes, slice.Nodes)
	}
	return r, nil
}

// orderedRows returns the elements of a step's input row by row, and the number k of places per row that are asked for.
// The places of a row must be adjacent in the step's output, as they are in a word of a stream.
func (p *AnalysedProgram) orderedRows(step *program.Step) (at []int32, k int, reject error) {
	o, size := step.Order, graph.ElementCount(p.Known[step.Node.Inputs[0]].Shape)
	if size == 0 || len(o.Base) == 0 {
		return nil, 0, unmapped.NewEmptyTensorReason()
	}
	k = len(o.Base) * o.N / size
	for i, base := range o.Base {
		if int(o.Rank[i]) != i%k || base != o.Base[i-i%k] {
			return nil, 0, unmapped.NewReason("the indices of a row are not adjacent in its output",
				"sort along the last axis")
		}
		if i%k == 0 {
			for j := range o.N {
				at = append(at, base+int32(j*o.Stride))
			}
		}
	}
	return at, k, nil
}

// IsOrderReversed reports whether all sorted values fall where the integers rise. ok is false if the order of a row's
// integers does not determine the order of its real values.
func (r *RowsToSort) IsOrderReversed() (falls, ok bool) {
	down := r.Affine[0].Scale.Sign() < 0
	for i, f := range r.Affine {
		first := r.Affine[i-i%r.N]
		if f.Scale.Sign() == 0 || f.Scale.Sign() < 0 != down || f.Scale.Cmp(first.Scale) != 0 ||
			f.Bias.Cmp(first.Bias) != 0 {
			return false, false
		}
	}
	return down != r.reversed, true
}
