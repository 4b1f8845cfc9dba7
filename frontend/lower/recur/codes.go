package recur

import (
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
		return NotLSTM("%s is not made of integers", unmapped.Describe(step.Node))
	}
	form := &forms.Of[0]
	leaves := form.Leaves()
	reject := NotLSTM("%s is made of %d integer tensors in a way that no cell has", unmapped.Describe(step.Node), len(leaves))
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
		return NotLSTM("%s is constant", unmapped.Describe(step.Node))
	case vectors == 1 && len(leaves) == 1 && graph.Size(b.body.Known[leaves[0].Tensor].Shape) != n:
		reject = b.rounding(step, form)
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
			return NotLSTM("%s is no function of one sum", unmapped.Describe(step.Node))
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
				return NotLSTM("%s joins elements of different units", unmapped.Describe(step.Node))
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
		return NotLSTM("%s puts units in another order", unmapped.Describe(step.Node))
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
