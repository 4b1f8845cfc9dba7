package circuit_test

import (
	"fmt"
	"slices"
	"testing"

	"hlsgen/internal/circuit"
)

// iterate runs an iteration with the given words of at most 64 bits. It returns each output's word, and whether the
// iteration writes it.
func iterate(r *circuit.Machine, m *circuit.Module, in ...uint64) (out []uint64, moves []bool, err error) {
	var words [][]uint64
	for _, w := range in {
		words = append(words, []uint64{w})
	}
	for len(words) < len(m.In) {
		words = append(words, nil)
	}
	lacks, err := r.Iterate(words)
	if err == nil && lacks >= 0 {
		err = fmt.Errorf("input %d lacks a word", lacks)
	}
	for k := range m.Out {
		if err != nil {
			return nil, nil, err
		}
		w := r.WrittenWord(k)
		out, moves = append(out, slices.Concat(w, []uint64{0})[0]), append(moves, w != nil)
	}
	return out, moves, err
}

// newMachine returns a machine for a circuit.
func newMachine(t *testing.T, m *circuit.Module) *circuit.Machine {
	t.Helper()
	r, err := circuit.NewMachine(m)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// timed returns an error if an operation takes an operand before it is available.
func timed(m *circuit.Module) error {
	for i, n := range m.Nodes {
		late := 0
		switch n.Op {
		case circuit.OpConstant, circuit.OpReadInputStream, circuit.OpFunctionArgument, circuit.OpIterationStart,
			circuit.OpReadStateBefore, circuit.OpReadStateAfter:
			continue
		case circuit.OpDelayOneClock, circuit.OpReadMemoryClocked:
			late = 1
		case circuit.OpMultiply:
			late = circuit.MultiplierLatencyClocks
		}
		args := n.Args
		if n.Op == circuit.OpCallResult {
			c := m.Calls[n.Table]
			late, args = c.Function.Stages, c.Args
			if err := timed(c.Function); err != nil {
				return fmt.Errorf("function %s: %w", c.Function.Name, err)
			}
		}
		for _, a := range args {
			if int(a) >= i {
				return fmt.Errorf("node %d takes node %d", i, a)
			}
			if s := m.Nodes[a].Stage; s != circuit.ConstantStage && s+late != n.Stage {
				return fmt.Errorf("node %d, operation %d, of stage %d takes one of stage %d", i, n.Op, n.Stage, s)
			}
		}
	}
	for _, s := range m.States {
		for _, id := range []circuit.NodeID{s.Next, s.When} {
			if at := m.Nodes[id].Stage; at != circuit.ConstantStage && at != s.Stage {
				return fmt.Errorf("state %s of stage %d takes what is there at %d", s.Name, s.Stage, at)
			}
		}
	}
	for k, s := range m.Out {
		if at := m.Nodes[s.Word].Stage; at != s.Stage || m.Nodes[s.Moves].Stage != s.Stage || m.Latency != s.Stage+1 {
			return fmt.Errorf("output %d of stage %d is there at %d, latency %d", k, s.Stage, at, m.Latency)
		}
	}
	return nil
}
