package rtl

import (
	"fmt"

	"hlsgen/internal/circuit"
)

// Values have names for readers of the hardware. A layer names the values with a meaning; all others are named after
// their origin. Element 3 of weights_row is weights_row_3, and a sum is sum_12.

// longest is the length of the longest name that is derived from the name of another value.
const longest = 32

// made holds the names of values without a better one, by operation. Numbers are appended.
var made = map[circuit.Operation]string{
	circuit.OpAdd: "sum", circuit.OpSubtract: "difference", circuit.OpSumOfThree: "sum",
	circuit.OpMultiply: "product", circuit.OpAnd: "all",
	circuit.OpOr: "any", circuit.OpXor: "odd", circuit.OpNot: "not", circuit.OpLogicTable: "lut",
	circuit.OpMuxByCondition: "choice",
	circuit.OpMuxByIndex:     "pick", circuit.OpLess: "less", circuit.OpEqual: "equal", circuit.OpSliceWord: "part",
	circuit.OpConcatenateWords: "joined",
	circuit.OpShiftByConstant:  "shifted", circuit.OpLowBitsAsNumber: "low", circuit.OpNumberToWord: "bits",
	circuit.OpDelayOneClock: "delayed", circuit.OpReadMemoryClocked: "row",
	circuit.OpReadMemoryUnclocked: "row", circuit.OpCallResult: "result",
}

// call gives all values names.
func (s *speller) call() {
	taken := map[string]bool{"clk": true, "rst": true}
	for _, a := range s.m.Memories {
		taken[a.Name] = true
	}
	next := map[string]int{}
	numbered := func(name string) string {
		for {
			text := fmt.Sprintf("%s_%d", name, next[name])
			if next[name]++; !taken[text] {
				taken[text] = true
				return text
			}
		}
	}
	own := func(name string) string {
		if taken[name] {
			return numbered(name)
		}
		taken[name] = true
		return name
	}
	for _, r := range s.m.States {
		s.names[r.Node] = own(r.Name)
	}
	for i, n := range s.m.Nodes {
		id := circuit.NodeID(i)
		switch another := alias(s.m, id); {
		case n.Op == circuit.OpReadInputStream:
			s.names[i] = s.m.In[n.K].Name + "_word"
		case n.Op == circuit.OpFunctionArgument:
			s.names[i] = fmt.Sprint("x", n.K)
		case n.Op == circuit.OpReadStateAfter:
			s.names[i] = s.names[s.m.States[n.K].Node]
		case n.Op == circuit.OpReadStateBefore:
		case n.Op == circuit.OpConstant:
			s.names[i], s.inline[i] = literal(n.WideRange().Lo, n.Width), true
		case another != id:
			s.names[i], s.inline[i] = s.names[another], true
		case n.Name != "":
			s.names[i] = own(n.Name)
		default:
			if name := madeOf(s, n); name != "" {
				s.names[i] = own(name)
			} else {
				s.names[i] = numbered(made[n.Op])
			}
		}
	}
}

// alias returns the value to which id is equal bit by bit, or id itself if there is none.
func alias(m *circuit.Module, id circuit.NodeID) circuit.NodeID {
	for {
		n := m.Nodes[id]
		if n.Op != circuit.OpLowBitsAsNumber && n.Op != circuit.OpNumberToWord && n.Op != circuit.OpSliceWord ||
			n.Name != "" {
			return id
		}
		a := m.Nodes[n.Args[0]]
		if a.Op == circuit.OpConstant || a.Width != n.Width || a.Signed != n.Signed || n.Op == circuit.OpSliceWord &&
			n.K != 0 {
			return id
		}
		id = n.Args[0]
	}
}

// madeOf derives a name for elements of words, rows of tables, and values some clocks later. It returns "" if there
// is no such name, or if it is too long.
func madeOf(s *speller, n circuit.Node) (name string) {
	switch n.Op {
	case circuit.OpSliceWord:
		if n.K%n.Width != 0 {
			return ""
		}
		name = fmt.Sprintf("%s_%d", s.names[n.Args[0]], n.K/n.Width)
	case circuit.OpLowBitsAsNumber, circuit.OpNumberToWord:
		name = s.names[n.Args[0]] + "_" + made[n.Op]
	case circuit.OpDelayOneClock:
		root := n.Args[0]
		for s.m.Nodes[root].Op == circuit.OpDelayOneClock {
			root = s.m.Nodes[root].Args[0]
		}
		name = fmt.Sprintf("%s_at_%d", s.names[root], n.Stage)
	case circuit.OpReadMemoryClocked, circuit.OpReadMemoryUnclocked:
		name = s.m.Memories[n.K].Name + "_row"
	case circuit.OpCallResult:
		name = fmt.Sprintf("%s_%d", s.m.Calls[n.Table].Function.Name, n.K)
	}
	if len(n.Args) > 0 && s.m.Nodes[n.Args[0]].Op == circuit.OpConstant || len(name) > longest {
		return ""
	}
	return name
}
