// Package reorder gathers chunks of elements within blocks. The frame's elements in row-major order are cut into chunks of
// Chunk elements, and Block of these make a block; chunk j of an output block is chunk Order[j] of the input block.
// Chunks may come several times or not at all. Transposes, depth to space and back, the shuffling of channels and the
// reversal of a sequence are all of this form.
//
// Words have SIMD elements, SIMD a divisor of Chunk. Blocks go through a memory of two banks: while one is written in,
// the one before is read out. With B blocks of I input words and O output words the loop is
//
//	for i < I: read
//	for b < B-1: for i < max(I,O): read where i < I, write where i < O
//	for i < O: write
//
// or I + (B-1)*max(I,O) + O clocks a frame. The table of Order has one row per chunk of an output block.
package reorder

import (
	"encoding/json"
	"fmt"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Kind is the layer's name.
const Kind = "Reorder"

// Layer is the row of the table of layers.
var Layer = dataflow.Kind{
	Name:   Kind,
	Doc:    "another order of elements within blocks (Transpose, DepthToSpace, SpaceToDepth, channel shuffle)",
	Decode: Decode,
}

// MaxBlock is the most elements of a block, read or written: the largest devices hold two banks of some million elements.
const MaxBlock = 1 << 24

// Params makes the layer.
type Params struct {
	Block int   `json:"block"` // chunks of an input block
	Chunk int   `json:"chunk"` // elements of a chunk
	Order []int `json:"order"` // by chunk of an output block: the chunk of the input block
	Shape []int `json:"shape"` // of the output
}

type op struct {
	p Params
	// The rest is set by Bind.
	in, out dataflow.Type
	blocks  int
	simd    []int // what divides Chunk
}

// New makes the layer; p belongs to it from now on. What is wrong with p is Bind's to say.
func New(p Params) dataflow.Op { return &op{p: p} }

// Decode makes the layer from the JSON of its Params.
func Decode(params []byte) (dataflow.Op, error) {
	var p Params
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	if err := p.verify(); err != nil {
		return nil, err
	}
	return New(p), nil
}

func (p Params) verify() error {
	if p.Chunk < 1 || p.Chunk > MaxBlock || p.Block < 1 || p.Block > MaxBlock/p.Chunk {
		return fmt.Errorf("blocks of %d chunks of %d elements, want 1 to %d elements", p.Block, p.Chunk, MaxBlock)
	}
	if n := len(p.Order); n < 1 || n > MaxBlock/p.Chunk {
		return fmt.Errorf("blocks of %d chunks of %d elements come out, want 1 to %d elements", n, p.Chunk, MaxBlock)
	}
	for j, i := range p.Order {
		if i < 0 || i >= p.Block {
			return fmt.Errorf("chunk %d is chunk %d of a block, which has %d", j, i, p.Block)
		}
	}
	size := 1
	for _, d := range p.Shape {
		if d < 1 || d > dataflow.MaxElements/size {
			return fmt.Errorf("an output of shape %v, want axes of at least 1 and at most %d elements", p.Shape, dataflow.MaxElements)
		}
		size *= d
	}
	return nil
}

func (o *op) Kind() string { return Kind }

func (o *op) Params() any { return o.p }

// Bind takes one input of a whole number of blocks; the output has the given shape and the input's element type.
func (o *op) Bind(in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	if err := o.p.verify(); err != nil {
		return nil, nil, err
	}
	if len(in) != 1 {
		return nil, nil, fmt.Errorf("%d inputs, want 1", len(in))
	}
	size, block := in[0].Shape.Size(), o.p.Block*o.p.Chunk
	if size%block != 0 {
		return nil, nil, fmt.Errorf("a frame of shape %v has %d elements, want whole blocks of %d", in[0].Shape, size, block)
	}
	b := &op{p: o.p, in: in[0], blocks: size / block, simd: dataflow.Divisors(o.p.Chunk)}
	b.out = dataflow.Type{Shape: slices.Clone(dataflow.Shape(o.p.Shape)), Elem: in[0].Elem}
	if want := len(o.p.Order) * o.p.Chunk; b.out.Shape.Size()%want != 0 || b.out.Shape.Size()/want != b.blocks {
		return nil, nil, fmt.Errorf("an output of shape %v has %d elements, but %d blocks of %d come out", b.out.Shape, b.out.Shape.Size(), b.blocks, want)
	}
	b.out.Range = b.ranges()
	for range b.Folds() {
		return b, []dataflow.Type{b.out}, nil
	}
	return nil, nil, fmt.Errorf("no fold keeps a word within %d bits and a frame within %d iterations", dataflow.MaxWord, dataflow.MaxIterations)
}

// ranges is what reaches each output channel, where all blocks are alike in that: both sides' blocks are whole vectors.
// Else it is the union.
func (o *op) ranges() []num.Range {
	in, out, chunk := o.in.Shape.Channels(), o.out.Shape.Channels(), o.p.Chunk
	if len(o.in.Range) == 1 {
		return o.in.Range
	}
	if o.p.Block*chunk%in != 0 || len(o.p.Order)*chunk%out != 0 {
		return []num.Range{o.in.Union()}
	}
	r := make([]num.Range, out)
	for i := range len(o.p.Order) * chunk {
		x := o.in.Range[(o.p.Order[i/chunk]*chunk+i%chunk)%in]
		if i >= out {
			x = x.Union(r[i%out])
		}
		r[i%out] = x
	}
	return r
}
