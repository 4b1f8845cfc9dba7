package report

import (
	"maps"

	"hlsgen/folding"
	"hlsgen/internal/dataflow"
)

// A CertificateReport is the content of report/certificate.json. It states how close the design is to the best of all
// designs.
type CertificateReport struct {
	Proved   bool    `json:"proved"` // no design is better: every gap is closed
	Interval float64 `json:"interval_clocks"`
	// 0 if the search did not look for the shortest interval
	Floor   int `json:"least_possible_interval_clocks,omitempty"`
	Options int `json:"options"`
	// the device, the folding file or block RAM excludes them
	Impossible int                      `json:"options_not_possible"`
	Below      *FoldExclusionReport     `json:"options_below_the_least_interval,omitempty"`
	Minimised  []MinimisedMeasureReport `json:"minimised"`
	// the minimum covers only designs that multiply factors of 3 bits or fewer in LUTs
	Spares bool `json:"few_bits_in_luts,omitempty"`
	// number of folds with serial step functions that were fast enough, but excluded because of their block RAM
	Dear int `json:"dear_serial_folds,omitempty"`
	// number of folds with large tables in LUTs that were fast enough, but excluded
	Large int `json:"large_tables_in_luts,omitempty"`
	// the proof covers only designs whose FIFOs of few words lie in LUTs, where LUTs can hold them
	InLUTs  bool                    `json:"few_words_in_luts,omitempty"`
	Latency *LatencyWithBoundReport `json:"latency_clocks,omitempty"`
	Gap     string                  `json:"gap,omitempty"` // why the search proved no minimum
	// the user ended the search, and this is the best design that it had found
	Interrupted bool                   `json:"interrupted,omitempty"`
	Text        []string               `json:"text"`
	Lengths     *SequenceLengthsReport `json:"lengths,omitempty"` // nil if all frames have the same length
}

// A SequenceLengthsReport gives the range of sequence lengths. Other figures per frame are those of the longest
// sequence.
type SequenceLengthsReport struct {
	Axis string `json:"axis"`
	Min  int    `json:"min_steps"`
	Max  int    `json:"max_steps"`
}

// NewSequenceLengthsReport converts the range of sequence lengths to its report. It returns nil if l is nil, because
// all sequences have the same length.
func NewSequenceLengthsReport(l *dataflow.SequenceLengths) *SequenceLengthsReport {
	if l == nil {
		return nil
	}
	return &SequenceLengthsReport{l.Axis, l.Min, l.Max}
}

// A FoldExclusionReport says why no folding within the budget reaches an interval. It counts the folds that each reason
// excludes.
type FoldExclusionReport struct {
	Interval  int            `json:"interval_clocks"`
	TooSlow   int            `json:"too_slow"`
	Dominated int            `json:"dominated"`
	Unjoined  int            `json:"without_width_converter"`
	By        map[string]int `json:"excluded_by"`
	Together  int            `json:"excluded_by_several_resources"`
	Compared  int            `json:"compared_in_every_combination"`
}

// A MinimisedMeasureReport gives a measure that the search minimised at the design's interval: the design's value and a
// proved lower bound.
type MinimisedMeasureReport struct {
	Measure string  `json:"measure"`
	Value   float64 `json:"value"`
	Least   float64 `json:"least_possible"`
}

// A LatencyWithBoundReport gives the design's latency and a proved lower bound, in clocks.
type LatencyWithBoundReport struct {
	Clocks int `json:"clocks"`
	Least  int `json:"least_possible"`
}

// NewCertificateReport converts the search's certificate to the form of the report.
func NewCertificateReport(p *folding.OptimalityCertificate) CertificateReport {
	c := CertificateReport{Proved: p.IsProvedBest(), Interval: p.Interval, Floor: p.Floor, Options: p.Options,
		Impossible: p.Unavailable, Minimised: []MinimisedMeasureReport{}, Spares: p.Spares, Dear: p.Dear,
		Large:  p.Large,
		InLUTs: p.InLUTs, Gap: p.Gap,
		Interrupted: p.Interrupted,
		Text:        append([]string{}, p.DescribeInLines()...),
		Latency:     (*LatencyWithBoundReport)(p.Latency), Lengths: NewSequenceLengthsReport(p.Lengths)}
	if b := p.Below; b != nil {
		c.Below = &FoldExclusionReport{b.Interval, b.TooSlow, b.Dominated, b.Unjoined, map[string]int{}, b.Together,
			b.Compared}
		maps.Copy(c.Below.By, b.Alone)
	}
	for _, b := range p.Bounds {
		c.Minimised = append(c.Minimised, MinimisedMeasureReport{b.Measure.String(), b.Value, b.Least})
	}
	return c
}
