package find

import (
	"math/big"
	"slices"

	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/internal/dataflow"
)

// A PaddedImage is the input of a sliding window: pixels, and the padding around them.
type PaddedImage struct {
	*LayerOperand // the pixels without padding
	H, W, C       int
	Before, After [2]int
	Fill          int64         // code of padding
	Affine        []real.Affine // real value per channel

	always    []*big.Rat // value per channel that never changes, padding included; nil if it changes
	constants []*big.Rat // constant per channel of the tensor that is left out, nil for others; nil if none is
}

// PaddedImageOf returns the pixels over which a window slides. o holds the window's data in the order of
// WindowFrameElements, in a frame of the given shape. Constants around the pixels become the window's padding if the
// window can pad that far. Otherwise they stay part of the operand. The error says that a channel has several scales,
// or constants no code.
func PaddedImageOf(win *program.Window, shape dataflow.Shape, o *LayerOperand) (*PaddedImage, error) {
	im := &PaddedImage{}
	ok := true
	if o.Constants != nil && win.Group == 1 {
		var kept []int
		if o, kept, im.constants, ok = o.WithoutConstantChannels(shape.ChannelCount()); !ok {
			return nil, unmapped.NewReason("its input does not depend on the data",
				"remove the constant part of the tensor")
		}
		shape = append(slices.Clone(shape[:len(shape)-1]), len(kept))
	}
	im.LayerOperand = o
	im.H, im.W, im.C = place.HeightWidthChannelsOf(shape)
	if im.Affine, ok = o.ChannelAffines(im.C); !ok || slices.ContainsFunc(im.Affine,
		func(f real.Affine) bool { return f.Scale == nil }) {
		return nil, unmapped.NewReason("pixels of its input are scaled differently",
			"quantise activations per tensor or per channel")
	}
	im.always = o.constantChannelValues(im.C)
	if o.Constants == nil {
		return im, nil
	}
	var reject error
	if im.Fill, reject = o.CodeOfConstants(im.Affine); reject != nil {
		return nil, reject
	}
	b, ok := o.StridedBoxOfNonConstants(im.H, im.W, im.C)
	if !ok || b.DY > 1 || b.DX > 1 {
		return im, nil
	}
	before, after := [2]int{b.Y0, b.X0}, [2]int{im.H - 1 - b.Y1, im.W - 1 - b.X1}
	for axis := range 2 {
		if max(before[axis], after[axis]) >= (win.Kernel[axis]-1)*win.Dilation[axis]+1 {
			return im, nil
		}
	}
	inner := *o
	inner.Movement = o.PartInBox(b, im.W, im.C)
	im.LayerOperand, im.H, im.W, im.Before, im.After = &inner, b.RowCount(), b.ColumnCount(), before, after
	return im, nil
}

// UnpaddedFrameShape returns the shape of a frame of the pixels: rows, columns and channels, without padding.
func (im *PaddedImage) UnpaddedFrameShape() dataflow.Shape { return dataflow.Shape{im.H, im.W, im.C} }
