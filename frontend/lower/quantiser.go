package lower

import (
	"errors"
	"fmt"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/threshold"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
)

// maxSteps bounds the steps of one activation function: each is a comparator per PE and a word of threshold memory per
// channel. A quantiser at the model's end goes to the host from maxHeadSteps on, where it costs nothing.
const (
	maxSteps     = 1 << 12
	maxHeadSteps = 1<<8 - 1
)

func isCode(step *graph.Step) bool {
	_, _, ok := step.Node.Codes()
	return ok
}

func hostQuantiser(s *state, step *graph.Step) (bool, *Reject) {
	if !isCode(step) || s.a.Derived(step.Node.Inputs[0]) {
		return false, nil
	}
	lo, hi, _ := step.Node.Codes()
	r := num.Range{Lo: int64(lo), Hi: int64(hi)}
	t := dataflow.Type{Shape: append(dataflow.Shape{}, step.Shape...), Range: []num.Range{r}, Elem: num.Smallest(r)}
	if step.Node.Bipolar() {
		t.Elem = num.Type{Kind: num.Bipolar, Width: 1}
	}
	s.host[step.Output] = &hostCode{step, s.asVectors(step.Output, t)}
	s.a.Declare(step.Output, scaled.Unit)
	return true, nil
}

func hostPrefix(s *state, step *graph.Step) (bool, *Reject) {
	for _, in := range step.Node.Inputs {
		if in != "" && s.a.Derived(in) {
			return false, nil
		}
	}
	return true, nil
}

func slice(s *state, step *graph.Step) (bool, *Reject) { return true, nil }

func quantiser(s *state, step *graph.Step) (bool, *Reject) {
	if !isCode(step) {
		return false, nil
	}
	act, reject := s.activation(step)
	if reject != nil {
		return true, reject
	}
	limit := maxSteps
	head := !s.feedsLayer(step.Output)
	if head {
		limit = maxHeadSteps
	}
	steps, err := act.steps(s.typeOf(act.source), limit)
	switch {
	case errors.Is(err, real.ErrTooManySteps) && head:
		return true, nil // the host rounds the accumulators
	case errors.Is(err, real.ErrTooManySteps):
		return true, &Reject{diag.RangeTooWide, fmt.Sprintf("its activation has more than %d steps", limit), "quantise this activation with fewer bits"}
	case errors.Is(err, real.ErrDivision), errors.Is(err, real.ErrRoot), errors.Is(err, real.ErrLog):
		return true, &Reject{diag.NotMapped, fmt.Sprintf("its activation has no value %v", err), "keep its input away from there: clip it, or add a small constant"}
	case err != nil:
		return true, &Reject{diag.RoundingUndecided, fmt.Sprintf("its rounding %v", err), "the value lies on a rounding boundary up to 8192 bits of precision: nudge the scale or the bias of this layer"}
	}
	if identical(steps, s.typeOf(act.source)) {
		s.alias[step.Output] = act.source
		for _, n := range append(act.nodes, step.Node) {
			s.wires = append(s.wires, n.Index)
		}
	} else if reject := s.activate(step, act, steps); reject != nil {
		return true, reject
	}
	s.a.Declare(step.Output, scaled.Unit)
	return true, nil
}

// activate builds the layer: an MVAU with thresholds where a product waits and its activation can be made to rise
// (where it falls, the channel's weights change sign), a Thresholding otherwise.
func (s *state) activate(step *graph.Step, act *activation, steps []num.Step) *Reject {
	nodes := act.nodes
	if p := s.pending[s.source(act.source)]; p != nil {
		if weights, rising, ok := rise(p.weights, steps, p.typ); ok {
			fused := append(p.all(), nodes...)
			if s.add(mvau.New(mvau.Params{Weights: weights, Steps: rising}), p.in, step.Output, fused) == nil {
				delete(s.pending, p.step.Output)
				s.reader[p.step.Output] = step.Node
				return nil
			} // its thresholds are too many for one layer
		}
	}
	in, reject := s.take(act.source, step.Node)
	if reject != nil {
		return reject
	}
	if err := s.add(threshold.New(threshold.Params{Steps: shared(steps)}), in, step.Output, nodes); err != nil {
		return &Reject{diag.RangeTooWide, "no layer holds its activation: " + err.Error(), "quantise this activation with fewer bits"}
	}
	return nil
}

// identical reports whether every channel's function leaves its integers as they are.
func identical(steps []num.Step, t dataflow.Type) bool {
	for c, f := range steps {
		r := t.Channel(c)
		f = f.Over(r)
		if int64(len(f.At)) != r.Hi-r.Lo || f.Value[0] != r.Lo {
			return false
		}
		for i, at := range f.At {
			if f.Value[i+1] != at {
				return false
			}
		}
	}
	return true
}

// rise turns the falling channels of an activation round.
func rise(weights [][]int64, steps []num.Step, t dataflow.Type) ([][]int64, []num.Step, bool) {
	w, up := append([][]int64(nil), weights...), append([]num.Step(nil), steps...)
	for c, f := range steps {
		r := t.Channel(c)
		switch {
		case f.Over(r).NonDecreasing():
		case f.Mirror().Over(r.Neg()).NonDecreasing():
			up[c] = f.Mirror()
			w[c] = make([]int64, len(weights[c]))
			for k, v := range weights[c] {
				w[c][k] = -v
			}
		default:
			return nil, nil, false
		}
	}
	return w, up, true
}

// shared is one step function where all channels have the same.
func shared(steps []num.Step) []num.Step {
	for _, f := range steps[1:] {
		if !f.Equal(steps[0]) {
			return steps
		}
	}
	return steps[:1]
}

// An activation is the slice of a quantiser: one function per channel of one integer tensor.
type activation struct {
	source string
	funcs  []*real.Expr // per channel
	nodes  []*graph.Node
}

func (s *state) activation(step *graph.Step) (*activation, *Reject) {
	channels := 0 // of the integer tensor: the quantiser may see it reshaped
	act := &activation{}
	seen := map[*graph.Node]bool{}
	if reject := s.trace(graph.Size(step.Shape)); reject != nil {
		return nil, reject
	}
	for i := range graph.Size(step.Shape) {
		sl, err := s.a.Of(step, i)
		if err != nil {
			return nil, &Reject{diag.NotMapped, err.Error(), "quantise every tensor between two matrix layers"}
		}
		if len(sl.Leaves) != 1 {
			return nil, join(sl)
		}
		leaf := sl.Leaves[0]
		if i == 0 {
			act.source = leaf.Tensor
			if reject := s.taken(act.source); reject != nil {
				return nil, reject
			}
			t := s.typeOf(act.source)
			if channels = t.Shape.Channels(); t.Shape.Size() != graph.Size(step.Shape) {
				return nil, &Reject{diag.NotMapped, fmt.Sprintf("it takes %d elements of %q, which has %d", graph.Size(step.Shape), act.source, t.Shape.Size()),
					"a part of a layer's outputs, or some of them twice, is quantised: quantise them all, then take the part"}
			}
		}
		if leaf.Tensor != act.source || leaf.Index != i {
			return nil, &Reject{diag.NotMapped, fmt.Sprintf("element %d of it comes from element %d of %q", i, leaf.Index, leaf.Tensor),
				"elements are reordered between a layer and its quantiser: quantise before transposing or concatenating"}
		}
		if i < channels {
			act.funcs = append(act.funcs, sl.Expr)
			for _, n := range sl.Nodes {
				if !seen[n] {
					seen[n] = true
					act.nodes = append(act.nodes, n)
				}
			}
		} else if !sl.Expr.Equal(act.funcs[i%channels]) {
			return nil, &Reject{diag.NotMapped, fmt.Sprintf("its parameters vary along another axis than the last (element %d)", i),
				"use scales and biases per tensor or per channel"}
		}
	}
	return act, nil
}

func join(sl *scaled.Slice) *Reject {
	if len(sl.Leaves) == 0 {
		return &Reject{diag.NotMapped, "an element of it does not depend on the input", "remove the constant part of the tensor"}
	}
	for _, n := range sl.Nodes {
		if n.Op == "Softmax" || n.Op == "LogSoftmax" {
			return &Reject{diag.NotMapped, fmt.Sprintf("it depends on a whole row, through %s", describe(n)),
				"a softmax inside the network, as in attention, needs exponentials and a division per row in integers, which no layer has: keep softmax for the model's end"}
		}
	}
	return &Reject{diag.NotMapped, fmt.Sprintf("it joins %q and %q", sl.Leaves[0].Tensor, sl.Leaves[1].Tensor),
		"a sum or product of two tensors of data needs a layer that joins streams, which does not exist yet"}
}

// steps finds every channel's step function over the values that occur.
func (act *activation) steps(t dataflow.Type, limit int) ([]num.Step, error) {
	out := make([]num.Step, len(act.funcs))
	for c, e := range act.funcs {
		f, err := real.Compile(e).StepOver(t.Channel(c), limit)
		if err != nil {
			return nil, err
		}
		out[c] = f
	}
	return out, nil
}

// feedsLayer reports whether a quantiser or matrix product depends on a tensor.
func (s *state) feedsLayer(tensor string) bool {
	if known, ok := s.feeds[tensor]; ok {
		return known
	}
	for _, r := range s.prog.Readers(tensor) {
		if s.used[r] && (r.Dot != nil || isCode(r) || s.feedsLayer(r.Output)) {
			s.feeds[tensor] = true
			return true
		}
	}
	s.feeds[tensor] = false
	return false
}
