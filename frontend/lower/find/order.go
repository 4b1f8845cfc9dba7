package find

import (
	"fmt"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/real"
)

// A Ranking is the rows that a step puts in order: row r is elements r*N .. r*N+N-1 of an integer tensor, of each of
// which the real value is affine.
type Ranking struct {
	Source string
	N, K   int           // labels of a row, places that are asked for
	Affine []real.Affine // per element
	Nodes  []*graph.Node // between the integers and the order
}

// RankingOf finds the integers behind a step of order.
func (p *Program) RankingOf(step *graph.Step) (*Ranking, error) {
	o := step.Order
	if !o.Index {
		return nil, unmapped.Because("the values that come first are used",
			"a layer gives the indices of the values that come first: quantise nothing that depends on the values")
	}
	elements, k, reject := p.orderedRows(step)
	if reject != nil {
		return nil, reject
	}
	r := &Ranking{N: o.N, K: k, Affine: make([]real.Affine, len(elements))}
	tensor := p.behind(step.Node.Inputs[0], elements, o.N, &r.Nodes)
	for i, element := range elements {
		slice, err := p.Integers.At(tensor, int(element))
		if err != nil {
			return nil, unmapped.Because("what it puts in order is not in integers: "+err.Error(),
				"quantise the tensor that it puts in order")
		}
		if len(slice.Leaves) != 1 {
			return nil, unmapped.Because(fmt.Sprintf("a value that it puts in order is made of %d integers",
				len(slice.Leaves)), "quantise the tensor that it puts in order")
		}
		leaf, index := slice.Leaves[0].Tensor, int32(slice.Leaves[0].Index)
		var ok bool
		if r.Affine[i], ok = slice.Expr.Affine(); !ok {
			return nil, unmapped.Because("what it puts in order is no scaled integer: "+between(slice.Nodes)+
				" stands between it and the integers", "quantise the tensor that it puts in order")
		}
		if i == 0 {
			r.Source = leaf
		}
		at, ok := p.Ready(leaf)
		if !ok || leaf != r.Source || int(at.Position(index)) != i || at.Type.Shape.Size() != len(elements) {
			return nil, unmapped.Because(fmt.Sprintf("its row %d takes element %d of %q", i/o.N, index, leaf),
				"the rows that it puts in order must be the vectors of a layer: do not transpose, cut or join them")
		}
		r.Nodes = graph.Join(r.Nodes, slice.Nodes)
	}
	return r, nil
}

// orderedRows lists the elements of a step's input row by row. The places of a row must follow each other in its
// output, as they do in a word.
func (p *Program) orderedRows(step *graph.Step) (at []int32, k int, reject error) {
	o, size := step.Order, graph.Size(p.Known[step.Node.Inputs[0]].Shape)
	if size == 0 || len(o.Base) == 0 {
		return nil, 0, unmapped.Empty()
	}
	k = len(o.Base) * o.N / size
	for i, base := range o.Base {
		if int(o.Rank[i]) != i%k || base != o.Base[i-i%k] {
			return nil, 0, unmapped.Because("the places of a row lie apart in its output", "put the last axis in order")
		}
		if i%k == 0 {
			for j := range o.N {
				at = append(at, base+int32(j*o.Stride))
			}
		}
	}
	return at, k, nil
}

// behind goes back from a tensor through what neither changes the order within rows of n elements nor makes equal ones
// of different ones: moves, and a softmax over the row. It rewrites at, and adds the nodes it passes.
func (p *Program) behind(tensor string, at []int32, n int, nodes *[]*graph.Node) string {
	for {
		step := p.Producer(tensor)
		if _, integer := p.Integers.Integer(tensor, 0); integer || step == nil {
			return tensor
		}
		in := step.Node.Inputs
		switch {
		case step.Move != nil:
			slot, _ := step.Move.From(int(at[0]))
			for _, i := range at {
				if other, _ := step.Move.From(int(i)); in[other] != in[slot] {
					return tensor
				}
			}
			for j, i := range at {
				_, from := step.Move.From(int(i))
				at[j] = int32(from)
			}
			tensor = in[slot]
		case softmaxOf(step, at, n):
			tensor = in[0]
		default:
			return tensor
		}
		*nodes = append(*nodes, step.Node)
	}
}

// softmaxOf reports whether a step is a softmax that takes each of the rows of n elements together. exp(x)/sum and its
// logarithm rise strictly with x where the sum is the same.
func softmaxOf(step *graph.Step, at []int32, n int) bool {
	if step.Elem == nil || !step.Node.Is(graph.WholeRow) {
		return false
	}
	for j, i := range at { // variable 0 is the first element of the sum
		if step.Elem.At(0, int(i)) != step.Elem.At(0, int(at[j-j%n])) {
			return false
		}
	}
	return true
}

// Falls reports whether all real values fall where the integers rise. ok is false where the order of a row's integers
// does not give that of its real values.
func (r *Ranking) Falls() (falls, ok bool) {
	falls = r.Affine[0].Scale.Sign() < 0
	for i, f := range r.Affine {
		first := r.Affine[i-i%r.N]
		if f.Scale.Sign() == 0 || f.Scale.Sign() < 0 != falls || f.Scale.Cmp(first.Scale) != 0 ||
			f.Bias.Cmp(first.Bias) != 0 {
			return false, false
		}
	}
	return falls, true
}
