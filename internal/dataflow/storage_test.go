package dataflow

import (
	"reflect"
	"strings"
	"testing"

	"hlsgen/internal/num"
)

func TestFit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rows, width int
		want        Memory
	}{{2, 4096, MemoryLUTRAM}, {64, 4096, MemoryLUTRAM}, {128, 8, MemoryLUTRAM}, {65, 16, MemoryBRAM}, {128, 9,
		MemoryBRAM}, {1025, 1, MemoryBRAM}} {
		if got := ChooseMemory(tt.rows, tt.width); got != tt.want {
			t.Errorf("%d rows of %d bits: %v, want %v", tt.rows, tt.width, got, tt.want)
		}
	}
}

// TestStorage checks the memories that storage gets, and those that Verify allows.
func TestStorage(t *testing.T) {
	t.Parallel()
	rom := func(rows int) Storage { return NewTableStorage("t", "tables", rows, 9) }
	ram := func(rows int) Storage { return NewArrayStorage("a", "arrays", rows, 9) }
	in := func(s Storage, m Memory) Storage { s.In = m; return s }
	for _, tt := range []struct {
		s    Storage
		want Memory
		err  string
	}{
		{rom(1), NoMemory, ""},
		{rom(1).MovedToMemory(MemoryBRAM), NoMemory, ""},
		{rom(2), MemoryLUTRAM, ""},
		{rom(2).MovedToMemory(MemoryBRAM), MemoryBRAM, ""},
		{rom(2).MovedToMemory(NoMemory), MemoryLUTRAM, ""},
		{rom(200), MemoryBRAM, ""},
		{rom(200).MovedToMemory(MemoryURAM), MemoryURAM, ""},
		{ram(0), NoMemory, ""},
		{ram(1).MovedToMemory(MemoryBRAM), MemoryRegisters, ""},
		{ram(1).MovedToShiftRegisters(), MemoryRegisters, ""},
		{ram(2).MovedToShiftRegisters(), MemorySRL, ""},
		{ram(32).MovedToMemory(MemoryBRAM).MovedToShiftRegisters(), MemorySRL, ""},
		{ram(33).MovedToMemory(MemoryLUTRAM).MovedToShiftRegisters(), MemoryLUTRAM, ""},
		{ram(200), MemoryBRAM, ""},
		{rom(0), MemoryLUTRAM, "a table without rows"},
		{in(rom(1), MemoryBRAM), MemoryBRAM, "t 1x9 in block, want it in one of [none]"},
		{in(rom(2), NoMemory), NoMemory, "t 2x9 in none, want it in one of [distributed block ultra]"},
		{in(rom(2), MemorySRL), MemorySRL, "t 2x9 in srl"},
		{in(ram(0), MemoryBRAM), MemoryBRAM, "a 0x9 in block"},
		{in(ram(1), MemoryLUTRAM), MemoryLUTRAM, "a 1x9 in distributed, want it in one of [registers]"},
		{in(ram(2), MemoryRegisters), MemoryRegisters, ""},
		{in(ram(3), MemoryRegisters), MemoryRegisters,
			"a 3x9 in registers, want it in one of [distributed block ultra srl]"},
		{in(ram(2), NoMemory), NoMemory, "a 2x9 in none"},
		{NewArrayStorage("", "arrays", 1, 1), MemoryRegisters, "lacks a name"},
		{NewArrayStorage("a", "", 1, 1), MemoryRegisters, "lacks a name"},
		{NewArrayStorage("a", "arrays", 1, 0), MemoryRegisters, "1 rows of 0 bits"},
	} {
		if tt.err != "a table without rows" && tt.s.In != tt.want {
			t.Errorf("%+v: want it in %v", tt.s, tt.want)
		}
		err := tt.s.Verify()
		if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%+v: %v, want %q", tt.s, err, tt.err)
		}
	}
}

// TestStepStorage compares the storage of step functions with their tables.
func TestStepStorage(t *testing.T) {
	t.Parallel()
	elem := num.Type{Kind: num.KindUInt, Width: 4}
	rise := num.StepFunction{At: []int64{3, 5}, Value: []int64{0, 1, 2}}
	later, fall := num.StepFunction{At: []int64{9}, Value: []int64{-1, 0}}, num.StepFunction{At: []int64{2},
		Value: []int64{7, 0}}
	for _, tt := range []struct {
		steps []num.StepFunction
		pe    int
		in    []Memory // the memories of thresholds, base and deltas
	}{
		{[]num.StepFunction{rise}, 2, []Memory{NoMemory}},
		{[]num.StepFunction{rise, rise, rise, rise}, 2, []Memory{MemoryBRAM}},
		{[]num.StepFunction{rise, later, rise, later}, 2, []Memory{MemoryBRAM, MemoryLUTRAM}},
		{[]num.StepFunction{rise, later, rise, later}, 4, []Memory{NoMemory, NoMemory}},
		{[]num.StepFunction{rise, fall, rise, later}, 1, []Memory{MemoryBRAM, MemoryLUTRAM, MemoryBRAM}},
		{[]num.StepFunction{fall}, 1, []Memory{NoMemory, NoMemory, NoMemory}},
	} {
		k := num.NewThresholdTable(tt.steps, []num.Range{elem.Range()}, elem, 100)
		_, tables := NewStepFunctionFieldsAndTables(k, tt.pe, elem)
		var want []Storage
		for i, table := range tables {
			s := table.StorageForCostPart("threshold memory")
			s.In = tt.in[i]
			want = append(want, s)
		}
		if got := NewStepTableStorage(k, tt.pe, elem, MemoryBRAM); len(tables) != len(tt.in) || !reflect.DeepEqual(got,
			want) {
			t.Errorf("%v, PE %d: %+v, want %+v", tt.steps, tt.pe, got, want)
		}
	}
	if got := NewStepTableStorage(num.ThresholdTable{}, 1, elem, MemoryBRAM); got != nil {
		t.Errorf("no step functions: %+v", got)
	}
}
