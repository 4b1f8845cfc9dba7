package rnntest

import (
	"hlsgen/frontend/graph"
	"hlsgen/internal/testsupport/onnxtest"
)

// loop writes one direction as a Loop, from the first step on. Its body takes the elements from the sequences
// outside. loop returns the same tensors as scan.
func (w *writer) loop(l *Layer, d int, prefix string, inputs []string, n *Network) (out []string) {
	cell, form := l.Cells[d], shapes[n.Form]
	states := 1
	if cell.Kind == LSTM {
		states = 2
	}
	axis := int64(form.axis)
	vector := func(width int) []any { return axes(form.vector(width)) }
	b := &body{writer: w.of(onnxtest.New(0), prefix+"b", n.Captured), cell: cell, spelled: l.Spelled}
	run, onwards := prefix+"i", prefix+"go"
	b.Input(run, graph.DTypeInt64).Input(onwards, graph.DTypeBool)
	b.h = b.prefix + "h"
	b.Input(b.h, graph.DTypeFloat32, vector(cell.Width())...)
	state := ""
	if states == 2 {
		state = b.prefix + "c"
		b.Input(state, graph.DTypeFloat32, vector(cell.Units)...)
	}
	for _, x := range inputs[states:] {
		b.x = append(b.x, b.node(b.Node("Gather", x, run).Int("axis", axis)))
	}
	b.Output(b.op("Identity", onwards), graph.DTypeBool)
	h, state := b.step(state)
	b.out(h, vector(cell.Width()))
	if states == 2 {
		b.out(state, vector(cell.Units))
	}
	b.out(h, vector(cell.Width()))
	runs := w.scalar64(n.Steps)
	if n.Lengths {
		runs = w.op("Gather", w.op("Shape", inputs[states]), w.scalar64(form.axis))
	}
	for range states + 1 {
		out = append(out, w.fresh())
	}
	in := append([]string{runs, w.yes()}, inputs[:states]...)
	w.Node("Loop", in...).Name(prefix).Graph("body", b.Model).Out(out...)
	if form.axis == 0 {
		return out
	}
	whole := w.node(w.Node("Transpose", out[states]).Ints("perm", 1, 0, 2)) // the axis of iterations is the first one
	return append(out[:states:states], whole)
}

// yes returns the name of an initializer that is true.
func (w *writer) yes() string { return w.initializer(graph.DTypeBool, nil, 1) }
