package templates

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// This file alone decides how C++ spells a type.

// cType returns the C++ type of an element of type t.
func cType(t num.Type) string {
	switch t.Kind {
	case num.KindUInt:
		return fmt.Sprintf("ap_uint<%d>", t.Width)
	case num.KindInt, num.KindTernary:
		return fmt.Sprintf("ap_int<%d>", t.Width)
	case num.KindBipolar:
		return "hlsgen::bipolar"
	case num.KindFloat, num.KindUFloat:
		return fmt.Sprintf("hlsgen::minifloat<%d, %d, %t>", t.Width, t.Mantissa, t.IsSigned())
	}
	panic("templates: invalid type")
}

// cLimb returns the C++ type of an n-bit word of a table's row.
func cLimb(n int) string { return fmt.Sprintf("hlsgen::limb<%d>", n) }

// cStream returns the C++ type of a stream inside the network, and of the network's inputs, with words of width bits.
func cStream(width int) string { return fmt.Sprintf("hls::stream<ap_uint<%d>>", width) }

// cAXIOut returns the C++ type of the network's outputs, with words of tdata bits.
func cAXIOut(tdata int) string { return fmt.Sprintf("hls::stream<ap_axiu<%d, 0, 0, 0>>", tdata) }

// cConstant returns the C++ declaration of a member of a config struct, or an error for a value that no member can
// have.
func cConstant(f dataflow.ConfigField) (string, error) {
	switch v := f.Value.(type) {
	case bool:
		return fmt.Sprintf("static const bool %s = %t;", f.Name, v), nil
	case int:
		if int(int32(v)) != v {
			return fmt.Sprintf("static const long long %s = %dLL;", f.Name, v), nil
		}
		return fmt.Sprintf("static const int %s = %d;", f.Name, v), nil
	case num.Type:
		return fmt.Sprintf("typedef %s %s;", cType(v), f.Name), nil
	case dataflow.Memory:
		return fmt.Sprintf("static const hlsgen::storage %s = hlsgen::storage::%s;", f.Name, arrayImpl[v]), nil
	case []int:
		return fmt.Sprintf("typedef hlsgen::counts<%s> %s;", cList(v, strconv.Itoa), f.Name), nil
	case []int64:
		return fmt.Sprintf("typedef hlsgen::numbers<%s> %s;", cList(v, cNumber), f.Name), nil
	case []num.Type:
		return fmt.Sprintf("typedef hlsgen::types<%s> %s;", cList(v, cType), f.Name), nil
	}
	return "", fmt.Errorf("config field %s has a value of type %T", f.Name, f.Value)
}

// cNumber returns the number v as a C++ constant. The least int64 has no literal, so it is written as a difference.
func cNumber(v int64) string {
	if v == math.MinInt64 {
		return "-9223372036854775807LL-1"
	}
	return strconv.FormatInt(v, 10) + "LL"
}

// cList returns the items as a list in C++, each spelled by spell.
func cList[T any](items []T, spell func(T) string) string {
	spelled := make([]string, len(items))
	for i, x := range items {
		spelled[i] = spell(x)
	}
	return strings.Join(spelled, ", ")
}

// The names of memories in C++: storageImpl has BIND_STORAGE's implementations of a FIFO or a table (UG1399), and
// arrayImpl those of an array in core/memory.hpp. An array that a fold does not use becomes registers.
var (
	storageImpl = [...]string{
		dataflow.MemoryLUTRAM: "lutram", dataflow.MemoryBRAM: "bram", dataflow.MemoryURAM: "uram",
		dataflow.MemorySRL: "srl",
	}
	arrayImpl = [...]string{
		dataflow.NoMemory: "registers", dataflow.MemoryRegisters: "registers", dataflow.MemorySRL: "shift",
		dataflow.MemoryLUTRAM: "lutram", dataflow.MemoryBRAM: "bram", dataflow.MemoryURAM: "uram",
	}
)

// tableStorage returns the options of BIND_STORAGE for a table in the memory m. The front end's list of memories has no
// ROM of UltraRAM, so a table in UltraRAM is bound as a RAM with one port.
func tableStorage(m dataflow.Memory) string {
	if m == dataflow.MemoryURAM {
		return "type=ram_1p impl=" + storageImpl[m]
	}
	return "type=rom_1p impl=" + storageImpl[m]
}
