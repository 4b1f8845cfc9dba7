package circuit_test

import (
	"fmt"

	"hlsgen/internal/circuit"
	"hlsgen/internal/num"
)

// A machine runs a circuit iteration by iteration, without time. Values are at most 64 bits, as in hardware.
type machine struct {
	m      *circuit.Module
	states []uint64
	arrays [][]uint64
}

func newMachine(m *circuit.Module) *machine {
	r := &machine{m: m, states: make([]uint64, len(m.States))}
	for k, s := range m.States {
		r.states[k] = masked(uint64(s.Init), s.Width)
	}
	for _, a := range m.Memories {
		rows := make([]uint64, a.Rows)
		if a.Data != nil {
			elem, data := a.Data()
			for i, row := range data {
				for k, v := range row {
					rows[i] |= elem.Encode(v) << (k * elem.Width)
				}
			}
		}
		r.arrays = append(r.arrays, rows)
	}
	return r
}

func masked(v uint64, width int) uint64 {
	if width >= 64 {
		return v
	}
	return v & (1<<width - 1)
}

// number returns the number that the bits of a node stand for.
func number(n circuit.Node, bits uint64) int64 {
	if n.Signed {
		return num.Type{Kind: num.Int, Width: n.Width}.Decode(bits)
	}
	return int64(bits)
}

// iterate runs an iteration with the given words of the inputs. It returns each output's word, and whether the
// iteration writes it.
func (r *machine) iterate(in ...uint64) (out []uint64, moves []bool, err error) {
	values, err := r.evaluate(in)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range r.m.Out {
		out = append(out, values[s.Word])
		moves = append(moves, values[s.When] == 1)
	}
	for k, s := range r.m.States {
		if values[s.When] == 1 {
			r.states[k] = r.resized(s.Next, s.Width, values)
		}
	}
	for k, a := range r.m.Memories {
		if a.When != circuit.NoNode && values[a.When] == 1 {
			r.arrays[k][values[a.Address]] = values[a.Word]
		}
	}
	return out, moves, nil
}

// resized returns a node's value in the given number of bits.
func (r *machine) resized(id circuit.ID, width int, values []uint64) uint64 {
	return masked(uint64(number(r.m.Nodes[id], values[id])), width)
}

// evaluate returns the bits of every node. It returns an error if a number lies outside its range.
func (r *machine) evaluate(in []uint64) ([]uint64, error) {
	values := make([]uint64, len(r.m.Nodes))
	var later []int // nodes with a state's value after the iteration: nodes before them may depend on them
	for i, n := range r.m.Nodes {
		if n.Op == circuit.OpReadNextState {
			later = append(later, i)
		}
	}
	for pass := 0; pass == 0 || pass < 2 && later != nil; pass++ {
		for i, n := range r.m.Nodes {
			if n.Op != circuit.OpReadNextState {
				values[i] = masked(r.node(n, in, values), n.Width)
			}
		}
		for _, i := range later {
			n := r.m.Nodes[i]
			s := r.m.States[n.K]
			if values[i] = r.states[n.K]; values[s.When] == 1 {
				values[i] = r.resized(s.Next, n.Width, values)
			}
		}
	}
	for i, n := range r.m.Nodes {
		if v := number(n, values[i]); !n.Word && !n.Range.Contains(v) {
			return nil, fmt.Errorf("node %d, operation %d, is %d and not in %v", i, n.Op, v, n.Range)
		}
	}
	return values, nil
}

// gate computes a gate of conditions.
func gate(n circuit.Node, values []uint64) uint64 {
	v := values[n.Args[0]]
	for _, a := range n.Args[1:] {
		switch n.Op {
		case circuit.OpAnd:
			v &= values[a]
		case circuit.OpOr:
			v |= values[a]
		default:
			v ^= values[a]
		}
	}
	return v
}

// node computes a node from the words of the inputs and the values of other nodes.
func (r *machine) node(n circuit.Node, in, values []uint64) uint64 {
	arg := func(i int) uint64 { return r.resized(n.Args[i], n.Width, values) }
	exact := func(i int) int64 { return number(r.m.Nodes[n.Args[i]], values[n.Args[i]]) }
	condition := func(holds bool) uint64 {
		if holds {
			return 1
		}
		return 0
	}
	switch n.Op {
	case circuit.OpConstant:
		return uint64(n.Range.Lo)
	case circuit.OpReadInputStream, circuit.OpArgument:
		return in[n.K]
	case circuit.OpIterationStart:
		return 1
	case circuit.OpAdd:
		return arg(0) + arg(1)
	case circuit.OpSubtract:
		return arg(0) - arg(1)
	case circuit.OpMultiply:
		return uint64(exact(0) * exact(1))
	case circuit.OpAnd, circuit.OpOr, circuit.OpXor:
		return gate(n, values)
	case circuit.OpNot:
		return ^arg(0)
	case circuit.OpLogicTable:
		row := 0
		for i, a := range n.Args {
			row |= int(values[a]) << i
		}
		return n.Table >> row & 1
	case circuit.OpMux:
		if values[n.Args[0]] == 1 {
			return arg(1)
		}
		return arg(2)
	case circuit.OpMuxByIndex:
		return arg(1 + min(int(values[n.Args[0]]), len(n.Args)-2))
	case circuit.OpLess:
		return condition(exact(0) < exact(1))
	case circuit.OpEqual:
		return condition(exact(0) == exact(1))
	case circuit.OpSliceWord:
		return values[n.Args[0]] >> n.K
	case circuit.OpConcatenate:
		v, at := uint64(0), 0
		for _, a := range n.Args {
			v |= values[a] << at
			at += r.m.Nodes[a].Width
		}
		return v
	case circuit.OpShift:
		if n.K > 0 {
			return uint64(exact(0)) << n.K
		}
		return uint64(exact(0) >> -n.K)
	case circuit.OpWrap, circuit.OpNumberBits, circuit.OpDelayOneClock:
		return arg(0)
	case circuit.OpReadState:
		return r.states[n.K]
	case circuit.OpReadMemoryClocked, circuit.OpReadMemoryUnclocked:
		a, rows := r.m.Memories[n.K], uint64(len(r.arrays[n.K]))
		at, stage := values[n.Args[0]]%rows, n.Stage
		if n.Op == circuit.OpReadMemoryClocked {
			stage--
		}
		if a.When != circuit.NoNode && stage > a.Stage && values[a.When] == 1 && values[a.Address]%rows == at {
			return values[a.Word]
		}
		return r.arrays[n.K][at]
	case circuit.OpCallResult:
		c := r.m.Calls[n.Table]
		var pins []uint64
		for _, a := range c.Args {
			pins = append(pins, values[a])
		}
		f := newMachine(c.Function)
		results, err := f.evaluate(pins)
		if err != nil {
			panic(err)
		}
		return results[c.Function.Results[n.K]]
	}
	panic(fmt.Sprintf("operation %d", n.Op))
}

// timed returns an error if an operation takes an operand before it is available.
func timed(m *circuit.Module) error {
	for i, n := range m.Nodes {
		late := 0
		switch n.Op {
		case circuit.OpConstant, circuit.OpReadInputStream, circuit.OpArgument, circuit.OpIterationStart,
			circuit.OpReadState, circuit.OpReadNextState:
			continue
		case circuit.OpDelayOneClock, circuit.OpReadMemoryClocked:
			late = 1
		case circuit.OpMultiply:
			late = circuit.MultiplierLatency
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
		for _, id := range []circuit.ID{s.Next, s.When} {
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
