package layertest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/hlslib"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// altered is a layer whose circuit has a defect.
type altered struct {
	dataflow.Op
	alter func(*circuit.Module)
}

func (o altered) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	m := o.Op.(dataflow.HasCircuit).Circuit(f, t)
	o.alter(m)
	return m
}

// alterations returns the defects of a circuit, by kind and place: operands that change places, a state that keeps its
// value, a memory that is read or written a row too far.
func alterations(m *circuit.Module) map[string]func(*circuit.Module) {
	list := map[string]func(*circuit.Module){}
	for i, n := range m.Nodes {
		switch n.Op {
		case circuit.OpSubtract, circuit.OpLess, circuit.OpMuxByCondition:
			list[fmt.Sprint("operands of ", n.Op, i)] = func(m *circuit.Module) {
				args := slices.Clone(m.Nodes[i].Args)
				last := len(args) - 1
				args[last], args[last-1] = args[last-1], args[last]
				m.Nodes[i].Args = args
			}
		case circuit.OpReadMemoryClocked, circuit.OpReadMemoryUnclocked:
			list[fmt.Sprint("row of ", i)] = func(m *circuit.Module) {
				m.Nodes[i].Args = []circuit.NodeID{next(m, m.Nodes[i].Args[0])}
			}
		}
	}
	for k, s := range m.States {
		list["state "+s.Name] = func(m *circuit.Module) { m.States[k].Next = m.States[k].Node }
	}
	for k, a := range m.Memories {
		if a.When != circuit.NoNode {
			list["row written to "+a.Name] = func(m *circuit.Module) {
				m.Memories[k].Address = next(m, m.Memories[k].Address)
			}
		}
	}
	return list
}

// next adds a node for the number after another one.
func next(m *circuit.Module, id circuit.NodeID) circuit.NodeID {
	one, n := m.Nodes[id], m.Nodes[id]
	one.Op, one.Range, one.Width, one.Signed, one.Args = circuit.OpConstant, num.SingleValueRange(1), 1, false, nil
	n.Op, n.Range.Lo, n.Range.Hi, n.Width = circuit.OpAdd, n.Range.Lo+1, n.Range.Hi+1, n.Width+1
	n.Args = []circuit.NodeID{id, circuit.NodeID(len(m.Nodes))}
	m.Nodes = append(m.Nodes, one, n)
	return circuit.NodeID(len(m.Nodes) - 1)
}

// TestCircuitMutants checks that the contract finds a defect of every kind, at every place, in circuits with
// accumulators, tables, arrays and counters.
func TestCircuitMutants(t *testing.T) {
	t.Parallel()
	r, image := rand.New(rand.NewPCG(5, 5)), FullType(Int(4), 4, 4, 2)
	for kind, c := range map[string]struct {
		params string
		in     dataflow.StreamType
	}{
		"MVAU":      {`{"weights":[[1,-2,3,0],[-1,2,2,-3]]}`, FullType(Int(4), 3, 4)},
		"Reorder":   {`{"block":4,"chunk":1,"order":[3,0,2,1],"shape":[4,4]}`, FullType(Int(4), 4, 4)},
		"FMPadding": {`{"before":[1,1],"after":[0,1],"between":[0,0],"code":0}`, image},
		"Pool":      {`{"op":"max"}`, FullType(Int(4), 40, 4, 2)},
	} {
		at := slices.IndexFunc(hlslib.LayerKinds, func(k dataflow.LayerKind) bool { return k.Name == kind })
		if at < 0 {
			t.Errorf("there is no %s", kind)
			continue
		}
		op, err := hlslib.LayerKinds[at].Decode([]byte(c.params))
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		b := &bound{Case: Case{Name: kind, Op: op, In: []dataflow.StreamType{c.in}}}
		if b.op, b.out, err = op.Bind(b.In); err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		for n := range frames {
			b.frames = append(b.frames, frame(r, b.In, n))
		}
		if err := b.checkEval(); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		right := b.op
		for f := range right.Folds() {
			target := b.target()
			target.Backend = dataflow.BackendRTL
			b.op = right
			if err := b.runCircuit(f, true); err != nil {
				t.Errorf("%s, fold %+v: %v", kind, f, err)
			}
			for what, alter := range alterations(right.(dataflow.HasCircuit).Circuit(f, target)) {
				b.op = altered{right, alter}
				if err := b.runCircuit(f, true); err == nil {
					t.Errorf("%s, fold %+v, %s: nothing is found", kind, f, what)
				}
			}
		}
	}
}
