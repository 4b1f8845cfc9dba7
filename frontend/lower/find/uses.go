package find

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/frontend/scaled"
)

// A TensorUses finds the steps that depend on a tensor. It ignores steps on which no output of the model depends.
type TensorUses struct {
	prog    *program.Program
	used    map[*program.Step]bool
	outputs map[string]bool

	readers               map[string][]*program.Step // results of ReadingSteps
	feeds, quantised      map[string]bool            // results of FeedsLayer and FeedsQuantiser
	continued, multiplied map[string]bool            // intermediate results of IsHostTail
}

func usesOf(p *program.Program) *TensorUses {
	u := &TensorUses{prog: p, used: map[*program.Step]bool{}, outputs: map[string]bool{},
		readers: map[string][]*program.Step{}, feeds: map[string]bool{}, quantised: map[string]bool{},
		continued: map[string]bool{}, multiplied: map[string]bool{}}
	need := map[string]bool{}
	for _, o := range p.Graph.Outputs {
		u.outputs[o.Name], need[o.Name] = true, true
	}
	for _, step := range slices.Backward(p.Steps) {
		if u.used[step] = need[step.Output]; u.used[step] {
			for _, in := range step.Node.Inputs {
				need[in] = true
			}
		}
	}
	return u
}

// IsStepNeededByOutputs reports whether an output of the model depends on a step.
func (u *TensorUses) IsStepNeededByOutputs(step *program.Step) bool { return u.used[step] }

// ReadingSteps returns the steps that read a tensor. Callers must not change the list.
func (u *TensorUses) ReadingSteps(tensor string) (steps []*program.Step) {
	if known, ok := u.readers[tensor]; ok {
		return known
	}
	for _, r := range u.prog.ReadersOf(tensor) {
		if u.used[r] {
			steps = append(steps, r)
		}
	}
	u.readers[tensor] = steps
	return steps
}

// FeedsLayer reports whether a quantiser, a matrix product or a loop depends on a tensor. Dependence through a step of
// the host's tail (IsHostTail) does not count.
func (u *TensorUses) FeedsLayer(tensor string) bool {
	return u.leadsTo(u.feeds, tensor, func(r *program.Step) bool {
		return u.product(r) || r.Recur != nil || scaled.IsQuantiserStep(r)
	}, u.IsHostTail)
}

// FeedsQuantiser reports whether a quantiser, or a loop, which contains quantisers, depends on a tensor.
func (u *TensorUses) FeedsQuantiser(tensor string) bool {
	return u.leadsTo(u.quantised, tensor, func(r *program.Step) bool {
		return r.Recur != nil ||
			scaled.IsQuantiserStep(r)
	},
		none)
}

func none(*program.Step) bool { return false }

// IsHostTail reports whether a step is a product of two tensors of data without a product or loop behind a quantiser of
// its result. No layer computes such a step, and none is needed behind it, so that the host can compute the rest.
func (u *TensorUses) IsHostTail(step *program.Step) bool {
	if step.Dot == nil || u.prog.Known[step.Node.Inputs[step.Dot.A]].Const != nil ||
		u.prog.Known[step.Node.Inputs[step.Dot.B]].Const != nil {
		return false
	}
	return !u.leadsTo(u.continued, step.Output, func(r *program.Step) bool {
		return r.Recur != nil || scaled.IsQuantiserStep(r) && u.FeedsProductOrLoop(r.Output)
	}, none)
}

// FeedsProductOrLoop reports whether a matrix product or loop depends on a tensor.
func (u *TensorUses) FeedsProductOrLoop(tensor string) bool {
	return u.leadsTo(u.multiplied, tensor, func(r *program.Step) bool { return r.Recur != nil || u.product(r) }, none)
}

// product reports whether a step is a matrix product. The sum by which a softmax divides does not count as one.
func (u *TensorUses) product(r *program.Step) bool {
	return r.Dot != nil && !operators.HasTrait(u.prog.OriginOf(r.Node), operators.TraitSoftmax)
}

// leadsTo reports whether a step for which wanted is true depends on a tensor. Dependence through steps for which
// without is true does not count. known caches results.
func (u *TensorUses) leadsTo(known map[string]bool, tensor string, wanted, without func(*program.Step) bool) bool {
	leads, ok := known[tensor]
	if ok {
		return leads
	}
	for _, r := range u.ReadingSteps(tensor) {
		if !without(r) && (wanted(r) || u.leadsTo(known, r.Output, wanted, without)) {
			leads = true
			break
		}
	}
	known[tensor] = leads
	return leads
}

// ReachesOutputsOnlyThrough reports whether all outputs of the model that depend on a tensor do so only through the
// given step.
func (u *TensorUses) ReachesOutputsOnlyThrough(tensor string, through *program.Step) bool {
	seen := map[string]bool{}
	var visit func(tensor string) bool
	visit = func(tensor string) bool {
		if seen[tensor] {
			return true
		}
		seen[tensor] = true
		if u.outputs[tensor] {
			return false
		}
		for _, r := range u.ReadingSteps(tensor) {
			if r != through && !visit(r.Output) {
				return false
			}
		}
		return true
	}
	return visit(tensor)
}

// SoleNextQuantiser returns the quantiser that alone depends on a tensor, with neither products, sorting nor windows in
// between. Steps in between may read other tensors, too. ok is false if there is none.
func (u *TensorUses) SoleNextQuantiser(tensor string) (quantiser *program.Step, ok bool) {
	for {
		readers := u.ReadingSteps(tensor)
		if len(readers) != 1 || u.outputs[tensor] {
			return nil, false
		}
		switch next := readers[0]; {
		case next.Dot != nil, next.Order != nil, next.Window != nil:
			return nil, false
		case scaled.IsQuantiserStep(next):
			return next, true
		default:
			tensor = next.Output
		}
	}
}

// LookupRowCount returns the number of rows of the tables in which the elements of a tensor select rows. It returns 0
// if the elements serve another purpose, or if a table does not consist of integers; the host then looks up the rows.
func (p *AnalysedProgram) LookupRowCount(tensor string) (rows int) {
	for _, r := range p.ReadersOf(tensor) {
		n := 0
		switch {
		case isOneHotStep(r) && p.choosesIntegers(r.Output):
			n = r.Shape[len(r.Shape)-1]
		case r.Move != nil:
			n = p.LookupRowCount(r.Output)
		}
		if n == 0 {
			return 0
		}
		rows = max(rows, n)
	}
	return rows
}

// choosesIntegers reports whether the one-hot rows of tensor hot, possibly moved, only select rows of constant tables
// that convert to integers. It is true, too, if no step reads hot.
func (p *AnalysedProgram) choosesIntegers(hot string) bool {
	for _, r := range p.Uses.ReadingSteps(hot) {
		switch {
		case r.Move != nil:
			if !p.choosesIntegers(r.Output) {
				return false
			}
		case r.Dot == nil || r.Node.Inputs[r.Dot.A] != hot:
			return false
		default:
			w := p.Known[r.Node.Inputs[r.Dot.B]].Const
			n, ok := matrixRows(r.Dot)
			if w == nil || !ok {
				return false
			}
			all := make([]int, r.Dot.K)
			for i := range all {
				all[i] = i
			}
			if _, _, reject := tableOf(chosen(r.Dot, w, n, all), n); reject != nil {
				return false
			}
		}
	}
	return true
}

// OneHotStepOf returns the step whose one-hot rows a tensor consists of, one after the other, in any shape. It returns
// nil for other tensors.
func (p *AnalysedProgram) OneHotStepOf(tensor string) *program.Step {
	for {
		switch step := p.ProducerOf(tensor); {
		case step == nil:
			return nil
		case isOneHotStep(step):
			return step
		case step.Move != nil && inOrder(step, graph.ElementCount(p.Known[step.Node.Inputs[0]].Shape)):
			tensor = step.Node.Inputs[0]
		default:
			return nil
		}
	}
}

// inOrder reports whether a step's elements are all n elements of its first input, in order.
func inOrder(step *program.Step, n int) bool {
	m := step.Move
	if m.IsCertainlyIdentity() {
		return true
	}
	if m.MayReadOtherInputs() || graph.ElementCount(step.Shape) != n {
		return false
	}
	for i := range n {
		if _, from := m.SourceOf(i); from != i {
			return false
		}
	}
	return true
}

// isOneHotStep reports whether a step turns row numbers into one-hot rows.
func isOneHotStep(step *program.Step) bool {
	return operators.HasTrait(step.Node, operators.TraitOneHot)
}
