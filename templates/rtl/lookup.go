package rtl

import (
	"fmt"
	"slices"
	"strings"

	"hlsgen/internal/circuit"
)

// A table is a Boolean function of several operands. Bit n of it is the result for operands that form the number n, the
// first operand lowest.
type table struct {
	operands int
	bits     uint64
}

// macro returns the name of the SystemVerilog macro for a table.
func (t table) macro() string {
	return fmt.Sprintf("hlsgen_lut%d_%0*x", t.operands, 1<<t.operands/4, t.bits)
}

// lookup returns the SystemVerilog expression of a lookup, the bit of a table for each combination of operands. It uses
// a macro if the table is no simple chain of operations.
func (s *speller) lookup(n circuit.Node) string {
	list := make([]string, len(n.Args))
	for i, a := range n.Args {
		if list[i] = s.whole(a); strings.Contains(list[i], " ") {
			list[i] = "(" + list[i] + ")"
		}
	}
	text := looked(n.Table, list)
	if !strings.Contains(text, "?") {
		return text
	}
	t := table{len(list), n.Table & (1<<(1<<len(list)) - 1)}
	if !slices.Contains(s.tables, t) {
		s.tables = append(s.tables, t)
	}
	return fmt.Sprintf("`%s(%s)", t.macro(), strings.Join(list, ", "))
}

// definitions returns the macros of a module's tables. A table is spelled as nested choices, which synthesis turns into
// a LUT. An index into a constant would cost Yosys a megabyte each. Verilator gets an index, because it makes a
// statement of every choice.
func definitions(tables []table) string {
	var bits, choices strings.Builder
	for _, t := range tables {
		list := make([]string, t.operands)
		for i := range list {
			list[i] = string(rune('a' + i))
		}
		head := fmt.Sprintf("`define %s(%s)", t.macro(), strings.Join(list, ", "))
		fmt.Fprintf(&choices, "%s (%s)\n", head, looked(t.bits, list))
		slices.Reverse(list)
		fmt.Fprintf(&bits, "%s 1'(%d'h%x >> {%s})\n", head, 1<<t.operands, t.bits, strings.Join(list, ", "))
	}
	if len(tables) == 0 {
		return ""
	}
	return "`ifdef VERILATOR\n" + bits.String() + "`else\n" + choices.String() + "`endif\n"
}

// looked returns the expression for the bit of a table that one-bit operands select. The last operand selects a half.
func looked(table uint64, operands []string) string {
	n := len(operands)
	all := uint64(1)<<(1<<n) - 1
	if table &= all; table == 0 || table == all {
		return fmt.Sprintf("1'd%d", table&1)
	}
	half, x := uint64(1)<<(n-1), operands[n-1]
	most := uint64(1)<<half - 1
	low, high := table&most, table>>half
	part := func(table uint64) string {
		text := looked(table, operands[:n-1])
		if strings.ContainsAny(text, "&|^?") {
			text = "(" + text + ")"
		}
		return text
	}
	switch {
	case low == high:
		return looked(low, operands[:n-1])
	case low == 0 && high == most:
		return x
	case low == most && high == 0:
		return "~" + x
	case low == 0:
		return x + " & " + part(high)
	case high == 0:
		return "~" + x + " & " + part(low)
	case low == most:
		return "~" + x + " | " + part(high)
	case high == most:
		return x + " | " + part(low)
	case low == high^most:
		return x + " ^ " + part(low)
	}
	return x + " ? " + part(high) + " : " + part(low)
}
