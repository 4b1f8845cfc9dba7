package rtl

import (
	"fmt"
	"slices"
	"strings"

	"hlsgen/internal/circuit"
	"hlsgen/internal/num"
)

// spell writes all nodes, stage by stage.
func (s *speller) spell() {
	s.open = map[string]bool{}
	s.names, s.inline = make([]string, len(s.m.Nodes)), make([]bool, len(s.m.Nodes))
	s.readers = readers{s.m, make([][]bool, len(s.m.Nodes))}
	s.call()
	for i := range s.m.Nodes {
		s.node(circuit.NodeID(i))
	}
	for k, r := range s.m.States {
		s.state(k, r)
	}
	for k, a := range s.m.Memories {
		if a.Data == nil && a.When != circuit.NoNode {
			s.clock(a.Stage, fmt.Sprintf("if (%s) %s <= %s;", s.whole(a.When), s.row(k, a.Address), s.whole(a.Word)))
		}
	}
}

// literal returns the lowest bits of the number v as a SystemVerilog constant of width bits. v must have no more than
// 128 bits, and no more than 64 if width is at most 64.
func literal(v num.Wide, width int) string {
	if v.Hi == 0 && v.Lo < 1<<31 {
		return fmt.Sprintf("%d'd%d", width, v.Lo)
	}
	if v = v.LowBits(min(width, num.MaxNumberBits), false); width <= num.MaxTypeBits || v.Hi == 0 {
		return fmt.Sprintf("%d'h%x", width, v.Lo)
	}
	return fmt.Sprintf("%d'h%x%016x", width, uint64(v.Hi), v.Lo)
}

// A body holds the statements of each pipeline stage, and the register assignments at its end.
type body struct{ stages, clocks [][]string }

// line adds a statement to a stage.
func (b *body) line(stage int, text string) { put(&b.stages, stage, text) }

// clock adds a register assignment at the end of a stage.
func (b *body) clock(stage int, text string) { put(&b.clocks, stage, text) }

// put appends a text to the list of a stage.
func put(list *[][]string, stage int, text string) {
	for len(*list) <= stage {
		*list = append(*list, nil)
	}
	(*list)[stage] = append((*list)[stage], text)
}

// whole returns the name of a value, and notes that all of its bits are read.
func (s *speller) whole(id circuit.NodeID) string {
	s.use(id, 0, s.m.Nodes[id].Width)
	return s.names[id]
}

// A readers records which bits of each value are read in a module.
type readers struct {
	m    *circuit.Module
	used [][]bool
}

// use records that width bits of a value, from bit low on, are read.
func (r *readers) use(id circuit.NodeID, low, width int) {
	n := r.m.Nodes[id]
	if n.Op == circuit.OpReadStateAfter { // stands for the register
		id = r.m.States[n.K].Node
	}
	if another := alias(r.m, id); another != id {
		r.use(another, low, width)
		return
	}
	if r.used[id] == nil {
		r.used[id] = make([]bool, n.Width)
	}
	for i := range width {
		r.used[id][low+i] = true
	}
}

// read reports whether all bits of a value are read.
func (r *readers) read(id circuit.NodeID) bool {
	return r.used[id] != nil && !slices.Contains(r.used[id], false)
}

// resized returns the expression of a value with width bits, extended by its sign or reduced to its lowest bits.
func (s *speller) resized(id circuit.NodeID, width int) string {
	n := s.m.Nodes[id]
	switch {
	case n.Op == circuit.OpConstant:
		return constant(n.WideRange().Lo, width)
	case n.Width == width:
		return s.whole(id)
	case n.Width < width && n.Signed:
		return fmt.Sprintf("{{%d{%s[%d]}}, %s}", width-n.Width, s.names[id], n.Width-1, s.whole(id))
	case n.Width < width:
		return fmt.Sprintf("{%d'd0, %s}", width-n.Width, s.whole(id))
	}
	return s.slice(id, 0, width)
}

// constant returns the number v as a SystemVerilog expression of width bits.
func constant(v num.Wide, width int) string {
	own := num.MaxTypeBits
	if _, narrow := v.Int64(); !narrow {
		own = num.MaxNumberBits
	}
	if width > own {
		return fmt.Sprintf("{{%d{1'b%d}}, %s}", width-own, v.Bit(own), constant(v, own))
	}
	return literal(v.LowBits(width, width == own), width)
}

// slice returns the expression of width bits of a value, from bit low on.
func (s *speller) slice(id circuit.NodeID, low, width int) string {
	n := s.m.Nodes[id]
	if n.Op == circuit.OpConstant {
		return constant(n.WideRange().Lo.Shifted(-low), width)
	}
	s.use(id, low, width)
	if low == 0 && width == n.Width {
		return s.names[id]
	}
	if width == 1 {
		return fmt.Sprintf("%s[%d]", s.names[id], low)
	}
	return fmt.Sprintf("%s[%d:%d]", s.names[id], low+width-1, low)
}

// show writes the declaration of a node's value in a stage.
func (s *speller) show(stage int, id circuit.NodeID) {
	for len(s.shown) <= stage {
		s.shown = append(s.shown, nil)
	}
	s.shown[stage] = append(s.shown[stage], id)
	s.line(stage, s.declaration(id))
}

// declaration returns the declaration of a node's value.
func (s *speller) declaration(id circuit.NodeID) string {
	n := s.m.Nodes[id]
	return fmt.Sprintf("logic %s[%d:0] %s;", sign(n.Signed), n.Width-1, s.names[id])
}

// node writes the statements of a node.
func (s *speller) node(id circuit.NodeID) {
	n := s.m.Nodes[id]
	name := s.names[id]
	if s.inline[id] {
		return
	}
	switch n.Op {
	case circuit.OpReadInputStream, circuit.OpFunctionArgument, circuit.OpReadStateBefore, circuit.OpReadStateAfter:
		return
	case circuit.OpIterationStart:
		s.show(0, id)
		return
	case circuit.OpDelayOneClock:
		s.show(n.Stage-1, id)
		s.clock(n.Stage-1, fmt.Sprintf("%s <= %s;", name, s.resized(n.Args[0], n.Width)))
		return
	case circuit.OpReadMemoryClocked:
		s.show(n.Stage-1, id)
		s.clock(n.Stage-1, fmt.Sprintf("%s <= %s;", name, s.row(n.K, n.Args[0])))
		return
	case circuit.OpMultiply:
		s.multiply(id)
		return
	case circuit.OpSumOfThree:
		sumOfThree(s, id)
		return
	case circuit.OpCallResult:
		s.result(id)
		return
	case circuit.OpMuxByIndex:
		s.pick(id)
		return
	}
	stage := max(n.Stage, 0)
	s.show(stage, id)
	s.line(stage, fmt.Sprintf("assign %s = %s;", name, s.expression(n)))
}

// row returns the expression of the row of a memory at an address, which gets as many bits as the number of rows needs.
func (s *speller) row(memory int, address circuit.NodeID) string {
	rows := s.m.Memories[memory].Rows
	if rows == 1 && !s.m.Memories[memory].Loaded {
		return s.memory(memory)
	}
	if rows == 1 {
		return s.memory(memory) + "[0]"
	}
	return fmt.Sprintf("%s[%s]", s.memory(memory), s.resized(address,
		num.NarrowestIntTypeFor(num.SingleValueRange(int64(rows-1))).Width))
}

// expression returns the SystemVerilog expression that computes a node from its operands.
func (s *speller) expression(n circuit.Node) string {
	w := n.Width
	arg := func(i, width int) string { return s.resized(n.Args[i], width) }
	switch n.Op {
	case circuit.OpAdd:
		return addend(s, n, 0) + " + " + addend(s, n, 1)
	case circuit.OpSubtract:
		return addend(s, n, 0) + " - " + addend(s, n, 1)
	case circuit.OpAnd:
		return s.chain(n, " & ")
	case circuit.OpOr:
		return s.chain(n, " | ")
	case circuit.OpXor:
		return s.chain(n, " ^ ")
	case circuit.OpNot:
		return "~" + arg(0, 1)
	case circuit.OpLogicTable:
		return s.lookup(n)
	case circuit.OpMuxByCondition:
		return fmt.Sprintf("%s ? %s : %s", arg(0, 1), arg(1, w), arg(2, w))
	case circuit.OpLess, circuit.OpEqual:
		return s.comparison(n)
	case circuit.OpSliceWord:
		return s.slice(n.Args[0], n.K, w)
	case circuit.OpConcatenateWords:
		list := make([]string, len(n.Args))
		for i := range n.Args {
			list[len(list)-1-i] = arg(i, s.m.Nodes[n.Args[i]].Width)
		}
		return "{" + strings.Join(list, ", ") + "}"
	case circuit.OpShiftByConstant:
		return s.shift(n)
	case circuit.OpLowBitsAsNumber, circuit.OpNumberToWord:
		return arg(0, w)
	case circuit.OpReadMemoryUnclocked:
		return s.row(n.K, n.Args[0])
	}
	panic(fmt.Sprintf("rtl: operation %d", n.Op))
}

// addend returns the expression of operand i of a sum or difference. If the node is signed, both operands are made
// signed. Otherwise Yosys puts the signed one on the carry chain, and the chain's LUTs cannot absorb the other one's
// logic.
func addend(s *speller, n circuit.Node, i int) string {
	text, own := s.resized(n.Args[i], n.Width), s.m.Nodes[n.Args[i]]
	if !n.Signed || own.Signed && own.Width == n.Width {
		return text
	}
	return "$signed(" + text + ")"
}

// chain returns the expression that joins the operands of a node, of one bit each, by the operator op.
func (s *speller) chain(n circuit.Node, op string) string {
	list := make([]string, len(n.Args))
	for i, a := range n.Args {
		list[i] = s.resized(a, 1)
	}
	return strings.Join(list, op)
}

// comparison returns the expression of a comparison, with operands extended to a common width, signed if either is.
func (s *speller) comparison(n circuit.Node) string {
	a, b := s.m.Nodes[n.Args[0]], s.m.Nodes[n.Args[1]]
	t := num.NarrowestIntTypeFor(a.Range.Union(b.Range))
	w := max(t.Width, a.Width, b.Width)
	if t.IsSigned() {
		for _, o := range []circuit.Node{a, b} {
			if !o.Signed {
				w = max(w, o.Width+1)
			}
		}
	}
	x, y := s.resized(n.Args[0], w), s.resized(n.Args[1], w)
	switch {
	case n.Op == circuit.OpEqual:
		return x + " == " + y
	case t.IsSigned():
		return "$signed(" + x + ") < $signed(" + y + ")"
	}
	return x + " < " + y
}

// shift returns the expression of a shift by a constant, which is wiring.
func (s *speller) shift(n circuit.Node) string {
	a := s.m.Nodes[n.Args[0]]
	if n.K > 0 {
		if n.Width <= n.K {
			return literal(num.Wide{}, n.Width)
		}
		return fmt.Sprintf("{%s, %d'd0}", s.resized(n.Args[0], n.Width-n.K), n.K)
	}
	low := -n.K
	have := max(1, a.Width-low)
	if low >= a.Width {
		low = a.Width - 1
	}
	if have >= n.Width {
		return s.slice(n.Args[0], low, n.Width)
	}
	return fmt.Sprintf("{{%d{%s[%d]}}, %s}", n.Width-have, s.names[n.Args[0]], a.Width-1, s.slice(n.Args[0], low, have))
}

// pick writes the statements that select one value by its number.
func (s *speller) pick(id circuit.NodeID) {
	n, name := s.m.Nodes[id], s.names[id]
	stage := max(n.Stage, 0)
	index := s.m.Nodes[n.Args[0]]
	s.show(stage, id)
	s.line(stage, fmt.Sprintf("always_comb case (%s)", s.whole(n.Args[0])))
	for i := range n.Args[2:] {
		s.line(stage, fmt.Sprintf("    %s: %s = %s;", literal(num.WideOf(int64(i)), index.Width), name,
			s.resized(n.Args[i+1], n.Width)))
	}
	s.line(stage, fmt.Sprintf("    default: %s = %s;", name, s.resized(n.Args[len(n.Args)-1], n.Width)))
	s.line(stage, "endcase")
}

// multiply writes a multiplication by a device's multiplier, in a module of its own. Synthesis uses multipliers for no
// others.
func (s *speller) multiply(id circuit.NodeID) {
	n, name := s.m.Nodes[id], s.names[id]
	factors, whole := s.m.MultiplierWidthsOfProduct(&n)
	stage := n.Stage - circuit.MultiplierLatencyClocks
	s.show(stage, id)
	s.line(stage, fmt.Sprintf("hlsgen_multiply #(.A(%d), .B(%d), .P(%d), .W(%d)) %s_multiply (.clk(clk), .a(%s), "+
		".b(%s), .product(%s));", factors[0], factors[1], n.Width, whole, name, s.resized(n.Args[0], factors[0]),
		s.resized(n.Args[1], factors[1]), name))
}

// sumOfThree writes an adder of three operands, in a module of its own.
func sumOfThree(s *speller, id circuit.NodeID) {
	n, name := s.m.Nodes[id], s.names[id]
	stage := max(n.Stage, 0)
	s.show(stage, id)
	minus := [2]int{}
	for i := range minus {
		if n.Subtracts(i + 1) {
			minus[i] = 1
		}
	}
	s.line(stage, fmt.Sprintf("hlsgen_add_three #(.W(%d), .T(%d), .MINUS_B(%d), .MINUS_C(%d), .CELL(%d)) %s_three "+
		"(.a(%s), .b(%s), .c(%s), .sum(%s));", n.Width, s.m.TablesOfThree(&n), minus[0], minus[1],
		n.CarryCell(), name, s.resized(n.Args[0], n.Width),
		s.resized(n.Args[1], n.Width), s.resized(n.Args[2], n.Width), name))
}

// result writes the declaration of a result of a call, and with the last result the call itself.
func (s *speller) result(id circuit.NodeID) {
	n, name := s.m.Nodes[id], s.names[id]
	c := s.m.Calls[n.Table]
	s.show(c.Stage, id)
	for i := len(s.m.Nodes) - 1; i >= 0; i-- {
		if o := s.m.Nodes[i]; o.Op == circuit.OpCallResult && o.Table == n.Table {
			if s.names[i] != name {
				return
			}
			break
		}
	}
	var ports []string
	if clocked(c.Function) {
		ports = append(ports, ".clk(clk)")
	}
	for k, a := range c.Args {
		ports = append(ports, fmt.Sprintf(".x%d(%s)", k, s.whole(a)))
	}
	open := false
	for k := range c.Function.Results {
		to := ""
		for i, o := range s.m.Nodes {
			if o.Op == circuit.OpCallResult && o.Table == n.Table && o.K == k {
				to = s.names[i]
			}
		}
		open = open || to == ""
		ports = append(ports, fmt.Sprintf(".y%d(%s)", k, to))
	}
	line := fmt.Sprintf("%s%s call_%d (%s);", s.prefix, c.Function.Name, n.Table, strings.Join(ports, ", "))
	s.open[line] = open
	s.line(c.Stage, line)
}

// state writes the assignment of the register r, the state numbered k.
func (s *speller) state(k int, r circuit.StateRegister) {
	name := s.names[r.Node]
	if r.Next == circuit.NoNode {
		panic("rtl: register " + r.Name + " is never set")
	}
	set := fmt.Sprintf("if (%s) %s <= %s;", s.whole(r.When), name, s.resized(r.Next, r.Width))
	if r.Reset {
		set = fmt.Sprintf("if (rst) %s <= %s; else %s", name,
			constant(r.Init, r.Width), set)
	}
	s.clock(r.Stage, set)
}
