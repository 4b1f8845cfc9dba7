// Package firstlast selects chunks of the first and of the last step of a frame, for layers after a recurrence that
// use no other steps. A frame consists of steps with Step elements each. A step's elements in row-major order are
// divided into chunks of Chunk elements. Chunk j of the output is the chunk that Order[j] names.
//
// Words have SIMD elements, and SIMD divides Chunk. With T steps of I input words and O output words the loop is
//
//	for t < T: for i < I: read
//	for i < O: write
//
// or T*I + O clocks a frame. The layer keeps the latest step, and also the first step if the output has chunks of it.
// The table of Order has one row per chunk of the output: the chunk's number in the first step or, after those, in
// the last.
package firstlast

import (
	"fmt"
	"math/bits"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/delay"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// LayerKind describes the first and the last step in the table of layers, hlslib.LayerKinds. New returns a layer of
// this kind with the given parameters, not yet bound to its inputs.
var LayerKind, New = layer.DefineKind(layer.KindDefinition[Params]{
	Name:    "FirstLast",
	Doc:     "elements of the first and the last step of a sequence (Gather, Slice behind a recurrence)",
	Example: `{"step":4,"chunk":2,"order":[{"chunk":0},{"last":true,"chunk":1}],"shape":[4]}`,
	Bind:    bind,
})

// Params are the parameters of the layer. They say how steps are divided into chunks, and which chunks of the first and
// the last step make the output.
type Params struct {
	Step  int                      `json:"step"`  // elements of a step
	Chunk int                      `json:"chunk"` // elements of a chunk
	Order []ChunkOfFirstOrLastStep `json:"order"` // by chunk of the output
	Shape []int                    `json:"shape"` // of the output
}

// A ChunkOfFirstOrLastStep names a chunk of the first step or, if Last is true, of the last step, by its number in the
// step.
type ChunkOfFirstOrLastStep struct {
	Last  bool `json:"last,omitempty"`
	Chunk int  `json:"chunk"`
}

// Verify reports what is wrong with the parameters, whatever the inputs are.
func (p Params) Verify() error {
	if p.Chunk < 1 || p.Step < 1 || p.Step > dataflow.MaxElementsPerFrame || p.Step%p.Chunk != 0 {
		return fmt.Errorf("steps of %d elements, want whole chunks of %d", p.Step, p.Chunk)
	}
	if n := len(p.Order); n < 1 || n > dataflow.MaxElementsPerFrame/p.Chunk {
		return fmt.Errorf("%d chunks of %d elements come out, want 1 to %d elements", n, p.Chunk,
			dataflow.MaxElementsPerFrame)
	}
	for j, from := range p.Order {
		if from.Chunk < 0 || from.Chunk >= p.chunks() {
			return fmt.Errorf("chunk %d is chunk %d of a step, which has %d", j, from.Chunk, p.chunks())
		}
	}
	size, err := layer.VerifyOutputShape(p.Shape)
	if err != nil {
		return err
	}
	if size != len(p.Order)*p.Chunk {
		return fmt.Errorf("an output of shape %v has %d elements, want %d chunks of %d", p.Shape, size, len(p.Order),
			p.Chunk)
	}
	return nil
}

// chunks returns the number of chunks in a step.
func (p Params) chunks() int { return p.Step / p.Chunk }

// first reports whether the output has chunks of the first step.
func (p Params) first() bool {
	return slices.ContainsFunc(p.Order, func(f ChunkOfFirstOrLastStep) bool { return !f.Last })
}

// words returns the input words per step, and the output words per frame.
func (p Params) words(f dataflow.Fold) (in, out int) {
	return p.Step / f.SIMD, len(p.Order) * p.Chunk / f.SIMD
}

type op struct {
	layer.Base[Params]
	layer.MoveSchedule
	steps    int
	sequence bool // frames have any number of steps
}

// bind returns the layer for one input, and its output with Params.Shape and the input's element type. It returns an
// error unless a frame is whole steps.
func bind(b layer.Base[Params], in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	size := in[0].Shape.ElementCount()
	if size%b.P.Step != 0 {
		return nil, nil, fmt.Errorf("a frame of shape %v has %d elements, want whole steps of %d", in[0].Shape, size,
			b.P.Step)
	}
	out := dataflow.StreamType{Shape: slices.Clone(dataflow.Shape(b.P.Shape)), Elem: in[0].Elem}
	out.Range = b.P.ranges(in[0], out.Shape.ChannelCount())
	mover := layer.MoveSchedule{In: in, Out: []dataflow.StreamType{out}, SIMD: dataflow.Divisors(b.P.Chunk)}
	o := &op{b, mover, size / b.P.Step, false}
	return o, o.Out, nil
}

// ranges returns the ranges of the output's out channels, for an input of type t. If a step is not whole vectors, it
// returns one range for all channels.
func (p Params) ranges(t dataflow.StreamType, out int) []num.Range {
	return layer.ChunkMoves{Block: p.Step, Chunk: p.Chunk, Chunks: len(p.Order),
		From: func(j int) int { return p.Order[j].Chunk }}.Ranges(t, out)
}

// Dependence says that the output depends on all steps, because any step may be the last.
func (o *op) Dependence() dataflow.Dependence {
	return dataflow.Dependence{Form: dataflow.DependenceFormRecurrent, In: []int{o.steps}, Out: 1,
		Beside: func(frames int) dataflow.Op {
			p := Params{Step: frames * o.P.Step, Chunk: o.P.Chunk, Shape: append([]int{frames}, o.P.Shape...)}
			for s := range frames {
				for _, from := range o.P.Order {
					p.Order = append(p.Order, ChunkOfFirstOrLastStep{from.Last, s*o.P.chunks() + from.Chunk})
				}
			}
			return New(p)
		}}
}

// Computation describes Eval as data, which compiled engines execute.
func (o *op) Computation() dataflow.Computation {
	return dataflow.GatherComputation{Run: o.P.Chunk, At: func(_, r int) (input, at int) {
		if at = o.P.Order[r].Chunk; o.P.Order[r].Last {
			at += (o.steps - 1) * o.P.chunks()
		}
		return 0, at
	}}
}

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := dataflow.Tensor{Shape: o.Out[0].Shape}
	for _, from := range o.P.Order {
		at := from.Chunk * o.P.Chunk
		if from.Last {
			at += (o.steps - 1) * o.P.Step
		}
		y.Data = append(y.Data, in[0].Data[at:at+o.P.Chunk]...)
	}
	return []dataflow.Tensor{y}
}

// Folds yields every SIMD that divides Chunk, in increasing order, within the limits of HLS.
func (o *op) Folds() dataflow.FoldIterator {
	return o.FoldsForIterations(func(f dataflow.Fold) int {
		in, out := o.P.words(f)
		return o.steps*in + out
	})
}

// Loop returns the loop, which reads all words of a frame and then writes the output. In HLS its latency is that of a
// word read at an address that was looked up in the table of Params.Order. In RTL it is the circuit's.
func (o *op) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	in, out := o.P.words(f)
	c := layer.NewIterationChain(t)
	c.DoCounterLookup(2, 1, dataflow.MemoryLUTRAM) // reads the order, as if it had several rows
	c.DoOp(delay.OpAdd, bits.Len(uint(o.rows(f))))
	c.DoMemoryRead(o.rows(f), f.SIMD*o.In[0].Elem.Width, dataflow.NoMemory)
	return layer.LoopWithBackEndLatency(o, f, t, dataflow.Loop{Body: dataflow.JoinLoopRuns(
		dataflow.LoopRun{Times: o.steps * in, Moves: dataflow.PortMoves{Read: 1}},
		dataflow.LoopRun{Times: out, Moves: dataflow.PortMoves{Write: 1}}), Latency: c.DoStreamWrite()})
}

// kernel holds the words of the first step, if they are kept, followed by those of the latest step.
type kernel struct {
	*op
	simd  int
	words []dataflow.Word
}

func (o *op) Kernel(f dataflow.Fold, _ dataflow.Target) dataflow.Kernel {
	return &kernel{o, f.SIMD, make([]dataflow.Word, o.rows(f))}
}

// rows returns the number of words that the memory keeps: those of the latest step and, if needed, of the first.
func (o *op) rows(f dataflow.Fold) int {
	in, _ := o.P.words(f)
	if o.P.first() {
		return 2 * in
	}
	return in
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	step := k.P.Step / k.simd
	behind := len(k.words) - step // where the latest step begins
	if iteration < k.steps*step {
		at := iteration % step
		if iteration >= step {
			at += behind
		}
		k.words[at] = slices.Clone(in[0])
		return []dataflow.Word{nil}
	}
	chunk := k.P.Chunk / k.simd
	i := iteration - k.steps*step
	from := k.P.Order[i/chunk]
	at := from.Chunk*chunk + i%chunk
	if from.Last && k.steps > 1 {
		at += behind
	}
	return []dataflow.Word{slices.Clone(k.words[at])}
}

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.KernelInstance {
	in, out := o.P.words(f)
	kept := 0
	if o.P.first() {
		kept = in
	}
	return dataflow.KernelInstance{
		Header:  "firstlast.hpp",
		Func:    "firstlast",
		Streams: []string{"in_width", "out_width"},
		Config: []dataflow.ConfigField{
			{Name: "steps", Doc: "steps of a frame", Value: o.steps},
			{Name: "in_words", Doc: "words of a step", Value: in},
			{Name: "out_words", Doc: "output words of a frame", Value: out},
			{Name: "chunk_words", Doc: "words of a chunk", Value: o.P.Chunk / f.SIMD},
			{Name: "step_chunks", Doc: "chunks of a step", Value: o.P.chunks()},
			{Name: "behind", Doc: "words kept in front of the latest step", Value: kept},
		},
		Tables:  []dataflow.Table{o.P.table()},
		Storage: o.storage(f),
	}
}

// ReadsEnds returns true: the layer must be told where a sequence ends, because it uses the last step.
func (o *op) ReadsEnds(int) bool { return true }

// Sequence returns a copy of the layer at, which is this layer bound to some length, as one for sequences of any
// length. A signal of the sequence's end takes the place of its counter of steps.
func (o *op) Sequence(at dataflow.Op, _, _ int) dataflow.Op {
	of := *at.(*op)
	of.Base, of.sequence = of.WithParams(of.P), true
	return &of
}

// EmitSteps returns the data of the C++ instance for sequences of any length, whose end a stream of its own tells.
func (o *op) EmitSteps(f dataflow.Fold, t dataflow.Target, _ int) dataflow.KernelInstance {
	i := o.Emit(f, t)
	i.Func, i.Ends = "firstlast_steps", true
	i.Config = i.Config[1:]
	return i
}

// table returns Order as the table of a memory. Row j belongs to output chunk j: it holds a chunk's number in the first
// step or, numbered after those, in the last.
func (p Params) table() dataflow.Table {
	t := dataflow.Table{
		Name: "order", Doc: "by output chunk: the chunk of the first step or, numbered after those, of the last",
		Elem: num.NarrowestIntTypeFor(num.Range{Lo: 0, Hi: int64(2*p.chunks() - 1)}),
	}
	for _, from := range p.Order {
		row := from.Chunk
		if from.Last {
			row += p.chunks()
		}
		t.Rows = append(t.Rows, []int64{int64(row)})
	}
	return t
}
