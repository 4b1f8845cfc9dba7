package lower

import (
	"cmp"
	"fmt"
	"slices"

	"hlsgen/frontend/axes"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/internal/dataflow"
)

// RecordSequenceInputs sets l.In, which says which of the graph's inputs are sequences and along which axis. p is the
// lowered program; of is the program of the same model for the shortest sequences. It returns an error if the two
// cannot be compared, or if an input is not sent step by step.
func (r *LoweredProgram) RecordSequenceInputs(p, of *program.Program, l *dataflow.SequenceLengths) error {
	x := &axes.SequenceLengthComparison{Long: p, Short: of, From: l.Max, To: l.Min}
	l.In = []int{}
	for k, tensor := range r.In {
		timed, err := x.HasLengthDependentShape(tensor)
		if err != nil {
			return err
		}
		axis, shape := -1, r.Graph.Streams[r.Graph.In[k]].Type.Shape
		if timed {
			axis = slices.IndexFunc(shape, func(d int) bool { return d > 1 })
			if axis < 0 || shape[axis] != l.Max {
				return fmt.Errorf("%q of shape %v is not sent to the device step by step", tensor, shape)
			}
		}
		l.In = append(l.In, axis)
	}
	return nil
}

// ForSequenceLength returns the result of lowering for sequences of n steps, derived from r, the result for the
// longest. p is the lowered program; of is the program of the same model for n steps. It returns an error if the
// programs differ where layers compute, or if the graph does not allow that length. It does not change r.
func (r *LoweredProgram) ForSequenceLength(p, of *program.Program, l *dataflow.SequenceLengths,
	n int) (*LoweredProgram, error) {
	out := *r
	out.stretch = &axes.SequenceLengthComparison{Long: p, Short: of, From: l.Max, To: n}
	given := append(graph.ValueNames(p.Graph.Inputs), r.In...) // cells read a state even if they do not use it
	err := out.stretch.CompareTensors(given, r.Out)
	if err != nil {
		return nil, err
	}
	if out.Graph, err = r.Graph.AtSequenceLength(l, n); err != nil {
		return nil, err
	}
	out.Place, out.Carried = map[string]*program.IndexList{}, nil
	for k, tensor := range r.In {
		if err := cmp.Or(out.scaledAlike(tensor, r.AffineOfSentInteger), out.place(r, tensor,
			r.Graph.In[k])); err != nil {
			return nil, err
		}
	}
	for k, tensor := range r.Out {
		if err := cmp.Or(out.scaledAlike(tensor, r.AffineOfInteger), out.place(r, tensor,
			r.Graph.Out[k])); err != nil {
			return nil, err
		}
	}
	for _, c := range r.Carried {
		if _, _, ok := out.stretch.StepLayoutsOf(c.Tensor); ok && out.place(r, c.Tensor, c.Stream) == nil {
			out.Carried = append(out.Carried, c)
		}
	}
	return &out, nil
}

// scaledAlike returns an error unless the functions that of returns for a tensor's elements are the same in every time
// step.
func (r *LoweredProgram) scaledAlike(tensor string, of func(tensor string, i int) real.Affine) error {
	long, _, _ := r.stretch.StepLayoutsOf(tensor)
	for i := range graph.ElementCount(r.stretch.Long.Known[tensor].Shape) {
		_, element := long.StepAndElementOf(i)
		a, b := of(tensor, i), of(tensor, long.IndexOfElement(0, element))
		if a.Scale.Cmp(b.Scale) != 0 || a.Bias.Cmp(b.Bias) != 0 {
			return fmt.Errorf("%q is scaled differently from step to step", tensor)
		}
	}
	return nil
}

// place records the positions of a tensor's elements on a stream for shorter sequences. As in longest, these follow
// time step by time step from either end, or all are in the first or last time step. It returns an error if longest has
// another order, or if the stream has no time steps.
func (r *LoweredProgram) place(longest *LoweredProgram, tensor string, stream int) error {
	long, short, _ := r.stretch.StepLayoutsOf(tensor)
	from := longest.Graph.Streams[stream].Type.Shape
	timed, width := longest.Graph.StreamHasTimeSteps(r.Graph, stream), from.ElementCount()/long.Count
	if !timed && long.Inner > 0 {
		return fmt.Errorf("%q goes over a stream of shape %v, which has no steps", tensor, from)
	}
	at := func(i int) int {
		if at := longest.Place[tensor]; at != nil {
			return int(at.At(i))
		}
		return i
	}
	// in returns the position of an element of a time step in a sequence of the given number of time steps, from
	// its position in the first time step.
	in := func(first, step, steps int) int {
		switch {
		case !timed:
			return first
		case first >= width: // reversed, or the last time step
			step = steps - 1 - step
		}
		return step*width + first%width
	}
	for i := range graph.ElementCount(r.stretch.Long.Known[tensor].Shape) {
		step, element := long.StepAndElementOf(i)
		if longest.AffineOfInteger(tensor, i).Scale.Sign() == 0 { // a constant, which has no position
			continue
		}
		if at(i) != in(at(long.IndexOfElement(0, element)), max(step, 0), long.Count) {
			return fmt.Errorf("%q has the steps of a sequence in an order of its own, or some in the middle", tensor)
		}
	}
	places := make([]int32, graph.ElementCount(r.stretch.Short.Known[tensor].Shape))
	for j := range places {
		step, element := short.StepAndElementOf(j)
		places[j] = int32(in(at(long.IndexOfElement(0, element)), max(step, 0), short.Count))
	}
	r.Place[tensor] = program.NewIndexList(places)
	return nil
}

// CheckVariableLengthSupport returns an error unless a graph accepts sequences of any length. Each layer before the
// last time step must be a recurrence, reorder time steps, or compute each separately. The returned node is the layer
// at fault, or nil if no single layer is.
func CheckVariableLengthSupport(g *dataflow.Graph, l *dataflow.SequenceLengths) (*dataflow.Node, error) {
	at, err := g.AtSequenceLength(l, l.Min)
	if err != nil {
		return nil, fmt.Errorf("in sequences of %d steps, %w", l.Min, err)
	}
	timed := func(s int) bool { return !slices.Equal(at.Streams[s].Type.Shape, g.Streams[s].Type.Shape) }
	for _, n := range g.Nodes {
		if !slices.ContainsFunc(n.In, timed) {
			continue
		}
		switch dataflow.DependenceOf(n.Op).Form {
		case dataflow.DependenceFormRecurrent, dataflow.DependenceFormCopy:
			continue
		case dataflow.DependenceFormMixed, dataflow.DependenceFormWindow:
			return n, fmt.Errorf("it computes with several steps at a time (%s)", n.Op.Kind())
		}
		for _, s := range slices.Concat(n.In, n.Out) {
			long, short := g.Streams[s].Type.Shape, at.Streams[s].Type.Shape
			if long.ElementCount()/l.Max*l.Min != short.ElementCount() {
				return n, fmt.Errorf("a stream of shape %v has no steps", long)
			}
		}
	}
	return nil, nil
}
