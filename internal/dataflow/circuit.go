package dataflow

import (
	"fmt"

	"hlsgen/boards"
	"hlsgen/hlslib/delay"
	"hlsgen/internal/circuit"
	"hlsgen/internal/num"
)

// Circuited is implemented by bound layers that have RTL. Which words an iteration moves is what Loop says of the same
// fold and target; the latency that Loop says is the circuit's where the target's stall rule is Credit.
type Circuited interface {
	Circuit(Fold, Target) *circuit.Module
}

// Rate is what a stage of the target's clock holds of a circuit. The delays are guesses: a lookup table with wires of
// the usual length.
func (t Target) Rate() circuit.Rate {
	rate := circuit.Rate{LUT: 600, Carry: 15, Inputs: 6}
	switch {
	case t.Board.Family == boards.ICE40U:
		rate = circuit.Rate{LUT: 3000, Carry: 280, Inputs: 4}
	case t.Board.Family == boards.ECP5:
		rate = circuit.Rate{LUT: 900, Carry: 50, Inputs: 4}
	case t.Board.DSPType == string(delay.Series7):
		rate.LUT, rate.Carry = 900, 30
	case t.Board.DSPType == string(delay.Versal):
		rate.LUT = 500
	}
	if !t.Board.StoresInLUTs() {
		rate.BlockBits = boards.BlockBits
	}
	rate.Stage = max(2*rate.LUT, int(1000*t.Delays().Budget()))
	return rate
}

// StyleOf is where a circuit has a layer's storage of that name.
func StyleOf(list []Storage, name string) circuit.Style {
	return Instance{Storage: list}.StorageOf(name).Style()
}

// Style is where a circuit has such a storage.
func (s Storage) Style() circuit.Style {
	switch s.In {
	case BRAM:
		return circuit.Block
	case URAM:
		return circuit.Ultra
	case Registers:
		return circuit.Registers
	}
	return circuit.Distributed
}

// Circuit is a table where its storage says, one for each bank. The table itself is asked for when it is written, or
// where it has one row.
func (s Storage) Circuit(b *circuit.Builder, table func() Table) []circuit.Table {
	list := make([]circuit.Table, s.Arrays())
	for k := range list {
		name := s.Name
		if len(list) > 1 {
			name = fmt.Sprintf("%s_%03d", s.Name, k)
		}
		list[k] = b.Constants(name, s.Style(), s.Width, s.Rows, func() (num.Type, [][]int64) {
			t := table()
			return t.Elem, t.Rows[k*s.Rows : (k+1)*s.Rows]
		})
	}
	return list
}

// Circuit is the table where its storage says, one for each bank.
func (t Table) Circuit(b *circuit.Builder, s Storage) []circuit.Table {
	return s.Circuit(b, func() Table { return t })
}
