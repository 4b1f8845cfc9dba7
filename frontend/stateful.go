package frontend

import (
	"fmt"
	"slices"

	"hlsgen/frontend/axes"
	"hlsgen/frontend/canon"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
)

// streamed returns a program whose loops can keep a state, if samples are pieces of one stream. Unrolled recurrences
// become loops for this purpose.
func (o Options) streamed(p *program.Program) *program.Program {
	if !o.Stateful {
		return p
	}
	return canon.RollUpRecurrences(p)
}

// keeps adds errors to d if the user asks for states across samples but the model has no state to hand on. b is the
// batch that the file fixes, or nil.
func (o Options) keeps(p *program.Program, b *axes.BatchAxisCandidate, d *diag.List) {
	if !o.Stateful {
		return
	}
	refuse := func(n *graph.Node, msg, hint string) {
		x := diag.Diag{Severity: diag.SeverityError, Code: diag.StatefulFlagUnfit, Where: p.File, Msg: msg, Hint: hint}
		if n != nil {
			x.Node, x.Op, x.Where = n.Label(), n.QualifiedOpName(), operators.NodePositionText(p.File, n)
		}
		d.Add(x)
	}
	if o.Samples > 1 {
		refuse(nil, "with --interleave, a frame holds samples of several sequences, and a state is that of one stream",
			"use one of the two")
	}
	if b != nil && b.Sample != nil {
		refuse(nil, fmt.Sprintf("its batch of %d are samples side by side, and a state is that of one stream", b.Size),
			"export the model with a batch of 1")
	}
	seen := map[*program.Recur]bool{}
	// a step may omit the computations of the last step
	steps, _ := p.StepsBetween(nil, graph.ValueNames(p.Graph.Outputs))
	for _, s := range steps {
		r := s.Recur
		if r == nil || seen[r] {
			continue
		}
		seen[r] = true
		n := p.OriginOf(s.Node)
		for _, scanned := range r.Scanned {
			if scanned.Reverse {
				refuse(n, "it runs from the end of the sequence, which a piece does not have",
					"train it with direction forward, or give whole sequences without --stateful")
				break
			}
		}
		for i := range r.States {
			if p.Known[s.Node.Inputs[i]].Const == nil {
				refuse(n, "its initial state arrives with the data, so it keeps no state",
					"leave --stateful out and feed the last state back, or make the initial state constant")
				break
			}
		}
	}
	for _, s := range steps {
		if s.Dot == nil || !stepsOf(p, seen, p.Known[s.Node.InputName(s.Dot.B)].Const) {
			continue
		}
		refuse(p.OriginOf(s.Node), "it is in a step of a recurrence that is not like the others. So it is no state of "+
			"theirs that the next sample would begin with", "export a loop (Scan, LSTM), or steps that are alike")
		break
	}
	if len(seen) == 0 {
		refuse(nil, "there is no recurrence, so that there is no state to keep", "leave --stateful out")
	}
}

// stepsOf reports whether a constant is among the weights of loops that replace unrolled steps.
func stepsOf(p *program.Program, loops map[*program.Recur]bool, weights *graph.ConstantTensor) bool {
	if weights == nil || len(weights.Shape) < 2 {
		return false
	}
	for _, s := range p.Steps {
		if !loops[s.Recur] || s.Node.Stands == nil {
			continue
		}
		for _, t := range s.Recur.Body.Graph.Init {
			if slices.Equal(t.Shape, weights.Shape) && t.Equal(weights) {
				return true
			}
		}
	}
	return false
}

// onDevice adds errors to d for recurrences that the host would execute, because the host treats each sample
// separately.
func (o Options) onDevice(p *program.Program, low *lower.LoweredProgram, d *diag.List) {
	if !o.Stateful {
		return
	}
	for _, n := range append(before(p, low, inputNames(p)).LoopNodes(), behind(p, low).LoopNodes()...) {
		d.Add(diag.Diag{Severity: diag.SeverityError, Code: diag.StatefulFlagUnfit, Node: n.Label(),
			Op:    n.QualifiedOpName(),
			Where: operators.NodePositionText(p.File, n), Msg: "the host executes it, which handles samples apart",
			Hint: "quantise its input and its gates, or use --engine reference"})
	}
}
