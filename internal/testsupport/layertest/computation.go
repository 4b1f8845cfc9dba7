package layertest

import (
	"fmt"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/fast"
)

// checkComputation compares the layer's Computation with Eval, by running the compiled engine that uses it.
func (b *bound) checkComputation() error {
	if k, ok := b.op.(dataflow.KeepsState); ok && k.Begin() != nil {
		return nil // the engine does not support layers that keep states
	}
	var g dataflow.GraphBuilder
	var in []int
	for _, t := range b.In {
		in = append(in, g.AddInput("", t))
	}
	for _, s := range g.AddBoundLayer(b.op, in, nil, nil, b.out) {
		g.MarkOutput(s)
	}
	graph, err := g.VerifiedGraph()
	if err != nil {
		return err
	}
	programs, err := fast.CompileForProcessorKinds(graph)
	if err != nil {
		return err
	}
	for _, p := range programs {
		if err := b.computes(p); err != nil {
			return err
		}
	}
	return nil
}

// computes compares a program's frames with Eval's.
func (b *bound) computes(p *fast.Executable) error {
	w := p.NewWorker()
	for n, frames := range slices.Collect(slices.Chunk(b.frames, p.Batch)) {
		for f, got := range w.RunFrames(frames) {
			for k, want := range b.want[n*p.Batch+f] {
				if !slices.Equal(got[k].Data, want.Data) {
					return fmt.Errorf("frame %d, output %d: %v, Eval gives %v", n*p.Batch+f, k, got[k].Data, want.Data)
				}
			}
		}
	}
	return nil
}
