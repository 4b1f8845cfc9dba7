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
	}{{2, 4096, LUTRAM}, {64, 4096, LUTRAM}, {128, 8, LUTRAM}, {65, 16, BRAM}, {128, 9, BRAM}, {1025, 1, BRAM}} {
		if got := ChooseMemory(tt.rows, tt.width); got != tt.want {
			t.Errorf("%d rows of %d bits: %v, want %v", tt.rows, tt.width, got, tt.want)
		}
	}
}

// TestStorage checks the memories that storage gets, and those that Verify allows.
func TestStorage(t *testing.T) {
	t.Parallel()
	rom := func(rows int) Storage { return ROMStorage("t", "tables", rows, 9) }
	ram := func(rows int) Storage { return RAMStorage("a", "arrays", rows, 9) }
	in := func(s Storage, m Memory) Storage { s.In = m; return s }
	for _, tt := range []struct {
		s    Storage
		want Memory
		err  string
	}{
		{rom(1), NoMemory, ""},
		{rom(1).At(BRAM), NoMemory, ""},
		{rom(2), LUTRAM, ""},
		{rom(2).At(BRAM), BRAM, ""},
		{rom(2).At(NoMemory), LUTRAM, ""},
		{rom(200), BRAM, ""},
		{rom(200).At(URAM), URAM, ""},
		{ram(0), NoMemory, ""},
		{ram(1).At(BRAM), Registers, ""},
		{ram(1).InShiftRegisters(), Registers, ""},
		{ram(2).InShiftRegisters(), SRL, ""},
		{ram(32).At(BRAM).InShiftRegisters(), SRL, ""},
		{ram(33).At(LUTRAM).InShiftRegisters(), LUTRAM, ""},
		{ram(200), BRAM, ""},
		{rom(0), LUTRAM, "a table without rows"},
		{in(rom(1), BRAM), BRAM, "t 1x9 in block, want it in one of [none]"},
		{in(rom(2), NoMemory), NoMemory, "t 2x9 in none, want it in one of [distributed block ultra]"},
		{in(rom(2), SRL), SRL, "t 2x9 in srl"},
		{in(ram(0), BRAM), BRAM, "a 0x9 in block"},
		{in(ram(1), LUTRAM), LUTRAM, "a 1x9 in distributed, want it in one of [registers]"},
		{in(ram(2), Registers), Registers, ""},
		{in(ram(3), Registers), Registers, "a 3x9 in registers, want it in one of [distributed block ultra srl]"},
		{in(ram(2), NoMemory), NoMemory, "a 2x9 in none"},
		{RAMStorage("", "arrays", 1, 1), Registers, "lacks a name"},
		{RAMStorage("a", "", 1, 1), Registers, "lacks a name"},
		{RAMStorage("a", "arrays", 1, 0), Registers, "1 rows of 0 bits"},
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
	elem := num.Type{Kind: num.UInt, Width: 4}
	rise := num.StepFunction{At: []int64{3, 5}, Value: []int64{0, 1, 2}}
	later, fall := num.StepFunction{At: []int64{9}, Value: []int64{-1, 0}}, num.StepFunction{At: []int64{2},
		Value: []int64{7, 0}}
	for _, tt := range []struct {
		steps []num.StepFunction
		pe    int
		in    []Memory // the memories of thresholds, base and deltas
	}{
		{[]num.StepFunction{rise}, 2, []Memory{NoMemory}},
		{[]num.StepFunction{rise, rise, rise, rise}, 2, []Memory{BRAM}},
		{[]num.StepFunction{rise, later, rise, later}, 2, []Memory{BRAM, LUTRAM}},
		{[]num.StepFunction{rise, later, rise, later}, 4, []Memory{NoMemory, NoMemory}},
		{[]num.StepFunction{rise, fall, rise, later}, 1, []Memory{BRAM, LUTRAM, BRAM}},
		{[]num.StepFunction{fall}, 1, []Memory{NoMemory, NoMemory, NoMemory}},
	} {
		k := num.NewThresholdTable(tt.steps, []num.Range{elem.Range()}, elem, 100)
		_, tables := StepTables(k, tt.pe, elem)
		var want []Storage
		for i, table := range tables {
			s := table.Storage("threshold memory")
			s.In = tt.in[i]
			want = append(want, s)
		}
		if got := StepStorage(k, tt.pe, elem, BRAM); len(tables) != len(tt.in) || !reflect.DeepEqual(got, want) {
			t.Errorf("%v, PE %d: %+v, want %+v", tt.steps, tt.pe, got, want)
		}
	}
	if got := StepStorage(num.ThresholdTable{}, 1, elem, BRAM); got != nil {
		t.Errorf("no step functions: %+v", got)
	}
}
