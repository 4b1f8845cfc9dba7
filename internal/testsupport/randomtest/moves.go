package randomtest

import (
	"math/rand/v2"

	"hlsgen/hlslib/concat"
	"hlsgen/hlslib/crop"
	"hlsgen/hlslib/dup"
	"hlsgen/hlslib/dwc"
	"hlsgen/hlslib/firstlast"
	"hlsgen/hlslib/join"
	"hlsgen/hlslib/lookup"
	"hlsgen/hlslib/pad"
	"hlsgen/hlslib/reorder"
	"hlsgen/hlslib/split"
	"hlsgen/hlslib/swg"
	"hlsgen/hlslib/upsample"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
)

// one returns the case of a layer with one input.
func one(op dataflow.Op, in dataflow.StreamType) layertest.Case {
	return layertest.Case{Op: op, In: []dataflow.StreamType{in}}
}

// image draws a type with at most the given rows, columns and channels.
func image(r *rand.Rand, rows, columns, channels int) dataflow.StreamType {
	return layertest.RandomType(r, dataflow.Shape{1 + r.IntN(rows), 1 + r.IntN(columns), 1 + r.IntN(channels)}, 6)
}

// pair draws two numbers from lo to hi.
func pair(r *rand.Rand, lo, hi int) [2]int { return [2]int{lo + r.IntN(hi-lo+1), lo + r.IntN(hi-lo+1)} }

// DWC draws a width converter between any two words, in row-major order or in tiles.
func DWC(r *rand.Rand) layertest.Case {
	p := dwc.Params{In: 1 + r.IntN(12), Out: 1 + r.IntN(12)}
	if r.IntN(3) == 0 { // whole tiles, as in most designs
		p.Tile = 1 + r.IntN(3)
		p.In, p.Out = p.Tile*(1+r.IntN(3)), p.Tile*(1+r.IntN(3))
		return one(dwc.New(p), layertest.RandomType(r, dataflow.Shape{p.In, 2 * p.Out, (2 + r.IntN(2)) * p.Tile}, 6))
	}
	return one(dwc.New(p), layertest.RandomType(r, dataflow.Shape{1 + r.IntN(3), p.In * p.Out}, 6))
}

// Concat draws a concatenation of two to five inputs.
func Concat(r *rand.Rand) layertest.Case {
	positions, common := 1+r.IntN(3), 1+r.IntN(2)
	var c layertest.Case
	for range 2 + r.IntN(4) {
		c.In = append(c.In, layertest.RandomType(r, dataflow.Shape{positions, 2, common * (1 + r.IntN(4))}, 6))
	}
	c.Op = concat.New(concat.Params{Inputs: len(c.In)})
	return c
}

// Join draws a join of two to five inputs.
func Join(r *rand.Rand) layertest.Case {
	p := join.Params{Inputs: 2 + r.IntN(4), Block: 1 + r.IntN(3), Elem: "INT7"}
	c := layertest.Case{Op: join.New(p)}
	shape := dataflow.Shape{1 + r.IntN(3), 2, p.Block * (1 + r.IntN(3))}
	for range p.Inputs {
		c.In = append(c.In, layertest.RandomType(r, shape, 6))
	}
	return c
}

// Split draws a split into two to five outputs.
func Split(r *rand.Rand) layertest.Case {
	var p split.Params
	sum, common := 0, 1+r.IntN(2)
	for range 2 + r.IntN(4) {
		c := common * (1 + r.IntN(4))
		p.Channels, sum = append(p.Channels, c), sum+c
	}
	return one(split.New(p), layertest.RandomType(r, dataflow.Shape{1 + r.IntN(3), 2, sum}, 6))
}

// Pad draws a padding around and between pixels.
func Pad(r *rand.Rand) layertest.Case {
	p := pad.Params{Before: pair(r, 0, 2), After: pair(r, 0, 2), Between: pair(r, 0, 2), Code: r.Int64N(41) - 20}
	return one(pad.New(p), image(r, 4, 4, 6))
}

// Crop draws a part of an image, with steps.
func Crop(r *rand.Rand) layertest.Case {
	in := image(r, 5, 5, 6)
	p := crop.Params{Step: pair(r, 1, 3)}
	for a := range 2 {
		p.Start[a] = r.IntN(in.Shape[a])
		p.Stop[a] = p.Start[a] + 1 + r.IntN(in.Shape[a]-p.Start[a])
	}
	return one(crop.New(p), in)
}

// SWG draws windows with any stride, dilation, padding and groups of channels.
func SWG(r *rand.Rand) layertest.Case {
	p := swg.Params{Kernel: pair(r, 1, 3), Stride: pair(r, 1, 3), Dilation: pair(r, 1, 2), Groups: 1 + r.IntN(3),
		Pad: r.Int64N(12) - 5}
	shape := dataflow.Shape{0, 0, p.Groups * (1 + r.IntN(3))}
	for a := range 2 {
		reach := p.Dilation[a]*(p.Kernel[a]-1) + 1
		p.Before[a], p.After[a] = r.IntN(reach), r.IntN(reach)
		shape[a] = max(1, reach-p.Before[a]-p.After[a]) + r.IntN(5)
	}
	return one(swg.New(p), layertest.RandomType(r, shape, 5))
}

// Dup draws a fork into two to four copies, with words of any number of elements.
func Dup(r *rand.Rand) layertest.Case {
	p := dup.Params{Copies: 2 + r.IntN(3)}
	in := layertest.RandomType(r, dataflow.Shape{1 + r.IntN(3), 2, []int{1, 2, 3, 4, 6}[r.IntN(5)]}, 6)
	if r.IntN(3) == 0 {
		words := dataflow.Divisors(in.Shape.ElementCount())
		p.Word = words[r.IntN(len(words))]
	}
	return one(dup.New(p), in)
}

// Upsample draws a repetition of rows and columns.
func Upsample(r *rand.Rand) layertest.Case {
	return one(upsample.New(upsample.Params{Scale: pair(r, 1, 4)}), image(r, 4, 4, 6))
}

// Reorder draws a reordering of any chunks of a block.
func Reorder(r *rand.Rand) layertest.Case {
	p := reorder.Params{Block: 1 + r.IntN(6), Chunk: 1 + r.IntN(4)}
	for range 1 + r.IntN(9) {
		p.Order = append(p.Order, r.IntN(p.Block))
	}
	blocks := 1 + r.IntN(4)
	p.Shape = []int{blocks, len(p.Order) * p.Chunk}
	return one(reorder.New(p), layertest.RandomType(r, dataflow.Shape{blocks * p.Block, p.Chunk}, 6))
}

// FirstLast draws a selection of any chunks of the first and the last step.
func FirstLast(r *rand.Rand) layertest.Case {
	chunk, chunks := 1+r.IntN(4), 1+r.IntN(4)
	p := firstlast.Params{Step: chunk * chunks, Chunk: chunk}
	for range 1 + r.IntN(6) {
		p.Order = append(p.Order, firstlast.ChunkOfFirstOrLastStep{Last: r.IntN(2) == 0, Chunk: r.IntN(chunks)})
	}
	p.Shape = []int{len(p.Order) * chunk}
	return one(firstlast.New(p), layertest.RandomType(r, dataflow.Shape{1 + r.IntN(5), p.Step}, 6))
}

// Lookup draws a table of at most 40 rows.
func Lookup(r *rand.Rand) layertest.Case {
	rows, depth := 1+r.IntN(40), 1+r.IntN(12)
	last := num.Range{Lo: 0, Hi: int64(rows - 1)}
	p := lookup.Params{Table: layertest.Weights(r, rows, depth, layertest.Int(1+r.IntN(9)).Range(), true)}
	return one(lookup.New(p), layertest.RangedType(num.NarrowestIntTypeFor(last), dataflow.Shape{1 + r.IntN(6)}, last))
}
