package rtlsim

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hlsgen/internal/dataflow"
)

// Agree compares the data that a design's kernels compute with the results of its layers' Evals. Neither is held in
// memory as a whole. Both compute a frame passage by passage (dataflow.PartwiseRun), and each passage part by part.

// CompareKernelsWithEval computes frames of inputs (one tensor per Graph.In each) with every layer's Eval and with its
// kernel. It compares both on every stream, and returns the outputs, per frame and graph output. It ends with the first
// difference, with the error that differs makes of it. tell, if not nil, gets rows of every stream, which it must not
// change. All frames must have one length.
func CompareKernelsWithEval(ctx context.Context, d *dataflow.Design, frames [][]dataflow.Tensor,
	tell func(frame, stream int, rows dataflow.Tensor) error,
	differs func(frame, stream int, why error) error) (outputs [][]dataflow.Tensor, err error) {
	if err := d.Verify(); err != nil {
		return nil, fmt.Errorf("design: %w", err)
	}
	p := newPlan(d)
	c := &carrier{plan: p, kernels: make([]dataflow.Kernel, len(p.loops))}
	for i := range c.kernels {
		c.kernels[i] = p.kernel(i)
	}
	both := d.NewPartwiseRun()
	for f, in := range frames {
		if err := both.BeginFrame(in); err != nil {
			return nil, fmt.Errorf("frame %d: %w", f, err)
		}
		a := &agreement{carrier: c, passing: both}
		a.tell = func(stream int, rows dataflow.Tensor) error {
			if tell == nil {
				return nil
			}
			return tell(f, stream, rows)
		}
		a.differs = func(stream int, why error) error { return differs(f, stream, why) }
		out, err := a.frame(ctx, in)
		if err != nil {
			return nil, err
		}
		outputs = append(outputs, out)
	}
	return outputs, nil
}

// An agreement is a frame that is computed with both Evals and kernels.
type agreement struct {
	*carrier
	passing *dataflow.PartwiseRun
	tell    func(stream int, rows dataflow.Tensor) error
	differs func(stream int, why error) error
}

func (a *agreement) frame(ctx context.Context, in []dataflow.Tensor) ([]dataflow.Tensor, error) {
	for i, s := range a.design.Model.Graph.In {
		if err := a.tell(s, in[i]); err != nil {
			return nil, err
		}
	}
	for _, p := range a.passing.Passages {
		if err := a.passage(ctx, p); err != nil {
			return nil, err
		}
		a.passing.FreeGroupInputs(p)
	}
	return a.passing.OutputFrames(), nil
}

// passage computes the layers of group p for the frame in both ways, by Eval and by kernels. It returns an error if the
// results differ.
func (a *agreement) passage(ctx context.Context, p *dataflow.LayerGroup) error {
	t := a.crossing(p)
	for part := range p.Parts {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var want [][]dataflow.Tensor
		var failed any // panic of the other goroutine
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() { failed = recover() }()
			want = a.passing.ComputePart(p, part)
		}()
		t.compute(part)
		<-done
		if failed != nil {
			panic(failed)
		}
		if err := t.compare(want); err != nil {
			return err
		}
	}
	return t.over()
}

// A crossing is a group of layers for one frame as their kernels compute it.
type crossing struct {
	*agreement
	turns []*turn
	in    [][]*flow // by turn and port; nil if the port reads from stored data
	out   [][]*flow
	fed   [][]int // by turn and port: elements of stored data that the layer was given so far
	parts int
}

// A flow holds the words that a layer of a group writes to a stream, and how far they were read and compared. It drops
// words that nobody needs any more.
type flow struct {
	stream     int
	from       *outlet
	gone       int               // number of elements dropped
	read, told int               // numbers of elements read and compared, including dropped ones
	want       []dataflow.Tensor // results of Eval that are not compared yet
	part       int               // elements in each part
}

// crossing returns the group p at the beginning of a frame.
func (a *agreement) crossing(p *dataflow.LayerGroup) *crossing {
	t := &crossing{agreement: a, parts: p.Parts}
	within := map[int]*flow{}
	for _, i := range p.Nodes {
		turn, node := a.turn(i), a.design.Model.Graph.Nodes[i]
		var in, out []*flow
		for _, s := range node.In {
			in = append(in, within[s])
		}
		for k, s := range node.Out {
			f := &flow{stream: s, from: &turn.outlets[k], part: a.ports[s].Words * a.ports[s].PerWord / p.Parts}
			f.from.written = make([]int64, 0, f.part)
			within[s] = f
			out = append(out, f)
		}
		t.turns, t.in, t.out = append(t.turns, turn), append(t.in, in), append(t.out, out)
		t.fed = append(t.fed, make([]int, len(in)))
	}
	return t
}

// compute runs the layers until each has written the given part. In the last part it runs them to the end of the
// frame. A layer may write the rest of a part together with the next part.
func (t *crossing) compute(part int) {
	last := part == t.parts-1
	for k, turn := range t.turns {
		for port, f := range t.in[k] {
			if f != nil {
				turn.rest[port] = f.from.written[f.read-f.gone:]
			}
		}
		enough := func() bool {
			for _, f := range t.out[k] {
				if f.gone+len(f.from.written) < (part+1)*f.part {
					return false
				}
			}
			return !last
		}
		for {
			lacks := turn.run(enough)
			if lacks < 0 || t.in[k][lacks] != nil || !t.feed(k, lacks) {
				break
			}
		}
		for port, f := range t.in[k] {
			if f != nil {
				f.read = f.gone + len(f.from.written) - len(turn.rest[port])
			}
		}
		if last {
			turn.ended()
		}
	}
}

// fedSize is the least number of elements that a layer is given at a time of data that are stored.
const fedSize = 1 << 16

// feed gives a layer more of the stored data at a port. It returns false if no data are left.
func (t *crossing) feed(k, port int) bool {
	turn := t.turns[k]
	s := turn.node.In[port]
	shape, p := t.design.Model.Graph.Streams[s].Type.Shape, t.ports[s]
	block := dataflow.Shape{1} // elements that travel in an order of their own
	if p.Tile > 0 {
		block = shape[len(shape)-2:]
	}
	size, unit := p.Words*p.PerWord, block.ElementCount()/dataflow.GCD(block.ElementCount(), p.PerWord)*p.PerWord
	n := min(max(1, fedSize/unit)*unit, size-t.fed[k][port])
	rows := make([]int64, n)
	t.passing.CopyHeldElements(s, rows, t.fed[k][port])
	t.fed[k][port] += n
	frame := dataflow.Tensor{Shape: append(dataflow.Shape{n / block.ElementCount()}, block...), Data: rows}
	turn.rest[port] = append(slices.Clip(turn.rest[port]), p.ToStreamOrder(frame)...)
	return n > 0
}

// compare returns an error if the words written in a part differ from want, the results of Eval, which it passes to
// tell.
func (t *crossing) compare(want [][]dataflow.Tensor) error {
	for k, flows := range t.out {
		for port, f := range flows {
			if err := t.tell(f.stream, want[k][port]); err != nil {
				return err
			}
			f.want = append(f.want, want[k][port])
			if err := t.flows(f); err != nil {
				return t.differs(f.stream, err)
			}
		}
	}
	return nil
}

// flows returns an error if the words that the flow f has written differ from Eval's results. It drops the words of f
// that nobody needs any more.
func (t *crossing) flows(f *flow) error {
	for len(f.want) > 0 && f.gone+len(f.from.written) >= f.told+len(f.want[0].Data) {
		rows := f.want[0]
		sent := f.from.written[f.told-f.gone:][:len(rows.Data)]
		t.room = slices.Grow(t.room[:0], len(sent))[:len(sent)]
		got := t.ports[f.stream].FromStreamOrderReusingMemory(t.room, rows.Shape, sent)
		err := CompareOutputs([][]dataflow.Tensor{{got}}, [][]dataflow.Tensor{{rows}})
		if d := new(OutputDifference); errors.As(err, &d) { // make the position one in the whole frame
			d.Shape, d.Index = t.design.Model.Graph.Streams[f.stream].Type.Shape, d.Index+f.told
		}
		if err != nil {
			return err
		}
		f.told += len(sent)
		f.want = f.want[1:]
	}
	drop := f.told
	if t.reader[f.stream] >= 0 && t.passing.IsStreamInsideGroup(f.stream) {
		drop = min(drop, f.read)
	}
	f.from.written = append(f.from.written[:0], f.from.written[drop-f.gone:]...)
	f.gone = drop
	return nil
}

// over returns an error if results of Eval are left for which the kernels wrote no words.
func (t *crossing) over() error {
	for _, flows := range t.out {
		for _, f := range flows {
			if len(f.want) > 0 {
				return t.differs(f.stream, fmt.Errorf("%d elements, want %d more", f.gone+len(f.from.written),
					len(f.want[0].Data)))
			}
		}
	}
	return nil
}
