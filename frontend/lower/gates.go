package lower

import (
	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/unmapped"
)

// realGates refuses a cell whose gates are real numbers, once for all of its outputs.
func realGates(s *state, step *graph.Step) (bool, *unmapped.Reason) {
	if step.Recur == nil || !step.Recur.RealGates {
		return false, nil
	}
	s.failed[step.Output] = true
	if !s.rejected[step.Node.Index] {
		s.rejected[step.Node.Index] = true
		s.d.Add(graph.FormatsNeeded(s.prog, step))
	}
	return true, nil
}
