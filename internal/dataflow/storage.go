package dataflow

import (
	"fmt"
	"slices"
)

// A Storage is a memory of a layer: a table, or an array of its kernel. A layer says once what it has of them. Its Cost
// prices each where it lies, and the C++ binds it there.
type Storage struct {
	Name    string // the Table's, or the array's in the kernel
	Part    string // of the Cost, which may hold several; nothing else is in it
	Rows    int    // 0 where a kernel has the array for other folds alone
	Width   int    // bits of a row
	Written bool   // an array, with a row written and one read a clock; else a table
	In      Memory // what Verify allows
	Banks   int    // of a table: arrays of so many rows, each read at an address of its own; 0 is one
	Same    int    // rows of a table in blocks of 64 of which all rows are the same: in LUTs these are no logic
}

// Stored is implemented by layers with memories: those of a fold, tables and arrays.
type Stored interface{ Storage(Fold) []Storage }

// LargeTable is the rows of a table beyond which LUTs are no place for it, unless nothing else is left. A block RAM of
// the 7 series has 4,096 rows of 4 bits and its parity.
const LargeTable = 4096

// Large returns the tables of a fold that lie in LUTs and have more rows than LargeTable.
func Large(op Op, f Fold) (list []Storage) {
	if s, ok := op.(Stored); ok {
		for _, table := range s.Storage(f) {
			if !table.Written && table.In == LUTRAM && table.Rows > LargeTable {
				list = append(list, table)
			}
		}
	}
	return list
}

// Levels returns the LUTs between an address and a row of a table in LUTs. The first level reads one of 64 rows, and
// the multiplexers of a slice choose one of four such; each further level chooses one of four.
func (s Storage) Levels() int {
	n := 1
	for rows := 256; rows < s.Rows; rows *= 4 {
		n++
	}
	return n
}

// Arrays is how many there are.
func (s Storage) Arrays() int { return max(1, s.Banks) }

// Fit is where rows of width bits lie for which a fold has no choice: in LUTs up to 64 rows or 1024 bits, else in block
// RAM.
func Fit(rows, width int) Memory {
	if rows <= 64 || rows*width <= 1024 {
		return LUTRAM
	}
	return BRAM
}

// ROM is the storage of a table, which lies where it fits. A single row is constants.
func ROM(name, part string, rows, width int) Storage {
	s := Storage{Name: name, Part: part, Rows: rows, Width: width}
	if rows > 1 {
		s.In = Fit(rows, width)
	}
	return s
}

// RAM is the storage of a kernel's array, which lies where it fits. A single row is registers.
func RAM(name, part string, rows, width int) Storage {
	s := ROM(name, part, rows, width)
	if s.Written = true; rows == 1 {
		s.In = Registers
	}
	return s
}

// At is s in the memory that a fold has chosen, if it has, and if there is more than one row.
func (s Storage) At(m Memory) Storage {
	if s.Rows > 1 && m != NoMemory {
		s.In = m
	}
	return s
}

// Shifted is s in shift registers where they hold its rows: words that are read in the order in which they are written.
func (s Storage) Shifted() Storage {
	if s.Rows > 1 && s.Rows <= ShiftRegister {
		s.In = SRL
	}
	return s
}

// ShiftRegister is the most words of a bit that one LUT holds as a shift register (SRLC32E).
const ShiftRegister = 32

// StorageOf is the storage of that name; the zero Storage where there is none.
func (i Instance) StorageOf(name string) Storage {
	for _, s := range i.Storage {
		if s.Name == name {
			return s
		}
	}
	return Storage{}
}

// String is the name, rows by bits, and the memory: "vector 4x32 in distributed".
func (s Storage) String() string { return fmt.Sprintf("%s %dx%d in %v", s.Name, s.Rows, s.Width, s.In) }

// Storage is what a table takes.
func (t Table) Storage(part string) Storage {
	s := ROM(t.Name, part, len(t.Rows)/max(1, t.Banks), len(t.Rows[0])*t.Elem.Width)
	s.Banks = t.Banks
	return s
}

// Verify checks that s lies where its kind can.
func (s Storage) Verify() error {
	in := []Memory{LUTRAM, BRAM, URAM}
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
		in = []Memory{Registers}
	case s.Written && s.Rows == 2: // of so few words synthesis makes registers, and of more shift registers (UG901)
		in = append(in, SRL, Registers)
	case s.Written:
		in = append(in, SRL)
	}
	if slices.Contains(in, s.In) {
		return nil
	}
	return fmt.Errorf("storage %v, want it in one of %v", s, in)
}
