package templates

import (
	"fmt"
	"slices"
	"strconv"

	"hlsgen/internal/dataflow"
)

// sequences says how a design takes sequences of any length up to the longest: a call of the top is one sequence, and
// words and layers are those of a step. The first input tells all layers, by a FIFO of a bit per step each, after which
// step the sequence ends.
//
// Such a FIFO holds the bits of all steps that its layer is behind the input. A layer waits for no step behind the end
// of the sequence that it is in, so that a longest sequence of bits holds up nothing.
type sequences struct {
	longest int
	one     *dataflow.Design // for a sequence of one step
	steps   []int            // by frame
	timed   []bool           // by stream: it carries steps
}

// sequencesOf is nil where frames are no sequences of different lengths.
func sequencesOf(d *dataflow.Design, frames [][]dataflow.Tensor) (q *sequences, err error) {
	l := d.Model.Lengths
	if l == nil {
		return nil, nil
	}
	q = &sequences{longest: l.Max}
	if q.one, err = d.At(1); err != nil {
		return nil, err
	}
	if err := q.one.Verify(); err != nil {
		return nil, fmt.Errorf("sequences of one step: %w", err)
	}
	g := d.Model.Graph
	for s := range g.Streams {
		q.timed = append(q.timed, g.Timed(q.one.Model.Graph, s))
	}
	for f, streams := range frames {
		var in []dataflow.Tensor
		for _, s := range g.In {
			in = append(in, streams[s])
		}
		n, err := l.Steps(in)
		if err != nil {
			return nil, fmt.Errorf("frame %d: %w", f, err)
		}
		q.steps = append(q.steps, n)
	}
	return q, nil
}

// is reports whether a stream carries steps.
func (q *sequences) is(stream int) bool { return q != nil && q.timed[stream] }

// reads reports whether a node reads steps.
func (q *sequences) reads(n *dataflow.Node) bool { return q != nil && slices.ContainsFunc(n.In, q.is) }

// port is that of a stream for a step, where it carries steps.
func (q *sequences) port(d *dataflow.Design, stream int) dataflow.Port {
	if q.is(stream) {
		return q.one.Port(stream)
	}
	return d.Port(stream)
}

// layer is node i as C++.
func (q *sequences) layer(d *dataflow.Design, i int) Layer {
	n := d.Model.Graph.Nodes[i]
	in, out := n.Op.Ports(d.Folds[i])
	if !q.reads(n) {
		return Layer{Name: n.Name, Origin: n.Origin, Instance: n.Op.Emit(d.Folds[i], d.Target), In: in, Out: out}
	}
	one := q.one.Model.Graph.Nodes[i]
	in, out = one.Op.Ports(d.Folds[i])
	l := Layer{Name: n.Name, Origin: n.Origin, In: in, Out: out, Steps: true}
	if s, ok := n.Op.(dataflow.Stepped); ok {
		if instance, own := s.EmitSteps(d.Folds[i], d.Target, q.longest); own {
			l.Instance = instance
			return l
		}
	}
	l.Instance = one.Op.Emit(d.Folds[i], d.Target)
	return l
}

// endsOf is the name of the stream that tells a layer, or an output, where sequences end.
func endsOf(name string) string { return name + "_ends" }

// ends is the FIFOs of these streams.
func (q *sequences) ends(d *dataflow.Design, face Interface) (list []streamView) {
	add := func(name string) {
		list = append(list, streamView{Type: cStream(1), Name: endsOf(name), Depth: strconv.Itoa(q.longest + 2),
			Memory: storageImpl[dataflow.SRL], Doc: "1 for the last step of a sequence"})
	}
	for _, n := range d.Model.Graph.Nodes {
		if q.reads(n) {
			add(n.Name)
		}
	}
	for _, p := range face.Out {
		if q.is(p.Stream) {
			add(p.Name)
		}
	}
	return list
}
