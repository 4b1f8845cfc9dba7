// Package recur reads the body of a recurrence as a cell: a small program over codes, which a layer runs. What comes in
// is a program.Recur, the integers of its scanned inputs, and the initial values of its states. What goes out is a
// CellProgram, or the reason why there is none. The package knows nothing of streams. The caller decides how the inputs
// arrive and where the outputs go.
//
// There is one principle. Every code of the body is a function of one polynomial of integers: of sums of products
// with constant weights, of codes of the same unit, of states. For example, with q for rounding,
//
//	z = W*x + U*h           sums of the input, and of a state
//	f = q(sigmoid(z))       steps of a polynomial of degree 1; i, g and o likewise
//	c' = q(f*c + i*g)       a polynomial of degree 2, rounded
//	h' = q(o * q(tanh(c'))) steps of a code, and a product, rounded
//
// Polynomials get integer factors, and thresholds that decide alike for all sums that occur. A unit that never
// changes is a constant, and is left out.
//
// Files: recur.go defines input and output, and finds the states, begin.go their initial values; body.go reads
// codes as functions of values, dots.go products with weights, large.go limits their size; constant.go finds the
// ranges of values, and units that never change; fuse.go merges successive functions of one code; integers.go finds
// integer factors of polynomials, sharp.go does so for sums whose scales are far apart, limbs.go splits sums into
// digits where no factors suffice, and divide.go divides sums for more codes than a function may have steps;
// phases.go orders values in phases; emit.go writes the cell.
package recur

import (
	"fmt"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/integers"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/hlslib/rnn"
	"hlsgen/internal/num"
)

// An IntegersWithValues holds the real values for which the integers of a tensor stand, by element, and the range of
// these integers.
type IntegersWithValues struct {
	Values []real.Affine // real value of each element; with a scale of 0 it is the constant Bias
	Span   num.Range
}

// A LoopToRead is a recurrence for ReadCellProgram to read: its body, the integers of its scanned inputs, and the
// initial values of its states.
type LoopToRead struct {
	Recur   *program.Recur
	Scanned []IntegersWithValues
	Start   []*graph.ConstantTensor // initial value per state; nil if it arrives with the data
	Arrives []*IntegersWithValues   // integers of each state that arrives with the data; nil if not known
	Instead []string                // hint for each state that arrives as real numbers; may be empty
	Wanted  []bool                  // whether each output of the body is needed
}

// A CellProgram is the body of a recurrence as the program of a layer. The weights of its input are not in the program:
// they are a matrix product (Input) in front of the loop.
type CellProgram struct {
	Program rnn.Cell
	Input   [][]int64              // weights of the input's elements, per unit of the first phase and lane
	Product *num.Requant           // rounding of each product with them; may be nil
	Arrives []ArrivingStateMapping // states that begin with data
	Outputs []*BodyOutputLocation  // per output of the body; nil if it is not needed
}

// An ArrivingStateMapping connects a state of the body that begins with data to a state of the program.
type ArrivingStateMapping struct {
	Body, State int
	Map         []IntegerAffine // per unit
}

// A BodyOutputLocation says which value of the program holds an output of the body, and where its elements are.
type BodyOutputLocation struct {
	Ref   rnn.ValueRef
	Units int           // units of the value
	At    []int32       // unit of each element
	Of    []real.Affine // real value of each element; with a scale of 0 it is the constant Bias
}

// newUnsupported returns the reason for refusing a body that no layer computes.
func newUnsupported(format string, args ...any) error {
	return unmapped.NewReason("its body has no layer: "+fmt.Sprintf(format, args...),
		"quantise what is multiplied, every gate, and every state before the next step (Brevitas: QuantLSTM with all "+
			"quantisers on)")
}

// A reader is the state of reading the body of a recurrence as values.
type reader struct {
	body  *program.Program
	recur *program.Recur
	a     *scaled.IntegerAnalysis // every code, dot, state and input is an integer tensor
	names []string                // names of the body's inputs
	// per scanned input: position of its elements among all input elements of a time step
	offset  []int
	width   int         // number of input elements of a time step
	input   []num.Range // range of each of them
	scanned []IntegersWithValues
	states  []stateOf
	values  map[string]*value
	order   []*value // values, each behind its arguments
	known   map[*value]bool
	dots    map[*program.Step]*dot
	vectors map[*value]*vector
	depth   int
}

// A stateOf is a state of the body, with the codes that it becomes and the values with which it begins.
type stateOf struct {
	size   int
	next   string // integer tensor that it becomes
	at     []int32
	of     []real.Affine // real value per element
	span   num.Range
	factor []int64         // per element: factor of the integer that it becomes
	begins []IntegerAffine // per element: mapping of the initial value
	start  []int64         // initial integers; nil if they arrive with the data
	vector *vector
	found  *value // value before a time step
	value  *value // value after the time step; nil if nothing needs the state
	ranges []num.Range
	keeps  bool // it keeps its initial value
}

// ReadCellProgram returns the program of the cell that computes a body. The error is the reason why no layer computes
// it.
func ReadCellProgram(s LoopToRead) (*CellProgram, error) {
	r := s.Recur
	b := &reader{body: r.Body, recur: r, a: scaled.New(r.Body), names: graph.ValueNames(r.Body.Graph.Inputs),
		scanned: s.Scanned, values: map[string]*value{}, dots: map[*program.Step]*dot{}, known: map[*value]bool{},
		vectors: map[*value]*vector{}}
	for k, c := range s.Scanned {
		name := b.names[r.States+k]
		b.offset = append(b.offset, b.width)
		b.width += graph.ElementCount(r.Body.Known[name].Shape)
		b.a.DeclareIntegersAndConstants(name, c.Values)
	}
	for _, step := range r.Body.Steps {
		switch {
		case scaled.IsQuantiserStep(step), step.Dot != nil:
			b.a.DeclareIntegerTensor(step.Output, scaled.IdentityAffines)
		case step.Order != nil, step.Recur != nil:
			if reject := b.ordered(step, s.Wanted); reject != nil {
				return nil, reject
			}
		}
	}
	if reject := b.findStates(s); reject != nil {
		return nil, reject
	}
	n := &network{reader: b}
	var reject error
	if n.outputs, reject = b.goesOut(s.Wanted); reject == nil {
		reject = b.nextStates()
	}
	if reject != nil {
		return nil, reject
	}
	return n.cell()
}

// findStates records the integers of the states, which are those of the tensors that the states become.
func (b *reader) findStates(s LoopToRead) error {
	g := b.body.Graph
	b.states = make([]stateOf, b.recur.States)
	found := make([]bool, b.recur.States)
	for k := range b.states {
		st := &b.states[k]
		st.size = graph.ElementCount(b.body.Known[b.names[k]].Shape)
		st.vector, st.found = &vector{state: k}, &value{kind: state, units: st.size, state: k}
		if g.Outputs[k].Name == b.names[k] { // it keeps its initial value
			st.keeps, st.next, st.at, found[k] = true, b.names[k], scaled.NewCountingList(st.size), true
			if st.of, st.span = kept(s, k); st.of == nil {
				return arrivesReal(b.names[k], s.Instead[k])
			}
			if reject := b.begin(k, s); reject != nil {
				return reject
			}
			b.a.DeclareIntegersAndConstants(b.names[k], st.of)
		}
	}
	for again := true; again; { // a state may become another state
		again = false
		for k := range b.states {
			if found[k] {
				continue
			}
			ok, reject := b.findState(k)
			if reject != nil {
				return reject
			}
			if found[k] = ok; ok {
				if reject := b.begin(k, s); reject != nil {
					return reject
				}
				again = true
				b.a.DeclareIntegersAndConstants(b.names[k], b.states[k].of)
			}
		}
	}
	if k := slices.Index(found, false); k >= 0 {
		return newUnsupported("state %q is not quantised before the next step", b.names[k])
	}
	return nil
}

// kept returns the integers of state k if it keeps its initial value, and their range. It returns nil if the initial
// value is neither a constant nor in integers.
func kept(s LoopToRead, k int) ([]real.Affine, num.Range) {
	t := s.Start[k]
	if t == nil {
		if c := s.Arrives[k]; c != nil {
			return c.Values, c.Span
		}
		return nil, num.Range{}
	}
	of := make([]real.Affine, graph.ElementCount(s.Recur.Body.Known[s.Recur.Body.Graph.Inputs[k].Name].Shape))
	for i := range of {
		of[i] = real.Affine{Scale: new(big.Rat), Bias: new(big.Rat).SetFloat64(t.FloatAt(i % t.Len()))}
	}
	return of, num.Range{}
}

// findState records the tensor that state k becomes at the end of a time step. ok is false if that is not known yet.
func (b *reader) findState(k int) (ok bool, reject error) {
	st := &b.states[k]
	next := b.body.Graph.Outputs[k].Name
	forms, err := b.a.FormsOfElements(next, scaled.NewCountingList(st.size))
	if err != nil {
		return false, nil
	}
	form, leaf, ok := forms.SingleForm()
	if !ok {
		return false, nil
	}
	if from := b.body.ProducerOf(leaf.Tensor); from != nil && from.Dot != nil {
		return false, nil
	}
	st.span = b.spanOf(leaf.Tensor)
	st.next, st.at = leaf.Tensor, leaf.Index
	st.of = make([]real.Affine, st.size)
	for i := range st.of {
		e, _ := form.ExprAtElement(i)
		if st.of[i], ok = e.SimplifyWithin([]real.Interval{integers.IntervalOfRange(st.span)}).AsAffine(); !ok {
			return false, nil
		}
	}
	return true, nil
}

// spanOf returns the range of the integers of a state, an input or a code.
func (b *reader) spanOf(tensor string) num.Range {
	if k := slices.Index(b.names, tensor); k >= b.recur.States {
		return b.scanned[k-b.recur.States].Span
	} else if k >= 0 {
		return b.states[k].span
	}
	span, _ := scaled.QuantiserCodeRange(b.body.ProducerOf(tensor))
	return span
}

func (b *reader) stateVector(k int) *vector { return b.states[k].vector }

func (b *reader) codeVector(v *value) *vector {
	if b.vectors[v] == nil {
		b.vectors[v] = &vector{of: v}
	}
	return b.vectors[v]
}

// An output is an output of the body: the value that holds it, and the unit and the real value of each element.
type output struct {
	value *value
	at    []int32       // unit of each element
	of    []real.Affine // real value per element
}

// goesOut reads the outputs of the body that are wanted; the others are nil.
func (b *reader) goesOut(wanted []bool) ([]*output, error) {
	out := make([]*output, len(wanted))
	for i, name := range graph.ValueNames(b.body.Graph.Outputs) {
		if !wanted[i] {
			continue
		}
		if i < b.recur.States {
			v, reject := b.next(i)
			if reject != nil {
				return nil, reject
			}
			out[i] = &output{value: v, at: scaled.NewCountingList(b.states[i].size), of: b.states[i].of}
			continue
		}
		var reject error
		if out[i], reject = b.output(name); reject != nil {
			return nil, reject
		}
	}
	return out, nil
}

// output returns the output of the body with the given name, which must be a code or a sum of integers.
func (b *reader) output(name string) (*output, error) {
	n := graph.ElementCount(b.body.Known[name].Shape)
	forms, err := b.a.FormsOfElements(name, scaled.NewCountingList(n))
	form, leaf, ok := forms.SingleForm()
	if err == nil && ok && form.Expr != nil {
		if from := b.body.ProducerOf(leaf.Tensor); from == nil || from.Dot == nil {
			o := &output{at: scaled.NewCountingList(n), of: make([]real.Affine, n)}
			span := integers.IntervalOfRange(b.spanOf(leaf.Tensor))
			for i := range o.of {
				e, _ := form.ExprAtElement(i)
				if o.of[i], ok = e.SimplifyWithin([]real.Interval{span}).AsAffine(); !ok {
					break
				}
			}
			if ok {
				var reject error
				o.value, reject = b.value(leaf.Tensor, leaf.Index)
				return o, reject
			}
		}
	}
	step := b.body.ProducerOf(name)
	if step == nil {
		return nil, newUnsupported("output %q is no tensor of integers", name)
	}
	v, of, reject := b.exact(step, forms, err, n)
	return &output{value: v, at: scaled.NewCountingList(n), of: of}, reject
}

// next returns the value that state k becomes. If that is not a code, or a code with another unit, next adds a code.
func (b *reader) next(k int) (*value, error) {
	st := &b.states[k]
	if st.value != nil {
		return st.value, nil
	}
	v, reject := b.value(st.next, st.at)
	if reject != nil {
		return nil, reject
	}
	if v.kind != code || slices.ContainsFunc(st.factor, func(f int64) bool { return f != 1 }) {
		v = &value{kind: code, units: v.units, args: []*value{v}, span: st.span}
		for u, f := range st.factor {
			if u > 0 && f == st.factor[u-1] {
				v.expr = append(v.expr, v.expr[u-1])
			} else {
				v.expr = append(v.expr, real.Mul(real.Var(0), integer(f)))
			}
		}
		b.know(v)
	}
	st.value = v
	return v, nil
}

// nextStates reads the values that the states become, for all states on which outputs depend.
func (b *reader) nextStates() error {
	for done := 0; done < len(b.order); done++ {
		v := b.order[done]
		k := -1
		switch {
		case v.kind == state:
			k = v.state
		case v.kind == sum && v.vector.of == nil:
			k = v.vector.state
		}
		if k >= 0 {
			b.know(b.states[k].found)
			if _, reject := b.next(k); reject != nil {
				return reject
			}
		}
	}
	if !slices.ContainsFunc(b.states, func(s stateOf) bool { return s.value != nil }) {
		return newUnsupported("nothing that goes out depends on the step before: compute it outside of the loop")
	}
	return nil
}

// HasSameForm reports whether two cells differ only in numbers, so that they can take turns in one layer.
func (c *CellProgram) HasSameForm(o *CellProgram) bool {
	p := rnn.Params{Cells: []rnn.Cell{c.Program, o.Program}, Outputs: []rnn.ValueRef{{}}}
	same := func(a, b ArrivingStateMapping) bool { return a.Body == b.Body && a.State == b.State }
	return p.Verify() == nil && slices.EqualFunc(c.Arrives, o.Arrives, same) && len(c.Input) == len(o.Input) &&
		(c.Product == nil) == (o.Product == nil) && (c.Product == nil || *c.Product == *o.Product)
}

// ordered returns the reason for refusing a step that sorts integers or is itself a loop. It returns nil if neither
// states nor wanted outputs depend on the step.
func (b *reader) ordered(step *program.Step, wanted []bool) error {
	reached := map[string]bool{step.Output: true}
	for _, s := range b.body.Steps { // operands come first
		for _, in := range s.Node.Inputs {
			reached[s.Output] = reached[s.Output] || reached[in]
		}
	}
	msg := "its body has no layer: " + unmapped.DescribeNode(step.Node) + " is no sum and no function of an element"
	used := false
	for k, o := range b.body.Graph.Outputs {
		switch {
		case !reached[o.Name]:
		case k < b.recur.States:
			return unmapped.NewReason(msg+", and the next step depends on it",
				"hand on the quantised values that it reads, and what it makes of them behind the loop alone")
		default:
			used = used || wanted[k]
		}
	}
	if !used {
		return nil
	}
	return unmapped.NewReason(msg, "give its input out of the loop, and put it behind the loop")
}
