package templates

import (
	"fmt"
	"slices"
	"strconv"

	"hlsgen/internal/dataflow"
)

// A sequences says how a design takes sequences of any length up to the longest. A frame is one sequence, and the words
// and layers are those of a time step. Inputs tell all layers after which step the sequence ends, by FIFOs with
// one bit per step (dataflow.SequenceEndFIFO).
type sequences struct {
	longest int
	one     *dataflow.Design         // the design for sequences of one step
	steps   []int                    // by recorded frame
	timed   []bool                   // by stream: it carries steps
	of      map[int]*dataflow.Design // by number of steps: the designs computed so far
}

// sequencesOf returns the form in which a design takes sequences, or nil if all frames have one length. A frame of a
// wrong length is an error.
func sequencesOf(d *dataflow.Design, frames [][]dataflow.Tensor) (q *sequences, err error) {
	l := d.Model.Lengths
	if l == nil {
		return nil, nil
	}
	q = &sequences{longest: l.Max, of: map[int]*dataflow.Design{}}
	if q.one, err = d.AtSequenceLength(1); err != nil {
		return nil, err
	}
	if err := q.one.Verify(); err != nil {
		return nil, fmt.Errorf("sequences of one step: %w", err)
	}
	g := d.Model.Graph
	for s := range g.Streams {
		q.timed = append(q.timed, g.StreamHasTimeSteps(q.one.Model.Graph, s))
	}
	for f, streams := range frames {
		var in []dataflow.Tensor
		for _, s := range g.In {
			in = append(in, streams[s])
		}
		n, err := l.TimeStepsInFrame(in)
		if err != nil {
			return nil, fmt.Errorf("frame %d: %w", f, err)
		}
		q.steps = append(q.steps, n)
	}
	return q, nil
}

// is reports whether a stream carries time steps. It returns false for a nil q.
func (q *sequences) is(stream int) bool { return q != nil && q.timed[stream] }

// reads reports whether the node n reads time steps. It returns false for a nil q.
func (q *sequences) reads(n *dataflow.Node) bool { return q != nil && slices.ContainsFunc(n.In, q.is) }

// port returns the word format of a stream, for a time step if the stream carries these, else for a frame.
func (q *sequences) port(d *dataflow.Design, stream int) dataflow.Port {
	if q.is(stream) {
		return q.one.PortOfStream(stream)
	}
	return d.PortOfStream(stream)
}

// layer returns node i in C++, with the number of its calls in that many recorded frames.
func (q *sequences) layer(d *dataflow.Design, i, frames int) (Layer, error) {
	n := d.Model.Graph.Nodes[i]
	in, out := n.Op.Ports(d.Folds[i])
	l := Layer{Name: n.Name, Origin: n.Origin, In: in, Out: out}
	if !q.reads(n) {
		l.Instance = n.Op.Emit(d.Folds[i], d.Target)
		l.Calls = slices.Repeat([]int{n.Op.Loop(d.Folds[i], d.Target).IterationsPerFrame()}, frames)
		return l, nil
	}
	one := q.one.Model.Graph.Nodes[i].Op
	l.In, l.Out = one.Ports(d.Folds[i])
	l.Steps = true
	if !dataflow.NeedsSequenceEnds(n.Op, q.longest) { // the node treats every step as a frame
		l.Instance = one.Emit(d.Folds[i], d.Target)
		for _, steps := range q.steps {
			l.Calls = append(l.Calls, steps*one.Loop(d.Folds[i], d.Target).IterationsPerFrame())
		}
		return l, nil
	}
	l.Instance = n.Op.(dataflow.TakesSequenceEnds).EmitSteps(d.Folds[i], d.Target, q.longest)
	for _, steps := range q.steps {
		at, err := q.at(d, steps)
		if err != nil {
			return l, err
		}
		l.Calls = append(l.Calls, at.Model.Graph.Nodes[i].Op.Loop(d.Folds[i], d.Target).IterationsPerFrame())
	}
	return l, nil
}

// at returns the design for sequences of that many time steps.
func (q *sequences) at(d *dataflow.Design, steps int) (*dataflow.Design, error) {
	if q.of[steps] == nil {
		at, err := d.AtSequenceLength(steps)
		if err != nil {
			return nil, err
		}
		q.of[steps] = at
	}
	return q.of[steps], nil
}

// endsOf returns the name of the stream that tells a layer, or an output, where sequences end.
func endsOf(name string) string { return name + "_ends" }

// ends returns the names of the streams of d.SequenceEndFIFOs, in the same order.
func (i IPInterface) ends(d *dataflow.Design) (names []string) {
	for _, e := range d.SequenceEndFIFOs() {
		if e.Node >= 0 {
			names = append(names, endsOf(d.Model.Graph.Nodes[e.Node].Name))
			continue
		}
		k := slices.IndexFunc(i.Out, func(p AXIStreamPort) bool { return p.Stream == e.Stream })
		names = append(names, endsOf(i.Out[k].Name))
	}
	return names
}

// ends returns the FIFOs that tell where sequences end and, by input, the names of those that it writes.
func ends(d *dataflow.Design, face IPInterface) (list []streamView, written map[int][]string) {
	written = map[int][]string{}
	names := face.ends(d)
	for k, e := range d.SequenceEndFIFOs() {
		list = append(list, streamView{Type: cStream(d.Model.Lengths.SequenceEndPort().Width()), Name: names[k],
			Depth: strconv.Itoa(e.FIFO.Depth), Memory: storageImpl[e.FIFO.Memory],
			Doc: "1 for the last step of a sequence"})
		written[e.Input] = append(written[e.Input], names[k])
	}
	return list, written
}
