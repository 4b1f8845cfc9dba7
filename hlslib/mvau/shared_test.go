package mvau_test

import (
	"reflect"
	"slices"
	"testing"

	"hlsgen/hlslib/mvau"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/tier"
)

// alike returns layers whose functions take words of the same widths and differ in one thing: the sign of an input
// whose range is the same, or how products are rounded.
func alike(*testing.T) (cases []layertest.Case) {
	for _, elem := range []num.Type{intN(4), uintN(4)} {
		in := typ(elem, 4)
		in.Range = []num.Range{{Lo: 0, Hi: 7}}
		cases = append(cases, layertest.Case{Name: elem.String(), In: []dataflow.StreamType{in},
			Op: mvau.New(mvau.Params{Weights: [][]int64{{3, -2, 1, 0}, {1, 1, -3, 2}}})})
	}
	for _, mode := range []num.Rounding{num.RoundingHalfEven, num.RoundingHalfUp, num.RoundingFloor} {
		cases = append(cases, layertest.Case{Name: string(mode), In: []dataflow.StreamType{typ(intN(4), 4)},
			Op: mvau.New(mvau.Params{Weights: [][]int64{{3, -2, 1, 0}, {1, 1, -3, 2}},
				Product: &num.Requant{Multiplier: 1, Shift: 1, Mode: mode, Lo: -8, Hi: 7}})})
	}
	return cases
}

// TestSharedFunctions checks that circuits are the same whether layers share functions or each has its own. The key of
// a function that lacks something gives one layer the function of another.
func TestSharedFunctions(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	library, calls := new(circuit.FunctionLibrary), 0
	for _, list := range []func(*testing.T) []layertest.Case{alike, layers, floats, groups, lanes, packed, loaded} {
		const most = 24 // layers of a list
		cases := list(t)
		for i := 0; i < len(cases); i += (len(cases) + most - 1) / most {
			c := cases[i]
			op := layertest.Bind(t, c.Op, c.In...).(dataflow.HasCircuit)
			target := dataflow.Target{Board: c.Board, ClockMHz: 200, AccPerPE: c.PerPE,
				Backend: dataflow.BackendRTL}
			for f := range op.(dataflow.Op).Folds() {
				if f.Memory != dataflow.MemoryLUTRAM || f.SIMD == 1 {
					continue
				}
				target.Functions = nil
				own := op.Circuit(f, target)
				target.Functions = library
				shared := op.Circuit(f, target)
				if !reflect.DeepEqual(content(own), content(shared)) {
					t.Fatalf("%s %+v: the circuit with shared functions is another one", c.Name, f)
				}
				calls += len(own.Calls)
			}
		}
	}
	if calls < 1000 {
		t.Errorf("only %d calls", calls)
	}
}

// A moduleContent holds all of a circuit that decides what hardware it is. Two circuits are equal if these are.
type moduleContent struct {
	nodes    []circuit.Node
	in, out  []circuit.StreamPort
	states   []circuit.StateRegister
	memories []circuit.RowMemory
	results  []circuit.NodeID
	latency  int
	calls    []callContent
}

// A callContent holds the same of a call, with the content of its function.
type callContent struct {
	name     string
	args     []circuit.NodeID
	stage    int
	function moduleContent
}

// content returns the content of a circuit, without rows of tables and without facts that users have found out.
func content(m *circuit.Module) moduleContent {
	c := moduleContent{m.Nodes, m.In, m.Out, m.States, slices.Clone(m.Memories), m.Results, m.Latency, nil}
	for i := range c.memories { // the rows are those of the layer
		c.memories[i].Data, c.memories[i].Known = nil, nil
	}
	for _, call := range m.Calls {
		c.calls = append(c.calls, callContent{call.Function.Name, call.Args, call.Stage, content(call.Function)})
	}
	return c
}
