package rtlsim

import (
	"context"
	"fmt"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// The data that streams carry do not depend on clocks: an iteration takes the next words of its streams, whenever
// that happens. So a carrier computes the data of a frame layer by layer, separately from the clocks.

// A carrier computes the data on all streams of a design, one frame after the other.
type carrier struct {
	*plan                     // the plan of the last frame
	kernels []dataflow.Kernel // by layer, for the length of that frame
	values  [][]int64         // by stream: the words of a frame, one after the other, until they are read
	spare   [][]int64
	tell    func(stream int, t dataflow.Tensor) error // is called with the tensor on each stream; may be nil
	room    []int64                                   // memory for the tensor given to tell
}

// ComputeOutputs computes the outputs of frames of inputs (one tensor per Graph.In each), per frame and graph output.
// It does what RunFrames does, but without clocks. carried, if not nil, is called as Options.OnTensor is.
func ComputeOutputs(ctx context.Context, d *dataflow.Design, frames [][]dataflow.Tensor,
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

// carry returns the outputs of frames of inputs, each with its own plan in each. It calls tell with the tensor on each
// stream.
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

// kernel returns the kernel of layer i in its initial state.
func (p *plan) kernel(i int) dataflow.Kernel {
	return p.design.Model.Graph.Nodes[i].Op.Kernel(p.design.Folds[i], p.design.Target)
}

// resize prepares for a frame whose plan may differ from the last frame's plan.
func (c *carrier) resize(p *plan) {
	if p == c.plan {
		return
	}
	c.plan = p
	for i, was := range c.kernels {
		c.kernels[i] = p.kernel(i)
		if layer, ok := p.design.Model.Graph.Nodes[i].Op.(dataflow.KeepsState); ok {
			layer.Resume(c.kernels[i], was)
		}
	}
}

// frame computes the outputs of one frame from its inputs.
func (c *carrier) frame(ctx context.Context, in []dataflow.Tensor) (out []dataflow.Tensor, err error) {
	g := c.design.Model.Graph
	c.values = make([][]int64, len(g.Streams))
	for i, s := range g.In {
		c.values[s] = slices.Clone(c.ports[s].ToStreamOrder(in[i]))
		if err := c.carried(s); err != nil {
			return nil, err
		}
	}
	for i, node := range g.Nodes {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		t := c.turn(i)
		for p, s := range node.In {
			t.rest[p] = c.values[s]
		}
		for p, s := range node.Out {
			t.outlets[p].written = c.empty(c.ports[s])
		}
		t.run(func() bool { return false })
		t.ended()
		for p, s := range node.Out {
			c.values[s] = t.outlets[p].written
			if err := c.carried(s); err != nil {
				return nil, err
			}
		}
		for _, s := range node.In { // no other layer reads them
			c.spare = append(c.spare, c.values[s])
		}
	}
	for _, s := range g.Out {
		out = append(out, c.ports[s].FromStreamOrder(g.Streams[s].Type.Shape, c.values[s]))
	}
	return out, nil
}

// carried passes the tensor on a stream to tell.
func (c *carrier) carried(stream int) error {
	if c.tell == nil {
		return nil
	}
	sent := c.values[stream]
	c.room = slices.Grow(c.room[:0], len(sent))[:len(sent)]
	return c.tell(stream, c.ports[stream].FromStreamOrderReusingMemory(c.room,
		c.design.Model.Graph.Streams[stream].Type.Shape,
		sent))
}

// empty returns an empty list with room for the words of a stream in a frame.
func (c *carrier) empty(p dataflow.Port) []int64 {
	n := p.Words * p.PerWord
	if i := slices.IndexFunc(c.spare, func(v []int64) bool { return cap(v) >= n }); i >= 0 {
		v := c.spare[i]
		c.spare = slices.Delete(c.spare, i, i+1)
		return v[:0]
	}
	return make([]int64, 0, n)
}

// A turn is one layer that computes one frame: its output words from its input words.
type turn struct {
	node    *dataflow.Node
	kernel  dataflow.Kernel
	walk    *dataflow.LoopWalker // nil if the frame has no iterations, or none left
	at      int                  // iterations so far
	perWord []int                // by input
	rest    [][]int64            // by input: elements that have arrived and are not read yet
	words   []dataflow.Word
	outlets []outlet
}

// turn returns layer i at the beginning of a frame.
func (c *carrier) turn(i int) *turn {
	node := c.design.Model.Graph.Nodes[i]
	t := &turn{node: node, kernel: c.kernels[i], rest: make([][]int64, len(node.In)),
		words: make([]dataflow.Word, len(node.In))}
	for _, s := range node.In {
		t.perWord = append(t.perWord, c.ports[s].PerWord)
	}
	for _, s := range node.Out {
		port := c.ports[s]
		t.outlets = append(t.outlets, outlet{port, port.Elem.Range(), port.Elem.Kind == num.KindBipolar, nil})
	}
	if c.loops[i].Body != nil {
		t.walk = c.loops[i].NewWalker()
	}
	return t
}

// run runs iterations of the turn until enough returns true, the frame is over, or an iteration lacks a word. In the
// last case it returns the input that lacks a word, otherwise -1. It panics if a kernel breaks its contract.
func (t *turn) run(enough func() bool) (lacks int) {
	for t.walk != nil && !enough() {
		m := t.walk.NextMoves()
		for p, n := range t.perWord {
			if m.Read>>p&1 != 0 && len(t.rest[p]) < n {
				return p
			}
		}
		for p, n := range t.perWord {
			t.words[p] = nil
			if m.Read>>p&1 != 0 {
				t.words[p], t.rest[p] = t.rest[p][:n:n], t.rest[p][n:]
			}
		}
		out := t.kernel.Step(t.at, t.words)
		if len(out) != len(t.outlets) {
			panic(fmt.Sprintf("rtlsim: %s, iteration %d: words for %d ports, want %d", t.node.Name, t.at, len(out),
				len(t.outlets)))
		}
		for p, w := range out {
			if err := t.outlets[p].put(w, m.Write>>p&1 != 0); err != nil {
				panic(fmt.Sprintf("rtlsim: %s, iteration %d, output %d: %v", t.node.Name, t.at, p, err))
			}
		}
		t.at++
		if t.walk.AdvanceIteration() {
			t.walk = nil
		}
	}
	return -1
}

// ended panics if iterations of the frame are left.
func (t *turn) ended() {
	if t.walk != nil {
		panic(fmt.Sprintf("rtlsim: %s, iteration %d: no word to read", t.node.Name, t.at))
	}
}

// An outlet is an output of a layer, with the words that it has written.
type outlet struct {
	dataflow.Port
	values  num.Range // range of its elements
	bipolar bool      // no element may be 0
	written []int64
}

// put appends the word of an iteration. It returns an error unless the word is nil exactly if the iteration does not
// write.
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
