package goal

import (
	"fmt"
	"strings"

	"hlsgen/folding/search"
)

// A ResourceMeasure selects the amount that a search minimises: the meaning of "least resources". Among equals, the
// load decides, then LUTs.
type ResourceMeasure uint8

// The measures. ResourceMeasureLoad is the largest share of the budget that any kind of resource takes; the others
// count one kind.
const (
	ResourceMeasureLoad ResourceMeasure = iota
	ResourceMeasureLUT
	ResourceMeasureFF
	ResourceMeasureBRAM
	ResourceMeasureURAM
	ResourceMeasureDSP
)

// measures holds the name that ParseResourceMeasure reads, and the kind that each measure counts; -1 for the load.
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

// FlagValue returns the measure as a value of --least, which ParseResourceMeasure reads.
func (m ResourceMeasure) FlagValue() string { return measures[m].name }

// ParseResourceMeasure reads the value of --least: load, lut, ff, bram, uram or dsp. The error lists them.
func ParseResourceMeasure(s string) (ResourceMeasure, error) {
	var known []string
	for m, x := range measures {
		if x.name == s {
			return ResourceMeasure(m), nil
		}
		known = append(known, x.name)
	}
	return 0, fmt.Errorf("want %s", strings.Join(known, ", "))
}

// MinimisationOrder returns the measures to minimise one after the other: m, and then those that break ties.
func (m ResourceMeasure) MinimisationOrder() []ResourceMeasure {
	if m == ResourceMeasureLUT || m == ResourceMeasureLoad {
		return []ResourceMeasure{m, ResourceMeasureLoad + ResourceMeasureLUT - m}
	}
	return []ResourceMeasure{m, ResourceMeasureLoad, ResourceMeasureLUT}
}

// SearchObjective returns the measure as an objective of package search. For ResourceMeasureLoad, yard holds the
// amounts that count as a load of 1, by kind.
func (m ResourceMeasure) SearchObjective(yard *search.AmountVector) search.Objective {
	if k := measures[m].kind; k >= 0 {
		return search.Objective{Kind: k}
	}
	return search.Objective{Yard: yard}
}
