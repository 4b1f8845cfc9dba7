// Package find reads a program as a program of integers: which function of which integers each tensor is. What
// comes in is a canonical program and where its integer tensors are. What goes out is values: operands, codes,
// joints, rankings, and their functions in the form of package choose. The package makes no layers.
//
// Files: program.go holds the known facts; uses.go tells which steps depend on which tensors; operand.go reads data
// as scaled integers, class.go groups their elements by scale and bias, and labels.go stores these groups;
// vectors.go reads vectors that are multiplied with weights, or rows that are looked up; frame.go, image.go and
// convolution.go do so for sliding windows; codes.go and joint.go read the inputs of quantisers, and recode.go
// functions of integers that no quantiser follows; order.go reads values to be sorted, and level.go gives their
// columns one scale.
//
// For example, with integers q in steps of 1/2, y = Relu(q/2 * 3 + 1) has the slice max(3/2*q + 1, 0): a function
// of a single integer, whatever nodes lie between. A quantiser of y makes it a step function of q, with the
// thresholds of a layer. This is called scaled-integer analysis; package scaled finds the slices.
package find

import (
	"fmt"
	"slices"

	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/program"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/diag"
)

// An AnalysedProgram is a program with what is known so far of its integers: which tensors hold integers, and on which
// streams these travel.
type AnalysedProgram struct {
	*program.Program
	Integers *scaled.IntegerAnalysis
	Places   map[string]*place.TensorPlace // places of integer tensors
	Uses     *TensorUses
	Layouts  WindowLayoutCache // layouts of windows

	rounded map[string]*program.Step // by output: quantisers of single products, which wait for their sum
	traced  int                      // number of traced elements
}

// NewAnalysedProgram returns an AnalysedProgram for p in which no integers are known yet.
func NewAnalysedProgram(p *program.Program) *AnalysedProgram {
	return &AnalysedProgram{Program: p, Integers: scaled.New(p), Places: map[string]*place.TensorPlace{},
		Uses:    usesOf(p),
		rounded: map[string]*program.Step{}, Layouts: WindowLayoutCache{}}
}

// PlaceOf returns the place of an integer tensor. ok is false if it has none yet, or one that is held until a quantiser
// comes.
func (p *AnalysedProgram) PlaceOf(tensor string) (at *place.TensorPlace, ok bool) {
	at = p.Places[tensor]
	return at, at != nil && !at.Held
}

// StreamNameOf returns the name of the stream that carries an integer tensor. That is the name of the model's quantised
// tensor whose codes the stream carries or, without one, the tensor's own.
func (p *AnalysedProgram) StreamNameOf(tensor string) string {
	step := p.ProducerOf(tensor)
	if step == nil {
		return tensor // an input
	}
	return step.Node.StringAttrOr("tensor", tensor)
}

// maxTraced limits the elements of all tensors that are traced back to integers. Each takes some ten bytes. (A
// U-Net for pictures of 256 by 256 pixels has 2^26.)
const maxTraced = 1 << 27

// CountTowardsTraceLimit adds to the number of elements that are traced back to integers. It returns an error if there
// are too many in total, or if elements is 0.
func (p *AnalysedProgram) CountTowardsTraceLimit(elements int) error {
	if elements == 0 {
		return unmapped.NewEmptyTensorReason()
	}
	if p.traced += elements; p.traced > maxTraced {
		return unmapped.NewReasonWithCode(diag.ModelTooLarge,
			fmt.Sprintf("the layers up to this one read and write %d elements per frame; at most %d are traced",
				p.traced, maxTraced),
			"export the model for smaller frames: a picture of half the rows and columns, or a sequence of half "+
				"the length")
	}
	return nil
}

// IntegerInputsOf returns the names of a step's inputs that depend on integers, each once.
func (p *AnalysedProgram) IntegerInputsOf(step *program.Step) (tensors []string) {
	seen := map[string]bool{"": true}
	for _, in := range step.Node.Inputs {
		if !seen[in] && p.Integers.IsFromIntegers(in) {
			tensors = append(tensors, in)
		}
		seen[in] = true
	}
	return tensors
}

// A CombiningStep is a step that combines integers of several tensors, with its inputs that depend on integers.
type CombiningStep struct {
	Step *program.Step
	Data []string
}

// FindCombiningStep returns the step that combines the integers from which a tensor is computed. Only steps with one
// argument lie between that step and the tensor. ok is false if the integers are not combined element by element.
func (p *AnalysedProgram) FindCombiningStep(tensor string) (m CombiningStep, ok bool) {
	m, _, ok = p.meeting(tensor)
	return m, ok
}

// IsBehindMove reports whether a tensor is computed, element by element, from the output of a step that moves elements.
func IsBehindMove(p *AnalysedProgram, tensor string) bool {
	seen := map[string]bool{}
	var moved func(tensor string) bool
	moved = func(tensor string) bool {
		step := p.ProducerOf(tensor)
		if _, integer := p.Integers.AffineOfElement(tensor, 0); integer || step == nil || seen[tensor] {
			return false
		}
		seen[tensor] = true
		return step.Move != nil || step.Elem != nil && step.Window == nil &&
			slices.ContainsFunc(p.IntegerInputsOf(step), moved)
	}
	return moved(tensor)
}

// IsFromSharedSum reports whether steps with one argument compute a tensor from a sum that other steps read, too. It is
// best to compute this sum only once.
func (p *AnalysedProgram) IsFromSharedSum(tensor string) bool {
	_, shared, ok := p.meeting(tensor)
	return ok && shared
}

func (p *AnalysedProgram) meeting(tensor string) (m CombiningStep, shared, ok bool) {
	for {
		step := p.ProducerOf(tensor)
		if _, integer := p.Integers.AffineOfElement(tensor, 0); integer || step == nil || step.Dot != nil ||
			step.Order != nil || step.Window != nil {
			return m, false, false
		}
		shared = shared || len(p.Uses.ReadingSteps(tensor)) > 1
		data := p.IntegerInputsOf(step)
		if len(data) != 1 {
			return CombiningStep{step, data}, shared, step.Elem != nil
		}
		tensor = data[0]
	}
}
