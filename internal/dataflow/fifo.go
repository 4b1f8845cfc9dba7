package dataflow

import "fmt"

// A FIFO holds the words of a stream that its reader has not taken yet. A design fixes it once: the simulator holds
// Depth words, the estimate prices Memory, and the C++ binds it.
type FIFO struct {
	Depth  int    // in words; at least 1
	Memory Memory // MemorySRL, MemoryLUTRAM, MemoryBRAM or MemoryURAM; up to two words of MemorySRL are registers
}

// MaxRegisterFIFOWords is the depth in words up to which a FIFO in shift registers is built of registers.
const MaxRegisterFIFOWords = 2

// NewShiftRegisterFIFOs returns FIFOs of the given depths in words, all in shift registers.
func NewShiftRegisterFIFOs(depths ...int) []FIFO {
	list := make([]FIFO, len(depths))
	for i, d := range depths {
		list[i] = FIFO{d, MemorySRL}
	}
	return list
}

// String returns the name that reports have for the FIFO's memory.
func (f FIFO) String() string {
	if f.Memory == MemorySRL && f.Depth <= MaxRegisterFIFOWords {
		return "registers"
	}
	return f.Memory.String()
}

// verify returns an error if the depth or the memory is none that a FIFO can have.
func (f FIFO) verify() error {
	switch {
	case f.Depth < 1:
		return fmt.Errorf("depth %d", f.Depth)
	case f.Memory == NoMemory || f.Memory > MemorySRL:
		return fmt.Errorf("memory %d", f.Memory)
	}
	return nil
}

// ExtraHostFIFOWords returns the number of words that the hardware of a FIFO that the host writes can hold beyond its
// depth.
func (t Target) ExtraHostFIFOWords() int { return t.Backend.Ports.ExtraWords }

// FIFOCapacityWords returns the number of words that the hardware of stream s's FIFO can hold.
func (d *Design) FIFOCapacityWords(s int) int {
	if writer, _ := d.Model.Graph.WriterOfStream(s); writer < 0 {
		return d.FIFO[s].Depth + d.Target.ExtraHostFIFOWords()
	}
	return d.FIFO[s].Depth
}

// FIFODepthsWords returns the depth of each stream's FIFO in words.
func (d *Design) FIFODepthsWords() []int {
	words := make([]int, len(d.FIFO))
	for s, f := range d.FIFO {
		words[s] = f.Depth
	}
	return words
}
