// Package scaled is scaled-integer analysis (arXiv 2508.21493): it says of a real tensor which integers it is made of.
// The code of a quantiser and the sum of products of a matrix layer are integer tensors; every other real value is a
// function of their elements, and where that function is scale*q + bias the tensor is itself a scaled integer.
package scaled

import (
	"fmt"
	"math/big"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/real"
	"hlsgen/internal/num"
)

// An Analysis knows the integer tensors found so far.
type Analysis struct {
	Program *graph.Program
	integer map[string][]real.Affine // real value of each element; one for all, or one per element
	singles map[string]bool          // of these, the ones whose real value is rounded to float32
	derived map[string]bool          // depends on an integer tensor
}

// New starts an analysis without integer tensors.
func New(p *graph.Program) *Analysis {
	return &Analysis{p, map[string][]real.Affine{}, map[string]bool{}, map[string]bool{}}
}

// Unit says that a tensor's real values are the integers themselves.
var Unit = []real.Affine{{Scale: big.NewRat(1, 1), Bias: new(big.Rat)}}

// Declare makes a tensor an integer tensor: element i's real value is of[i], or of[0] for all, applied to its integer.
func (a *Analysis) Declare(tensor string, of []real.Affine) { a.integer[tensor] = of }

// DeclareSingle makes a tensor an integer tensor whose real value is the float32 nearest to scale*q: what a program holds
// that divides pixels by 255.
func (a *Analysis) DeclareSingle(tensor string, scale *big.Rat) {
	a.integer[tensor] = []real.Affine{{Scale: scale, Bias: new(big.Rat)}}
	a.singles[tensor] = true
}

// Integer is the real value of element i of an integer tensor; ok is false where the tensor is none.
func (a *Analysis) Integer(tensor string, i int) (real.Affine, bool) {
	of, ok := a.integer[tensor]
	switch {
	case !ok:
		return real.Affine{}, false
	case len(of) == 1:
		return of[0], true
	}
	return of[i], true
}

// Derived reports whether a tensor depends on an integer tensor, or is one.
func (a *Analysis) Derived(tensor string) bool {
	if _, ok := a.integer[tensor]; ok {
		return true
	}
	if d, ok := a.derived[tensor]; ok {
		return d
	}
	d := false
	if s := a.Program.Producer(tensor); s != nil {
		for _, in := range s.Node.Inputs {
			d = d || in != "" && a.Derived(in)
		}
		a.derived[tensor] = d // inputs are complete when a step is asked about, so this stays true
	}
	return d
}

// A Leaf is an element of an integer tensor.
type Leaf struct {
	Tensor string
	Index  int
}

// A Slice is one real value as a function of integers: Expr's variable v is the integer at Leaves[v].
type Slice struct {
	Expr   *real.Expr
	Leaves []Leaf
	Nodes  []*graph.Node // what lies in the slice, from the value back
}

// Blocked is the error of a slice that meets a value that is no function of integer tensors: a model input (Step nil)
// or a sum of products that is no integer tensor.
type Blocked struct {
	Tensor string
	Step   *graph.Step
}

func (b *Blocked) Error() string {
	if b.Step == nil {
		return fmt.Sprintf("it depends on the real-valued input %q", b.Tensor)
	}
	return fmt.Sprintf("it depends on %s %q, which is not in integers", b.Step.Node.FullOp(), b.Step.Node.Label())
}

// At is the slice of element i of a tensor.
func (a *Analysis) At(tensor string, i int) (*Slice, error) {
	s := &slicer{a: a, memo: map[Leaf]*real.Expr{}, vars: map[Leaf]int{}, seen: map[*graph.Node]bool{}}
	e, err := s.value(tensor, i)
	if err != nil {
		return nil, err
	}
	s.out.Expr = e
	return &s.out, nil
}

// Of is the slice of element i computed by a step, even where its output is an integer tensor.
func (a *Analysis) Of(step *graph.Step, i int) (*Slice, error) {
	s := &slicer{a: a, memo: map[Leaf]*real.Expr{}, vars: map[Leaf]int{}, seen: map[*graph.Node]bool{}}
	e, err := s.step(step, i)
	if err != nil {
		return nil, err
	}
	s.out.Expr = e
	return &s.out, nil
}

type slicer struct {
	a    *Analysis
	out  Slice
	memo map[Leaf]*real.Expr
	vars map[Leaf]int
	seen map[*graph.Node]bool
}

func (s *slicer) value(tensor string, i int) (*real.Expr, error) {
	k := s.a.Program.Known[tensor]
	if k.Const != nil {
		return real.Float(k.Const.At(i)), nil
	}
	at := Leaf{tensor, i}
	if e, ok := s.memo[at]; ok {
		return e, nil
	}
	e, err := s.find(at)
	if err == nil {
		s.memo[at] = e
	}
	return e, err
}

func (s *slicer) find(at Leaf) (*real.Expr, error) {
	if v, ok := s.a.Integer(at.Tensor, at.Index); ok {
		n, seen := s.vars[at]
		if !seen {
			n = len(s.out.Leaves)
			s.vars[at] = n
			s.out.Leaves = append(s.out.Leaves, at)
		}
		x := real.Var(n)
		if v.Scale.Cmp(Unit[0].Scale) != 0 {
			x = real.Mul(x, real.Rat(v.Scale))
		}
		if v.Bias.Sign() != 0 {
			x = real.Add(x, real.Rat(v.Bias))
		}
		if s.a.singles[at.Tensor] {
			x = real.Single(x)
		}
		return x, nil
	}
	step := s.a.Program.Producer(at.Tensor)
	if step == nil {
		return nil, &Blocked{Tensor: at.Tensor}
	}
	return s.step(step, at.Index)
}

func (s *slicer) step(step *graph.Step, i int) (*real.Expr, error) {
	if !s.seen[step.Node] {
		s.seen[step.Node] = true
		s.out.Nodes = append(s.out.Nodes, step.Node)
	}
	in := step.Node.Inputs
	switch {
	case step.Move != nil:
		slot, j := step.Move.From(i)
		return s.value(in[slot], j)
	case step.Elem == nil:
		return nil, &Blocked{step.Output, step}
	}
	args := make([]*real.Expr, len(step.Elem.Args))
	for v, slot := range step.Elem.Args {
		e, err := s.value(in[slot], step.Elem.At(v, i))
		if err != nil {
			return nil, err
		}
		args[v] = e
	}
	return step.Elem.Expr.Substitute(args), nil
}

// Codes is the range of a quantiser's codes; ok is false for other steps.
func Codes(step *graph.Step) (r num.Range, ok bool) {
	lo, hi, ok := step.Node.Codes()
	return num.Range{Lo: int64(lo), Hi: int64(hi)}, ok
}

// IsCode reports whether a step is a quantiser.
func IsCode(step *graph.Step) bool {
	_, ok := Codes(step)
	return ok
}

// InOrder reports whether a list is that of n elements one by one.
func InOrder(list []int32, n int) bool {
	if len(list) != n {
		return false
	}
	for i, v := range list {
		if int(v) != i {
			return false
		}
	}
	return true
}

// Spread is what groups of elements have in common, for each of n elements.
func Spread(of []real.Affine, n int, group func(element int) int) []real.Affine {
	out := make([]real.Affine, n)
	for i := range out {
		out[i] = of[group(i)]
	}
	return out
}
