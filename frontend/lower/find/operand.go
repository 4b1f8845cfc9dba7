package find

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/integers"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/diag"
)

// A LayerOperand is the data of a layer, in the order in which the layer needs them. Each position holds a constant, or
// an integer of a stream whose real value is scale*q + bias.
type LayerOperand struct {
	place.Movement               // movement of the tensors' streams
	Tensors        []string      // names of the integer tensors
	Constants      []*big.Rat    // values of constants; nil if there are none
	Nodes          []*graph.Node // nodes between the integers and the operand

	of    []class // classes of positions
	next  int     // class that is likely to come next
	class labels  // index of each position in of; for constant i the negative number ^i
}

// constantAt returns the constant at position k, or nil if there is none.
func (o *LayerOperand) constantAt(k int) *big.Rat {
	if class := o.class.at(k); class < 0 {
		return o.Constants[^class]
	}
	return nil
}

// traced is the largest number of elements that are traced back to integers at a time, which limits the size of the
// lists.
const traced = 1 << 16

// OperandOf returns elements of a tensor as an operand of scaled integers. elements lists them in the order of the
// operand's positions. The error is the reason why they are not scaled integers.
func (p *AnalysedProgram) OperandOf(tensor string, elements *program.IndexList) (*LayerOperand, error) {
	n := elements.Len()
	o := &LayerOperand{}
	for from := 0; from == 0 || from < n; from += traced {
		some := elements.ToSlice
		if n > traced {
			some = func() []int32 { return elements.AppendRangeToSlice(nil, from, min(traced, n-from)) }
		}
		list := some()
		forms, err := p.Integers.FormsOfElements(tensor, list)
		if err != nil {
			return nil, unmapped.NewReason("its input is not in integers: "+err.Error(),
				"quantise the input of this layer")
		}
		if reject := o.read(p, forms, from, len(list)); reject != nil {
			return nil, reject
		}
	}
	return o, nil
}

// read finds the integers of n positions, the first of which is from.
func (o *LayerOperand) read(p *AnalysedProgram, forms *scaled.ElementForms, from, n int) error {
	parts := make([]part, len(forms.Of))
	for i := range forms.Of {
		parts[i].form, parts[i].last = &forms.Of[i], -1
		o.Nodes = graph.AppendMissingNodes(o.Nodes, forms.Of[i].Nodes)
	}
	for k := range n {
		w := &parts[forms.FormIndexOf(k)]
		if w.last < 0 {
			if reject := w.begin(p, o); reject != nil {
				return reject
			}
		}
		var reject error
		if w.leaf == nil {
			reject = o.constant(w, k, from)
		} else {
			at := w.at.PositionOf(w.leaf.Index[k])
			var class int32
			class, reject = w.classes.of(w.at, o, w.form, k, from, at)
			o.AppendPosition(w.stream, at)
			o.class.then(class)
		}
		if w.last = k; reject != nil {
			return reject
		}
	}
	return nil
}

// A part holds the elements of one form of an operand, which all come from one stream.
type part struct {
	form    *scaled.FormExpression
	last    int                  // element before
	leaf    *scaled.FormVariable // nil for constants
	at      *place.TensorPlace
	stream  int16 // index among the operand's streams
	classes classes
}

// begin finds the stream of a part's integers.
func (w *part) begin(p *AnalysedProgram, o *LayerOperand) error {
	leaves := w.form.IntegerVariables()
	if len(leaves) == 0 {
		return nil
	}
	if len(leaves) > 1 {
		return NewSeveralIntegersReason(w.form)
	}
	var ok bool
	w.leaf = leaves[0]
	if w.at, ok = p.PlaceOf(w.leaf.Tensor); !ok {
		return unmapped.NewReason(fmt.Sprintf("its input needs %q, which waits for a quantiser", w.leaf.Tensor),
			"quantise the input of this layer")
	}
	w.stream = o.FindOrAddStreamIndex(p, w.leaf.Tensor)
	w.classes.begin(w.at, w.form)
	return nil
}

// constant makes position from+k a constant. Most constants equal the one before.
func (o *LayerOperand) constant(w *part, k, from int) error {
	o.AppendPosition(place.ConstantWireIndex, 0)
	if w.last >= 0 && w.form.IsSameAtElements(w.last, k) {
		o.class.then(o.class.at(from + w.last))
		return nil
	}
	f, ok := w.form.AffineAtElement(k)
	if !ok {
		return unmapped.NewReason("a constant part of its input is irrational", "use rational constants")
	}
	if last := len(o.Constants) - 1; from == 0 || last < 0 || o.Constants[last].Cmp(f.Bias) != 0 {
		o.Constants = append(o.Constants, f.Bias)
	}
	o.class.then(^int32(len(o.Constants) - 1))
	return nil
}

// FindOrAddStreamIndex returns the index of the stream that carries a tensor among the operand's streams. It adds the
// stream if it is new.
func (o *LayerOperand) FindOrAddStreamIndex(p *AnalysedProgram, tensor string) int16 {
	if n := len(o.Tensors); n > 0 && o.Tensors[n-1] == tensor {
		return int16(n - 1)
	}
	return o.number(tensor, func(w string) bool {
		return w == tensor || p.Places[w].WireStream == p.Places[tensor].WireStream
	})
}

// tensorIndexOf returns the index of a tensor among the operand's tensors. It adds the tensor if it is new.
func (o *LayerOperand) tensorIndexOf(tensor string) int16 {
	return o.number(tensor, func(w string) bool { return w == tensor })
}

// number returns the index of the first of the operand's tensors for which fits is true. It adds the given tensor if
// there is none.
func (o *LayerOperand) number(tensor string, fits func(string) bool) int16 {
	i := slices.IndexFunc(o.Tensors, fits)
	if i < 0 {
		i = len(o.Tensors)
		o.Tensors = append(o.Tensors, tensor)
	}
	return int16(i)
}

// between returns the name of the node that keeps a value from being a scale and a bias of its integer. It ignores
// nodes that multiply with weights, for their padding is a step of their own.
func between(nodes []*graph.Node) string {
	nodes = slices.DeleteFunc(slices.Clone(nodes), func(n *graph.Node) bool {
		written := graph.Node{Op: n.QualifiedOpName()}
		return operators.RoleOf(&written) == operators.RoleWeightedSum
	})
	if len(nodes) == 0 {
		return "what stands in front of it"
	}
	for _, n := range nodes {
		if !operators.HasTrait(n, operators.TraitKeepsScaledIntegers) {
			return unmapped.DescribeNode(n)
		}
	}
	return unmapped.DescribeNode(nodes[0])
}

// DecreasingChannels reports, for each of n channels, whether its real values fall where the integers rise. The operand
// must have a single stream. ok is false if a channel has both directions.
func (o *LayerOperand) DecreasingChannels(n int) (channels []bool, ok bool) {
	sign := make([]int, n)
	for k, class := range o.class.all {
		if class < 0 {
			continue
		}
		_, at := o.SourceOf(k)
		ch, s := int(at)%n, o.of[class].affine.Scale.Sign()
		if sign[ch]*s < 0 {
			return nil, false
		}
		sign[ch] += s
	}
	for _, s := range sign {
		channels = append(channels, s < 0)
	}
	return channels, true
}

func same(a, b real.Affine) bool { return a.Scale.Cmp(b.Scale) == 0 && a.Bias.Cmp(b.Bias) == 0 }

// WithoutConstantChannels returns the operand without the channels that are constant everywhere; position k belongs to
// channel k modulo n. kept lists the other channels, and values the constants of those removed. ok is false if
// constants of a channel differ, or no channel is left.
func (o *LayerOperand) WithoutConstantChannels(n int) (rest *LayerOperand, kept []int, values []*big.Rat, ok bool) {
	values = make([]*big.Rat, n)
	data := make([]bool, n)
	for k, class := range o.class.all {
		if c := k % n; class >= 0 {
			data[c] = true
		} else if values[c] == nil {
			values[c] = o.constantAt(k)
		}
	}
	for k, class := range o.class.all {
		if c := k % n; class < 0 && !data[c] && o.constantAt(k).Cmp(values[c]) != 0 {
			return nil, nil, nil, false
		}
	}
	for c := range n {
		if data[c] {
			kept, values[c] = append(kept, c), nil
		}
	}
	if len(kept) == n || len(kept) == 0 {
		return o, kept, values, len(kept) > 0
	}
	rest = &LayerOperand{Tensors: o.Tensors, of: o.of, Nodes: o.Nodes}
	for k, class := range o.class.all {
		if c := k % n; data[c] {
			rest.AppendPosition(o.SourceOf(k))
			rest.class.then(class)
			if class < 0 {
				rest.Constants = o.Constants
			}
		}
	}
	return rest, kept, values, true
}

// CodeOfConstants returns the code of the operand's constants, for layers that pad, or 0 if there are none. They must
// have one value that is an integer's in every channel, by the real values of. Where a channel always has this value
// and the code has another one, the entry of of becomes the constant.
func (o *LayerOperand) CodeOfConstants(of []real.Affine) (code int64, reject error) {
	var value *big.Rat
	for k, class := range o.class.all {
		if class >= 0 {
			continue
		}
		if value == nil {
			value = o.constantAt(k)
		} else if value.Cmp(o.constantAt(k)) != 0 {
			return 0, unmapped.NewReason("constants of several values are put among its input's elements",
				"pad with one value")
		}
	}
	if value == nil {
		return 0, nil
	}
	var q *big.Rat
	always := o.constantChannelValues(len(of))
	for c, f := range of {
		if f.Scale == nil || always[c] != nil {
			continue
		}
		v := new(big.Rat).Sub(value, f.Bias)
		if f.Scale.Sign() == 0 {
			if v.Sign() != 0 {
				return 0, padding(value, "lies around a channel whose value is always "+f.Bias.FloatString(6),
					"quantise this activation once more before it is padded")
			}
			continue // any code fits
		}
		if v.Quo(v, f.Scale); q != nil && q.Cmp(v) != 0 {
			return 0, padding(value, "has different codes in different channels",
				"quantise this activation per tensor, or with zero point 0")
		}
		q = v
	}
	if q == nil {
		q = new(big.Rat)
	}
	if !q.IsInt() || !q.Num().IsInt64() {
		return 0, padding(value, "is no multiple of the activation's scale: its code would be "+q.FloatString(3),
			"quantise this activation before it is padded, with an integer zero point")
	}
	for c, f := range of {
		if f.Scale == nil || always[c] == nil {
			continue
		}
		if v := new(big.Rat).Mul(q, f.Scale); v.Add(v, f.Bias).Cmp(value) != 0 {
			of[c] = real.Affine{Scale: new(big.Rat), Bias: value}
		}
	}
	return q.Num().Int64(), nil
}

// A PaddingValueError is in the error chain of reasons for padding whose value has no code.
type PaddingValueError struct{ Value *big.Rat }

func (*PaddingValueError) Error() string { return "find: padding" }

// padding returns the reason, with a *PaddingValueError, that the value of padding has no code. wrong says what is
// wrong.
func padding(value *big.Rat, wrong, hint string) error {
	return unmapped.NewReasonWithCause(&PaddingValueError{value}, diag.PaddingNotMultipleOfScale,
		fmt.Sprintf("the padding %s %s", value.FloatString(6), wrong), hint)
}

// ErrSeveralIntegers is in the error chain of reasons for values that depend on several integers and that no layer
// computes.
var ErrSeveralIntegers = errors.New("find: joined")

// NewSeveralIntegersReason returns the reason for refusing a value that depends on several integers and that no layer
// computes.
func NewSeveralIntegersReason(form *scaled.FormExpression) error {
	leaves := form.IntegerVariables()
	for _, n := range form.Nodes {
		if operators.HasTrait(n, operators.TraitSoftmax) {
			return NewWholeRowReason(n)
		}
	}
	if !slices.ContainsFunc(leaves, func(l *scaled.FormVariable) bool { return l.Tensor != leaves[0].Tensor }) {
		return unmapped.NewReasonWithCause(ErrSeveralIntegers, diag.NodeNotMapped,
			fmt.Sprintf("it is no sum, but another function of %d elements of %q", len(leaves), leaves[0].Tensor),
			"maxima are taken along the axis behind the channels: reshape to (1, channels, elements) in front of "+
				"them; products and other functions of several elements have no layer")
	}
	return unmapped.NewReasonWithCause(ErrSeveralIntegers, diag.NodeNotMapped,
		fmt.Sprintf("it joins %q and %q otherwise than by a sum of scaled integers", leaves[0].Tensor,
			leaves[1].Tensor),
		"quantise both before they meet, and add them: products and maxima of two tensors of data have no layer")
}

// NewWholeRowReason returns the reason for refusing a value that depends on a whole row through a node, such as a
// softmax.
func NewWholeRowReason(n *graph.Node) error {
	return unmapped.NewReasonWithCause(ErrSeveralIntegers, diag.NodeNotMapped,
		fmt.Sprintf("it depends on a whole row, through %s", unmapped.DescribeNode(n)),
		"a softmax inside the network, as in attention, needs exponentials and a division per row in integers, which "+
			"no layer has: keep softmax for the model's end")
}

// HasNoScaledInteger reports whether no element of a tensor is an available scaled integer. Each element is then a
// function of an integer. Either the integer's place waits for a quantiser, as waits reports, or the function is more
// than a scale and a bias, or its scale is not positive.
func (p *AnalysedProgram) HasNoScaledInteger(tensor string, waits func(*place.TensorPlace) bool) bool {
	forms, err := p.Integers.FormsOfElements(tensor,
		p.Integers.SharedCountingList(graph.ElementCount(p.Known[tensor].Shape)))
	if err != nil {
		return false
	}
	for i := range forms.Of {
		leaves := forms.Of[i].IntegerVariables()
		if len(leaves) != 1 {
			return false
		}
		at, ok := p.PlaceOf(leaves[0].Tensor)
		if !ok || !waits(at) && rises(forms, i, at) {
			return false
		}
	}
	return true
}

// rises reports whether form i is a scale and a bias of its integers, with a positive scale.
func rises(forms *scaled.ElementForms, i int, at *place.TensorPlace) bool {
	k := 0 // an element of the form
	for forms.FormIndexOf(k) != i {
		k++
	}
	e, _ := forms.Of[i].ExprAtElement(k)
	f, ok := e.SimplifyWithin([]real.Interval{integers.IntervalOfRange(at.Type.UnionOfRanges())}).AsAffine()
	return ok && f.Scale.Sign() > 0
}
