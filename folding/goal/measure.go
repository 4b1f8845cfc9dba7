package goal

import (
	"fmt"
	"strings"

	"hlsgen/folding/search"
)

// A ResourceMeasure is the meaning of "least resources": the amount of which a search takes the least. Among equals,
// the load decides, then LUTs.
type ResourceMeasure uint8

// The measures. LeastLoad is the largest share of the budget that any kind of resource takes; the others count one
// kind.
const (
	LeastLoad ResourceMeasure = iota
	LeastLUT
	LeastFF
	LeastBRAM
	LeastURAM
	LeastDSP
)

// measures holds the name that ParseMeasure reads, and the kind that each measure counts; -1 for the load.
var measures = [...]struct {
	name string
	kind int
}{{"load", -1}, {"lut", KindLUT}, {"ff", KindFF}, {"bram", KindBRAM}, {"uram", KindURAM}, {"dsp", KindDSP}}

// String returns the measure's name in reports: "load", or the name of the kind, as in KindNames.
func (m ResourceMeasure) String() string {
	if k := measures[m].kind; k >= 0 {
		return KindNames[k]
	}
	return "load"
}

// Flag returns the measure as a value of --least, which ParseMeasure reads.
func (m ResourceMeasure) Flag() string { return measures[m].name }

// ParseMeasure reads the value of --least: load, lut, ff, bram, uram or dsp. The error lists them.
func ParseMeasure(s string) (ResourceMeasure, error) {
	var known []string
	for m, x := range measures {
		if x.name == s {
			return ResourceMeasure(m), nil
		}
		known = append(known, x.name)
	}
	return 0, fmt.Errorf("want %s", strings.Join(known, ", "))
}

// Order returns the measures to minimise one after the other: m, and then those that break ties.
func (m ResourceMeasure) Order() []ResourceMeasure {
	if m == LeastLUT || m == LeastLoad {
		return []ResourceMeasure{m, LeastLoad + LeastLUT - m}
	}
	return []ResourceMeasure{m, LeastLoad, LeastLUT}
}

// Objective returns the measure as an objective of package search. For LeastLoad, yard holds the amounts of which a
// load is a share.
func (m ResourceMeasure) Objective(yard *search.Vector) search.Objective {
	if k := measures[m].kind; k >= 0 {
		return search.Objective{Kind: k}
	}
	return search.Objective{Yard: yard}
}
