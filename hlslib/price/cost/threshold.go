package cost

// A ThresholdingShape is a layer that applies thresholds to PE channels at a time. Rows is the number of rows of the
// threshold table: channels divided by PE, or 1 if channels share a row.
type ThresholdingShape struct {
	InBits, PE, Rows int
	Memory           MemoryStyle

	// The following are not in FINN's formula.
	Fabric Fabric
	Steps  int  // thresholds per channel
	Search bool // whether a binary search with a comparator per bit of the count replaces the parallel comparators
}

// FINNCost returns the estimate of FINN's Thresholding_hls (thresholding_hls.py, lut_estimation, bram_estimation). It
// does not depend on the number of thresholds.
func (t ThresholdingShape) FINNCost() []CostPart {
	width := t.InBits * t.PE
	var memory Resources
	if t.Rows > 1 {
		switch t.Memory {
		case StyleDistributedRAM:
			memory.LUT = width * ceil(t.Rows, 64)
		case StyleBlockRAM:
			memory.BRAM = ceil(width, 16) * ceil(t.Rows, 1024)
		}
	}
	return []CostPart{{"threshold memory", memory}, {"comparators", Resources{LUT: width}}}
}

// FittedCost returns the cost by the fitted formula: of the thresholds' memory and comparators, or of a binary search.
func (t ThresholdingShape) FittedCost() []CostPart { return parts(t.shares(&fitted)) }

// FittedLogicCost returns the parts of FittedCost except the memory, for a layer that compares with all thresholds at
// once.
func (t ThresholdingShape) FittedLogicCost() []CostPart { return parts(t.logic(&fitted)) }

func (t ThresholdingShape) shares(v *values) []share {
	if t.Search {
		return append([]share{t.control(v)}, t.search()...)
	}
	return append(t.logic(v), t.activation().table(t.Fabric, v))
}

func (t ThresholdingShape) logic(v *values) []share {
	return []share{t.control(v), t.activation().comparators(), {name: "registers", ff: float64(t.PE * t.InBits)}}
}

func (t ThresholdingShape) control(v *values) share {
	return share{name: "stream control", lut: v[streamLUT], ff: v[streamFF]}
}

func (t ThresholdingShape) activation() activation {
	return activation{t.PE, t.Rows, t.Steps, t.InBits, t.Memory, false}
}

// search returns the cost of a binary search, with one comparator per bit of the count. Stage i selects among 2^i
// thresholds of a channel, and passes the value on.
func (t ThresholdingShape) search() []share {
	memory, stages := share{name: "threshold memory"}, log2Ceil(t.Steps+1)
	for i := range stages {
		m := t.Fabric.table("", t.Memory, t.Rows<<i, t.PE*t.InBits)
		memory = share{name: memory.name, lut: memory.lut + m.lut, ff: memory.ff + m.ff, bram: memory.bram + m.bram,
			uram: memory.uram + m.uram}
	}
	return []share{
		memory,
		{name: "comparators", lut: float64(t.PE * stages * ceil(t.InBits, 2))},
		{name: "registers", ff: float64(t.PE * stages * (t.InBits + stages))},
	}
}

// criticalPathNS returns the estimated longest path between registers in ns: a comparison, and the count of exceeded
// thresholds as a tree. A binary search has only the comparison.
func (t ThresholdingShape) criticalPathNS() float64 {
	if t.Search {
		return fitted[clockDelay]
	}
	return fitted[clockDelay] + fitted[treeDelay]*float64(log2Ceil(t.Steps+1))
}
