package dataflow

import (
	"hlsgen/hlslib/delay"
	"hlsgen/internal/circuit"
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
	switch delay.Family(t.Board.DSPType) {
	case delay.Series7:
		rate.LUT, rate.Carry = 900, 30
	case delay.Versal:
		rate.LUT = 500
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

// Circuit is the table where its storage says, one for each bank.
func (t Table) Circuit(b *circuit.Builder, s Storage) []circuit.Table {
	banks := max(1, t.Banks)
	rows := len(t.Rows) / banks
	list := make([]circuit.Table, banks)
	for k := range list {
		name := t.Name
		if banks > 1 {
			name += "_" + string(rune('0'+k/100%10)) + string(rune('0'+k/10%10)) + string(rune('0'+k%10))
		}
		list[k] = b.Table(name, s.Style(), t.Elem, len(t.Rows[0]), rows,
			func() [][]int64 { return t.Rows[k*rows : (k+1)*rows] })
	}
	return list
}
