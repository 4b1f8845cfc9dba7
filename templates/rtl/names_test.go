package rtl

import (
	"slices"
	"testing"

	"hlsgen/internal/circuit"
	"hlsgen/internal/num"
)

// TestNames checks the names of values. Elements of words, rows of tables, and values some clocks later are named after
// these; all others after their operation. No two have the same name, unless they are the same bits.
func TestNames(t *testing.T) {
	t.Parallel()
	m := &circuit.Module{Name: "m", Nodes: []circuit.Node{
		{Op: circuit.OpIterationStart, Width: 1, Name: "fire"},
		{Op: circuit.OpReadInputStream, Width: 8, Word: true},
		{Op: circuit.OpSliceWord, Args: []circuit.NodeID{1}, Width: 4, K: 4, Word: true},
		{Op: circuit.OpLowBitsAsNumber, Args: []circuit.NodeID{2}, Width: 4},               // the same bits
		{Op: circuit.OpLowBitsAsNumber, Args: []circuit.NodeID{2}, Width: 4, Signed: true}, // with a sign
		{Op: circuit.OpSliceWord, Args: []circuit.NodeID{1}, Width: 4, K: 1, Word: true},   // no element
		{Op: circuit.OpAdd, Args: []circuit.NodeID{3, 4}, Width: 5},
		{Op: circuit.OpAdd, Args: []circuit.NodeID{4, 4}, Width: 5},
		{Op: circuit.OpAdd, Args: []circuit.NodeID{4, 3}, Width: 5, Name: "sum_2"},
		{Op: circuit.OpAdd, Args: []circuit.NodeID{3, 3}, Width: 5},
		{Op: circuit.OpDelayOneClock, Args: []circuit.NodeID{6}, Width: 5, Stage: 1},
		{Op: circuit.OpDelayOneClock, Args: []circuit.NodeID{10}, Width: 5, Stage: 2},
		{Op: circuit.OpReadMemoryClocked, Args: []circuit.NodeID{2}, Width: 4, Stage: 1},
		{Op: circuit.OpConstant, Width: 3, Range: num.SingleValueRange(5)},
	}, In: []circuit.StreamPort{{Name: "in0", Width: 8}}, Memories: []circuit.RowMemory{{Name: "weights", Rows: 16}}}
	s := &speller{m: m}
	s.names, s.inline = make([]string, len(m.Nodes)), make([]bool, len(m.Nodes))
	s.call()
	want := []string{"fire", "in0_word", "in0_word_1", "in0_word_1", "in0_word_1_low", "part_0", "sum_0", "sum_1",
		"sum_2", "sum_3", "sum_0_at_1", "sum_0_at_2", "weights_row", "3'd5"}
	if !slices.Equal(s.names, want) {
		t.Errorf("%q, want %q", s.names, want)
	}
}
