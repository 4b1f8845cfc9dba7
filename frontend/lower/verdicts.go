package lower

import (
	"errors"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
)

// A verdicts collects the diagnostics of steps that have no layer.
type verdicts struct {
	d        *diag.List
	file     string
	failed   map[string]bool // tensors that depend on reported steps
	rejected map[int]bool    // ONNX node indices
	unroll   map[int]bool    // ONNX node indices of loops that may be unrolled
	split    map[string][][]int
	ahead    map[string]bool // codes that may be computed in front of a movement
}

func newVerdicts(file string, d *diag.List) verdicts {
	return verdicts{d: d, file: file, failed: map[string]bool{}, rejected: map[int]bool{}, unroll: map[int]bool{},
		split: map[string][][]int{}, ahead: map[string]bool{}}
}

func (v *verdicts) report(step *program.Step, rule string, reject error) {
	var why *unmapped.Reason
	if !errors.As(reject, &why) {
		panic(reject)
	}
	v.failed[step.Output] = true
	for _, index := range step.Node.FileNodeIndices() {
		v.rejected[index] = true
	}
	v.d.Add(diag.Diag{Severity: diag.SeverityError, Code: why.Code, Node: step.Node.Label(),
		Op:    step.Node.QualifiedOpName(),
		Where: operators.NodePositionText(v.file, step.Node) + ", rule " + rule, Msg: why.Msg, Hint: why.Hint})
}

// realGates is the rule for cells whose gates are real numbers, which it refuses. It reports a cell once, not for each
// output.
func realGates(l *lowering, step *program.Step) (bool, error) {
	if step.Recur == nil || step.Recur.RealGates == nil {
		return false, nil
	}
	l.failed[step.Output] = true
	if !l.rejected[step.Node.Index] {
		l.rejected[step.Node.Index] = true
		l.d.Add(operators.NewCellFormatsNeededDiag(l.AnalysedProgram.Program, step))
	}
	return true, nil
}

// lost reports whether no output of the model depends on any input.
func (l *lowering) lost() bool {
	return !slices.ContainsFunc(l.Graph.Outputs, func(o graph.ValueInfo) bool {
		return l.Known[o.Name].Const == nil && !l.IsInexactConstant(o.Name)
	})
}

// minifloats reports the minifloat quantisers of a model without integer layers, and returns true if there are any.
// Package canon has converted all other quantisers to codes.
func (l *lowering) minifloats() (found bool) {
	for _, step := range l.Steps {
		if n := step.Node; operators.HasTrait(n, operators.TraitMinifloatQuantiser) {
			found = true
			l.d.Add(diag.Diag{Severity: diag.SeverityError, Code: diag.OpUnsupported, Node: n.Label(),
				Op:    n.QualifiedOpName(),
				Where: operators.NodePositionText(l.file, n), Msg: "its values are whole numbers of more than 32 bits",
				Hint: "use a minifloat of fewer exponent bits, or execute the model with hlsgen simulate --engine " +
					"reference"})
		}
	}
	return found
}
