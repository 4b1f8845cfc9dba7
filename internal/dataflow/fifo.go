package dataflow

import "fmt"

// A FIFO is where the words of a stream wait. It is decided once for a design: the simulator holds Depth words, the
// estimate prices Memory, the C++ binds it.
type FIFO struct {
	Depth  int    // words; at least 1
	Memory Memory // SRL, LUTRAM, BRAM or URAM; up to two words of SRL are registers
}

// Shallow is the depth up to which a FIFO of SRL is registers.
const Shallow = 2

// ShiftRegisters are FIFOs of these depths in shift registers.
func ShiftRegisters(depths ...int) []FIFO {
	list := make([]FIFO, len(depths))
	for i, d := range depths {
		list[i] = FIFO{d, SRL}
	}
	return list
}

// String is the memory as a report calls it.
func (f FIFO) String() string {
	if f.Memory == SRL && f.Depth <= Shallow {
		return "registers"
	}
	return f.Memory.String()
}

func (f FIFO) verify() error {
	switch {
	case f.Depth < 1:
		return fmt.Errorf("depth %d", f.Depth)
	case f.Memory == NoMemory || f.Memory > SRL:
		return fmt.Errorf("memory %d", f.Memory)
	}
	return nil
}

// Ahead is how many words more the hardware of a FIFO that the host writes has room for: in circuits one, for the
// host's word is there a clock after room for it was seen.
func (t Target) Ahead() int {
	if t.Stalls == Credit {
		return 1
	}
	return 0
}

// Places is how many words the hardware of a stream's FIFO has room for.
func (d *Design) Places(s int) int {
	if writer, _ := d.Model.Graph.Writer(s); writer < 0 {
		return d.FIFO[s].Depth + d.Target.Ahead()
	}
	return d.FIFO[s].Depth
}

// Depths is the words that each stream's FIFO holds.
func (d *Design) Depths() []int {
	words := make([]int, len(d.FIFO))
	for s, f := range d.FIFO {
		words[s] = f.Depth
	}
	return words
}
