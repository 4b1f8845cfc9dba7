// Package recur reads the body of a recurrence as a cell: a small program over codes, which a layer runs. What comes in
// is a graph.Recur, what the integers of its scanned inputs are, and what its states begin with; what goes out
// is a Cell, or the reason why the body is none. It knows nothing of streams: how the inputs get there, and where the
// outputs go, is the caller's.
//
// There is one principle. Every code of the body is a function of one polynomial of integers: of sums of products with
// constant weights, of codes of the same unit, of states. For example, where q rounds,
//
//	z = W*x + U*h           sums of the input, and of a state
//	f = q(sigmoid(z))       steps of a polynomial of degree 1; i, g and o likewise
//	c' = q(f*c + i*g)       a polynomial of degree 2, rounded
//	h' = q(o * q(tanh(c'))) steps of a code, and a product, rounded
//
// Polynomials get whole factors, and thresholds that decide alike on all sums that can be reached. What can never
// change is a constant: its unit is left out.
//
// Files: recur.go has what goes in and out, and finds the states, begin.go what they begin with; body.go reads codes as
// functions of values, dots.go products with weights, large.go how large they may be; constant.go finds the ranges of
// values, and units that never change; fuse.go puts functions of one code into one; integers.go makes whole numbers of
// polynomials, sharp.go finds the factors of sums whose scales are far apart, limbs.go sums of several digits where
// there are none, and divide.go divides sums into more codes than a function has steps; phases.go orders values in
// phases; emit.go writes the cell.
//
// It sees graph, real, scaled, unmapped, whole, diag, num, hlslib/layer and hlslib.
package recur

import (
	"fmt"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/lower/whole"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/hlslib/rnn"
	"hlsgen/internal/num"
)

// Codes are integers, and what they mean.
type Codes struct {
	Of   []real.Affine // the real value of each element; a scale of 0 makes it the constant Bias
	Span num.Range
}

// A Source is what a body reads: the integers of its scanned inputs, and what its states begin with.
type Source struct {
	Recur   *graph.Recur
	Scanned []Codes
	Start   []*graph.Tensor // per state; nil where it arrives with the data
	Arrives []*Codes        // per state that does: its integers; nil where they are not known
	Instead []string        // per state that arrives as real numbers: what to do about it; may be empty
	Wanted  []bool          // per output of the body
}

// A Cell is the body of a recurrence as a program, but for the weights of its input, which are a matrix product ahead
// of the loop.
type Cell struct {
	Program rnn.Cell
	Input   [][]int64    // per unit of the first phase and lane: the weights of the input's elements
	Product *num.Requant // of every product of them
	Arrives []Arrival    // the states that begin with data
	Outputs []*Output    // per output of the body; nil where it is not wanted
}

// An Arrival is a state of the body that begins with data, as a state of the program.
type Arrival struct {
	Body, State int
	Map         []Mapping // per unit
}

// An Output is where an output of the body is found.
type Output struct {
	Ref   rnn.Ref
	Units int           // of the value
	At    []int32       // per element: its unit
	Of    []real.Affine // per element: its real value; a scale of 0 makes it the constant Bias
}

// NoCell is the reason of a body that no layer computes.
func NoCell(format string, args ...any) error {
	return unmapped.Because("its body has no layer: "+fmt.Sprintf(format, args...),
		"quantise what is multiplied, every gate, and every state before the next step (Brevitas: QuantLSTM with all "+
			"quantisers on)")
}

// A reader reads a body.
type reader struct {
	body    *graph.Program
	recur   *graph.Recur
	a       *scaled.Analysis // every code, dot, state and input is an integer tensor
	names   []string         // of the body's inputs
	offset  []int            // per scanned input: where its elements are among all of a step
	width   int              // how many those are
	input   []num.Range      // of each of them
	scanned []Codes
	states  []stateOf
	values  map[string]*value
	order   []*value // values behind their arguments
	known   map[*value]bool
	dots    map[*graph.Step]*dot
	vectors map[*value]*vector
	depth   int
}

// A stateOf is a state of the body.
type stateOf struct {
	size   int
	next   string // the integer tensor that it becomes
	at     []int32
	of     []real.Affine // per element
	span   num.Range
	factor []int64   // per element: what the integer that it becomes is multiplied by
	begins []Mapping // per element: of what it begins with
	start  []int64   // nil where it arrives
	vector *vector
	found  *value // as a step finds it
	value  *value // the next one; nil where the state is not needed
	ranges []num.Range
	keeps  bool // it stays as it is
}

// Read reads a body.
func Read(s Source) (*Cell, error) {
	r := s.Recur
	b := &reader{body: r.Body, recur: r, a: scaled.New(r.Body), names: graph.Names(r.Body.Graph.Inputs),
		scanned: s.Scanned, values: map[string]*value{}, dots: map[*graph.Step]*dot{}, known: map[*value]bool{},
		vectors: map[*value]*vector{}}
	for k, c := range s.Scanned {
		name := b.names[r.States+k]
		b.offset = append(b.offset, b.width)
		b.width += graph.Size(r.Body.Known[name].Shape)
		b.a.DeclareSome(name, c.Of)
	}
	for _, step := range r.Body.Steps {
		switch {
		case scaled.IsCode(step), step.Dot != nil:
			b.a.Declare(step.Output, scaled.Unit)
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

// findStates finds the integers of the states: those of what they become.
func (b *reader) findStates(s Source) error {
	g := b.body.Graph
	b.states = make([]stateOf, b.recur.States)
	found := make([]bool, b.recur.States)
	for k := range b.states {
		st := &b.states[k]
		st.size = graph.Size(b.body.Known[b.names[k]].Shape)
		st.vector, st.found = &vector{state: k}, &value{kind: state, units: st.size, state: k}
		if g.Outputs[k].Name == b.names[k] { // it stays as it is
			st.keeps, st.next, st.at, found[k] = true, b.names[k], scaled.All(st.size), true
			if st.of, st.span = kept(s, k); st.of == nil {
				return arrivesReal(b.names[k], s.Instead[k])
			}
			if reject := b.begin(k, s); reject != nil {
				return reject
			}
			b.a.DeclareSome(b.names[k], st.of)
		}
	}
	for again := true; again; { // a state may become another one
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
				b.a.DeclareSome(b.names[k], b.states[k].of)
			}
		}
	}
	if k := slices.Index(found, false); k >= 0 {
		return NoCell("state %q is not quantised before the next step", b.names[k])
	}
	return nil
}

// kept is the integers of a state that stays what it begins with; none where they are not known.
func kept(s Source, k int) ([]real.Affine, num.Range) {
	t := s.Start[k]
	if t == nil {
		if c := s.Arrives[k]; c != nil {
			return c.Of, c.Span
		}
		return nil, num.Range{}
	}
	of := make([]real.Affine, graph.Size(s.Recur.Body.Known[s.Recur.Body.Graph.Inputs[k].Name].Shape))
	for i := range of {
		of[i] = real.Affine{Scale: new(big.Rat), Bias: new(big.Rat).SetFloat64(t.At(i % t.Len()))}
	}
	return of, num.Range{}
}

// findState finds what a state becomes, if that is known yet.
func (b *reader) findState(k int) (ok bool, reject error) {
	st := &b.states[k]
	next := b.body.Graph.Outputs[k].Name
	forms, err := b.a.Forms(next, scaled.All(st.size))
	if err != nil {
		return false, nil
	}
	form, leaf, ok := forms.One()
	if !ok {
		return false, nil
	}
	if from := b.body.Producer(leaf.Tensor); from != nil && from.Dot != nil {
		return false, nil
	}
	st.span = b.spanOf(leaf.Tensor)
	st.next, st.at = leaf.Tensor, leaf.Index
	st.of = make([]real.Affine, st.size)
	for i := range st.of {
		e, _ := form.Numbers(i)
		if st.of[i], ok = e.Within([]real.Interval{whole.Interval(st.span)}).Affine(); !ok {
			return false, nil
		}
	}
	return true, nil
}

// spanOf is what the integers of a state, an input or a code lie in.
func (b *reader) spanOf(tensor string) num.Range {
	if k := slices.Index(b.names, tensor); k >= b.recur.States {
		return b.scanned[k-b.recur.States].Span
	} else if k >= 0 {
		return b.states[k].span
	}
	span, _ := scaled.Codes(b.body.Producer(tensor))
	return span
}

func (b *reader) stateVector(k int) *vector { return b.states[k].vector }

func (b *reader) codeVector(v *value) *vector {
	if b.vectors[v] == nil {
		b.vectors[v] = &vector{of: v}
	}
	return b.vectors[v]
}

// An output of the body, as a value.
type output struct {
	value *value
	at    []int32       // per element: its unit
	of    []real.Affine // per element
}

// goesOut reads what goes out.
func (b *reader) goesOut(wanted []bool) ([]*output, error) {
	out := make([]*output, len(wanted))
	for i, name := range graph.Names(b.body.Graph.Outputs) {
		if !wanted[i] {
			continue
		}
		if i < b.recur.States {
			v, reject := b.next(i)
			if reject != nil {
				return nil, reject
			}
			out[i] = &output{value: v, at: scaled.All(b.states[i].size), of: b.states[i].of}
			continue
		}
		var reject error
		if out[i], reject = b.output(name); reject != nil {
			return nil, reject
		}
	}
	return out, nil
}

// output reads a tensor that goes out: a code, or a sum of integers as it is.
func (b *reader) output(name string) (*output, error) {
	n := graph.Size(b.body.Known[name].Shape)
	forms, err := b.a.Forms(name, scaled.All(n))
	form, leaf, ok := forms.One()
	if err == nil && ok && form.Expr != nil {
		if from := b.body.Producer(leaf.Tensor); from == nil || from.Dot == nil {
			o := &output{at: scaled.All(n), of: make([]real.Affine, n)}
			span := whole.Interval(b.spanOf(leaf.Tensor))
			for i := range o.of {
				e, _ := form.Numbers(i)
				if o.of[i], ok = e.Within([]real.Interval{span}).Affine(); !ok {
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
	step := b.body.Producer(name)
	if step == nil {
		return nil, NoCell("output %q is no tensor of integers", name)
	}
	v, of, reject := b.exact(step, forms, err, n)
	return &output{value: v, at: scaled.All(n), of: of}, reject
}

// next is the value that a state becomes: one that is made up where that is no code, or a code of another unit.
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

// nextStates reads what the states become that what goes out depends on.
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
		return NoCell("nothing that goes out depends on the step before: compute it outside of the loop")
	}
	return nil
}

// Like reports whether two cells can take turns in one layer: they differ in numbers only.
func (c *Cell) Like(o *Cell) bool {
	p := rnn.Params{Cells: []rnn.Cell{c.Program, o.Program}, Outputs: []rnn.Ref{{}}}
	same := func(a, b Arrival) bool { return a.Body == b.Body && a.State == b.State }
	return p.Verify() == nil && slices.EqualFunc(c.Arrives, o.Arrives, same) && len(c.Input) == len(o.Input) &&
		(c.Product == nil) == (o.Product == nil) && (c.Product == nil || *c.Product == *o.Product)
}

// ordered is the reason of a step that puts integers in order, or is a loop itself, where something depends on it.
func (b *reader) ordered(step *graph.Step, wanted []bool) error {
	reached := map[string]bool{step.Output: true}
	for _, s := range b.body.Steps { // operands first
		for _, in := range s.Node.Inputs {
			reached[s.Output] = reached[s.Output] || reached[in]
		}
	}
	msg := "its body has no layer: " + unmapped.Describe(step.Node) + " is no sum and no function of an element"
	used := false
	for k, o := range b.body.Graph.Outputs {
		switch {
		case !reached[o.Name]:
		case k < b.recur.States:
			return unmapped.Because(msg+", and the next step depends on it",
				"hand on the quantised values that it reads, and what it makes of them behind the loop alone")
		default:
			used = used || wanted[k]
		}
	}
	if !used {
		return nil
	}
	return unmapped.Because(msg, "give its input out of the loop, and put it behind the loop")
}
