package rtlsim

import (
	"context"
	"fmt"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// What streams carry does not depend on clocks: an iteration takes the next words of its streams, whenever that is. So
// the data of a frame are computed layer by layer, beside the clocks.

// A carrier computes what the streams of a design carry, a frame after the other.
type carrier struct {
	*plan                     // of the last frame
	kernels []dataflow.Kernel // by layer, for frames of that length
	values  [][]int64         // by stream: the words of a frame, one behind the other
}

// carry adds to a trace what frames of inputs, each in its plan, give on the outputs, and, if they are to be kept, on
// all streams.
func (p *plan) carry(ctx context.Context, t *Trace, frames [][]dataflow.Tensor, each []*plan, keep bool) error {
	c := &carrier{plan: p, kernels: make([]dataflow.Kernel, len(p.loops))}
	for i := range c.kernels {
		c.kernels[i] = p.kernel(i)
	}
	for f, in := range frames {
		c.resize(each[f])
		streams, err := c.frame(ctx, in)
		if err != nil {
			return err
		}
		var outputs []dataflow.Tensor
		for _, s := range p.design.Model.Graph.Out {
			outputs = append(outputs, streams[s])
		}
		t.Outputs = append(t.Outputs, outputs)
		if keep {
			t.Streams = append(t.Streams, streams)
		}
	}
	return nil
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

// frame is what is on every stream, of what is on the inputs.
func (c *carrier) frame(ctx context.Context, in []dataflow.Tensor) ([]dataflow.Tensor, error) {
	g := c.design.Model.Graph
	c.values = make([][]int64, len(g.Streams))
	for i, s := range g.In {
		c.values[s] = c.ports[s].Send(in[i])
	}
	for i := range g.Nodes {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		c.layer(i)
	}
	out := make([]dataflow.Tensor, len(g.Streams))
	for s, values := range c.values {
		out[s] = c.ports[s].Receive(g.Streams[s].Type.Shape, values)
	}
	return out, nil
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
		outlets[p] = outlet{port, port.Elem.Range(), make([]int64, 0, port.Words*port.PerWord)}
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
	for i, v := range w {
		if !o.values.Contains(v) || v == 0 && o.Elem.Kind == num.Bipolar {
			return fmt.Errorf("element %d is %d: no %s", i, v, o.Elem)
		}
	}
	o.written = append(o.written, w...)
	return nil
}
