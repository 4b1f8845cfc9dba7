package execution

import (
	"math"

	"hlsgen/frontend/program"
)

// A VisitedStates records states of runs that differ from a common run in some codes. The state after a step consists
// of the changed values that later steps read. Two runs with the same state have the same result.
type VisitedStates struct {
	states  map[uint64]bool
	last    map[string]int // the last step that reads each tensor
	changed map[string]uint64
}

// start prepares for a new run of part p. A nil m remembers nothing.
func (m *VisitedStates) start(p *ProgramPart) {
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

// before records the state after a step of the given index whose output has changed as changed says. It returns true if
// an earlier run had the same state. A nil m never has.
func (m *VisitedStates) before(step int, tensor string, v *program.Reals, changed []bool) (met bool) {
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
