package lower

import (
	"errors"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/choose"
	"hlsgen/frontend/lower/find"
	"hlsgen/frontend/lower/integers"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/hlslib/crop"
	"hlsgen/hlslib/pad"
	"hlsgen/hlslib/swg"
	"hlsgen/internal/dataflow"
)

// image returns the pixels over which a window slides, as an image and as the wire that carries it.
func (c *circuit) image(step *program.Step, tensor string) (im *find.PaddedImage, wire int, reject error) {
	if im, reject = c.pixels(step, tensor, func(*find.LayerOperand) (again bool) { return false }); reject != nil {
		return nil, 0, reject
	}
	wire, reject = c.arrange(im.LayerOperand, im.UnpaddedFrameShape(), im.Fill)
	return im, wire, reject
}

// pixels returns the pixels of a tensor over which a step's window slides. It calls again with the operand. If again
// returns true, it has changed the integers, and pixels reads them once more.
func (c *circuit) pixels(step *program.Step, tensor string, again func(*find.LayerOperand) bool) (*find.PaddedImage,
	error) {
	shape, elements, reject := c.Layouts.WindowFrameElements(step.Window, c.Known[tensor].Shape)
	if reject != nil {
		return nil, reject
	}
	for tries := 0; ; tries++ {
		o, reject := c.operand(tensor, elements)
		if reject == nil && again(o) {
			o, reject = c.operand(tensor, elements)
		}
		if reject != nil {
			return nil, reject
		}
		im, reject := find.PaddedImageOf(step.Window, shape, o)
		if tries > 0 || !padded(c, tensor, reject) {
			return im, reject
		}
	}
}

// padded recodes a tensor so that its padding's value has a code, if reject says that it has none. It returns true if
// it did so.
func padded(c *circuit, tensor string, reject error) bool {
	p := new(find.PaddingValueError)
	if !errors.As(reject, &p) {
		return false
	}
	recoded, _ := (&recoder{c, p.Value}).recode(tensor)
	return recoded
}

// front adds the layer that f asks for behind the wire of an image, and returns its output's wire. Without such a layer
// it returns the same wire.
func (c *circuit) front(f choose.InputArranger, im *find.PaddedImage, wire int, win *program.Window) (int, error) {
	switch {
	case f.Kind == choose.ArrangerKindSliding:
		op := swg.New(swg.Params{Kernel: win.Kernel, Stride: win.Stride, Dilation: win.Dilation,
			Before: im.Before, After: im.After, Pad: im.Fill, Groups: f.Groups})
		w, err := c.net.AddMoverLayer(op, []int{wire}, im.Nodes)
		if err != nil {
			return 0, unmapped.NewReason("no layer slides this window: "+err.Error(), "use a smaller kernel or padding")
		}
		return w, nil
	case f.Kind == choose.ArrangerKindStrided && win.Stride != [2]int{1, 1}:
		return c.net.AddCropping(wire, crop.Params{Stop: [2]int{im.H, im.W}, Step: win.Stride}, im.Nodes)
	}
	return wire, nil
}

// A maximum is a max pool without a layer, because it waits for the quantiser behind it. A quantiser in front of the
// maximum can become thresholds of a matrix layer, and the maximum then takes narrow codes.
type maximum struct{ step *program.Step }

// EnsureWire panics. It is never called, since the stream is held until the quantiser comes.
func (*maximum) EnsureWire(*place.Netlist, string) int {
	panic("lower: a maximum is read that waits for its quantiser")
}

// maxima is the rule for max pools. If only a quantiser behind one needs its result, the max pool waits for that.
func maxima(l *lowering, step *program.Step) (bool, error) {
	if step.Window == nil || step.Elem == nil || !l.Integers.IsFromIntegers(step.Node.Inputs[0]) {
		return false, nil
	}
	if _, ok := l.Uses.SoleNextQuantiser(step.Output); ok && l.HasNoScaledInteger(step.Node.Inputs[0], isWaiting) {
		shape, at := l.Layouts.WindowLayoutOf(step.Window, step.Shape)
		l.Places[step.Output] = &place.TensorPlace{At: at,
			WireStream: &place.WireStream{Type: dataflow.StreamType{Shape: shape}, Source: &maximum{step}, Held: true}}
		l.Integers.DeclareIntegerTensor(step.Output, scaled.IdentityAffines)
		return true, nil
	}
	reject := l.greatest(step)
	if reject != nil && !l.Uses.FeedsLayer(step.Output) {
		return true, nil // the host continues from the data in front of it
	}
	return true, reject
}

func isWaiting(p *place.TensorPlace) bool {
	_, ok := waiting(p.WireStream)
	return ok
}

// greatest adds the layers of a max pool of scaled integers.
func (c *circuit) greatest(step *program.Step) error {
	im, reject := c.pixels(step, step.Node.Inputs[0], c.turnWeights)
	if reject != nil {
		return reject
	}
	wire, reject := c.arrange(im.LayerOperand, im.UnpaddedFrameShape(), im.Fill)
	if reject != nil {
		return reject
	}
	if im.Before != [2]int{} || im.After != [2]int{} {
		// Padding counts as pixels, for the maximum includes its values and has padding of its own.
		p := pad.Params{Before: im.Before, After: im.After, Code: im.Fill}
		if wire, reject = c.net.AddPadding(wire, p, im.Nodes); reject != nil {
			return reject
		}
		im.H, im.W = im.H+im.Before[0]+im.After[0], im.W+im.Before[1]+im.After[1]
	}
	falls := make([]bool, len(im.Affine))
	for ch, f := range im.Affine {
		if falls[ch] = f.Scale.Sign() < 0; falls[ch] {
			im.Affine[ch].Scale = new(big.Rat).Neg(f.Scale)
		}
	}
	if wire, reject = c.turn(wire, falls, im.Nodes); reject != nil {
		return reject
	}
	wire, at, reject := c.pooled(step, im, wire, step.Output)
	if reject != nil {
		return reject
	}
	c.put(step.Output, wire, at)
	channels := find.ChannelLayoutOf(step.Window, step.Shape)
	c.Integers.DeclareGroupedIntegers(step.Output, scaled.AffinesOfElements{Of: im.Affine,
		Group: channels.ChannelOfElement})
	return nil
}

// turnWeights negates weights of the waiting product that gives an operand, in the channels whose real values fall as
// the integers rise. It returns true if it negated any.
func (c *circuit) turnWeights(o *find.LayerOperand) (turned bool) {
	if len(o.Tensors) != 1 {
		return false
	}
	tensor := o.Tensors[0]
	at := c.Places[tensor]
	old, ok := waiting(at.WireStream)
	if !ok || old.Plain {
		return false
	}
	falls, ok := o.DecreasingChannels(at.Type.Shape.ChannelCount())
	if !ok || !slices.Contains(falls, true) {
		return false
	}
	next := *old
	next.ProductBeforeActivation = old.WithNegatedRows(falls)
	_, types, err := next.OpWithoutActivation().Bind([]dataflow.StreamType{next.In})
	if err != nil {
		return false
	}
	var affine []real.Affine
	for e := range graph.ElementCount(c.Known[tensor].Shape) {
		f, _ := c.Integers.AffineOfElement(tensor, e)
		if falls[at.ChannelOf(int32(e))] {
			f.Scale = new(big.Rat).Neg(f.Scale)
		}
		affine = append(affine, f)
	}
	at.Source, at.Type = &next, types[0]
	c.Integers.DeclareIntegerTensor(tensor, affine)
	return true
}

// turn adds a layer that negates some channels of a wire, and returns its output's wire. Without such channels it
// returns the same wire.
func (c *circuit) turn(wire int, channels []bool, nodes []*graph.Node) (int, error) {
	if !slices.Contains(channels, true) {
		return wire, nil
	}
	functions := make([]*real.Expr, len(channels))
	for ch, falls := range channels {
		if functions[ch] = real.Var(0); falls {
			functions[ch] = real.Neg(functions[ch])
		}
	}
	a, reject := c.steps.StepActivationOf(functions, c.net.WireType(wire), nil, integers.MaxActivationSteps, false)
	if reject != nil {
		return 0, reject
	}
	return c.make(a, []int{wire}, "", nodes)
}

// pooled adds a layer that takes the maximum over windows of an image, and returns its output's wire. Padding has the
// least integer, so that it is never the maximum.
func (c *circuit) pooled(step *program.Step, im *find.PaddedImage, wire int, tensor string) (out int,
	at *program.IndexList,
	reject error) {
	win := step.Window
	_, at = c.Layouts.WindowLayoutOf(win, step.Shape)
	im.Before, im.After, im.Fill = win.Before, win.After, c.net.WireType(wire).UnionOfRanges().Lo
	choice, reject := choose.ChooseLayersForFunction(choose.WindowMaximum{Window: im.SlidingWindowOf(win)})
	if reject != nil {
		return 0, nil, reject
	}
	if wire, reject = c.front(choice.Front, im, wire, win); reject != nil {
		return 0, nil, reject
	}
	out, reject = c.add(choice, []int{wire}, tensor, append([]*graph.Node{step.Node}, im.Nodes...))
	return out, at, reject
}
