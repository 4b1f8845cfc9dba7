// Package scaled performs scaled-integer analysis (arXiv 2508.21493): it finds the integers from which a real tensor is
// computed. The codes of a quantiser and the sums of products of a matrix layer are integer tensors. Every other real
// value is a function of their elements, called its slice. If that function is scale*q + bias, the tensor is a scaled
// integer itself.
//
// The analysis has one engine, FormsOfElements. It follows all elements of a tensor at once and separates only elements
// whose slices are different expressions. For example, let q be integers of shape [2, 2], s = [0.5, 3] and r = q*s + 1.
// Then the tensor Concat(r, q) has two forms: v0*v1 + 1, with v0 from q and v1 from s, and v0. More elements do not
// make more expressions; FormVariable says which integer and which number each element has. FunctionOfElement returns
// the slice of one element.
//
// In come a program.Program and the name of a tensor; out come the slices of its elements.
//
// scaled.go has the analysis, forms.go the engine; moved.go follows elements through moves.
package scaled

import (
	"fmt"
	"maps"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/internal/num"
)

// An IntegerAnalysis knows the integer tensors found so far, and finds other tensors' values as functions of their
// elements.
type IntegerAnalysis struct {
	Program *program.Program
	integer map[string]AffinesOfElements
	partly  map[string]bool // integer tensors of which some elements are constants
	derived map[string]bool // whether a tensor depends on an integer tensor
	ranks   map[*program.Step]int
	all     []int32 // the list 0, 1, 2 ...
}

// New returns an analysis without integer tensors.
func New(p *program.Program) *IntegerAnalysis {
	return &IntegerAnalysis{p, map[string]AffinesOfElements{}, map[string]bool{}, map[string]bool{}, nil, nil}
}

// SharedCountingList returns the list 0, 1 ... n-1. The caller must not change the list.
func (a *IntegerAnalysis) SharedCountingList(n int) []int32 {
	if len(a.all) < n {
		a.all = NewCountingList(n)
	}
	return a.all[:n:n]
}

// ReleaseCountingList frees the memory that SharedCountingList keeps. Call it when no more integer tensors are to be
// found; the analysis still works.
func (a *IntegerAnalysis) ReleaseCountingList() { a.all = nil }

// rank returns the index of a step in the program's list of steps.
func (a *IntegerAnalysis) rank(step *program.Step) int {
	if a.ranks == nil {
		a.ranks = make(map[*program.Step]int, len(a.Program.Steps))
		for i, s := range a.Program.Steps {
			a.ranks[s] = i
		}
	}
	return a.ranks[step]
}

// AffinesOfElements maps the integers of a tensor to real values. The value of element i is the function AffineOf(i) of
// its integer.
type AffinesOfElements struct {
	Of    []real.Affine             // one function for all elements, one per element or one per group
	Group func(element int32) int32 // the group of an element; nil if there are no groups
}

// AffineOf returns the function that gives the real value of element i for its integer.
func (v *AffinesOfElements) AffineOf(i int32) *real.Affine { return &v.Of[v.place(i)] }

// place returns the index in Of of the function of element i.
func (v *AffinesOfElements) place(i int32) int {
	switch {
	case len(v.Of) == 1:
		return 0
	case v.Group != nil:
		i = v.Group(i)
	}
	return int(i)
}

// IdentityAffines is a list for DeclareIntegerTensor with the function x -> x: the real values are the integers
// themselves. It must not be changed.
var IdentityAffines = []real.Affine{{Scale: big.NewRat(1, 1), Bias: new(big.Rat)}}

// DeclareIntegerTensor makes a tensor an integer tensor. The real value of element i is of[i] of its integer, or of[0]
// of it if len(of) is 1.
func (a *IntegerAnalysis) DeclareIntegerTensor(tensor string, of []real.Affine) {
	a.DeclareGroupedIntegers(tensor, AffinesOfElements{Of: of})
}

// DeclareGroupedIntegers is like DeclareIntegerTensor for elements that share functions in groups, as of.Group tells.
func (a *IntegerAnalysis) DeclareGroupedIntegers(tensor string, of AffinesOfElements) {
	a.integer[tensor] = of
}

// DoIgnoringIntegerTensors calls do, during which the given tensors do not count as integer tensors. Their elements are
// then functions of other integer tensors. Tensors in the list that are not integer tensors have no effect.
func (a *IntegerAnalysis) DoIgnoringIntegerTensors(tensors []string, do func()) {
	kept := map[string]AffinesOfElements{}
	for _, tensor := range tensors {
		if of, ok := a.integer[tensor]; ok {
			kept[tensor] = of
			delete(a.integer, tensor)
		}
	}
	do()
	maps.Copy(a.integer, kept)
}

// DeclareIntegersAndConstants is like DeclareIntegerTensor, with one function per element, for a tensor in which some
// elements are constants. An element with scale 0 has its bias as value, whatever its integer is.
func (a *IntegerAnalysis) DeclareIntegersAndConstants(tensor string, of []real.Affine) {
	a.integer[tensor], a.partly[tensor] = AffinesOfElements{Of: of}, true
}

// AffineOfElement returns the function from the integer of element i of an integer tensor to its real value. ok is
// false if the tensor is not an integer tensor.
func (a *IntegerAnalysis) AffineOfElement(tensor string, i int) (real.Affine, bool) {
	of, ok := a.integer[tensor]
	if !ok {
		return real.Affine{}, false
	}
	return *of.AffineOf(int32(i)), true
}

// IsFromIntegers reports whether a tensor depends on an integer tensor, or is one. It must only be called when the
// inputs of the tensor's step are final, since it remembers its results.
func (a *IntegerAnalysis) IsFromIntegers(tensor string) bool {
	if _, ok := a.integer[tensor]; ok {
		return true
	}
	if d, ok := a.derived[tensor]; ok {
		return d
	}
	d := false
	if s := a.Program.ProducerOf(tensor); s != nil {
		for _, in := range s.Node.Inputs {
			d = d || in != "" && a.IsFromIntegers(in)
		}
		a.derived[tensor] = d // a step's inputs are complete when IsFromIntegers visits it, so this stays true
	}
	return d
}

// IsFromSingleIntegers reports whether every element of a tensor certainly depends on at most one integer. This holds
// if no step between the tensor and the integers combines several elements that depend on data.
func (a *IntegerAnalysis) IsFromSingleIntegers(tensor string) bool {
	seen := map[string]bool{}
	var single func(tensor string) bool
	single = func(tensor string) bool {
		if _, ok := a.integer[tensor]; ok || seen[tensor] || !a.IsFromIntegers(tensor) {
			return true
		}
		seen[tensor] = true
		step := a.Program.ProducerOf(tensor)
		var data []string
		switch {
		case step.Move != nil:
			data = step.Node.Inputs
		case step.Elem != nil && step.Window == nil:
			for _, slot := range step.Elem.Args {
				if in := step.Node.Inputs[slot]; a.IsFromIntegers(in) {
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

// An IntegerElement is an element of an integer tensor.
type IntegerElement struct {
	Tensor string
	Index  int
}

// A FunctionOfIntegers is one real value as a function of integers. Variable v of Expr stands for the integer
// Leaves[v].
type FunctionOfIntegers struct {
	Expr   *real.Expr
	Leaves []IntegerElement
	Nodes  []*graph.Node // the nodes that compute the value, from the value back to the integers
}

// A NoIntegerFunctionError says why a value is not a function of integer tensors. It depends on the model input Tensor
// (Step is nil) or on Step, whose output is not in integers. Or Step combines too many parts to follow (Parts).
type NoIntegerFunctionError struct {
	Tensor string
	Step   *program.Step
	Parts  bool
}

func (b *NoIntegerFunctionError) Error() string {
	switch {
	case b.Step == nil:
		return fmt.Sprintf("it depends on the real-valued input %q", b.Tensor)
	case b.Parts:
		return fmt.Sprintf("%s %q combines too many parts for it", b.Step.Node.QualifiedOpName(), b.Step.Node.Label())
	}
	return fmt.Sprintf("it depends on %s %q, which is not in integers", b.Step.Node.QualifiedOpName(),
		b.Step.Node.Label())
}

// FunctionOfElement returns the value of element i of a tensor as a function of integers. The error is a
// *NoIntegerFunctionError.
func (a *IntegerAnalysis) FunctionOfElement(tensor string, i int) (*FunctionOfIntegers, error) {
	forms, err := a.FormsOfElements(tensor, []int32{int32(i)})
	if err != nil {
		return nil, err
	}
	form := &forms.Of[0]
	out := &FunctionOfIntegers{Nodes: form.Nodes}
	out.Expr, _ = form.ExprAtElement(0)
	for _, v := range form.IntegerVariables() {
		out.Leaves = append(out.Leaves, IntegerElement{v.Tensor, int(v.Index[0])})
	}
	return out, nil
}

// QuantiserCodeRange returns the range of the codes that a quantiser step gives. ok is false if the step is not a
// quantiser.
func QuantiserCodeRange(step *program.Step) (r num.Range, ok bool) {
	lo, hi, ok := operators.CodeLimitsOfQuantiser(step.Node)
	return num.Range{Lo: int64(lo), Hi: int64(hi)}, ok
}

// IsQuantiserStep reports whether a step is a quantiser, whose output is codes.
func IsQuantiserStep(step *program.Step) bool {
	_, ok := QuantiserCodeRange(step)
	return ok
}

// IsCountingList reports whether the whole list is 0, 1 ... n-1.
func IsCountingList(list []int32, n int) bool {
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
