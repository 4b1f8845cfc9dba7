package find

import (
	"fmt"
	"math/big"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/integers"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
)

// maxRecoded limits the integers at which one function is evaluated one by one. allRecoded limits those for all
// functions of a tensor.
const (
	maxRecoded = 1 << 16
	allRecoded = 1 << 19
)

// maxCodeBits limits codes for a function's values. An 8-bit leaky ReLU, whose slope is any float32, needs 34 bits.
const maxCodeBits = 40

// maxFillBits is the largest number of bits by which the value of padding may widen codes.
const maxFillBits = 8

// RecodeStep returns a step as codes, if each element is a function of one integer, but not a scale and a bias of it.
// Every value that occurs is an integer, the code, times a scale, plus a bias. For example, the values of a ReLU behind
// codes of -8 to 7 in steps of 1/4 are the integers 0 to 7 times 1/4. The whole tensor has one scale if that makes the
// codes no wider, and otherwise one per channel. If fill is not nil, it is a value of a code in every channel. An
// integer tensor is a function of itself.
func (p *AnalysedProgram) RecodeStep(step *program.Step, fill *big.Rat) (codes *QuantiserCodes,
	of scaled.AffinesOfElements,
	reject error) {
	n := graph.ElementCount(step.Shape)
	find := p.Integers.FormsOfStepElements
	if _, ok := p.Integers.AffineOfElement(step.Output, 0); ok {
		find = func(_ *program.Step, all []int32) (*scaled.ElementForms, error) {
			return p.Integers.FormsOfElements(step.Output, all)
		}
	}
	forms, err := find(step, p.Integers.SharedCountingList(n))
	if err != nil {
		return nil, of, unmapped.NewReason(err.Error(), "quantise every tensor between two matrix layers")
	}
	codes = &QuantiserCodes{Step: step, Forms: forms, p: p, n: n}
	if form, ok := codes.SeveralIntegersForm(); ok {
		return nil, of, NewSeveralIntegersReason(form)
	}
	r := recoding{fill: fill}
	if reject = r.classify(codes); reject != nil {
		return nil, of, reject
	}
	if of.Of, reject = r.values(step.Node); reject != nil {
		return nil, of, reject
	}
	if len(r.of) > 1 {
		of.Group = func(i int32) int32 { return r.class[i] }
	}
	codes.Forms = forms.QuantisedForms(of, p.Integers.SharedCountingList(n))
	codes.stairs, codes.over = r.stairs(of.Of), r.integers(of.Of)
	return codes, of, nil
}

// HostCodeRange returns the range of codes that RecodeStep has returned. ok is true if the host can send them instead
// of the codes from which they are computed. Nothing else may need those, and the new codes must be no wider and no
// more numerous.
func (c *QuantiserCodes) HostCodeRange() (over num.Range, ok bool) {
	sent := ""
	for _, form := range c.Forms.Of {
		for _, leaf := range form.IntegerVariables() {
			if sent != "" && leaf.Tensor != sent {
				return over, false
			}
			sent = leaf.Tensor
		}
	}
	by, at := c.p.ProducerOf(sent), c.p.Places[sent]
	if by == nil || by == c.Step || !at.IsFromHost() || at.IsOnWire() || at.Alias ||
		!c.p.Uses.ReachesOutputsOnlyThrough(sent, c.Step) {
		return over, false
	}
	return c.over, graph.ElementCount(by.Shape) == c.n && num.NarrowestIntTypeFor(c.over).Width <= at.Type.Elem.Width
}

// ComposeWithPrecedingQuantisers returns codes that RecodeStep has read, with values of, as functions of the inputs of
// the quantisers in front of them. A single layer then computes them. ok is false if anything else needs the
// quantisers' codes. It is also false if successive quantiser codes give codes that differ by more than 1: a table in a
// separate layer is then smaller than wide steps per channel.
func (c *QuantiserCodes) ComposeWithPrecedingQuantisers(of scaled.AffinesOfElements) (composed *QuantiserCodes,
	ok bool) {
	if !c.stairs {
		return nil, false
	}
	var between []string
	for _, form := range c.Forms.Of {
		for _, leaf := range form.IntegerVariables() {
			by := c.p.ProducerOf(leaf.Tensor)
			at, ready := c.p.PlaceOf(leaf.Tensor)
			if by == nil || by == c.Step || !scaled.IsQuantiserStep(by) || !ready || at.IsFromHost() || at.Alias ||
				!c.p.Uses.ReachesOutputsOnlyThrough(leaf.Tensor, c.Step) {
				return nil, false
			}
			between = append(between, leaf.Tensor)
		}
	}
	all := c.p.Integers.SharedCountingList(c.n)
	var forms *scaled.ElementForms
	var err error
	c.p.Integers.DoIgnoringIntegerTensors(between, func() {
		forms, err = c.p.Integers.FormsOfStepElements(c.Step,
			all)
	})
	if err != nil {
		return nil, false
	}
	for _, form := range forms.Of {
		for _, leaf := range form.IntegerVariables() {
			if _, ready := c.p.PlaceOf(leaf.Tensor); !ready {
				return nil, false
			}
		}
	}
	return &QuantiserCodes{Step: c.Step, Forms: forms.QuantisedForms(of, all), p: c.p, n: c.n}, true
}

// A recoding holds the functions of elements. Elements with the same values are grouped.
type recoding struct {
	of    []recoded
	class []int32 // per element
	fill  *big.Rat
	read  int // number of evaluations of functions
}

// A recoded is a group of elements that are one function of integers in one range, with the values of the function.
type recoded struct {
	element int // first element
	over    num.Range
	values  []*big.Rat // values that occur
	least   *big.Rat
	span    *big.Rat   // greatest value minus the least
	jumps   []*big.Rat // distinct differences between the values of successive integers, without 0
}

// stairs reports whether all functions only rise or only fall, in steps of their scale.
func (r *recoding) stairs(of []real.Affine) bool {
	for i, f := range r.of {
		if len(f.jumps) > 1 || len(f.jumps) == 1 && new(big.Rat).Abs(f.jumps[0]).Cmp(of[min(i, len(of)-1)].Scale) != 0 {
			return false
		}
	}
	return true
}

// integers returns the range of all values in units of their scales.
func (r *recoding) integers(of []real.Affine) (over num.Range) {
	for i, f := range r.of {
		by := of[min(i, len(of)-1)]
		for _, v := range []*big.Rat{f.least, new(big.Rat).Add(f.least, f.span)} {
			q := new(big.Rat).Sub(v, by.Bias)
			x := q.Quo(q, by.Scale).Num().Int64() // at most maxCodeBits plus the distance to 0
			if i == 0 && v == f.least {
				over = num.Range{Lo: x, Hi: x}
			}
			over = num.Range{Lo: min(over.Lo, x), Hi: max(over.Hi, x)}
		}
	}
	return over
}

// classify groups the elements by their values. An element usually belongs to the group of the element before, or to
// the group after that.
func (r *recoding) classify(c *QuantiserCodes) error {
	by := make([][]int32, len(c.Forms.Of)) // groups
	last := make([]int, len(c.Forms.Of))   // index among these
	for k := range c.n {
		form, at := c.Forms.FormOf(k), c.Forms.FormIndexOf(k)
		var over num.Range
		if leaves := form.IntegerVariables(); len(leaves) > 0 {
			in, ok := c.p.PlaceOf(leaves[0].Tensor)
			if !ok {
				return unmapped.NewReason(fmt.Sprintf("its input needs %q, which waits for a quantiser",
					leaves[0].Tensor), "quantise the input of this layer")
			}
			over = in.Type.ChannelRange(in.ChannelOf(leaves[0].Index[k]))
		}
		class := int32(-1)
		for i := range by[at] {
			like := (last[at] + i) % len(by[at])
			if f := &r.of[by[at][like]]; f.over == over && form.IsSameAtElements(f.element, k) {
				class, last[at] = by[at][like], like
				break
			}
		}
		if class < 0 {
			if r.read += int(min(uint64(over.Hi)-uint64(over.Lo), allRecoded)) + 1; r.read > allRecoded {
				return unscaled(form.Nodes)
			}
			if len(r.of) == maxClasses {
				return unmapped.NewReason("its input is scaled differently at every element",
					"quantise activations per tensor or per channel")
			}
			f, reject := recodedOf(c, k, over, r.fill)
			if reject != nil {
				return reject
			}
			class, last[at] = int32(len(r.of)), len(by[at])
			r.of, by[at] = append(r.of, f), append(by[at], class)
		}
		r.class = append(r.class, class)
	}
	return nil
}

// recodedOf returns the values that element k takes over a range of its integer. They include fill unless that is nil.
func recodedOf(c *QuantiserCodes, k int, over num.Range, fill *big.Rat) (f recoded, reject error) {
	form := c.Forms.FormOf(k)
	e, _ := form.ExprAtElement(k)
	if uint64(over.Hi)-uint64(over.Lo) >= maxRecoded {
		return f, unscaled(form.Nodes)
	}
	f = recoded{element: k, over: over}
	compiled, seen := real.Compile(e), map[string]bool{}
	var last *big.Rat
	for x := over.Lo; x <= over.Hi; x++ {
		y, err := compiled.EvaluateExactly([]real.Num{real.NumberOfRational(new(big.Rat).SetInt64(x))},
			real.WorkingPrecisionBits[0])
		if err != nil || y.RationalOrNil() == nil {
			return f, unmapped.NewReason("its input is no scaled integer: "+unmapped.DescribeNode(c.Step.Node)+
				" makes irrational numbers of integers", afterActivation)
		}
		v := y.RationalOrNil()
		if x > over.Lo && v.Cmp(last) != 0 && len(f.jumps) < 2 {
			if jump := new(big.Rat).Sub(v, last); len(f.jumps) == 0 || jump.Cmp(f.jumps[0]) != 0 {
				f.jumps = append(f.jumps, jump)
			}
		}
		last = v
		if text := v.RatString(); !seen[text] {
			seen[text] = true
			f.values = append(f.values, v)
		}
	}
	f.measure()
	if without := f.bits(f.unit()); fill != nil {
		f.values = append(f.values, fill)
		if f.measure(); f.bits(f.unit()) > without+maxFillBits {
			return f, unmapped.NewReason("its padding needs much wider codes", "")
		}
	}
	return f, nil
}

// measure sets the least and the largest of the values.
func (f *recoded) measure() {
	f.least, f.span = f.values[0], f.values[0]
	for _, v := range f.values {
		if v.Cmp(f.least) < 0 {
			f.least = v
		}
		if v.Cmp(f.span) > 0 {
			f.span = v
		}
	}
	f.span = new(big.Rat).Sub(f.span, f.least)
}

// unit returns the greatest number such that all differences to the least value are multiples of it.
func (f *recoded) unit() *big.Rat {
	var apart []*big.Rat
	for _, v := range f.values {
		apart = append(apart, new(big.Rat).Sub(v, f.least))
	}
	return integers.GreatestCommonUnitOf(apart)
}

// values returns the scale and the bias that it chooses for each group.
func (r *recoding) values(node *graph.Node) ([]real.Affine, error) {
	own, widest := make([]real.Affine, len(r.of)), 0
	var all, first []*big.Rat // all values, and all values minus the first
	for i, f := range r.of {
		for _, v := range f.values {
			first = append(first, new(big.Rat).Sub(v, r.of[0].least))
		}
		all = append(all, f.values...)
		own[i] = real.Affine{Scale: f.unit(), Bias: f.least}
		if v := new(big.Rat).Quo(f.least, own[i].Scale); v.IsInt() {
			own[i].Bias = new(big.Rat)
		}
		widest = max(widest, f.bits(own[i].Scale))
	}
	for _, one := range []struct {
		real.Affine
		more int // bits by which codes may become wider
	}{{real.Affine{Scale: integers.GreatestCommonUnitOf(all), Bias: new(big.Rat)}, 1},
		{real.Affine{Scale: integers.GreatestCommonUnitOf(first),
			Bias: r.of[0].least}, 0}} {
		bits := 0
		for _, f := range r.of {
			bits = max(bits, f.bits(one.Scale))
		}
		if bits <= min(widest+one.more, maxCodeBits) {
			return []real.Affine{one.Affine}, nil
		}
	}
	if widest > maxCodeBits {
		return nil, unmapped.NewReasonWithCode(diag.ActivationRangeTooWide,
			fmt.Sprintf("its input is no scaled integer of up to %d bits: in "+
				"the greatest common unit, the values that %s computes need %d bits",
				maxCodeBits, unmapped.DescribeNode(node), widest), afterActivation)
	}
	return own, nil
}

// bits returns the number of bits of the values in units of a scale.
func (f *recoded) bits(scale *big.Rat) int {
	n := new(big.Rat).Quo(f.span, scale)
	return new(big.Int).Quo(n.Num(), n.Denom()).BitLen()
}
