package rnntest

import "slices"

// unrolled writes one direction step by step, with a copy of the body for each. It returns the same tensors as
// scan.
func (w *writer) unrolled(l *Layer, d int, _ string, inputs []string, n *Network) (out []string) {
	cell, how := l.Cells[d], l.Spelled.Unroll
	b := &body{writer: w, cell: cell, spelled: l.Spelled, h: inputs[0]}
	state, sequences := "", inputs[1:]
	if cell.Kind == LSTM {
		state, sequences = inputs[1], inputs[2:]
	}
	var elements [][]string
	for _, x := range sequences {
		elements = append(elements, w.elements(x, how.Taken, n))
	}
	if how.Shared {
		w.shared = map[*int64]string{}
	}
	begin := l.Starts[d]
	if how.Short && !begin.Data && !cell.Difference {
		if begin.H == nil {
			b.h = ""
		}
		if begin.C == nil {
			state = ""
		}
	}
	h := make([]string, n.Steps)
	for run := range n.Steps {
		t := run
		if l.Reverse[d] {
			t = n.Steps - 1 - run
		}
		b.x = nil
		for _, e := range elements {
			b.x = append(b.x, e[t])
		}
		b.h, state = b.step(state)
		h[t] = b.h
	}
	w.shared = nil
	last := b.h
	axis := shapes[n.Form].axis
	var parts []string
	for _, v := range h {
		parts = append(parts, w.op("Unsqueeze", v, w.ints(float64(axis))))
	}
	whole := w.node(w.Node("Concat", parts...).Int("axis", int64(axis)))
	if cell.Kind == LSTM {
		return []string{last, state, whole}
	}
	return []string{last, whole}
}

// elements takes the elements of a sequence, each without the axis of time.
func (w *writer) elements(x, taken string, n *Network) (out []string) {
	axis := shapes[n.Form].axis
	var parts []string
	switch taken {
	case "Split":
		for range n.Steps {
			parts = append(parts, w.fresh())
		}
		sizes := slices.Repeat([]float64{1}, n.Steps)
		w.Node("Split", x, w.ints(sizes...)).Int("axis", int64(axis)).Out(parts...)
	case "Slice":
		for t := range n.Steps {
			parts = append(parts, w.op("Slice", x, w.ints(float64(t)), w.ints(float64(t+1)), w.ints(float64(axis))))
		}
	default:
		for t := range n.Steps {
			index := w.scalar64(t)
			out = append(out, w.node(w.Node("Gather", x, index).Int("axis", int64(axis))))
		}
		return out
	}
	for _, p := range parts {
		out = append(out, w.op("Squeeze", p, w.ints(float64(axis))))
	}
	return out
}
