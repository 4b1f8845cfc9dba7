package find

import (
	"errors"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/integers"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
)

// A class is a set of positions of an operand whose integers have the same scale and bias. Integers that never change,
// such as constants, have classes of their own.
type class struct {
	affine real.Affine
	stays  bool  // the integer never changes
	always int64 // the integer, if it never changes
}

// value returns the real value of a class whose integer never changes, given the scale and bias f.
func (c *class) value(f real.Affine) *big.Rat {
	v := new(big.Rat).SetInt64(c.always)
	return v.Add(v.Mul(v, f.Scale), f.Bias)
}

// A classes groups the elements of a form by equal numbers. Each group is represented by its first element.
type classes struct {
	first []int
	index []int32 // index in operand.of
	last  int     // group of the element before
	alike bool    // all elements have one class: no integer stays, and all numbers are equal
}

// begin prepares for the elements of a form, whose integers travel on the stream at.
func (c *classes) begin(at *place.TensorPlace, form *scaled.FormExpression) {
	c.alike = form.IsUniform() && !slices.ContainsFunc(at.Type.Range, func(r num.Range) bool { return r.Lo == r.Hi })
}

// maxClasses limits the groups that are searched. With more groups, elements hardly share any numbers.
const maxClasses = 1 << 14

// of returns the class of element k of a form, whose integer is at a position of its stream. from elements were traced
// before this form. An element usually belongs to the group of the one before, or to the group after that.
func (c *classes) of(at *place.TensorPlace, o *LayerOperand, form *scaled.FormExpression, k, from int,
	position int32) (int32,
	error) {
	if c.alike && len(c.first) > 0 {
		return c.index[0], nil
	}
	span := at.Type.ChannelRange(int(position) % at.Type.Shape.ChannelCount())
	stays := span.Lo == span.Hi
	n := len(c.first)
	for i := range n {
		like := (c.last + i) % n
		other := &o.of[c.index[like]]
		if other.stays == stays && (!stays || other.always == span.Lo) && form.IsSameAtElements(c.first[like], k) {
			c.last = like
			return c.index[like], nil
		}
	}
	if n == maxClasses {
		return 0, unmapped.NewReason("its input is scaled differently at every element",
			"quantise activations per tensor or per channel")
	}
	e, _ := form.ExprAtElement(k)
	f, ok := e.SimplifyWithin([]real.Interval{integers.IntervalOfRange(at.Type.UnionOfRanges())}).AsAffine()
	if !ok && stays {
		f, ok = e.SimplifyWithin([]real.Interval{integers.IntervalOfRange(span)}).AsAffine()
	}
	if !ok {
		return 0, unscaled(form.Nodes)
	}
	found := o.find(class{f, stays, span.Lo}, from)
	c.first, c.index = append(c.first, k), append(c.index, found)
	c.last = n
	return found, nil
}

// ErrNotScaledInteger is in the error chain of reasons for values that are a function of one integer, but not scale*q +
// bias.
var ErrNotScaledInteger = errors.New("find: no scaled integer")

const afterActivation = "quantise the input of this layer, after its activation function"

// unscaled returns an error with ErrNotScaledInteger. nodes are the nodes between the integer and the value.
func unscaled(nodes []*graph.Node) error {
	return unmapped.NewReasonWithCause(ErrNotScaledInteger, diag.NodeNotMapped,
		"its input is no scaled integer: "+between(nodes)+" stands between it and the last quantiser", afterActivation)
}

// find returns the index of a class in o's list, to which it adds the class if that is new. Classes of elements traced
// before usually come again in the same order.
func (o *LayerOperand) find(c class, from int) int32 {
	if from > 0 {
		for i := range o.of {
			at := (o.next + i) % len(o.of)
			if was := &o.of[at]; was.stays == c.stays && (!c.stays || was.always == c.always) &&
				same(was.affine, c.affine) {
				o.next = at + 1
				return int32(at)
			}
		}
	}
	o.of = append(o.of, c)
	return int32(len(o.of) - 1)
}

// ChannelAffines returns the scale and bias of each of n channels. Position k belongs to channel k modulo n. A channel
// of constants has the zero Affine. ok is false if elements of a channel differ. An integer that never changes fits any
// scale and bias that give its value.
func (o *LayerOperand) ChannelAffines(n int) (of []real.Affine, ok bool) {
	found := slices.Repeat([]int32{-1}, n) // class that decides, per channel
	for _, staying := range []bool{false, true} {
		for k, v := range o.class.all {
			if v < 0 || o.of[v].stays != staying {
				continue
			}
			switch c := &found[k%n]; {
			case v == *c:
			case *c < 0:
				*c = v
			case staying && o.of[v].value(o.of[*c].affine).Cmp(o.of[v].value(o.of[v].affine)) == 0:
			case !same(o.of[*c].affine, o.of[v].affine):
				return nil, false
			}
		}
	}
	of = make([]real.Affine, n)
	for c, v := range found {
		if v >= 0 {
			of[c] = o.of[v].affine
		}
	}
	return of, true
}

// constantChannelValues returns, for each of n channels, its value if it never changes, padding included, and nil
// otherwise. A channel that never changes has no scale.
func (o *LayerOperand) constantChannelValues(n int) (always []*big.Rat) {
	if !slices.ContainsFunc(o.of, func(c class) bool { return c.stays }) {
		return make([]*big.Rat, n)
	}
	always = make([]*big.Rat, n)
	changes := make([]bool, n)
	for k, v := range o.class.all {
		c := k % n
		if changes[c] {
			continue
		}
		var value *big.Rat
		switch {
		case v < 0:
			value = o.constantAt(k)
		case o.of[v].stays:
			value = o.of[v].value(o.of[v].affine)
		}
		if value == nil || always[c] != nil && value.Cmp(always[c]) != 0 {
			changes[c], always[c] = true, nil
			continue
		}
		always[c] = value
	}
	return always
}

// inputs returns the inputs of weights. If the inputs have several scales, inputs that never change become
// constants.
func inputs(in []real.Affine, always []*big.Rat) *integers.InputAffines {
	other := func(f real.Affine) bool { return f.Scale != in[0].Scale && f.Scale.Cmp(in[0].Scale) != 0 }
	if slices.ContainsFunc(in, other) {
		in = slices.Clone(in)
		for k, v := range always {
			if v != nil {
				in[k] = real.Affine{Scale: new(big.Rat), Bias: v}
			}
		}
	}
	return integers.NewInputAffines(in)
}
