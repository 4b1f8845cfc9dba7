package reorder

import (
	"slices"

	"hlsgen/internal/dataflow"
)

// kernel is the memory: block b lies in bank b%2.
type kernel struct {
	o       *op
	in, out int // words of a block
	chunk   int // words of a chunk
	memory  [2][]dataflow.Word
}

func (o *op) Kernel(f dataflow.Fold) dataflow.Kernel {
	k := &kernel{o: o, chunk: o.p.Chunk / f.SIMD}
	k.in, k.out = o.words(f.SIMD)
	for bank := range k.memory {
		k.memory[bank] = make([]dataflow.Word, k.in)
	}
	return k
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	phase, i := k.phase(iteration)
	if phase < k.o.blocks && i < k.in {
		k.memory[phase%2][i] = slices.Clone(in[0])
	}
	if phase == 0 || i >= k.out {
		return []dataflow.Word{nil}
	}
	from := k.o.p.Order[i/k.chunk]*k.chunk + i%k.chunk
	return []dataflow.Word{slices.Clone(k.memory[(phase-1)%2][from])}
}

// phase is where an iteration stands: phase p reads block p and writes block p-1.
func (k *kernel) phase(iteration int) (phase, i int) {
	if iteration < k.in {
		return 0, iteration
	}
	i = iteration - k.in
	phase = min(i/max(k.in, k.out), k.o.blocks-1)
	return phase + 1, i - phase*max(k.in, k.out)
}
