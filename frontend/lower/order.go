package lower

import (
	"fmt"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/choose"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/dataflow"
)

// labels makes a layer of a step that puts integers in order, where only the places are asked for. What the layer cannot
// do the host does, which is wrong only where another layer needs the outcome.
func labels(s *state, step *graph.Step) (bool, *unmapped.Reason) {
	if step.Order == nil {
		return false, nil
	}
	r, reject := s.ranking(step)
	if reject == nil {
		reject = s.selectLabels(step, r)
	}
	if reject != nil && !s.feedsLayer(step.Output) {
		return true, nil
	}
	return true, reject
}

// A ranking is the rows that a step puts in order: row r is elements r*n .. r*n+n-1 of an integer tensor, of each of
// which the real value is affine.
type ranking struct {
	source string
	n, k   int           // labels of a row, places that are asked for
	affine []real.Affine // per element
	nodes  []*graph.Node // between the integers and the order
}

// ranking finds the integers behind a step of order.
func (s *state) ranking(step *graph.Step) (*ranking, *unmapped.Reason) {
	o := step.Order
	if !o.Index {
		return nil, unmapped.Because("the values that come first are used", "a layer gives the indices of the values that come first: quantise nothing that depends on the values")
	}
	at, k, reject := s.rows(step)
	if reject != nil {
		return nil, reject
	}
	r := &ranking{n: o.N, k: k, affine: make([]real.Affine, len(at))}
	tensor := s.behind(step.Node.Inputs[0], at, o.N, &r.nodes)
	for i, element := range at {
		sl, err := s.a.At(tensor, element)
		if err != nil {
			return nil, unmapped.Because("what it puts in order is not in integers: "+err.Error(), "quantise the tensor that it puts in order")
		}
		if len(sl.Leaves) != 1 {
			return nil, unmapped.Because(fmt.Sprintf("a value that it puts in order is made of %d integers", len(sl.Leaves)), "quantise the tensor that it puts in order")
		}
		leaf := sl.Leaves[0]
		f, ok := sl.Expr.Affine()
		if !ok {
			return nil, unmapped.Because("what it puts in order is no scaled integer: "+between(sl.Nodes)+" stands between it and the integers",
				"quantise the tensor that it puts in order")
		}
		if i == 0 {
			r.source = leaf.Tensor
		}
		p := s.places[leaf.Tensor]
		if p == nil || leaf.Tensor != r.source || int(p.Position(int32(leaf.Index))) != i || p.Type.Shape.Size() != len(at) {
			return nil, unmapped.Because(fmt.Sprintf("its row %d takes element %d of %q", i/o.N, leaf.Index, leaf.Tensor),
				"the rows that it puts in order must be the vectors of a layer: do not transpose, cut or join them")
		}
		r.affine[i] = f
		for _, n := range sl.Nodes {
			if !slices.Contains(r.nodes, n) {
				r.nodes = append(r.nodes, n)
			}
		}
	}
	return r, nil
}

// rows lists the elements of a step's input row by row. The places of a row must follow each other in its output, as they
// do in a word.
func (s *state) rows(step *graph.Step) (at []int, k int, reject *unmapped.Reason) {
	o, size := step.Order, graph.Size(s.prog.Known[step.Node.Inputs[0]].Shape)
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
				at = append(at, int(base)+j*o.Stride)
			}
		}
	}
	return at, k, nil
}

// behind goes back from a tensor through what neither changes the order within rows of n elements nor makes equal ones of
// different ones: moves, and a softmax over the row. It rewrites at, and adds the nodes it passes.
func (s *state) behind(tensor string, at []int, n int, nodes *[]*graph.Node) string {
	for {
		step := s.prog.Producer(tensor)
		if _, integer := s.a.Integer(tensor, 0); integer || step == nil {
			return tensor
		}
		in := step.Node.Inputs
		switch {
		case step.Move != nil:
			slot, _ := step.Move.From(at[0])
			for _, i := range at {
				if other, _ := step.Move.From(i); in[other] != in[slot] {
					return tensor
				}
			}
			for j, i := range at {
				_, at[j] = step.Move.From(i)
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
func softmaxOf(step *graph.Step, at []int, n int) bool {
	if op := step.Node.Op; step.Elem == nil || step.Node.Domain != "" || op != "Softmax" && op != "LogSoftmax" {
		return false
	}
	for j, i := range at { // variable 0 is the first element of the sum
		if step.Elem.At(0, i) != step.Elem.At(0, at[j-j%n]) {
			return false
		}
	}
	return true
}

// selectLabels builds the layer.
func (s *state) selectLabels(step *graph.Step, r *ranking) *unmapped.Reason {
	if !s.only(r.source, step) {
		return unmapped.Because(fmt.Sprintf("%q, which it puts in order, is needed elsewhere too", s.name(r.source)), "leave the other reader out")
	}
	t := s.places[r.source].Type
	falls, ok := r.falls()
	var p *product
	var affine []real.Affine
	if !ok {
		if p, t, affine, falls = s.level(r); p == nil {
			return unmapped.Because("the labels that it puts in order have scales or biases of their own",
				"quantise the weights of the layer in front per tensor, and leave its bias out")
		}
	}
	c, reject := choose.Layer(choose.Order{N: step.Order.N, K: r.k, Largest: step.Order.Largest != falls, LastOfEquals: step.Order.LastFirst})
	if reject != nil {
		return reject
	}
	if _, _, err := c.Ops[0].Bind([]dataflow.Type{t}); err != nil {
		return c.Refused(err)
	}
	if p != nil {
		at := s.places[r.source]
		at.Source, at.Type = p, t
		s.a.Declare(r.source, affine)
	}
	w, reject := s.add(c, []int{s.take(r.source)}, s.name(step.Output), append(r.nodes, step.Node))
	if reject != nil {
		return reject
	}
	s.put(step.Output, w, nil)
	s.a.Declare(step.Output, scaled.Unit)
	return nil
}

// falls reports whether all real values fall where the integers rise. ok is false where the order of a row's integers
// does not give that of its real values.
func (r *ranking) falls() (falls, ok bool) {
	falls = r.affine[0].Scale.Sign() < 0
	for i, f := range r.affine {
		first := r.affine[i-i%r.n]
		if f.Scale.Sign() == 0 || f.Scale.Sign() < 0 != falls || f.Scale.Cmp(first.Scale) != 0 || f.Bias.Cmp(first.Bias) != 0 {
			return false, false
		}
	}
	return falls, true
}
