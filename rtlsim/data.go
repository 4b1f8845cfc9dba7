package rtlsim

import (
	"context"
	"fmt"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// What streams carry does not depend on clocks: an iteration takes the next words of its streams, whenever that is. So
// the data of a frame are computed layer by layer, beside the clocks.

// A carrier computes what the streams of a design carry, a frame after the other.
type carrier struct {
	*plan                     // of the last frame
	kernels []dataflow.Kernel // by layer, for frames of that length
	values  [][]int64         // by stream: the words of a frame, one behind the other, as long as they are wanted
	spare   [][]int64
	tell    func(stream int, t dataflow.Tensor) error // of every stream
	room    []int64                                   // for what it is told
}

// Carry is Run for data alone: what frames of inputs (one tensor per Graph.In each) give on the outputs, per frame and
// graph output. The clocks are those of frames without data, and are not run. Carried is Options.Carried.
func Carry(ctx context.Context, d *dataflow.Design, frames [][]dataflow.Tensor,
	carried func(frame, stream int, t dataflow.Tensor) error) (outputs [][]dataflow.Tensor, err error) {
	if err := d.Verify(); err != nil {
		return nil, fmt.Errorf("design: %w", err)
	}
	p := newPlan(d)
	each, err := p.checked(frames)
	if err != nil {
		return nil, err
	}
	return p.carry(ctx, frames, each, carried)
}

// carry is what frames of inputs, each in its plan, give on the outputs; it tells what streams carry.
func (p *plan) carry(ctx context.Context, frames [][]dataflow.Tensor, each []*plan,
	tell func(frame, stream int, t dataflow.Tensor) error) (outputs [][]dataflow.Tensor, err error) {
	c := &carrier{plan: p, kernels: make([]dataflow.Kernel, len(p.loops))}
	for i := range c.kernels {
		c.kernels[i] = p.kernel(i)
	}
	for f, in := range frames {
		if tell != nil {
			c.tell = func(stream int, t dataflow.Tensor) error { return tell(f, stream, t) }
		}
		c.resize(each[f])
		out, err := c.frame(ctx, in)
		if err != nil {
			return nil, err
		}
		outputs = append(outputs, out)
	}
	return outputs, nil
}

// kernel is that of a layer, at its start.
func (p *plan) kernel(i int) dataflow.Kernel {
	return p.design.Model.Graph.Nodes[i].Op.Kernel(p.design.Folds[i], p.design.Target)
}

// resize makes ready for a frame of another plan than the last one's.
func (c *carrier) resize(p *plan) {
	if p == c.plan {
		return
	}
	c.plan = p
	for i, was := range c.kernels {
		c.kernels[i] = p.kernel(i)
		if r, ok := c.kernels[i].(dataflow.Resuming); ok {
			r.Resume(was)
		}
	}
}

// frame is what is on the outputs, of what is on the inputs.
func (c *carrier) frame(ctx context.Context, in []dataflow.Tensor) (out []dataflow.Tensor, err error) {
	g := c.design.Model.Graph
	c.values = make([][]int64, len(g.Streams))
	for i, s := range g.In {
		c.values[s] = slices.Clone(c.ports[s].Send(in[i]))
		if err := c.carried(s); err != nil {
			return nil, err
		}
	}
	for i, node := range g.Nodes {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		c.layer(i)
		for _, s := range node.Out {
			if err := c.carried(s); err != nil {
				return nil, err
			}
		}
		for _, s := range node.In { // which no other layer reads
			c.spare = append(c.spare, c.values[s])
		}
	}
	for _, s := range g.Out {
		out = append(out, c.ports[s].Receive(g.Streams[s].Type.Shape, c.values[s]))
	}
	return out, nil
}

// carried tells what a stream carries.
func (c *carrier) carried(stream int) error {
	if c.tell == nil {
		return nil
	}
	sent := c.values[stream]
	c.room = slices.Grow(c.room[:0], len(sent))[:len(sent)]
	return c.tell(stream, c.ports[stream].ReceiveIn(c.room, c.design.Model.Graph.Streams[stream].Type.Shape, sent))
}

// empty is a place for the words of a stream in a frame.
func (c *carrier) empty(p dataflow.Port) []int64 {
	n := p.Words * p.PerWord
	if i := slices.IndexFunc(c.spare, func(v []int64) bool { return cap(v) >= n }); i >= 0 {
		v := c.spare[i]
		c.spare = slices.Delete(c.spare, i, i+1)
		return v[:0]
	}
	return make([]int64, 0, n)
}

// layer computes what a layer writes of what it reads. A kernel that breaks its contract is a defect of ours.
func (c *carrier) layer(i int) {
	node := c.design.Model.Graph.Nodes[i]
	if c.loops[i].Body == nil {
		return
	}
	rest, words := make([][]int64, len(node.In)), make([]dataflow.Word, len(node.In)) // what is not read yet
	for p, s := range node.In {
		rest[p] = c.values[s]
	}
	outlets := make([]outlet, len(node.Out))
	for p, s := range node.Out {
		port := c.ports[s]
		outlets[p] = outlet{port, port.Elem.Range(), port.Elem.Kind == num.Bipolar, c.empty(port)}
	}
	walk := c.loops[i].Walk()
	for iteration, over := 0, false; !over; iteration++ {
		m := walk.Moves()
		for p, s := range node.In {
			words[p] = nil
			if m.Read>>p&1 != 0 {
				n := c.ports[s].PerWord
				words[p], rest[p] = rest[p][:n:n], rest[p][n:]
			}
		}
		out := c.kernels[i].Step(iteration, words)
		if len(out) != len(outlets) {
			panic(fmt.Sprintf("rtlsim: %s, iteration %d: words for %d ports, want %d", node.Name, iteration, len(out),
				len(outlets)))
		}
		for p, w := range out {
			if err := outlets[p].put(w, m.Write>>p&1 != 0); err != nil {
				panic(fmt.Sprintf("rtlsim: %s, iteration %d, output %d: %v", node.Name, iteration, p, err))
			}
		}
		over = walk.Advance()
	}
	for p, s := range node.Out {
		c.values[s] = outlets[p].written
	}
}

// An outlet is a port that a layer writes.
type outlet struct {
	dataflow.Port
	values  num.Range // of its elements
	bipolar bool      // which none is 0 of
	written []int64
}

// put adds what an iteration gives: a word if it writes, else nil.
func (o *outlet) put(w dataflow.Word, writes bool) error {
	switch {
	case writes != (w != nil):
		return fmt.Errorf("the loop says writes=%t, the kernel gives %v", writes, w)
	case w != nil && len(w) != o.PerWord:
		return fmt.Errorf("a word of %d elements, want %d", len(w), o.PerWord)
	}
	least, most, bipolar := o.values.Lo, o.values.Hi, o.bipolar
	for i, v := range w {
		if v < least || v > most || v == 0 && bipolar {
			return fmt.Errorf("element %d is %d: no %s", i, v, o.Elem)
		}
	}
	o.written = append(o.written, w...)
	return nil
}
