// Package find reads a program as one of integers: this tensor is this function of the elements of those. What comes in
// is a canonical program and where its integer tensors are; what goes out is values: operands, codes, joints, rankings,
// and the functions of package choose that they are. Nothing is made here.
//
// Files: program.go is what is known so far; uses.go who depends on what; operand.go reads data as scaled integers,
// class.go what channels of them have in common, and labels.go which have what; vectors.go the ways to multiply them
// with weights, or to look up rows; frame.go, image.go and convolution.go do so for windows that slide; codes.go and
// joint.go what a quantiser rounds, and recode.go what functions that nobody quantises make of integers; order.go what
// is put in order, and level.go how columns of it come to one scale.
//
// For example, with integers q in steps of 1/2, y = Relu(q/2 * 3 + 1) has the slice max(3/2*q + 1, 0): a function of
// one integer, whatever lies between. A quantiser of y makes it a step function of q, the thresholds of a layer. The
// term for it is scaled-integer analysis; package scaled finds the slices.
//
// It sees graph, real, scaled, choose, place, unmapped, whole, dataflow, diag and num.
package find

import (
	"fmt"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/diag"
)

// A Program is a program, and what is known of its integers so far.
type Program struct {
	*graph.Program
	Integers *scaled.Analysis
	Places   map[string]*place.Place // of integer tensors
	Uses     *Uses
	Layouts  Layouts // of windows

	rounded map[string]*graph.Step // quantisers of single products, which wait for their sum, by output
	traced  int                    // elements
}

// New starts with a program without integers.
func New(p *graph.Program) *Program {
	return &Program{Program: p, Integers: scaled.New(p), Places: map[string]*place.Place{}, Uses: usesOf(p),
		rounded: map[string]*graph.Step{}, Layouts: Layouts{}}
}

// Ready is the place of an integer tensor; ok is false where it has none yet.
func (p *Program) Ready(tensor string) (at *place.Place, ok bool) {
	at = p.Places[tensor]
	return at, at != nil && !at.Held
}

// Name is what a stream of an integer tensor is called: the quantised tensor of the model whose codes it carries.
func (p *Program) Name(tensor string) string {
	step := p.Producer(tensor)
	if step == nil {
		return tensor // an input
	}
	return step.Node.Str("tensor", tensor)
}

// maxTraced bounds the elements of all tensors that are traced back to integers: some ten bytes each. (A U-Net of
// pictures of 256 by 256 pixels has 2^26.)
const maxTraced = 1 << 27

// Trace counts the elements of a tensor that is about to be traced back.
func (p *Program) Trace(elements int) error {
	if elements == 0 {
		return unmapped.Empty()
	}
	if p.traced += elements; p.traced > maxTraced {
		return unmapped.As(diag.ModelTooLarge,
			fmt.Sprintf("the layers up to this one read and write %d elements per frame; at most %d are traced",
				p.traced, maxTraced),
			"export the model for smaller frames: a picture of half the rows and columns, or a sequence of half "+
				"the length")
	}
	return nil
}

// Data lists the inputs of a step that depend on integers, each once.
func (p *Program) Data(step *graph.Step) (tensors []string) {
	seen := map[string]bool{"": true}
	for _, in := range step.Node.Inputs {
		if !seen[in] && p.Integers.Derived(in) {
			tensors = append(tensors, in)
		}
		seen[in] = true
	}
	return tensors
}

// A Meeting is where integers of several tensors meet: a step, and its inputs that depend on integers.
type Meeting struct {
	Step *graph.Step
	Data []string
}

// Meeting finds where the integers of a tensor's value meet, behind steps of one argument; ok is false where they do
// not meet element by element.
func (p *Program) Meeting(tensor string) (m Meeting, ok bool) {
	m, _, ok = p.meeting(tensor)
	return m, ok
}

// BehindMove reports whether a tensor is a function, element by element, of something that a step moves.
func BehindMove(p *Program, tensor string) bool {
	seen := map[string]bool{}
	var moved func(tensor string) bool
	moved = func(tensor string) bool {
		step := p.Producer(tensor)
		if _, integer := p.Integers.Integer(tensor, 0); integer || step == nil || seen[tensor] {
			return false
		}
		seen[tensor] = true
		return step.Move != nil || step.Elem != nil && step.Window == nil && slices.ContainsFunc(p.Data(step), moved)
	}
	return moved(tensor)
}

// SharedSum reports whether a tensor's value is, behind steps of one argument, a sum that others read too: then it is
// best made once.
func (p *Program) SharedSum(tensor string) bool {
	_, shared, ok := p.meeting(tensor)
	return ok && shared
}

func (p *Program) meeting(tensor string) (m Meeting, shared, ok bool) {
	for {
		step := p.Producer(tensor)
		if _, integer := p.Integers.Integer(tensor, 0); integer || step == nil || step.Dot != nil ||
			step.Order != nil || step.Window != nil {
			return m, false, false
		}
		shared = shared || len(p.Uses.Readers(tensor)) > 1
		data := p.Data(step)
		if len(data) != 1 {
			return Meeting{step, data}, shared, step.Elem != nil
		}
		tensor = data[0]
	}
}
