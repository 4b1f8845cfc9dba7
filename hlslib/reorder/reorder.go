// Package reorder moves chunks of elements within blocks. The frame's elements in row-major order are divided into
// chunks of Chunk elements, and Block chunks form a block. Chunk j of an output block is chunk Order[j] of the input
// block. Chunks may be used several times or not at all. Transposes, depth to space and back, channel shuffles and
// the reversal of a sequence are all of this form.
//
// Words have SIMD elements, and SIMD divides Chunk. Blocks pass through a memory of two banks: while one block is
// written to a bank, the one before is read from the other. With B blocks of I input words and O output words the
// loop is
//
//	for i < I: read
//	for b < B-1: for i < max(I,O): read where i < I, write where i < O
//	for i < O: write
//
// or I + (B-1)*max(I,O) + O clocks a frame. The table of Order has one row per chunk of an output block.
package reorder

import (
	"fmt"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/delay"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// LayerKind describes the reordering in the table of layers, hlslib.LayerKinds. New returns a layer of this kind with
// the given parameters, not yet bound to its inputs.
var LayerKind, New = layer.DefineKind(layer.KindDefinition[Params]{
	Name:    "Reorder",
	Doc:     "another order of elements within blocks (Transpose, DepthToSpace, SpaceToDepth, channel shuffle)",
	Example: `{"block":2,"chunk":1,"order":[1,0],"shape":[2,3]}`,
	Stepped: true,
	Bind:    bind,
})

// maxBlockElements is the most elements that Verify accepts in an input or output block. The largest devices hold two
// banks of a few million elements.
const maxBlockElements = 1 << 24

// Params are the parameters of the reordering: how frames are divided into blocks of chunks, and the order of chunks in
// each output block.
type Params struct {
	Block int   `json:"block"` // chunks of an input block
	Chunk int   `json:"chunk"` // elements of a chunk
	Order []int `json:"order"` // by chunk of an output block: the chunk of the input block
	Shape []int `json:"shape"` // of the output
}

// Verify reports what is wrong with the parameters, whatever the inputs are.
func (p Params) Verify() error {
	if p.Chunk < 1 || p.Chunk > maxBlockElements || p.Block < 1 || p.Block > maxBlockElements/p.Chunk {
		return fmt.Errorf("blocks of %d chunks of %d elements, want 1 to %d elements", p.Block, p.Chunk,
			maxBlockElements)
	}
	if n := len(p.Order); n < 1 || n > maxBlockElements/p.Chunk {
		return fmt.Errorf("blocks of %d chunks of %d elements come out, want 1 to %d elements", n, p.Chunk,
			maxBlockElements)
	}
	for j, i := range p.Order {
		if i < 0 || i >= p.Block {
			return fmt.Errorf("chunk %d is chunk %d of a block, which has %d", j, i, p.Block)
		}
	}
	_, err := layer.VerifyOutputShape(p.Shape)
	return err
}

// words returns the number of words in an input block, and in an output block.
func (p Params) words(f dataflow.Fold) (in, out int) {
	return p.Block * p.Chunk / f.SIMD, len(p.Order) * p.Chunk / f.SIMD
}

type op struct {
	layer.Base[Params]
	layer.MoveSchedule
	blocks int
	among  *sequences // nil for frames of one length
}

// sequences says that a layer takes sequences of any length up to longest steps, and reads where they end. whole is the
// layer for the longest.
type sequences struct {
	longest int
	whole   *op
}

// bind returns the layer for one input, and its output with Params.Shape and the input's element type. It returns an
// error unless both are the same number of whole blocks.
func bind(b layer.Base[Params], in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	size, block := in[0].Shape.ElementCount(), b.P.Block*b.P.Chunk
	if size%block != 0 {
		return nil, nil, fmt.Errorf("a frame of shape %v has %d elements, want whole blocks of %d", in[0].Shape, size,
			block)
	}
	blocks, out := size/block, dataflow.StreamType{Shape: slices.Clone(dataflow.Shape(b.P.Shape)), Elem: in[0].Elem}
	if want := len(b.P.Order) * b.P.Chunk; out.Shape.ElementCount()%want != 0 ||
		out.Shape.ElementCount()/want != blocks {
		return nil, nil, fmt.Errorf("an output of shape %v has %d elements, but %d blocks of %d come out", out.Shape,
			out.Shape.ElementCount(), blocks, want)
	}
	out.Range = b.P.ranges(in[0], out.Shape.ChannelCount())
	o := &op{b, layer.MoveSchedule{In: in, Out: []dataflow.StreamType{out}, SIMD: dataflow.Divisors(b.P.Chunk)},
		blocks, nil}
	return o, o.Out, nil
}

// ranges returns the ranges of the output's out channels, for an input of type t. If blocks are not whole vectors on
// both sides, it returns the union of the input's ranges.
func (p Params) ranges(t dataflow.StreamType, out int) []num.Range {
	return layer.ChunkMoves{Block: p.Block * p.Chunk, Chunk: p.Chunk, Chunks: len(p.Order),
		From: func(j int) int { return p.Order[j] }}.Ranges(t, out)
}

// Dependence says that the layer moves elements without computing. The parts of a frame are its vectors.
func (o *op) Dependence() dataflow.Dependence {
	return dataflow.Dependence{Form: dataflow.DependenceFormCopy, In: []int{o.In[0].Shape.VectorCount()},
		Out: o.Out[0].Shape.VectorCount()}
}

// Computation describes Eval as data, which compiled engines execute.
func (o *op) Computation() dataflow.Computation {
	n := len(o.P.Order)
	return dataflow.GatherComputation{Run: o.P.Chunk, At: func(_, r int) (input, at int) {
		return 0, r/n*o.P.Block + o.P.Order[r%n]
	}}
}

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := dataflow.Tensor{Shape: o.Out[0].Shape}
	for b := range o.blocks {
		block := in[0].Data[b*o.P.Block*o.P.Chunk:]
		for _, i := range o.P.Order {
			y.Data = append(y.Data, block[i*o.P.Chunk:(i+1)*o.P.Chunk]...)
		}
	}
	return []dataflow.Tensor{y}
}

// Folds yields every SIMD that divides Chunk, in increasing order, within the limits of HLS.
func (o *op) Folds() dataflow.FoldIterator {
	return o.FoldsForIterations(func(f dataflow.Fold) int {
		in, out := o.P.words(f)
		return in + (o.blocks-1)*max(in, out) + out
	})
}

// address is the width in bits of a memory address for which the latency is computed. It does not depend on the frame,
// so that frames of all lengths have one latency.
const address = 16

// Loop returns the loop, which reads a block while it writes the one before. In HLS its latency is that of a word in
// block RAM whose address comes from the table of the order. In RTL it is the circuit's.
func (o *op) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	in, out := o.P.words(f)
	c := layer.NewIterationChain(t)
	c.DoCounterLookup(2, 1, dataflow.MemoryLUTRAM) // reads the order, as if it had several rows
	c.DoOp(delay.OpAdd, address)
	c.DoMemoryRead(2*in, f.SIMD*o.In[0].Elem.Width, dataflow.MemoryBRAM)
	read, write := dataflow.PortMoves{Read: 1}, dataflow.PortMoves{Write: 1}
	both := dataflow.PortMoves{Read: 1, Write: 1}
	return layer.LoopWithBackEndLatency(o, f, t, dataflow.Loop{
		Body: dataflow.JoinLoopRuns(slices.Concat(
			[]dataflow.LoopRun{{Times: in, Moves: read}},
			dataflow.RepeatLoopRuns(o.blocks-1,
				dataflow.LoopRun{Times: min(in, out), Moves: both},
				dataflow.LoopRun{Times: max(in-out, 0), Moves: read},
				dataflow.LoopRun{Times: max(out-in, 0), Moves: write}),
			[]dataflow.LoopRun{{Times: out, Moves: write}},
		)...),
		Latency: c.DoStreamWrite(),
	})
}

// A kernel holds two banks of words: block b of a frame lies in bank b%2.
type kernel struct {
	order   []int
	blocks  int
	in, out int // words of a block
	chunk   int // words of a chunk
	memory  [2][]dataflow.Word
}

func (o *op) Kernel(f dataflow.Fold, _ dataflow.Target) dataflow.Kernel {
	k := &kernel{order: o.P.Order, blocks: o.blocks, chunk: o.P.Chunk / f.SIMD}
	k.in, k.out = o.P.words(f)
	for bank := range k.memory {
		k.memory[bank] = make([]dataflow.Word, k.in)
	}
	return k
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	phase, i := k.phase(iteration)
	if phase < k.blocks && i < k.in {
		k.memory[phase%2][i] = slices.Clone(in[0])
	}
	if phase == 0 || i >= k.out {
		return []dataflow.Word{nil}
	}
	from := k.order[i/k.chunk]*k.chunk + i%k.chunk
	return []dataflow.Word{slices.Clone(k.memory[(phase-1)%2][from])}
}

// phase returns the phase to which an iteration belongs, and the iteration's number i in that phase. Phase p reads
// block p and writes block p-1.
func (k *kernel) phase(iteration int) (phase, i int) {
	if iteration < k.in {
		return 0, iteration
	}
	i = iteration - k.in
	phase = min(i/max(k.in, k.out), k.blocks-1)
	return phase + 1, i - phase*max(k.in, k.out)
}

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.KernelInstance {
	in, out := o.P.words(f)
	return dataflow.KernelInstance{
		Header:  "reorder.hpp",
		Func:    "reorder",
		Streams: []string{"in_width", "out_width"},
		Config: []dataflow.ConfigField{
			{Name: "blocks", Doc: "blocks in a frame", Value: o.blocks},
			{Name: "in_words", Doc: "words of an input block", Value: in},
			{Name: "out_words", Doc: "words of an output block", Value: out},
			{Name: "chunk_words", Doc: "words of a chunk", Value: o.P.Chunk / f.SIMD},
		},
		Tables:  []dataflow.Table{o.P.table()},
		Storage: o.storage(f),
	}
}

// table returns Order as the table of a memory: by output chunk, the chunk of the input block.
func (p Params) table() dataflow.Table {
	t := dataflow.Table{
		Name: "order", Doc: "by output chunk: the chunk of the input block",
		Elem: num.NarrowestIntTypeFor(num.Range{Lo: 0, Hi: int64(p.Block - 1)}),
	}
	for _, i := range p.Order {
		t.Rows = append(t.Rows, []int64{int64(i)})
	}
	return t
}

// Stretch returns the layer, not yet bound, for sequences of to steps; it is itself for from steps. It returns an error
// unless steps are whole blocks, or every step gives the same chunks in order or reversed. In the second case, a larger
// to is an error. So is an output without an axis that from divides.
func (o *op) Stretch(from, to int) (dataflow.Op, error) {
	p := o.P
	if p.Block%from != 0 || len(p.Order)%from != 0 || o.blocks != 1 {
		// blocks within a step
		if size := o.In[0].Shape.ElementCount(); size%from == 0 && size/from%(p.Block*p.Chunk) == 0 {
			return o.stretched(p.Block, p.Order, from, to)
		}
		return nil, fmt.Errorf("it moves elements from step to step")
	}
	if to > from {
		return nil, fmt.Errorf("sequences of %d steps are longer than those of %d", to, from)
	}
	in, out := p.Block/from, len(p.Order)/from
	order := make([]int, to*out)
	for j, i := range p.Order {
		t, c, at, k := j/out, j%out, i/in, i%in
		turned := p.Order[c]/in == from-1 && from > 1
		if want := p.Order[c] % in; k != want || !turned && at != t || turned && at != from-1-t {
			return nil, fmt.Errorf("it takes the steps of a sequence neither in their order nor turned")
		}
		if t < to {
			at = t
			if turned {
				at = to - 1 - t
			}
			order[t*out+c] = at*in + k
		}
	}
	return o.stretched(to*in, order, from, to)
}

// ReadsEnds reports whether the layer must be told where sequences end: it can be stretched to other lengths. longest
// is the length to which it is bound.
func (o *op) ReadsEnds(longest int) bool {
	_, err := o.Stretch(longest, 1)
	return err == nil
}

// EmitSteps returns the data of the C++ instance for sequences of any length up to longest, to which the layer is
// bound.
func (o *op) EmitSteps(f dataflow.Fold, t dataflow.Target, longest int) dataflow.KernelInstance {
	if !o.Holds() {
		i := o.Emit(f, t)
		i.Func, i.Ends = "reorder_apart", true
		i.Config[0] = dataflow.ConfigField{Name: "blocks", Doc: "blocks in a step", Value: o.blocks / longest}
		return i
	}
	step, order := o.step(longest)
	i := o.Emit(f, t)
	in, out := step.words(f)
	i.Func, i.Ends = "reorder_steps", true
	i.Config = []dataflow.ConfigField{
		{Name: "in_words", Doc: "words of an input step", Value: in},
		{Name: "out_words", Doc: "words of an output step", Value: out},
		{Name: "in_chunks", Doc: "chunks of an input step", Value: step.Block},
		{Name: "chunk_words", Doc: "words of a chunk", Value: o.P.Chunk / f.SIMD},
		{Name: "longest", Doc: "steps of the longest sequence", Value: longest},
	}
	i.Tables = []dataflow.Table{order}
	i.Storage = []dataflow.Storage{o.storage(f)[0],
		order.StorageForCostPart("order").MovedToMemory(dataflow.MemoryLUTRAM)}
	return i
}

// Sequence returns a copy of the layer at as one for sequences of any length up to longest. at is this layer bound to
// shorter sequences; this layer must be bound to longest steps.
func (o *op) Sequence(at dataflow.Op, _, longest int) dataflow.Op {
	of := *at.(*op)
	of.Base, of.among = of.WithParams(of.P), &sequences{longest, o}
	return &of
}

// step returns the parameters for a sequence of one step, and the table of the order in which a step's chunks are
// written. It panics if the layer cannot be stretched to one step. longest is the length to which the layer is bound.
func (o *op) step(longest int) (Params, dataflow.Table) {
	one, err := o.Stretch(longest, 1)
	if err != nil {
		panic(fmt.Sprintf("reorder: a sequence without steps: %v", err))
	}
	step := one.Params().(Params)
	order := dataflow.Table{Name: "order", Doc: "by output chunk: the chunk of the input step, plus in_chunks " +
		"if the step is counted from the end",
		Elem: num.NarrowestIntTypeFor(num.Range{Lo: 0, Hi: int64(2*step.Block - 1)})}
	for c, k := range o.P.Order[:len(step.Order)] {
		from := k % step.Block
		if o.turned(c, step.Block) {
			from += step.Block
		}
		order.Rows = append(order.Rows, []int64{int64(from)})
	}
	return step, order
}

// Holds reports whether the layer reads a whole frame before it writes anything.
func (o *op) Holds() bool { return o.blocks == 1 }

// turned reports whether chunk c of an output step comes from the step as far from the end as this one is from the
// start. Input steps have the given number of chunks.
func (o *op) turned(c, chunks int) bool { return o.P.Order[c]/chunks > 0 }

// stretched returns the layer, not yet bound, with another number of chunks per block and another order. In its
// output's shape, the first axis divisible by from is multiplied by to/from. It returns an error if there is no such
// axis.
func (o *op) stretched(block int, order []int, from, to int) (dataflow.Op, error) {
	p := Params{Block: block, Chunk: o.P.Chunk, Order: order, Shape: slices.Clone(o.P.Shape)}
	for i, d := range p.Shape {
		if d%from == 0 {
			p.Shape[i] = d / from * to
			return New(p), nil
		}
	}
	return nil, fmt.Errorf("its output of shape %v has no axis of %d steps", p.Shape, from)
}
