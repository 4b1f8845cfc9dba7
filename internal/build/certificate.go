package build

import (
	"strings"

	"hlsgen/folding"
)

// A Certificate is report/certificate.json: what the search has proved of the folding, in numbers and in words.
type Certificate struct {
	Proved     bool             `json:"proved"` // nothing is better: every gap is closed
	Interval   int              `json:"interval_cycles"`
	Floor      int              `json:"least_possible_interval_cycles"`
	Options    int              `json:"options"`
	Impossible int              `json:"options_not_possible"` // on the device, or by the folding file
	Below      *ExcludedReport  `json:"options_below_the_least_interval,omitempty"`
	Minimised  []MinimumReport  `json:"minimised"`
	Latency    *folding.Latency `json:"latency_cycles,omitempty"`
	Compared   int              `json:"partial_foldings_compared"`
	Cut        bool             `json:"cut"` // the effort or --search-time ended the search
	Text       []string         `json:"text"`
}

// An ExcludedReport is why no folding within the budget keeps an interval: what became of every option there.
type ExcludedReport struct {
	Interval  int            `json:"interval_cycles"`
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

// CertificateOf puts a proof into the report's form.
func CertificateOf(p *folding.Proof) Certificate {
	c := Certificate{Proved: p.Exact(), Interval: p.Interval, Floor: p.Floor, Options: p.Options, Impossible: p.Unavailable,
		Minimised: []MinimumReport{}, Latency: p.Latency, Compared: p.Labels, Cut: p.Cut, Text: []string{}}
	if b := p.Below; b != nil {
		c.Below = &ExcludedReport{b.Interval, b.TooSlow, b.Dominated, b.Unjoined, b.By(), b.Together, b.Compared}
	}
	for _, b := range p.Bounds {
		c.Minimised = append(c.Minimised, MinimumReport{b.Measure.String(), b.Value, b.Least})
	}
	if s := p.String(); s != "" {
		c.Text = strings.Split(s, "\n")
	}
	return c
}
