package dataflow

import (
	"fmt"
	"slices"
)

// A Storage is a memory of a layer: a table, or an array of its kernel. A layer lists its memories once. Cost prices
// each in its memory, and the C++ binds it there.
type Storage struct {
	Name    string // the name of the Table, or of the array in the kernel
	Part    string // the part of the Cost that contains it, with other memories only
	Rows    int    // 0 if the kernel has the array only in other folds
	Width   int    // in bits, of a row
	Written bool   // whether it is an array, with a row written and a row read per clock; if not, it is a table
	In      Memory // one of those that Verify allows
	Banks   int    // for a table: the number of arrays of Rows rows, each read at an address of its own; 0 means one
	Same    int    // rows of a table in blocks of 64 equal rows: in LUTs these take no logic
}

// MaxLUTTableRows is the number of rows above which a table should not lie in LUTs, unless there is no other memory. A
// block RAM of the 7 series has 4,096 rows of 4 bits and its parity.
const MaxLUTTableRows = 4096

// LargeLUTTablesOf returns the tables of a fold that lie in LUTs and have more than MaxLUTTableRows rows.
func LargeLUTTablesOf(op Op, f Fold) (list []Storage) {
	if storage := op.Describe().Storage; storage != nil {
		for _, table := range storage(f) {
			if !table.Written && table.In == MemoryLUTRAM && table.Rows > MaxLUTTableRows {
				list = append(list, table)
			}
		}
	}
	return list
}

// LUTLevels returns the levels of LUTs between an address and a row of a table in LUTs. The first level selects one of
// 64 rows, and the multiplexers of a slice select one of four of these. Each further level selects one of four.
func (s Storage) LUTLevels() int {
	n := 1
	for rows := 256; rows < s.Rows; rows *= 4 {
		n++
	}
	return n
}

// ArrayCount returns the number of equal arrays of which the memory consists.
func (s Storage) ArrayCount() int { return max(1, s.Banks) }

// ChooseMemory returns the memory for rows of the given width if a fold leaves no choice. It is LUTs up to 64 rows or
// 1024 bits, else block RAM.
func ChooseMemory(rows, width int) Memory {
	if rows <= 64 || rows*width <= 1024 {
		return MemoryLUTRAM
	}
	return MemoryBRAM
}

// NewTableStorage returns the memory of a table, of rows of width bits, where ChooseMemory puts it. A single row is
// constants. part names the part of the cost.
func NewTableStorage(name, part string, rows, width int) Storage {
	s := Storage{Name: name, Part: part, Rows: rows, Width: width}
	if rows > 1 {
		s.In = ChooseMemory(rows, width)
	}
	return s
}

// NewArrayStorage returns the memory of a kernel's array, of rows of width bits, where ChooseMemory puts it. A single
// row is registers. part names the part of the cost.
func NewArrayStorage(name, part string, rows, width int) Storage {
	s := NewTableStorage(name, part, rows, width)
	if s.Written = true; rows == 1 {
		s.In = MemoryRegisters
	}
	return s
}

// MovedToMemory returns s in the memory m. It returns s unchanged if m is NoMemory, or if there is only one row.
func (s Storage) MovedToMemory(m Memory) Storage {
	if s.Rows > 1 && m != NoMemory {
		s.In = m
	}
	return s
}

// MovedToShiftRegisters returns s in shift registers if it has 2 to MaxShiftRegisterWords rows, and otherwise s
// unchanged. The words must be read in the order of their writing.
func (s Storage) MovedToShiftRegisters() Storage {
	if s.Rows > 1 && s.Rows <= MaxShiftRegisterWords {
		s.In = MemorySRL
	}
	return s
}

// MaxShiftRegisterWords is the most words of one bit that a LUT holds as a shift register (SRLC32E).
const MaxShiftRegisterWords = 32

// StorageOf returns the memory with the given name, or the zero Storage if there is none.
func (i KernelInstance) StorageOf(name string) Storage {
	for _, s := range i.Storage {
		if s.Name == name {
			return s
		}
	}
	return Storage{}
}

// String returns the name, rows by bits, and the memory: "vector 4x32 in distributed".
func (s Storage) String() string { return fmt.Sprintf("%s %dx%d in %v", s.Name, s.Rows, s.Width, s.In) }

// StorageForCostPart returns the memory of the table. part names the part of the cost.
func (t Table) StorageForCostPart(part string) Storage {
	s := NewTableStorage(t.Name, part, len(t.Rows)/max(1, t.Banks), len(t.Rows[0])*t.Elem.Width)
	s.Banks = t.Banks
	return s
}

// Verify returns an error if s cannot be in its memory.
func (s Storage) Verify() error {
	in := []Memory{MemoryLUTRAM, MemoryBRAM, MemoryURAM}
	switch {
	case s.Name == "" || s.Part == "":
		return fmt.Errorf("storage %q of part %q lacks a name", s.Name, s.Part)
	case s.Rows < 0 || s.Width < 0 || s.Rows > 0 && s.Width == 0:
		return fmt.Errorf("storage %s has %d rows of %d bits", s.Name, s.Rows, s.Width)
	case !s.Written && s.Rows == 0:
		return fmt.Errorf("storage %s is a table without rows", s.Name)
	case s.Rows == 0, !s.Written && s.Rows == 1:
		in = []Memory{NoMemory}
	case s.Rows == 1:
		in = []Memory{MemoryRegisters}
	case s.Written && s.Rows == 2: // of two words, synthesis makes registers, and of more, shift registers (UG901)
		in = append(in, MemorySRL, MemoryRegisters)
	case s.Written:
		in = append(in, MemorySRL)
	}
	if slices.Contains(in, s.In) {
		return nil
	}
	return fmt.Errorf("storage %v, want it in one of %v", s, in)
}
