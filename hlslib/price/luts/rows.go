package luts

import (
	"math/bits"
	"slices"

	"hlsgen/internal/circuit"
)

// row returns the signal of bit k of the node, a row of constants.
func (n *netlist) row(node *circuit.Node, k int) signal {
	t := n.w.contents(node.K)
	address := make([]signal, t.inputs)
	for _, i := range t.addresses() {
		address[i] = n.of(node.Args[0], i)
	}
	truth := t.columns[k].truth
	n.now = purposeConstantTable
	key := node.K<<32 | int(node.Args[0])
	if n.tables[key] == nil {
		n.tables[key] = map[string]signal{}
	}
	return n.look(truth, address, n.tables[key])
}

// places returns the signals of the registers of an array, by row.
func (n *netlist) places(memory int) [][]signal {
	if n.arrays[memory] == nil {
		m := &n.w.m.Memories[memory]
		rows := make([][]signal, m.Rows)
		n.now = purposeMemory
		for r := range rows {
			for range m.Width {
				rows[r] = append(rows[r], n.gates.leaf())
			}
		}
		n.arrays[memory] = rows
	}
	return n.arrays[memory]
}

// chosen returns the signal of bit k of the node, a row of registers that is selected by its address.
func (n *netlist) chosen(node *circuit.Node, k int) signal {
	m := &n.w.m.Memories[node.K]
	var list []signal
	for _, row := range n.places(node.K) {
		list = append(list, row[k])
	}
	return n.at(list, addressed(n, node.Args[0], m.Rows))
}

// addressed returns the bits of the address id that distinguish the given number of rows.
func addressed(n *netlist, id circuit.NodeID, rows int) (list []signal) {
	for k := range bits.Len(uint(rows - 1)) {
		list = append(list, n.of(id, k))
	}
	return list
}

// at returns the signal of the list that the number address selects.
func (n *netlist) at(list, address []signal) signal {
	n.now = purposeMemory
	list = slices.Clone(list)
	for i := 0; len(list) > 1; i++ {
		for r := 0; r < len(list); r += 2 {
			list[r/2] = list[r]
			if r+1 < len(list) {
				list[r/2] = n.mux(address[i], list[r+1], list[r])
			}
		}
		list = list[:(len(list)+1)/2]
	}
	return list[0]
}

// bankRows is the number of rows of a memory in LUTs of four inputs; longer memories are banks of these.
const bankRows = 16

func banks(rows int) int { return (rows + bankRows - 1) / bankRows }

// fromBanks returns the signal of a bit of a row of a memory in LUTs, selected among its banks.
func fromBanks(n *netlist, rows int, address []signal) signal {
	n.now = purposeMemory
	var list []signal
	for range banks(rows) {
		list = append(list, n.gates.leaf())
	}
	return n.at(list, address[min(len(address), bits.Len(bankRows-1)):])
}

// side returns the signal of a bit of a word of a memory in block RAM, selected among its banks.
func side(n *netlist, memory int, b bit) signal {
	count := sides(n.w, memory)
	if count == 1 {
		return n.from(b)
	}
	n.now = purposeMemory
	if n.which[memory] == nil {
		for range bits.Len(uint(count - 1)) {
			n.which[memory] = append(n.which[memory], n.gates.leaf())
		}
	}
	var list []signal
	for range count {
		list = append(list, n.gates.leaf())
	}
	return n.at(list, n.which[memory])
}

// choosing adds the write enables of count rows, or banks, and marks them as read. Each one holds if the condition when
// holds and the address is that of its row.
func choosing(n *netlist, count int, when signal, address []signal) {
	n.now = purposeMemory
	for r := range count {
		is := []signal{when}
		for i, s := range address {
			is = append(is, s.when(r>>i&1 == 0))
		}
		n.end(n.all(is))
	}
}
