package recur

import (
	"errors"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/lower/whole"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/num"
)

// A gate is a code that is a function of one sum of dots, and perhaps of the cell's state.
type gate struct {
	dots  []*dot
	state string // of the peephole; empty without
	inner []real.Linear
	outer []*real.Expr
	code  Code
}

// A joint is a code that is a function of a product or a sum of two codes.
type joint struct {
	of      [2]string
	sum     bool
	factors [2]int64
	offsets [2]int64 // of the factors of a product: each is its code and this
	falls   [2]bool  // the factor is the negative of that
	requant num.Requant
	code    Code
}

// A table is a code that is a function of one code.
type table struct {
	of    string
	steps []num.Step
	code  Code
}

// code reads a quantiser by what its value is made of.
func (b *reader) code(step *graph.Step) error {
	n := graph.Size(step.Shape)
	forms, err := b.a.FormsOf(step, scaled.All(n))
	if err != nil || len(forms.Of) != 1 {
		return unlike(step, "is not made of integers")
	}
	form := &forms.Of[0]
	leaves := form.Leaves()
	reject := unlike(step, "is made of %d integer tensors in a way that no cell has", len(leaves))
	var dots, vectors int
	for _, l := range leaves {
		switch b.known[l.Tensor].(type) {
		case *dot:
			dots++
		case *vector:
			vectors++
		}
	}
	switch {
	case len(leaves) == 0:
		return unlike(step, "is constant")
	case vectors == 1 && len(leaves) == 1 && graph.Size(b.body.Known[leaves[0].Tensor].Shape) != n:
		reject = b.rounding(step)
	case dots > 0 && dots+vectors == len(leaves):
		reject = b.gate(step, form)
	case len(leaves) == 1 && as[gate](b, leaves[0].Tensor) != nil:
		reject = b.regate(step, form)
	case len(leaves) == 1:
		reject = b.table(step, form)
	case len(leaves) == 2:
		reject = b.joint(step, form)
	}
	return reject
}

// codeOf is the code that a tensor of the body is.
func (b *reader) codeOf(tensor string) Code {
	switch v := b.known[tensor].(type) {
	case *vector:
		return v.code
	case *gate:
		return v.code
	case *joint:
		return v.code
	case *table:
		return v.code
	}
	return Code{}
}

func own(step *graph.Step) Code {
	span, _ := scaled.Codes(step)
	return Code{step.Output, scaled.Unit[0], span}
}

// aligned reports whether element j of every leaf is used by element j.
func aligned(leaves []*scaled.Var, n int) bool {
	for _, l := range leaves {
		if !scaled.InOrder(l.Index, n) {
			return false
		}
	}
	return true
}

// gate reads a code of a sum of dots.
func (b *reader) gate(step *graph.Step, form *scaled.Form) error {
	n := graph.Size(step.Shape)
	leaves := form.Leaves()
	g := &gate{code: own(step)}
	for _, l := range leaves {
		if d := as[dot](b, l.Tensor); d != nil {
			g.dots = append(g.dots, d)
		} else {
			g.state = l.Tensor
		}
	}
	for j := range n {
		e, vars := form.Numbers(j)
		inner, outer, ok := e.Joint(vars)
		if !ok {
			return unlike(step, "is no function of one sum")
		}
		// dots first, the state last
		order := slices.Repeat([]*big.Rat{nil}, vars)
		at := 0
		for i, l := range leaves {
			if as[dot](b, l.Tensor) != nil {
				order[at] = inner.Scale[i]
				at++
			} else {
				order[vars-1] = inner.Scale[i]
			}
			if l.Index[j] != leaves[0].Index[j] {
				return unlike(step, "joins elements of different units")
			}
		}
		g.inner, g.outer = append(g.inner, real.Linear{Scale: order, Bias: inner.Bias}), append(g.outer, outer)
	}
	if !aligned(leaves, n) {
		if reject := g.reorder(leaves[0].Index); reject != nil {
			return reject
		}
	}
	b.learn(step.Output, g, scaled.Unit...)
	return nil
}

// reorder takes the rows of a gate out of dots that several gates share.
func (g *gate) reorder(index []int32) error {
	if g.state != "" {
		return NotLSTM("a peephole joins elements of different units")
	}
	for i, d := range g.dots {
		own := *d
		own.rows = nil
		for _, j := range index {
			own.rows = append(own.rows, d.rows[j])
		}
		g.dots[i] = &own
	}
	return nil
}

// regate reads a code of a gate's code: the two are one function.
func (b *reader) regate(step *graph.Step, form *scaled.Form) error {
	leaf := form.Leaves()[0]
	old := as[gate](b, leaf.Tensor)
	n := graph.Size(step.Shape)
	g := &gate{dots: slices.Clone(old.dots), state: old.state, code: own(step)}
	for j := range n {
		e, _ := form.Numbers(j)
		at := leaf.Index[j]
		g.inner = append(g.inner, old.inner[at])
		g.outer = append(g.outer, e.Substitute([]*real.Expr{old.outer[at]}))
	}
	if !scaled.InOrder(leaf.Index, n) {
		if reject := g.reorder(leaf.Index); reject != nil {
			return reject
		}
	}
	b.learn(step.Output, g, scaled.Unit...)
	return nil
}

// table reads a code of one code.
func (b *reader) table(step *graph.Step, form *scaled.Form) error {
	n := graph.Size(step.Shape)
	leaves := form.Leaves()
	if !aligned(leaves, n) {
		return unlike(step, "puts units in another order")
	}
	t := &table{of: leaves[0].Tensor, code: own(step)}
	span := b.codeOf(t.of).Span
	for j := range n {
		if j > 0 && form.SameNumbers(j-1, j) {
			t.steps = append(t.steps, t.steps[j-1])
			continue
		}
		e, _ := form.Numbers(j)
		f, err := real.Compile(e).StepOver(span, whole.MaxSteps)
		if err != nil {
			return whole.Stepless(err, whole.MaxSteps)
		}
		t.steps = append(t.steps, f)
	}
	t.steps = whole.Shared(t.steps)
	b.learn(step.Output, t, scaled.Unit...)
	return nil
}

// joint reads a code of two codes.
func (b *reader) joint(step *graph.Step, form *scaled.Form) error {
	n := graph.Size(step.Shape)
	leaves := form.Leaves()
	for j := 1; j < n; j++ {
		if !form.SameNumbers(0, j) {
			return unlike(step, "is scaled differently from unit to unit")
		}
	}
	if !aligned(leaves, n) {
		return unlike(step, "joins elements of different units")
	}
	// What is rounded is the quantiser's input over its scale.
	value, err := b.a.Forms(step.Node.Inputs[0], scaled.All(n))
	if err != nil {
		return unlike(step, "is not made of integers")
	}
	e, vars := value.Of[0].Numbers(0)
	rounding, err := whole.RoundingOf(b.body, step)
	if err != nil {
		return NotLSTM("%v", err)
	}
	out := &joint{of: [2]string{leaves[0].Tensor, leaves[1].Tensor}, code: own(step)}
	spans := [2]num.Range{b.codeOf(out.of[0]).Span, b.codeOf(out.of[1]).Span}
	var scale *big.Rat
	var over num.Range
	e = e.Within([]real.Interval{whole.Interval(spans[0]), whole.Interval(spans[1])})
	if inner, outer, ok := e.Joint(vars); ok {
		out.sum = true
		u := whole.Unit(inner.Scale)
		for i, v := range inner.Scale {
			m, reject := whole.Times(v, u)
			if reject != nil {
				return reject
			}
			out.factors[i] = m
			term, ok := spans[i].Times(m)
			if ok {
				over, ok = over.Plus(term)
			}
			if !ok {
				return unlike(step, "adds codes of scales too far apart")
			}
		}
		f, ok := outer.Affine()
		if !ok || f.Bias.Sign() != 0 {
			return unlike(step, "adds a constant to the state, or bends it")
		}
		scale = new(big.Rat).Mul(f.Scale, u)
	} else if offset, outer, ok := e.Product(); ok {
		f, ok := outer.Affine()
		if !ok || f.Bias.Sign() != 0 {
			return unlike(step, "adds a constant to a product, or bends it")
		}
		scale = f.Scale
		var reject error
		if over, reject = out.product(offset, &spans, &scale); reject != nil {
			return reject
		}
	} else {
		return unlike(step, "is neither a sum nor a product of two codes")
	}
	if out.requant, err = rounding.Fit(new(big.Rat).Quo(scale, rounding.Scale), over); err != nil {
		return NotLSTM("%v", err)
	}
	b.learn(step.Output, out, scaled.Unit...)
	return nil
}

// product deals with the offsets of a product: a factor is a code and a constant, and turned round where it is never
// above 0, as that of an input gate that is coupled with the forget gate.
func (out *joint) product(offset [2]*big.Rat, spans *[2]num.Range, scale **big.Rat) (num.Range, error) {
	for i, o := range offset {
		if !o.IsInt() || !o.Num().IsInt64() || o.Num().BitLen() > 40 {
			return num.Range{}, NotLSTM("a product has an offset that is no integer")
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
		return r, NotLSTM("a product is too wide")
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

// A dot is a product of the input or of a state with constant weights.
type dot struct {
	of      string    // the integer tensor: the input's or a state's
	rows    [][]int64 // per unit
	product *num.Requant
}

// A rounding is a tensor of products each of which is rounded: element k of row j is weight[j][k] times element k of
// the vector.
type rounding struct {
	of      string
	weights []int64 // per element
	from    []int32 // per element: of the vector
	requant num.Requant
	scale   *big.Rat
}

// dot reads a product with constant weights, or a sum of products that were rounded one by one.
func (b *reader) dot(step *graph.Step) error {
	d, in := step.Dot, step.Node.Inputs
	w := b.body.Known[in[d.B]].Const
	x, base, offset := in[d.A], d.ABase, d.AOffset
	wBase, wOffset := d.BBase, d.BOffset
	if w == nil { // weights times data
		w = b.body.Known[in[d.A]].Const
		x, base, offset, wBase, wOffset = in[d.B], d.BBase, d.BOffset, d.ABase, d.AOffset
	}
	if w == nil || d.Then != nil {
		return unlike(step, "multiplies two tensors of data")
	}
	forms, err := b.a.Forms(x, scaled.Sums(base, offset))
	form, leaf, ok := forms.One()
	if err != nil || !ok {
		return unlike(step, "does not work on integers of one tensor")
	}
	if r := as[rounding](b, leaf.Tensor); r != nil {
		return b.roundedDot(step, d.K, w, wBase, wOffset, form, r)
	}
	if as[vector](b, leaf.Tensor) == nil {
		return unlike(step, "multiplies %q, which is neither the input nor a state", leaf.Tensor)
	}
	out := &dot{of: leaf.Tensor}
	length := graph.Size(b.body.Known[leaf.Tensor].Shape)
	var affine []real.Affine
	for j := range base {
		column, scales := make([]float64, d.K), make([]real.Affine, d.K)
		for k := range column {
			column[k] = w.At(int(wBase[j] + wOffset[k]))
			if scales[k], ok = form.Affine(j*d.K + k); !ok {
				return unlike(step, "does not work on scaled integers")
			}
		}
		row, f, reject := whole.Column(column, scales)
		if reject != nil {
			return reject
		}
		placed := make([]int64, length)
		for k, q := range row {
			placed[leaf.Index[j*d.K+k]] += q
		}
		out.rows, affine = append(out.rows, placed), append(affine, f)
	}
	b.learn(step.Output, out, affine...)
	return nil
}

// roundedDot adds up products that were rounded.
func (b *reader) roundedDot(step *graph.Step, n int, w *graph.Tensor, wBase, wOffset []int32, form *scaled.Form,
	r *rounding) error {
	leaf := form.Leaves()[0]
	length := graph.Size(b.body.Known[r.of].Shape)
	out := &dot{of: r.of, product: &r.requant}
	for j := range wBase {
		row := make([]int64, length)
		for k := range n {
			f, ok := form.Affine(j*n + k)
			if !ok || f.Bias.Sign() != 0 || f.Scale.Cmp(r.scale) != 0 || w.At(int(wBase[j]+wOffset[k])) != 1 {
				return unlike(step, "does not just add up rounded products")
			}
			at := leaf.Index[j*n+k]
			if row[r.from[at]] != 0 {
				return unlike(step, "takes a product twice")
			}
			row[r.from[at]] = r.weights[at]
		}
		out.rows = append(out.rows, row)
	}
	b.learn(step.Output, out, real.Affine{Scale: r.scale, Bias: new(big.Rat)})
	return nil
}

// rounding reads products that are rounded one by one.
func (b *reader) rounding(step *graph.Step) error {
	q, err := whole.RoundingOf(b.body, step)
	if err != nil {
		return NotLSTM("%v", err)
	}
	n := graph.Size(step.Shape)
	forms, err := b.a.Forms(step.Node.Inputs[0], scaled.All(n))
	form, leaf, ok := forms.One()
	if err != nil || !ok {
		return unlike(step, "is not made of integers")
	}
	weights, requant, err := q.Products(form, n, b.codeOf(leaf.Tensor).Span)
	if err != nil {
		return notRounded(err)
	}
	b.learn(step.Output, &rounding{leaf.Tensor, weights, leaf.Index, requant, q.Scale}, scaled.Unit...)
	return nil
}

func notRounded(err error) error {
	var why *unmapped.Reason
	if errors.As(err, &why) {
		return err
	}
	return NotLSTM("%v", err)
}
