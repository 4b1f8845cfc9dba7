package execution

import (
	"math"

	"hlsgen/frontend/program"
)

// A VisitedRunStates holds states of runs that differ from a common run in some codes. The state after a step consists
// of the changed values that later steps read. Two runs with the same state have the same result.
type VisitedRunStates struct {
	states  map[uint64]bool
	last    map[string]int // the last step that reads each tensor
	changed map[string]uint64
}

// start prepares for a new run of part p. It does nothing if m is nil.
func (m *VisitedRunStates) start(p *ProgramPart) {
	if m == nil {
		return
	}
	if m.states == nil {
		m.states, m.last = map[uint64]bool{}, map[string]int{}
		for k, r := range p.runners {
			for _, in := range r.reads {
				m.last[in] = k
			}
		}
		for _, name := range p.to {
			m.last[name] = len(p.runners)
		}
	}
	m.changed = map[string]uint64{}
}

// before records the state after the step with the given index, of whose output v the elements in changed have changed.
// It returns true if an earlier run had the same state, and always false for a nil m.
func (m *VisitedRunStates) before(step int, tensor string, v *program.Reals, changed []bool) (met bool) {
	if m == nil {
		return false
	}
	sum := mixed(uint64(step)+1, uint64(len(changed)))
	for i, is := range changed {
		if is {
			sum = mixed(mixed(mixed(sum, uint64(i)), math.Float64bits(v.Lo[i])), math.Float64bits(v.Hi[i]))
		}
	}
	m.changed[tensor] = sum
	state := mixed(0, uint64(step))
	for name, of := range m.changed {
		if m.last[name] > step {
			state += of // independent of the order
		}
	}
	met = m.states[state]
	m.states[state] = true
	return met
}

// mixed returns a hash of two numbers.
func mixed(sum, x uint64) uint64 {
	sum = (sum ^ x) * 0x9e3779b97f4a7c15
	sum = (sum ^ sum>>32) * 0xd6e8feb86659fd93
	return sum ^ sum>>29
}
