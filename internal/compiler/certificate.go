package compiler

import (
	"maps"

	"hlsgen/folding"
	"hlsgen/internal/dataflow"
)

// A Certificate is report/certificate.json: what is known of all designs, in numbers and in words.
type Certificate struct {
	Proved     bool            `json:"proved"` // nothing is better: every gap is closed
	Interval   float64         `json:"interval_clocks"`
	Floor      int             `json:"least_possible_interval_clocks,omitempty"` // where the shortest was looked for
	Options    int             `json:"options"`
	Impossible int             `json:"options_not_possible"` // on the device, by the folding file, or too dear
	Below      *ExcludedReport `json:"options_below_the_least_interval,omitempty"`
	Minimised  []MinimumReport `json:"minimised"`
	// what is minimised is so of designs that multiply factors of 3 bits or fewer in LUTs
	Spares bool `json:"few_bits_in_luts,omitempty"`
	// folds with serial step functions, as fast as that, which were no choice, for what they take of block RAM
	Dear int `json:"dear_serial_folds,omitempty"`
	// folds with large tables in LUTs, as fast as that, which were no choice
	Large int `json:"large_tables_in_luts,omitempty"`
	// FIFOs of few words lay in no block RAM, where LUTs could hold them: all that is proved is proved so
	InLUTs  bool           `json:"few_words_in_luts,omitempty"`
	Latency *LatencyReport `json:"latency_clocks,omitempty"`
	Gap     string         `json:"gap,omitempty"` // why something is left open
	// the user ended the search, which had this design
	Interrupted bool           `json:"interrupted,omitempty"`
	Text        []string       `json:"text"`
	Lengths     *LengthsReport `json:"lengths,omitempty"` // where frames are sequences of different lengths
}

// A LengthsReport says how long sequences may be. What is said of frames is said of the longest.
type LengthsReport struct {
	Axis string `json:"axis"`
	Min  int    `json:"min_steps"`
	Max  int    `json:"max_steps"`
}

// LengthsOf is how long sequences may be; nil where all have one length.
func LengthsOf(l *dataflow.Lengths) *LengthsReport {
	if l == nil {
		return nil
	}
	return &LengthsReport{l.Axis, l.Min, l.Max}
}

// An ExcludedReport is why no folding within the budget keeps an interval: what became of every option there.
type ExcludedReport struct {
	Interval  int            `json:"interval_clocks"`
	TooSlow   int            `json:"too_slow"`
	Dominated int            `json:"dominated"`
	Unjoined  int            `json:"without_width_converter"`
	By        map[string]int `json:"excluded_by"`
	Together  int            `json:"excluded_by_several_resources"`
	Compared  int            `json:"compared_in_every_combination"`
}

// A MinimumReport is what was minimised at the interval, what was reached, and what nothing goes below.
type MinimumReport struct {
	Measure string  `json:"measure"`
	Value   float64 `json:"value"`
	Least   float64 `json:"least_possible"`
}

// A LatencyReport is the latency that was reached, and what nothing goes below.
type LatencyReport struct {
	Clocks int `json:"clocks"`
	Least  int `json:"least_possible"`
}

// CertificateOf puts a certificate into the report's form.
func CertificateOf(p *folding.Certificate) Certificate {
	c := Certificate{Proved: p.Proved(), Interval: p.Interval, Floor: p.Floor, Options: p.Options,
		Impossible: p.Unavailable, Minimised: []MinimumReport{}, Spares: p.Spares, Dear: p.Dear, Large: p.Large,
		InLUTs: p.InLUTs, Gap: p.Gap,
		Interrupted: p.Interrupted,
		Text:        append([]string{}, p.Lines()...),
		Latency:     (*LatencyReport)(p.Latency), Lengths: LengthsOf(p.Lengths)}
	if b := p.Below; b != nil {
		c.Below = &ExcludedReport{b.Interval, b.TooSlow, b.Dominated, b.Unjoined, map[string]int{}, b.Together,
			b.Compared}
		maps.Copy(c.Below.By, b.Alone)
	}
	for _, b := range p.Bounds {
		c.Minimised = append(c.Minimised, MinimumReport{b.Measure.String(), b.Value, b.Least})
	}
	return c
}
