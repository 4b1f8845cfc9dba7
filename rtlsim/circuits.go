package rtlsim

import (
	"context"
	"fmt"
	"slices"

	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// A wiring runs the circuits of a design on all frames, layer by layer. Its FIFOs have no limit: they hold as many
// words as are written.
type wiring struct {
	*plan
	each    []*plan                                          // by frame
	words   [][][]uint64                                     // by frame and stream: 64-bit parts; nil once read
	outputs [][]dataflow.Tensor                              // by frame and graph output
	tell    func(frame, stream int, t dataflow.Tensor) error // is called with the tensor on each stream; may be nil
}

// ComputeOutputsByCircuits returns what ComputeOutputs does, computed by the layers' circuits instead of their kernels:
// what the design's SystemVerilog computes. The target's back end must spell circuits. carried, if not
// nil, is called with the tensor on each stream. The streams come layer by layer, each layer's frame by frame.
//
// An error of the simulation names the layer whose circuit fails. A circuit also fails if it does not read and write
// exactly the words of a frame in the iterations of its loop.
func ComputeOutputsByCircuits(ctx context.Context, d *dataflow.Design, frames [][]dataflow.Tensor,
	carried func(frame, stream int, t dataflow.Tensor) error) (outputs [][]dataflow.Tensor, err error) {
	if d.Target.Backend.Rate != dataflow.RateFromCircuit {
		return nil, fmt.Errorf("circuits of a design for back end %q, which spells none", d.Target.Backend.Name)
	}
	if err := d.Verify(); err != nil {
		return nil, fmt.Errorf("design: %w", err)
	}
	w := &wiring{plan: newPlan(d), tell: carried}
	if w.each, err = w.checked(frames); err != nil {
		return nil, err
	}
	g := d.Model.Graph
	for f, in := range frames {
		w.words = append(w.words, make([][]uint64, len(g.Streams)))
		w.outputs = append(w.outputs, make([]dataflow.Tensor, len(g.Out)))
		for i, s := range g.In {
			port := w.each[f].ports[s]
			for sent := port.ToStreamOrder(in[i]); len(sent) > 0; sent = sent[port.PerWord:] {
				w.words[f][s] = circuit.AppendPackedElements(w.words[f][s], port.Elem, sent[:port.PerWord])
			}
			if err := w.arrived(f, s); err != nil {
				return nil, err
			}
		}
	}
	var one *dataflow.Design
	if d.Model.Lengths != nil {
		if one, err = d.AtSequenceLength(1); err != nil {
			return nil, err
		}
	}
	for i := range g.Nodes {
		if err := w.layer(ctx, i, one); err != nil {
			return nil, err
		}
	}
	return w.outputs, nil
}

// arrived takes up stream s of frame f once all of its words are written. It keeps the tensor on s if s is an output of
// the graph, and passes it to tell. The error is that of tell.
func (w *wiring) arrived(f, s int) error {
	p := w.each[f]
	port, limbs := p.ports[s], circuit.LimbCount(p.ports[s].Width())
	output := slices.Index(p.design.Model.Graph.Out, s)
	if w.tell == nil && output < 0 {
		return nil
	}
	var elements []int64
	for words := w.words[f][s]; len(words) > 0; words = words[limbs:] {
		elements = circuit.AppendUnpackedElements(elements, port.Elem, port.PerWord, words[:limbs])
	}
	t := port.FromStreamOrder(p.design.Model.Graph.Streams[s].Type.Shape, elements)
	if output >= 0 {
		w.outputs[f][output] = t
	}
	if w.tell == nil {
		return nil
	}
	return w.tell(f, s, t)
}

// A feed holds the words that one input of a circuit reads in a frame. If again is set, as for weights, the words start
// again after the last one.
type feed struct {
	words []uint64
	limbs int
	at    int // index in words of the next word
	again bool
}

func (f *feed) next() []uint64 {
	if f.again && f.at == len(f.words) {
		f.at = 0
	}
	if f.at == len(f.words) {
		return nil
	}
	return f.words[f.at : f.at+f.limbs]
}

// layer runs the circuit of layer i on all frames. one is the design for sequences of one time step; nil if all frames
// have one length.
func (w *wiring) layer(ctx context.Context, i int, one *dataflow.Design) error {
	m, err := w.design.CircuitOfNode(i, one)
	if err != nil {
		return fmt.Errorf("layer %s %w", w.name(i), err)
	}
	machine, err := circuit.NewMachine(m)
	if err != nil {
		return fmt.Errorf("layer %s: %w", w.name(i), err)
	}
	weights := w.weights(i)
	for f := range w.each {
		feeds := w.feeds(i, f, m, weights)
		if err := w.frame(ctx, i, f, machine, feeds); err != nil {
			return fmt.Errorf("layer %s, frame %d: %w", w.name(i), f, err)
		}
		for _, s := range w.design.Model.Graph.Nodes[i].Out {
			if err := w.arrived(f, s); err != nil {
				return err
			}
		}
		for _, s := range w.design.Model.Graph.Nodes[i].In { // no other layer reads them
			w.words[f][s] = nil
		}
	}
	return nil
}

// weights returns the feed of the weights that a layer reads from memory with every frame, or nil if there are none.
func (w *wiring) weights(i int) *feed {
	for _, x := range w.design.ExternalWeights() {
		if x.Node != i {
			continue
		}
		table := w.design.ExternalWeightRows(x)
		f := &feed{limbs: circuit.LimbCount(x.Port.Width()), again: true}
		for _, row := range table.Rows {
			f.words = circuit.AppendPackedElements(f.words, table.Elem, row)
		}
		return f
	}
	return nil
}

// feeds returns, by input of the circuit m of layer i, the words that it reads in frame f. These are the words of its
// streams, its weights, or the bits that tell it where the sequence ends.
func (w *wiring) feeds(i, f int, m *circuit.Module, weights *feed) (list []*feed) {
	streams := w.design.Model.Graph.Nodes[i].In
	for _, port := range m.In {
		switch port.Name {
		case circuit.WeightsPortName:
			list = append(list, weights)
		case circuit.SequenceEndsPortName:
			list = append(list, &feed{words: w.ends(i, f), limbs: 1})
		default:
			list = append(list, &feed{words: w.words[f][streams[0]], limbs: circuit.LimbCount(port.Width)})
			streams = streams[1:]
		}
	}
	return list
}

// ends returns the words that tell layer i where the sequence of frame f ends, one per time step. The word is 1 for the
// last step, and 0 for all others. It returns nil if the layer is not told.
func (w *wiring) ends(i, f int) []uint64 {
	for _, e := range w.design.SequenceEndFIFOs() {
		if e.Node != i {
			continue
		}
		l := w.design.Model.Lengths
		k := slices.Index(w.design.Model.Graph.In, e.Input)
		steps := make([]uint64, w.each[f].design.Model.Graph.Streams[e.Input].Type.Shape[l.In[k]])
		steps[len(steps)-1] = 1
		return steps
	}
	return nil
}

// frame runs frame f through the machine of layer i, and appends the words written to those of the layer's output
// streams. It returns an error if words are missing or left over at any input or output.
func (w *wiring) frame(ctx context.Context, i, f int, machine *circuit.Machine, feeds []*feed) error {
	p := w.each[f]
	out := p.design.Model.Graph.Nodes[i].Out
	heads := make([][]uint64, len(feeds))
	for at := range p.loops[i].IterationsPerFrame() {
		if at%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for k, feed := range feeds {
			heads[k] = feed.next()
		}
		lacks, err := machine.Iterate(heads)
		if err == nil && lacks >= 0 {
			err = fmt.Errorf("input %d has no word left", lacks)
		}
		if err != nil {
			return fmt.Errorf("iteration %d: %w", at, err)
		}
		for k, feed := range feeds {
			if machine.HasReadInput(k) {
				feed.at += feed.limbs
			}
		}
		for k, s := range out {
			w.words[f][s] = append(w.words[f][s], machine.WrittenWord(k)...)
		}
	}
	for k, feed := range feeds {
		if rest := len(feed.words) - feed.at; rest > 0 && !feed.again {
			return fmt.Errorf("%d words of input %d are left", rest/feed.limbs, k)
		}
	}
	for k, s := range out {
		port := p.ports[s]
		if got := len(w.words[f][s]) / circuit.LimbCount(port.Width()); got != port.Words {
			return fmt.Errorf("%d words at output %d, want %d", got, k, port.Words)
		}
	}
	return nil
}
