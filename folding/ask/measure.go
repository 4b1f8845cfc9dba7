package ask

import (
	"fmt"
	"strings"

	"hlsgen/folding/search"
)

// A Measure is what "least resources" means: the first thing that a search minimises at an interval. Ties are broken by
// the load, then by LUTs.
type Measure uint8

// The measures. LeastLoad is the largest share of the budget that any kind of resource takes; the others count one kind.
const (
	LeastLoad Measure = iota
	LeastLUT
	LeastFF
	LeastBRAM
	LeastURAM
	LeastDSP
)

// measures are what ParseMeasure reads, and the kind that each counts; -1 for the load.
var measures = [...]struct {
	name string
	kind int
}{{"load", -1}, {"lut", LUT}, {"ff", FF}, {"bram", BRAM}, {"uram", URAM}, {"dsp", DSP}}

// String is the measure as a report calls it.
func (m Measure) String() string {
	if k := measures[m].kind; k >= 0 {
		return Names[k]
	}
	return "load"
}

// Flag is the measure as --least has it.
func (m Measure) Flag() string { return measures[m].name }

// ParseMeasure reads --least: load, lut, ff, bram, uram or dsp.
func ParseMeasure(s string) (Measure, error) {
	var known []string
	for m, x := range measures {
		if x.name == s {
			return Measure(m), nil
		}
		known = append(known, x.name)
	}
	return 0, fmt.Errorf("want %s", strings.Join(known, ", "))
}

// Order is what is minimised, one after the other.
func (m Measure) Order() []Measure {
	if m == LeastLUT || m == LeastLoad {
		return []Measure{m, LeastLoad + LeastLUT - m}
	}
	return []Measure{m, LeastLoad, LeastLUT}
}

// Of is the measure as the search has it; a load is measured against the yard.
func (m Measure) Of(yard *search.Vector) search.Measure {
	if k := measures[m].kind; k >= 0 {
		return search.Measure{Kind: k}
	}
	return search.Measure{Yard: yard}
}
