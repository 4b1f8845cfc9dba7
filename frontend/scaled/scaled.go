// Package scaled is scaled-integer analysis (arXiv 2508.21493): it says of a real tensor which integers it is made of.
// The code of a quantiser and the sum of products of a matrix layer are integer tensors; every other real value is a
// function of their elements, its slice, and where that function is scale*q + bias the tensor is itself a scaled
// integer.
//
// There is one engine, Forms: it follows all elements of a tensor at once, and keeps apart only those whose slices are
// different expressions. For example, with integers q of shape [2, 2], s = [0.5, 3] and r = q*s + 1, the tensor
// Concat(r, q) has two forms: v0*v1 + 1, where for each element v0 is one of q's and v1 one of s, and v0. However many
// elements there are, the expressions are two; Var says which integer and which number each element has. At is the
// slice of one element.
//
// In come a graph.Program and the name of a tensor; out come the functions that its elements are. It sees graph, real
// and num.
package scaled

import (
	"fmt"
	"maps"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/real"
	"hlsgen/internal/num"
)

// An Analysis knows the integer tensors found so far.
type Analysis struct {
	Program *graph.Program
	integer map[string]Values
	partly  map[string]bool // of these, the ones with elements that are constants
	derived map[string]bool // depends on an integer tensor
	ranks   map[*graph.Step]int
	all     []int32 // 0, 1, 2 ...
}

// New starts an analysis without integer tensors.
func New(p *graph.Program) *Analysis {
	return &Analysis{p, map[string]Values{}, map[string]bool{}, map[string]bool{}, nil, nil}
}

// All lists n elements. Nobody may change the list.
func (a *Analysis) All(n int) []int32 {
	if len(a.all) < n {
		a.all = All(n)
	}
	return a.all[:n:n]
}

// Found forgets what was of use only while integer tensors were looked for.
func (a *Analysis) Found() { a.all = nil }

// rank is the place of a step among all.
func (a *Analysis) rank(step *graph.Step) int {
	if a.ranks == nil {
		a.ranks = make(map[*graph.Step]int, len(a.Program.Steps))
		for i, s := range a.Program.Steps {
			a.ranks[s] = i
		}
	}
	return a.ranks[step]
}

// Values are the real values of a tensor of integers: element i's is At(i) of its integer.
type Values struct {
	Of    []real.Affine             // one for all, or one per group
	Group func(element int32) int32 // nil where there is one for all, or one per element
}

// At is that of element i.
func (v *Values) At(i int32) *real.Affine { return &v.Of[v.place(i)] }

// place is where At(i) lies among Of.
func (v *Values) place(i int32) int {
	switch {
	case len(v.Of) == 1:
		return 0
	case v.Group != nil:
		i = v.Group(i)
	}
	return int(i)
}

// Unit says that a tensor's real values are the integers themselves.
var Unit = []real.Affine{{Scale: big.NewRat(1, 1), Bias: new(big.Rat)}}

// Declare makes a tensor an integer tensor: element i's real value is of[i], or of[0] for all, applied to its integer.
func (a *Analysis) Declare(tensor string, of []real.Affine) { a.DeclareGroups(tensor, Values{Of: of}) }

// DeclareGroups is Declare for elements of which many have one function in common.
func (a *Analysis) DeclareGroups(tensor string, of Values) { a.integer[tensor] = of }

// Through does what it is given as if some tensors of integers were none: as functions of what they are made of.
func (a *Analysis) Through(tensors []string, do func()) {
	kept := map[string]Values{}
	for _, tensor := range tensors {
		if of, ok := a.integer[tensor]; ok {
			kept[tensor] = of
			delete(a.integer, tensor)
		}
	}
	do()
	maps.Copy(a.integer, kept)
}

// DeclareSome is Declare, per element, for a tensor with elements that are constants: those of scale 0 are their bias,
// whatever the integer.
func (a *Analysis) DeclareSome(tensor string, of []real.Affine) {
	a.integer[tensor], a.partly[tensor] = Values{Of: of}, true
}

// Integer is the real value of element i of an integer tensor; ok is false where the tensor is none.
func (a *Analysis) Integer(tensor string, i int) (real.Affine, bool) {
	of, ok := a.integer[tensor]
	if !ok {
		return real.Affine{}, false
	}
	return *of.At(int32(i)), true
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

// Single reports whether every element of a tensor surely depends on no more than one integer: no step between it and
// the integers computes of several elements of data.
func (a *Analysis) Single(tensor string) bool {
	seen := map[string]bool{}
	var single func(tensor string) bool
	single = func(tensor string) bool {
		if _, ok := a.integer[tensor]; ok || seen[tensor] || !a.Derived(tensor) {
			return true
		}
		seen[tensor] = true
		step := a.Program.Producer(tensor)
		var data []string
		switch {
		case step.Move != nil:
			data = step.Node.Inputs
		case step.Elem != nil && step.Window == nil:
			for _, slot := range step.Elem.Args {
				if in := step.Node.Inputs[slot]; a.Derived(in) {
					data = append(data, in)
				}
			}
			if len(data) > 1 {
				return false
			}
		default:
			return false
		}
		return !slices.ContainsFunc(data, func(in string) bool { return in != "" && !single(in) })
	}
	return single(tensor)
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
// or a sum of products that is no integer tensor. Or there are too many parts, which several ways lead to.
type Blocked struct {
	Tensor string
	Step   *graph.Step
	Parts  bool
}

func (b *Blocked) Error() string {
	switch {
	case b.Step == nil:
		return fmt.Sprintf("it depends on the real-valued input %q", b.Tensor)
	case b.Parts:
		return fmt.Sprintf("%s %q puts it together of too many parts", b.Step.Node.FullOp(), b.Step.Node.Label())
	}
	return fmt.Sprintf("it depends on %s %q, which is not in integers", b.Step.Node.FullOp(), b.Step.Node.Label())
}

// At is the slice of element i of a tensor: Forms of one element, whose numbers are put in.
func (a *Analysis) At(tensor string, i int) (*Slice, error) {
	forms, err := a.Forms(tensor, []int32{int32(i)})
	if err != nil {
		return nil, err
	}
	form := &forms.Of[0]
	out := &Slice{Nodes: form.Nodes}
	out.Expr, _ = form.Numbers(0)
	for _, v := range form.Leaves() {
		out.Leaves = append(out.Leaves, Leaf{v.Tensor, int(v.Index[0])})
	}
	return out, nil
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
