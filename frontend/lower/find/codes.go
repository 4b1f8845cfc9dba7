package find

import (
	"fmt"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A QuantiserCodes describes the codes of a quantiser: each is a function of integers, which is then rounded.
type QuantiserCodes struct {
	Step  *program.Step
	Forms *scaled.ElementForms

	p      *AnalysedProgram
	n      int       // elements
	stairs bool      // set by RecodeStep: successive integers give codes that differ by at most 1
	over   num.Range // set by RecodeStep: range of the codes
}

// ReadQuantiser reads a quantiser, of which step returns the codes. The error is the reason why its input is no
// function of integers.
func (p *AnalysedProgram) ReadQuantiser(step *program.Step) (*QuantiserCodes, error) {
	n := graph.ElementCount(step.Shape)
	forms, err := p.Integers.FormsOfStepElements(step, p.Integers.SharedCountingList(n))
	if err != nil {
		return nil, unmapped.NewReason(err.Error(), "quantise every tensor between two matrix layers")
	}
	return &QuantiserCodes{Step: step, Forms: forms, p: p, n: n}, nil
}

// SeveralIntegersForm returns a form, among those of the quantiser's input, that combines several integers. ok is false
// if there is none.
func (c *QuantiserCodes) SeveralIntegersForm() (form *scaled.FormExpression, ok bool) {
	i := slices.IndexFunc(c.Forms.Of, func(f scaled.FormExpression) bool { return len(f.IntegerVariables()) > 1 })
	if i < 0 {
		return nil, false
	}
	return &c.Forms.Of[i], true
}

// leaf returns the integer from which element k is computed, as a tensor and an index. ok is false if the element is
// constant.
func (c *QuantiserCodes) leaf(k int) (tensor string, index int32, ok bool) {
	leaves := c.Forms.FormOf(k).IntegerVariables()
	if len(leaves) == 0 {
		return "", 0, false
	}
	return leaves[0].Tensor, leaves[0].Index[k], true
}

// A CodeSource is an integer tensor from which codes are computed. It has one function per channel of its stream or, if
// pixels differ, one per element.
type CodeSource struct {
	Tensor    string
	Functions []*real.Expr
	Nodes     []*graph.Node

	first []int // per channel: index, in the quantiser's output, of an element with that channel; -1 if there is none
}

// CodeSources returns the integer tensors from which the quantiser's codes are computed. All elements of a channel must
// have the same function, and some element must depend on integers; otherwise, reject is the reason.
func (c *QuantiserCodes) CodeSources() (list []*CodeSource, reject error) {
	return c.sources(func(at *place.TensorPlace) int { return at.Type.Shape.ChannelCount() })
}

// maxPositions is the largest number of functions of single elements. Each is a row of the tables of its layer.
const maxPositions = 1 << 16

// CodeSourcesPerElement is CodeSources with a function per element instead of per channel, for an input with another
// scale or bias at every pixel. ok is false if elements are used several times, or there are too many.
func (c *QuantiserCodes) CodeSourcesPerElement() (list []*CodeSource, ok bool) {
	if c.n > maxPositions {
		return nil, false
	}
	list, reject := c.sources(func(at *place.TensorPlace) int { return at.Type.Shape.ElementCount() })
	return list, reject == nil
}

// A codesPart describes the codes of one form: which elements they are, and from which integers of a source they come.
type codesPart struct {
	leaf *scaled.FormVariable
	at   *place.TensorPlace
	src  *CodeSource
}

// sources returns the integer tensors from which the quantiser's codes are computed. functions returns the number n of
// functions of a source. Elements whose positions are equal modulo n must have the same function.
func (c *QuantiserCodes) sources(functions func(*place.TensorPlace) int) (list []*CodeSource, reject error) {
	by := map[string]*CodeSource{}
	var joined *scaled.FormExpression
	parts := make([]codesPart, len(c.Forms.Of))
	for k := range c.n {
		form := c.Forms.FormOf(k)
		w := &parts[c.Forms.FormIndexOf(k)]
		if w.src == nil {
			leaves := form.IntegerVariables()
			if len(leaves) == 0 {
				continue
			}
			w.leaf, w.at, w.src = leaves[0], c.p.Places[leaves[0].Tensor], by[leaves[0].Tensor]
			if w.src == nil {
				w.src = &CodeSource{Tensor: w.leaf.Tensor, first: slices.Repeat([]int{-1}, functions(w.at))}
				by[w.leaf.Tensor], list = w.src, append(list, w.src)
			}
		}
		src := w.src
		switch first := &src.first[int(w.at.PositionOf(w.leaf.Index[k]))%len(src.first)]; {
		case *first < 0:
			if *first = k; form != joined { // most elements have the same form as the one before
				src.Nodes, joined = graph.AppendMissingNodes(src.Nodes, form.Nodes), form
			}
		case !c.alike(*first, k):
			hint := perChannel
			if slices.ContainsFunc(form.Nodes, operators.IsAveragePool) {
				hint = "a mean at the border is of fewer elements: set count_include_pad of the AveragePool, or pad " +
					"in front of it"
			}
			return nil, varied(k, hint)
		}
	}
	if len(list) == 0 {
		return nil, unmapped.NewReason("some of its elements do not depend on the input",
			"remove the constant part of the tensor")
	}
	for _, src := range list {
		src.Functions = make([]*real.Expr, len(src.first))
		var last *real.Expr
		for ch, k := range src.first {
			if k >= 0 {
				last, _ = c.Forms.FormOf(k).ExprAtElement(k)
				src.Functions[ch] = last
			}
		}
		complete(src.Functions, last)
	}
	return list, nil
}

const perChannel = "use scales and biases per tensor or per channel"

// varied returns the reason for an element whose scale or bias differs from that of its channel.
func varied(element int, hint string) error {
	return unmapped.NewReason(
		fmt.Sprintf("its parameters vary along another axis than the channels (element %d)", element), hint)
}

// HasFunctionPerElement reports whether a source of type t has a function per element, not per channel.
func (s *CodeSource) HasFunctionPerElement(t dataflow.StreamType) bool {
	return len(s.Functions) != t.Shape.ChannelCount()
}

// complete gives each channel without a function that of another channel, applied to with.
func complete(functions []*real.Expr, with *real.Expr) {
	for c, f := range functions {
		if f == nil {
			functions[c] = with
		}
	}
}

// alike reports whether elements k and l are the same function of their integers.
func (c *QuantiserCodes) alike(k, l int) bool {
	f, g := c.Forms.FormIndexOf(k), c.Forms.FormIndexOf(l)
	if f == g {
		return c.Forms.Of[f].IsSameAtElements(k, l)
	}
	a, _ := c.Forms.Of[f].ExprAtElement(k)
	b, _ := c.Forms.Of[g].ExprAtElement(l)
	return a.HasSameForm(b)
}

// OneToOnePositions returns the positions of codes that stay where their integers are in p; at is nil if code k has
// position k. ok is false unless each code comes from a separate integer and all integers are used.
func (c *QuantiserCodes) OneToOnePositions(p *place.TensorPlace) (at *program.IndexList, ok bool) {
	if p.Type.Shape.ElementCount() != c.n {
		return nil, false
	}
	taken := make([]bool, c.n)
	still, ordered := true, true // code k comes from integer k, and has position k
	for k := range c.n {
		_, index, ok := c.leaf(k)
		if !ok {
			return nil, false
		}
		i := p.PositionOf(index)
		if taken[i] {
			return nil, false
		}
		taken[i] = true
		still, ordered = still && int(index) == k, ordered && int(i) == k
	}
	switch {
	case ordered:
		return nil, true
	case still:
		return p.At, true
	}
	places := make([]int32, c.n)
	for k := range places {
		_, index, _ := c.leaf(k)
		places[k] = p.PositionOf(index)
	}
	return program.NewIndexList(places), true
}

// PositionsAmongConstants returns positions for codes that stay where the integers of their single source are, with
// constants among them, and the real value of each. Constants have no position, and scale 0. ok is false if there are
// no constants, or one that has no code.
func (c *QuantiserCodes) PositionsAmongConstants(p *place.TensorPlace) (at *program.IndexList, of []real.Affine,
	ok bool) {
	places := make([]int32, c.n)
	of = slices.Repeat(scaled.IdentityAffines, c.n)
	for k := range places {
		if _, index, data := c.leaf(k); data {
			places[k] = p.PositionOf(index)
			continue
		}
		v, err := c.constant(k)
		if err != nil {
			return nil, nil, false
		}
		of[k], ok = real.Affine{Scale: new(big.Rat), Bias: new(big.Rat).SetInt64(v)}, true
	}
	return program.NewIndexList(places), of, ok
}

// ArrangeWithoutConstants is ArrangeCodes without the channels of constants, which have no position and a real value
// with scale 0. ok is false if an element is constant at some pixels only.
func (c *QuantiserCodes) ArrangeWithoutConstants(axis int, sources []*CodeSource,
	coded map[string]*place.TensorPlace) (f *ArrangedCodes,
	of []real.Affine,
	ok bool) {
	f = &ArrangedCodes{LayerOperand: &LayerOperand{Nodes: []*graph.Node{c.Step.Node}}}
	lie := make([]int32, c.n)
	for _, src := range sources {
		f.Tensors = append(f.Tensors, src.Tensor)
	}
	shape, places := place.ChannelsLastLayoutOf(c.Step.Shape, axis)
	data := make([]bool, shape.ChannelCount()) // by channel
	of = slices.Repeat(scaled.IdentityAffines, c.n)
	for k, e := range place.ElementIndicesByPosition(places, c.n) {
		tensor, index, isData := c.leaf(int(e))
		if ch := k % len(data); k < len(data) {
			data[ch] = isData
		} else if data[ch] != isData {
			return nil, nil, false
		}
		if isData {
			lie[e] = int32(f.Len())
			f.AppendPosition(f.tensorIndexOf(tensor), coded[tensor].PositionOf(index))
			continue
		}
		v, err := c.constant(int(e))
		if err != nil {
			return nil, nil, false
		}
		of[e] = real.Affine{Scale: new(big.Rat), Bias: new(big.Rat).SetInt64(v)}
	}
	f.Places = program.NewIndexList(lie)
	f.Shape = append(slices.Clone(shape[:len(shape)-1]), f.Len()*len(data)/c.n)
	return f, of, true
}

// constant returns the code of element k, whose input must be constant. The error says that there is none.
func (c *QuantiserCodes) constant(k int) (int64, error) {
	e, _ := c.Forms.FormOf(k).ExprAtElement(k)
	v, err := real.Compile(e).StepFunctionOver(num.Range{}, 1)
	if err != nil {
		return 0, err
	}
	return v.Value[0], nil
}

// An ArrangedCodes is a list of codes in the order of pixels, whose channels lie along an axis.
type ArrangedCodes struct {
	*LayerOperand
	Shape     dataflow.Shape
	Places    *program.IndexList // position of each code; nil if code i is at position i
	Fill      int64              // code of constants
	Functions []*real.Expr       // per channel, if the codes still have to be computed from the moved integers
}

// ArrangeCodes returns the codes of sources in the order of pixels, with channels along axis. coded gives the places of
// the sources' codes. It returns an error if the constants among the codes have several values.
func (c *QuantiserCodes) ArrangeCodes(axis int, sources []*CodeSource,
	coded map[string]*place.TensorPlace) (*ArrangedCodes, error) {
	f := &ArrangedCodes{LayerOperand: &LayerOperand{Nodes: []*graph.Node{c.Step.Node}}}
	for _, src := range sources {
		f.Tensors = append(f.Tensors, src.Tensor)
	}
	f.Shape, f.Places = place.ChannelsLastLayoutOf(c.Step.Shape, axis)
	filled := false
	for _, e := range place.ElementIndicesByPosition(f.Places, c.n) {
		tensor, index, ok := c.leaf(int(e))
		if ok {
			f.AppendPosition(f.tensorIndexOf(tensor), coded[tensor].PositionOf(index))
			continue
		}
		v, err := c.constant(int(e))
		if err != nil || filled && f.Fill != v {
			return nil, unmapped.NewReason("constants of several values are put among its elements",
				"pad with one value")
		}
		f.Fill, filled = v, true
		f.AppendPosition(place.ConstantWireIndex, 0)
	}
	return f, nil
}

// ArrangeIntegers returns integers in the order of pixels, from which the codes are computed afterwards. An integer
// that is quantised in several ways then occurs several times. ok is false if that does not help.
func (c *QuantiserCodes) ArrangeIntegers(axis int) (f *ArrangedCodes, ok bool) {
	f = &ArrangedCodes{LayerOperand: &LayerOperand{}}
	f.Shape, f.Places = place.ChannelsLastLayoutOf(c.Step.Shape, axis)
	f.Functions = make([]*real.Expr, f.Shape.ChannelCount())
	order := place.ElementIndicesByPosition(f.Places, c.n)
	for k, e := range order {
		tensor, index, ok := c.leaf(int(e))
		at, ready := c.p.PlaceOf(tensor)
		ch := k % len(f.Functions)
		if !ok || !ready || k >= len(f.Functions) && !c.alike(int(order[ch]), int(e)) {
			return nil, false
		}
		if k < len(f.Functions) {
			f.Functions[ch], _ = c.Forms.FormOf(int(e)).ExprAtElement(int(e))
		}
		f.AppendPosition(f.tensorIndexOf(tensor), at.PositionOf(index))
	}
	return f, true
}

// CandidateChannelAxes returns the axes along which channels may lie, the likeliest first. Depth to space, for example,
// makes another axis look like that of channels.
func (c *QuantiserCodes) CandidateChannelAxes() []int {
	axes := []int{c.ChannelAxis()}
	for _, a := range []int{1, len(c.Step.Shape) - 1} {
		if a > 0 && a < len(c.Step.Shape) && !slices.Contains(axes, a) {
			axes = append(axes, a)
		}
	}
	return axes
}

// ChannelAxis returns the axis of the codes along which the channels of their sources lie.
func (c *QuantiserCodes) ChannelAxis() int {
	shape := c.Step.Shape
	stride := 1
	channel := func(k int) (tensor string, ch int) {
		tensor, index, ok := c.leaf(k)
		if !ok {
			return "", 0
		}
		return tensor, c.p.Places[tensor].ChannelOf(index)
	}
	middle := 0 // an element that is probably not in a border
	for i := len(shape) - 1; i >= 0; i-- {
		middle += shape[i] / 2 * stride
		stride *= shape[i]
	}
	for _, several := range []bool{false, true} { // neighbours of one tensor are better evidence than those of two
		stride = 1
		for i := len(shape) - 1; i > 0; i-- {
			if shape[i] > 1 {
				ta, a := channel(middle)
				tb, b := channel(middle - stride)
				if ta != "" && tb != "" && (ta == tb && a != b || ta != tb && several) {
					return i
				}
			}
			stride *= shape[i]
		}
	}
	for i, n := range shape { // one channel: any axis of one element fits
		if i > 0 && n == 1 {
			return i
		}
	}
	return len(shape) - 1
}

// CodesBeforeMaximum returns the codes of an image of c channels in front of a maximum, whose forms are given.
// functions[i] is the function of channel i's real value. The codes are computed in the order of the integers' stream,
// and the movement gives them the order of the image. The error is the reason against it: several tensors, or several
// functions in a channel.
func (p *AnalysedProgram) CodesBeforeMaximum(forms *scaled.ElementForms, c int, functions []*real.Expr) (*CodeSource,
	place.Movement,
	error) {
	form, leaf, ok := forms.SingleForm()
	if !ok {
		return nil, place.Movement{}, unmapped.NewReason("the maximum is of several tensors together",
			"quantise before this max pool")
	}
	at := p.Places[leaf.Tensor]
	channels := at.Type.Shape.ChannelCount()
	src := &CodeSource{Tensor: leaf.Tensor, Nodes: form.Nodes, Functions: make([]*real.Expr, channels),
		first: make([]int, channels)}
	var m place.Movement
	for k, i := range leaf.Index {
		m.AppendPosition(0, at.PositionOf(i))
		ch := at.ChannelOf(i)
		if first := src.first[ch]; src.Functions[ch] == nil {
			src.first[ch] = k
			e, _ := form.ExprAtElement(k)
			src.Functions[ch] = functions[k%c].SubstituteVariables([]*real.Expr{e})
		} else if first%c != k%c || !form.IsSameAtElements(first, k) {
			return nil, m, unmapped.NewReason("the values in a window have different scales",
				"quantise before this max pool")
		}
	}
	first := slices.IndexFunc(src.Functions, func(f *real.Expr) bool { return f != nil })
	complete(src.Functions, src.Functions[first])
	return src, m, nil
}
