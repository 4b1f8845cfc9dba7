package luts

import (
	"math"
	"math/bits"

	"hlsgen/boards/family"
	"hlsgen/hlslib/price/cost"
)

// The speed for which the numbers of a family.UART hold, and what its counters take per bit.
const (
	uartBaud     = 115200
	uartMHz      = 12
	placeLUT     = 2.6 // of the place in a message
	wordLUT      = 2.0 // of the number of a result's word
	waitLUT      = 1.0 // of the time since the last byte
	divideLUT    = 4.0 // of the length of a bit on the line
	messageWords = 64  // words of the message for which the numbers hold
	resultWords  = 10
)

// A UARTMessage is a frame on a line, in words of whole bytes.
type UARTMessage struct{ Words, Bytes int }

// uartOf returns the numbers of a fabric's family. They are zero for AMD's devices.
func uartOf(f cost.Fabric) family.UART {
	if row := cost.FamilyOfFabric(f); row != nil {
		return row.Logic.UART
	}
	return family.UART{}
}

// UARTCost returns the cost of a UART top at a clock without what depends on the frames. There are no numbers for AMD's
// devices.
func UARTCost(f cost.Fabric, mhz float64) []cost.CostPart {
	u := uartOf(f)
	if u == (family.UART{}) {
		return nil
	}
	wait := log2(mhz) - log2(uartMHz) // of 20 ms
	r := cost.Resources{LUT: u.LUTs + round((waitLUT+divideLUT)*wait), FF: u.FlipFlops + round(3*wait)}
	return append([]cost.CostPart{r.AsPart("UART")}, SynthesisRulesOf(f).alone(float64(u.Cells))...)
}

func log2(x float64) float64 { return math.Ceil(math.Log2(x)) }

// InputCost returns the cost of receiving frames, with the memory of a message.
func (m UARTMessage) InputCost(f cost.Fabric) []cost.CostPart {
	if uartOf(f) == (family.UART{}) {
		return nil
	}
	total := m.Words * m.Bytes
	place := bits.Len(uint(total)) - bits.Len(messageWords)
	r := cost.Resources{LUT: round(placeLUT * float64(place)), FF: 2*place + 8*(m.Bytes-1)}
	memory := f.ReadWriteMemoryCost(8, total, messageMemory(f, total))
	memory.FF = 0
	return append([]cost.CostPart{r.AsPart("UART"), memory.AsPart("UART's message")},
		SynthesisRulesOf(f).alone(float64(8*(m.Bytes-1)))...)
}

// messageMemory returns the memory that Yosys takes for a message of the given bytes: the cheaper one.
func messageMemory(f cost.Fabric, total int) cost.MemoryStyle {
	if !cost.CanStoreInLUTs(f) {
		return cost.StyleDistributedRAM
	}
	// in half LUTs: four for each memory of 16 rows of four bits, one to select one bit, and one for each bank
	const memory, width = 8, 8
	banks := (total + bankRows - 1) / bankRows
	if memory*2*banks+(banks-1)*width+banks > cost.FamilyOfFabric(f).Block.HalfLUTs {
		return cost.StyleBlockRAM
	}
	return cost.StyleDistributedRAM
}

// OutputCost returns the cost of sending results.
func (m UARTMessage) OutputCost(f cost.Fabric) []cost.CostPart {
	if uartOf(f) == (family.UART{}) {
		return nil
	}
	word := bits.Len(uint(m.Words-1)) - bits.Len(resultWords-1)
	more := 8 * (m.Bytes - 1)
	r := cost.Resources{LUT: more + round(wordLUT*float64(word)), FF: more + word}
	return []cost.CostPart{r.AsPart("UART")}
}
