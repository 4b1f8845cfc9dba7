package folding

import (
	"iter"
	"testing"

	"hlsgen/boards"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/rtlsim"
)

// A paced layer passes sequences of time steps of four words, or holds back sequences of one length as a whole.
type paced struct {
	ins, outs, steps int
	holds            int // the length of the sequences that it holds back
}

const pacedWords = 4

func (p paced) Kind() string { return "Paced" }
func (p paced) Params() any  { return []int{p.ins, p.outs, p.holds} }

func (p paced) Describe() dataflow.LayerDescription {
	return dataflow.LayerDescription{Stretch: p.stretch}
}

func (p paced) Bind(in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	out := make([]dataflow.StreamType, p.outs)
	for i := range out {
		out[i] = in[0]
	}
	p.steps = in[0].Shape[0]
	return p, out, nil
}

func (p paced) stretch(_, to int) (dataflow.Op, error) {
	p.steps = to
	return p, nil
}

func (p paced) Eval([]dataflow.Tensor) []dataflow.Tensor { panic("it has no meaning") }

func (p paced) Folds() iter.Seq[dataflow.Fold] {
	return func(yield func(dataflow.Fold) bool) { yield(dataflow.Fold{PE: 1, SIMD: 1}) }
}

func (p paced) Ports(dataflow.Fold) (in, out []dataflow.Port) {
	port := dataflow.Port{Elem: uint2, PerWord: 1, Words: p.steps * pacedWords}
	for range p.ins {
		in = append(in, port)
	}
	for range p.outs {
		out = append(out, port)
	}
	return in, out
}

func (p paced) Loop(dataflow.Fold, dataflow.Target) dataflow.Loop {
	read, write := dataflow.PortMoves{Read: 1<<p.ins - 1}, dataflow.PortMoves{Write: 1<<p.outs - 1}
	body := []dataflow.LoopRun{{Times: p.steps * pacedWords, Moves: dataflow.PortMoves{Read: read.Read,
		Write: write.Write}}}
	if p.steps == p.holds {
		body = []dataflow.LoopRun{{Times: p.steps * pacedWords, Moves: read}, {Times: p.steps * pacedWords,
			Moves: write}}
	}
	return dataflow.Loop{Latency: 1, Body: body}
}

func (p paced) Kernel(dataflow.Fold, dataflow.Target) dataflow.Kernel { panic("it has no kernel") }

func (p paced) Cost(dataflow.Fold, dataflow.Target) dataflow.Cost {
	return dataflow.Cost{{Name: "table", Resources: dataflow.Resources{LUT: 10}}}
}

func (p paced) Emit(dataflow.Fold, dataflow.Target) dataflow.KernelInstance {
	panic("it has no kernel")
}

// TestShorterSequences checks sequences of which only those of two time steps need a deep FIFO past the
// layer. The search must begin again with depths for all lengths, and prove the design free from deadlock.
func TestShorterSequences(t *testing.T) {
	t.Parallel()
	for holds, deep := range map[int]bool{0: false, 2: true, 5: true} { // 5: the longest itself
		var b dataflow.GraphBuilder
		x := b.AddInput("x", dataflow.StreamType{Shape: dataflow.Shape{5, pacedWords},
			Range: []num.Range{uint2.Range()},
			Elem:  uint2})
		fork := must(b.BindAndAddLayer(paced{ins: 1, outs: 2}, []int{x}, nil, nil))
		held := must(b.BindAndAddLayer(paced{ins: 1, outs: 1, holds: holds}, fork[:1], nil, nil))
		b.MarkOutput(must(b.BindAndAddLayer(paced{ins: 2, outs: 1}, []int{held[0], fork[1]}, nil, nil))[0])
		m := &dataflow.Model{Name: "sequences", Graph: must(b.VerifiedGraph()),
			Lengths: &dataflow.SequenceLengths{Min: 1, Max: 5, In: []int{0}}}
		large := boards.Board{Name: "large", LUT: 50000, LUTRAM: 9000, FF: 90000, BRAM36: 40, DSP: 20}
		d, told := on(t, m, large, Goal{})
		if d == nil {
			t.Fatalf("%d: %s", holds, text(told))
		}
		least := rtlsim.RoundUpFIFODepth(3) // a word past the layer occupies its place for three clocks
		if deep {
			least = holds * pacedWords // all of the sequence waits
		}
		if depth := d.FIFO[fork[1]].Depth; depth < least || !deep && depth > least {
			t.Errorf("sequences of %d steps are held back: the FIFO past that holds %d words, want %d", holds, depth,
				least)
		}
		if _, err := rtlsim.ProveDeadlockFree(t.Context(), d.Design); err != nil {
			t.Errorf("%d: %v", holds, err)
		}
	}
}
