package lower

import (
	"fmt"
	"math/big"
	"slices"

	"hlsgen/frontend/canon"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/hlslib/lstm"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
)

// A cell is the body of a recurrence read as an LSTM's: what it does in integers, but for the weights of its input, which are
// a matrix product ahead of the loop.
type cell struct {
	units   int
	input   [4][][]int64 // per gate and unit, over the elements of the input; nil for the gate that CIFG leaves out
	product *num.Requant // of every product of them
	params  lstm.Cell
	h, c    code // what the states carry
	body    *graph.Program
	codes   *scaled.Analysis // in which every code is an integer tensor
	states  [2]int           // which of the body's states are h and c
}

// A code is an integer tensor of a body: its real value is affine.
type code struct {
	tensor string
	affine real.Affine
	span   num.Range
}

// A reader reads a body.
type reader struct {
	s       *state
	body    *graph.Program
	a       *scaled.Analysis
	recur   *graph.Recur
	codes   *scaled.Analysis // in which every code is an integer tensor
	input   code             // of the scanned tensor
	length  int              // its elements in a step
	states  []code
	dots    map[string]*dot
	rounded map[string]*rounding
	gates   map[string]*gate
	cells   map[string]*joint // fc, ig, c', h'
	tables  map[string]*table
}

// A dot is a product of the input or of a state with constant weights.
type dot struct {
	of      string    // the integer tensor: the input's or a state's
	rows    [][]int64 // per unit
	product *num.Requant
}

// A rounding is a tensor of products each of which is rounded: element k of row j is weight[j][k] times element k of the vector.
type rounding struct {
	of      string
	weights map[int32]int64 // per element
	from    map[int32]int32 // per element: of the vector
	requant num.Requant
	scale   *big.Rat
}

// A gate is a code that is a function of one sum of dots, and perhaps of the cell's state.
type gate struct {
	dots  []string
	state string // of the peephole; empty without
	inner []real.Linear
	outer []*real.Expr
	code  code
}

// A joint is a code that is a function of a product or a sum of two codes.
type joint struct {
	of      [2]string
	sum     bool
	factors [2]int64
	offsets [2]int64 // of the factors of a product: each is its code and this
	falls   [2]bool  // the factor is the negative of that
	requant num.Requant
	code    code
}

// A table is a code that is a function of one code.
type table struct {
	of    string
	steps []num.Step
	code  code
}

func recurrence(s *state, step *graph.Step) (bool, *Reject) {
	if step.Recur == nil {
		return false, nil
	}
	reject := s.recurrent(step)
	if reject != nil && step.Recur.Length <= canon.MaxUnrolled {
		s.unroll[step.Node.Index] = true
	}
	return true, reject
}

func notLSTM(format string, args ...any) *Reject {
	return &Reject{diag.NotMapped, "its body is no LSTM cell in integers: " + fmt.Sprintf(format, args...),
		"quantise every gate, the cell's state and the hidden state (Brevitas: QuantLSTM with all quantisers on)"}
}

// read reads a body as an LSTM cell. of is what the scanned input's elements are, which has length elements in a step.
func (s *state) read(r *graph.Recur, of code, length int) (*cell, *Reject) {
	b := &reader{s: s, body: r.Body, a: scaled.New(r.Body), recur: r, input: of, length: length, dots: map[string]*dot{}, rounded: map[string]*rounding{},
		gates: map[string]*gate{}, cells: map[string]*joint{}, tables: map[string]*table{}}
	ins := r.Body.Graph.Inputs
	b.input.tensor = ins[r.States].Name
	b.a.Declare(b.input.tensor, []real.Affine{of.affine})
	if reject := b.declareStates(); reject != nil {
		return nil, reject
	}
	for _, step := range r.Body.Steps {
		if reject := b.step(step); reject != nil {
			return nil, reject
		}
	}
	return b.assemble()
}

// declareStates finds the integers of the states: those of the codes that their next values are.
func (b *reader) declareStates() *Reject {
	b.codes = scaled.New(b.body)
	for _, step := range b.body.Steps {
		if isCode(step) {
			b.codes.Declare(step.Output, scaled.Unit)
		}
	}
	g := b.body.Graph
	for k := range b.recur.States {
		next := g.Outputs[k].Name
		forms, err := b.codes.Forms(next, scaled.All(graph.Size(b.body.Known[next].Shape)))
		if err != nil || len(forms.Of) != 1 || len(forms.Of[0].Leaves()) != 1 {
			return notLSTM("state %q is not quantised before the next step", g.Inputs[k].Name)
		}
		leaf := forms.Of[0].Leaves()[0]
		e, _ := forms.Of[0].Numbers(0)
		f, ok := e.Affine()
		if !ok || !isIdentity(leaf.Index, len(leaf.Index)) {
			return notLSTM("state %q is not a quantised tensor itself", g.Inputs[k].Name)
		}
		c := code{leaf.Tensor, f, codeRange(b.body.Producer(leaf.Tensor))}
		b.states = append(b.states, c)
		b.a.Declare(g.Inputs[k].Name, []real.Affine{f})
	}
	return nil
}

func codeRange(step *graph.Step) num.Range {
	lo, hi, _ := step.Node.Codes()
	return num.Range{Lo: int64(lo), Hi: int64(hi)}
}

// state is the number of a state by its body input; -1 for other tensors.
func (b *reader) state(tensor string) int {
	return slices.IndexFunc(b.body.Graph.Inputs[:b.recur.States], func(v graph.Value) bool { return v.Name == tensor })
}

// vector is the code that an integer tensor of vectors carries: the input's or a state's.
func (b *reader) vector(tensor string) (code, bool) {
	if tensor == b.input.tensor {
		return b.input, true
	}
	if k := b.state(tensor); k >= 0 {
		return b.states[k], true
	}
	return code{}, false
}

func (b *reader) step(step *graph.Step) *Reject {
	switch {
	case step.Dot != nil:
		return b.dot(step)
	case isCode(step):
		return b.code(step)
	case step.Order != nil, step.Recur != nil:
		return notLSTM("it has %s", describe(step.Node))
	}
	return nil
}

// dot reads a product with constant weights, or a sum of products that were rounded one by one.
func (b *reader) dot(step *graph.Step) *Reject {
	d, in := step.Dot, step.Node.Inputs
	w := b.body.Known[in[d.B]].Const
	x, base, offset := in[d.A], d.ABase, d.AOffset
	wBase, wOffset := d.BBase, d.BOffset
	if w == nil { // weights times data
		w = b.body.Known[in[d.A]].Const
		x, base, offset, wBase, wOffset = in[d.B], d.BBase, d.BOffset, d.ABase, d.AOffset
	}
	if w == nil || d.Then != nil {
		return notLSTM("%s multiplies two tensors of data", describe(step.Node))
	}
	elements := make([]int32, 0, len(base)*d.K)
	for _, at := range base {
		for _, k := range offset {
			elements = append(elements, at+k)
		}
	}
	forms, err := b.a.Forms(x, elements)
	if err != nil || len(forms.Of) != 1 || len(forms.Of[0].Leaves()) != 1 {
		return notLSTM("%s does not work on integers of one tensor", describe(step.Node))
	}
	form := &forms.Of[0]
	leaf := form.Leaves()[0]
	if r := b.rounded[leaf.Tensor]; r != nil {
		return b.roundedDot(step, d.K, w, wBase, wOffset, form, r)
	}
	_, ok := b.vector(leaf.Tensor)
	if !ok {
		return notLSTM("%s multiplies %q, which is neither the input nor a state", describe(step.Node), leaf.Tensor)
	}
	out := &dot{of: leaf.Tensor}
	length := graph.Size(b.body.Known[leaf.Tensor].Shape)
	var affine []real.Affine
	for j := range base {
		column, scales := make([]*big.Rat, d.K), make([]real.Affine, d.K)
		for k := range column {
			column[k] = new(big.Rat).SetFloat64(w.At(int(wBase[j] + wOffset[k])))
			e, _ := form.Numbers(j*d.K + k)
			if scales[k], ok = e.Affine(); !ok {
				return notLSTM("%s does not work on scaled integers", describe(step.Node))
			}
		}
		row, f, reject := integers(column, scales)
		if reject != nil {
			return reject
		}
		placed := make([]int64, length)
		for k, q := range row {
			placed[leaf.Index[j*d.K+k]] += q
		}
		out.rows, affine = append(out.rows, placed), append(affine, f)
	}
	b.dots[step.Output] = out
	b.a.Declare(step.Output, affine)
	return nil
}

// roundedDot adds up products that were rounded.
func (b *reader) roundedDot(step *graph.Step, n int, w *graph.Tensor, wBase, wOffset []int32, form *scaled.Form, r *rounding) *Reject {
	leaf := form.Leaves()[0]
	length := graph.Size(b.body.Known[r.of].Shape)
	out := &dot{of: r.of, product: &r.requant}
	for j := range wBase {
		row := make([]int64, length)
		for k := range n {
			e, _ := form.Numbers(j*n + k)
			f, ok := e.Affine()
			if !ok || f.Bias.Sign() != 0 || f.Scale.Cmp(r.scale) != 0 || w.At(int(wBase[j]+wOffset[k])) != 1 {
				return notLSTM("%s does not just add up rounded products", describe(step.Node))
			}
			at := leaf.Index[j*n+k]
			if row[r.from[at]] != 0 {
				return notLSTM("%s takes a product twice", describe(step.Node))
			}
			row[r.from[at]] = r.weights[at]
		}
		out.rows = append(out.rows, row)
	}
	b.dots[step.Output] = out
	b.a.Declare(step.Output, []real.Affine{{Scale: r.scale, Bias: new(big.Rat)}})
	return nil
}

// code reads a quantiser by what its value is made of.
func (b *reader) code(step *graph.Step) *Reject {
	n := graph.Size(step.Shape)
	forms, err := b.a.FormsOf(step, scaled.All(n))
	if err != nil || len(forms.Of) != 1 {
		return notLSTM("%s is not made of integers", describe(step.Node))
	}
	form := &forms.Of[0]
	leaves := form.Leaves()
	reject := notLSTM("%s is made of %d integer tensors in a way that no cell has", describe(step.Node), len(leaves))
	kinds := map[string]int{}
	for _, l := range leaves {
		kinds[b.kind(l.Tensor)]++
	}
	switch {
	case len(leaves) == 0:
		return notLSTM("%s is constant", describe(step.Node))
	case kinds["vector"] == 1 && len(leaves) == 1 && graph.Size(b.body.Known[leaves[0].Tensor].Shape) != n:
		reject = b.rounding(step, form)
	case kinds["dot"] > 0 && kinds["dot"]+kinds["vector"] == len(leaves):
		reject = b.gate(step, form)
	case len(leaves) == 1 && kinds["gate"] == 1:
		reject = b.regate(step, form)
	case len(leaves) == 1:
		reject = b.table(step, form)
	case len(leaves) == 2:
		reject = b.joint(step, form)
	}
	if reject == nil {
		b.a.Declare(step.Output, scaled.Unit)
	}
	return reject
}

// kind says what an integer tensor of the body is.
func (b *reader) kind(tensor string) string {
	switch {
	case b.dots[tensor] != nil:
		return "dot"
	case b.gates[tensor] != nil:
		return "gate"
	}
	if _, ok := b.vector(tensor); ok {
		return "vector"
	}
	return "code"
}

// codeOf is the code that a tensor of the body is.
func (b *reader) codeOf(tensor string) code {
	if c, ok := b.vector(tensor); ok {
		return c
	}
	switch {
	case b.gates[tensor] != nil:
		return b.gates[tensor].code
	case b.cells[tensor] != nil:
		return b.cells[tensor].code
	case b.tables[tensor] != nil:
		return b.tables[tensor].code
	}
	return code{}
}

func (b *reader) own(step *graph.Step) code { return code{step.Output, unit, codeRange(step)} }

// aligned reports whether element j of every leaf is used by element j.
func aligned(leaves []*scaled.Var, n int) bool {
	for _, l := range leaves {
		if !isIdentity(l.Index, n) {
			return false
		}
	}
	return true
}

// gate reads a code of a sum of dots.
func (b *reader) gate(step *graph.Step, form *scaled.Form) *Reject {
	n := graph.Size(step.Shape)
	leaves := form.Leaves()
	g := &gate{code: b.own(step)}
	for _, l := range leaves {
		if b.dots[l.Tensor] != nil {
			g.dots = append(g.dots, l.Tensor)
		} else {
			g.state = l.Tensor
		}
	}
	for j := range n {
		e, vars := form.Numbers(j)
		inner, outer, ok := e.Joint(vars)
		if !ok {
			return notLSTM("%s is no function of one sum", describe(step.Node))
		}
		// dots first, the state last
		order := slices.Repeat([]*big.Rat{nil}, vars)
		at := 0
		for i, l := range leaves {
			if b.dots[l.Tensor] != nil {
				order[at] = inner.Scale[i]
				at++
			} else {
				order[vars-1] = inner.Scale[i]
			}
			if l.Index[j] != leaves[0].Index[j] {
				return notLSTM("%s joins elements of different units", describe(step.Node))
			}
		}
		g.inner, g.outer = append(g.inner, real.Linear{Scale: order, Bias: inner.Bias}), append(g.outer, outer)
	}
	if !aligned(leaves, n) {
		if reject := g.reorder(b, leaves[0].Index); reject != nil {
			return reject
		}
	}
	b.gates[step.Output] = g
	return nil
}

// reorder takes the rows of a gate out of dots that several gates share.
func (g *gate) reorder(b *reader, index []int32) *Reject {
	if g.state != "" {
		return notLSTM("a peephole joins elements of different units")
	}
	for i, name := range g.dots {
		d := *b.dots[name]
		rows := d.rows
		d.rows = nil
		for _, j := range index {
			d.rows = append(d.rows, rows[j])
		}
		own := fmt.Sprintf("%s\x00%s", name, g.code.tensor)
		b.dots[own] = &d
		g.dots[i] = own
	}
	return nil
}

// regate reads a code of a gate's code: the two are one function.
func (b *reader) regate(step *graph.Step, form *scaled.Form) *Reject {
	leaf := form.Leaves()[0]
	old := b.gates[leaf.Tensor]
	n := graph.Size(step.Shape)
	g := &gate{dots: slices.Clone(old.dots), state: old.state, code: b.own(step)}
	for j := range n {
		e, _ := form.Numbers(j)
		at := leaf.Index[j]
		g.inner = append(g.inner, old.inner[at])
		g.outer = append(g.outer, e.Substitute([]*real.Expr{old.outer[at]}))
	}
	if !isIdentity(leaf.Index, n) {
		if reject := g.reorder(b, leaf.Index); reject != nil {
			return reject
		}
	}
	b.gates[step.Output] = g
	return nil
}

// table reads a code of one code.
func (b *reader) table(step *graph.Step, form *scaled.Form) *Reject {
	n := graph.Size(step.Shape)
	leaves := form.Leaves()
	if !aligned(leaves, n) {
		return notLSTM("%s puts units in another order", describe(step.Node))
	}
	t := &table{of: leaves[0].Tensor, code: b.own(step)}
	span := b.codeOf(t.of).span
	for j := range n {
		if j > 0 && form.SameNumbers(j-1, j) {
			t.steps = append(t.steps, t.steps[j-1])
			continue
		}
		e, _ := form.Numbers(j)
		f, err := real.Compile(e).StepOver(span, maxSteps)
		if err != nil {
			return stepsRejected(err, maxSteps)
		}
		t.steps = append(t.steps, f)
	}
	t.steps = shared(t.steps)
	b.tables[step.Output] = t
	return nil
}

// joint reads a code of two codes.
func (b *reader) joint(step *graph.Step, form *scaled.Form) *Reject {
	n := graph.Size(step.Shape)
	leaves := form.Leaves()
	for j := 1; j < n; j++ {
		if !form.SameNumbers(0, j) {
			return notLSTM("%s is scaled differently from unit to unit", describe(step.Node))
		}
	}
	if !aligned(leaves, n) {
		return notLSTM("%s joins elements of different units", describe(step.Node))
	}
	// What is rounded is the quantiser's input over its scale.
	value, err := b.a.Forms(step.Node.Inputs[0], scaled.All(n))
	if err != nil {
		return notLSTM("%s is not made of integers", describe(step.Node))
	}
	e, vars := value.Of[0].Numbers(0)
	mode, over, reject := rounds(b.body, step)
	if reject != nil {
		return reject
	}
	out := &joint{of: [2]string{leaves[0].Tensor, leaves[1].Tensor}, code: b.own(step)}
	spans := [2]num.Range{b.codeOf(out.of[0]).span, b.codeOf(out.of[1]).span}
	var scale *big.Rat
	var over1 num.Range
	e = e.Within([]real.Interval{span(spans[0]), span(spans[1])})
	if inner, outer, ok := e.Joint(vars); ok {
		out.sum = true
		u := commonUnit(inner.Scale)
		for i, v := range inner.Scale {
			m, reject := whole(v, u)
			if reject != nil {
				return reject
			}
			out.factors[i] = m
			term, ok := spans[i].Times(m)
			if ok {
				over1, ok = over1.Plus(term)
			}
			if !ok {
				return notLSTM("%s adds codes of scales too far apart", describe(step.Node))
			}
		}
		f, ok := outer.Affine()
		if !ok || f.Bias.Sign() != 0 {
			return notLSTM("%s adds a constant to the state, or bends it", describe(step.Node))
		}
		scale = new(big.Rat).Mul(f.Scale, u)
	} else if offset, outer, ok := e.Product(); ok {
		f, ok := outer.Affine()
		if !ok || f.Bias.Sign() != 0 {
			return notLSTM("%s adds a constant to a product, or bends it", describe(step.Node))
		}
		scale = f.Scale
		if over1, reject = out.product(offset, &spans, &scale); reject != nil {
			return reject
		}
	} else {
		return notLSTM("%s is neither a sum nor a product of two codes", describe(step.Node))
	}
	scale = new(big.Rat).Quo(scale, over)
	lo, hi, _ := step.Node.Codes()
	if out.requant, reject = fit(step, scale, mode, over1, int64(lo), int64(hi)); reject != nil {
		return reject
	}
	b.cells[step.Output] = out
	return nil
}

// product deals with the offsets of a product: a factor is a code and a constant, and turned round where it is never above 0,
// as that of an input gate that is coupled with the forget gate.
func (out *joint) product(offset [2]*big.Rat, spans *[2]num.Range, scale **big.Rat) (num.Range, *Reject) {
	for i, o := range offset {
		if !o.IsInt() || !o.Num().IsInt64() || o.Num().BitLen() > 40 {
			return num.Range{}, notLSTM("a product has an offset that is no integer")
		}
		v := o.Num().Int64()
		out.offsets[i] = v
		spans[i] = num.Range{Lo: spans[i].Lo + v, Hi: spans[i].Hi + v}
		if out.falls[i] = v != 0 && spans[i].Hi <= 0; out.falls[i] {
			spans[i] = spans[i].Neg()
			*scale = new(big.Rat).Neg(*scale)
		}
	}
	r, ok := spans[1].Times(spans[0].Lo)
	other, ok2 := spans[1].Times(spans[0].Hi)
	if !ok || !ok2 {
		return r, notLSTM("a product is too wide")
	}
	return r.Union(other), nil
}

// factor is the values of steps as factor i of a product.
func (out *joint) factor(i int, steps []num.Step) []num.Step {
	made := make([]num.Step, len(steps))
	for k, f := range steps {
		made[k].At = f.At
		for _, v := range f.Value {
			if v += out.offsets[i]; out.falls[i] {
				v = -v
			}
			made[k].Value = append(made[k].Value, v)
		}
	}
	return made
}

// plain reports whether factor i is the code itself.
func (out *joint) plain(i int) bool { return out.offsets[i] == 0 && !out.falls[i] }

// rounding reads products that are rounded one by one.
func (b *reader) rounding(step *graph.Step, form *scaled.Form) *Reject {
	mode, over, reject := rounds(b.body, step)
	if reject != nil {
		return reject
	}
	n := graph.Size(step.Shape)
	value, err := b.a.Forms(step.Node.Inputs[0], scaled.All(n))
	if err != nil {
		return notLSTM("%s is not made of integers", describe(step.Node))
	}
	leaf := value.Of[0].Leaves()[0]
	weights := make([]*big.Rat, n)
	for k := range n {
		e, _ := value.Of[0].Numbers(k)
		f, ok := e.Affine()
		if !ok || f.Bias.Sign() != 0 {
			return notLSTM("%s does not round plain products", describe(step.Node))
		}
		weights[k] = f.Scale.Quo(f.Scale, over)
	}
	unit := commonUnit(weights)
	r := &rounding{of: leaf.Tensor, weights: map[int32]int64{}, from: map[int32]int32{}, scale: big.NewRat(1, 1)}
	span, products := b.codeOf(leaf.Tensor).span, num.Range{}
	for k, v := range weights {
		m, reject := whole(v, unit)
		if reject != nil {
			return reject
		}
		p, ok := span.Times(m)
		if !ok || max(m, -m) >= 1<<maxWeightBits {
			return &Reject{diag.WeightsNotInteger, "the weights are not quantised", "quantise the weights of this layer"}
		}
		products = products.Union(p)
		r.weights[int32(k)], r.from[int32(k)] = m, leaf.Index[k]
	}
	lo, hi, _ := step.Node.Codes()
	if r.requant, reject = fit(step, unit, mode, products, int64(lo), int64(hi)); reject != nil {
		return reject
	}
	r.scale = over
	b.rounded[step.Output] = r
	return nil
}

// rounds is how a quantiser rounds, and the scale that it divides by; its zero point is 0.
func rounds(p *graph.Program, step *graph.Step) (mode num.Rounding, scale *big.Rat, reject *Reject) {
	if !step.Node.Is(graph.Uniform) {
		return "", nil, notLSTM("%s does not round products", describe(step.Node))
	}
	s, z := p.Known[step.Node.Inputs[1]].Const, p.Known[step.Node.Inputs[2]].Const
	if s == nil || z == nil || s.Len() != 1 || z.Len() != 1 || z.At(0) != 0 {
		return "", nil, notLSTM("%s has a zero point, or a scale per unit", describe(step.Node))
	}
	names := map[real.Rounding]num.Rounding{real.HalfEven: num.HalfEven, real.HalfUp: num.HalfAway, real.HalfDown: num.HalfTowardZero, real.Floor: num.Floor,
		real.Ceil: num.Ceil, real.Down: num.TowardZero}
	mode, ok := names[real.Rounding(step.Node.Int("mode", 0))]
	if !ok {
		return "", nil, notLSTM("%s rounds in a way that no cell does", describe(step.Node))
	}
	return mode, new(big.Rat).SetFloat64(s.At(0)), nil
}

func fit(step *graph.Step, scale *big.Rat, mode num.Rounding, in num.Range, lo, hi int64) (num.Requant, *Reject) {
	q, ok := num.FitRequant(scale, mode, in, lo, hi)
	if !ok {
		return q, notLSTM("no multiplier and shift of 62 bits round as %s does", describe(step.Node))
	}
	return q, nil
}
